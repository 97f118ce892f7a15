"""Formats are found by content, plug-ins after the built-in ones, and errors say what is known."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from refetch.model.errors import InputError, UsageError
from refetch.model.trace import Trace
from refetch.readers import (
    READERS,
    Sniffed,
    UnknownFormatError,
    format_names,
    read_bytes,
    registry,
    sniff_bytes,
)

NATIVE = b'{"refetch":1,"run":"r"}\n{"type":"call","seq":0,"turn":1,"name":"x","args":null}\n'


def test_names_are_unique_and_modules_complete() -> None:
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names)
    nothing = sniff_bytes(b"")
    assert [reader.name for reader in READERS if reader.sniff(nothing)] == []


def test_the_native_format_comes_first() -> None:
    (trace,) = read_bytes(NATIVE)
    assert (trace.format, trace.run, len(trace.calls)) == ("native", "r", 1)


def test_byte_order_marks_and_utf_16() -> None:
    for data in (b"\xef\xbb\xbf" + NATIVE, NATIVE.decode().encode("utf-16")):
        (trace,) = read_bytes(data)
        assert trace.run == "r"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty input"),
        (b" \n\n", "empty input"),
        (b'{"alpha":1,"beta":2}', "a JSON object with keys alpha, beta"),
        (b'[{"alpha":1}]', "a JSON array with keys alpha"),
        (b'{"alpha":1}\n{"beta":2}\n', "JSON Lines with keys alpha"),
        (b'{"alpha":', "not valid JSON"),
        (b"plain text", "a text log, which holds no structured tool calls"),
    ],
)
def test_an_unknown_format_says_what_was_found_and_what_is_known(data: bytes, words: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        read_bytes(data, "some.file")
    assert words in str(caught.value)
    assert str(caught.value).startswith("some.file: ")
    assert "claude-code" in (caught.value.expected or "")


def test_the_error_names_every_reader() -> None:
    with pytest.raises(UnknownFormatError) as caught:
        read_bytes(b'{"alpha":1}')
    known = str(caught.value).rpartition("known: ")[2].split(", ")
    assert known == format_names()
    assert [name for name in known if name in {reader.name for reader in READERS}] == [
        reader.name for reader in READERS
    ]


def test_many_keys_are_cut() -> None:
    data = b"{" + b",".join(b'"k%d":0' % i for i in range(100)) + b"}"
    with pytest.raises(UnknownFormatError, match="k11, …;"):
        read_bytes(data)


def test_a_forced_format_is_not_sniffed() -> None:
    with pytest.raises(InputError) as caught:
        read_bytes(b'{"alpha":1}', "f", "native")
    assert not isinstance(caught.value, UnknownFormatError)
    with pytest.raises(UsageError, match="known: native"):
        read_bytes(NATIVE, "f", "nonsense")


class _PlugIn(SimpleNamespace):
    title = "Example log"

    def sniff(self, sniffed: Sniffed) -> bool:
        return sniffed.has("example")

    def read(self, data: bytes, source: str) -> list[Trace]:
        if b"crash" in data:
            raise KeyError("crash")
        return [Trace("plugged in", [], source=source, format="example")]


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("example", f"{__name__}:_PlugIn", registry.PLUGIN_GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: _PlugIn())
    monkeypatch.setattr(registry, "_points", lambda: [point])


@pytest.mark.usefixtures("plugged_in")
def test_a_plug_in_is_asked_after_the_built_in_readers() -> None:
    assert format_names()[-1] == "example"
    assert read_bytes(b'{"example":1}')[0].run == "plugged in"
    assert read_bytes(b'{"other":1}', "f", "example")[0].run == "plugged in"
    assert read_bytes(NATIVE)[0].format == "native"


@pytest.mark.usefixtures("plugged_in")
def test_a_reader_that_crashes_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"the example reader failed.*KeyError"):
        read_bytes(b'{"example":"crash"}', "f")


def test_a_plug_in_that_is_no_reader_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("odd", "os:path", registry.PLUGIN_GROUP)
    monkeypatch.setattr(registry, "_points", lambda: [point])
    with pytest.raises(UsageError, match=r"'odd' \(os:path\) has no sniff"):
        read_bytes(b'{"example":1}')
    missing = EntryPoint("gone", "no_such_module_here", registry.PLUGIN_GROUP)
    monkeypatch.setattr(registry, "_points", lambda: [missing])
    with pytest.raises(UsageError, match=r"'gone'.*cannot be loaded"):
        read_bytes(b'{"example":1}')
