"""Where reports go, and what a stream can show."""

from __future__ import annotations

import io
import sys

import pytest

from refetch.cli import output
from refetch.model.errors import UsageError
from refetch.reports.look import Look


def names(format_name: str | None, *outputs: str) -> list[tuple[str, str | None]]:
    return [(t.format.name, t.path) for t in output.targets(format_name, outputs)]


def test_targets() -> None:
    assert names(None) == [("text", None)]
    assert names("json") == [("json", None)]
    assert names(None, "r.json") == [("json", "r.json")]
    assert names(None, "r.unknown") == [("text", "r.unknown")]
    assert names("jsonl", "r.json") == [("jsonl", "r.json")]
    assert names(None, "json=r") == [("text", None), ("json", "r")]
    assert names("json", "a.txt", "b.txt") == [("json", "a.txt"), ("json", "b.txt")]
    assert names(None, "x=y.json") == [("json", "x=y.json")]


def test_needs() -> None:
    assert output.needs_of(output.targets(None, ())) == {"one"}
    assert output.needs_of(output.targets(None, ("json=r",))) == {"one", "keys"}
    assert output.needs_of(output.targets(None, ()), why=True) == {"one", "all"}


def test_an_unknown_format() -> None:
    with pytest.raises(UsageError, match="unknown format 'x'; known: text, json"):
        output.targets("x", ())


class _Narrow(io.TextIOWrapper):
    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def written(self) -> bytes:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue()


def test_what_an_encoding_lacks_is_escaped() -> None:
    stream = _Narrow("ascii")
    output.write_text(stream, "a ✗ b\n")
    assert stream.written() == b"a \\u2717 b\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "utf-16"])
def test_documents_are_utf_8_whatever_the_stream_speaks(encoding: str) -> None:
    stream = _Narrow(encoding)
    output.write_document(stream, "\u00e9 \u2717\n")
    assert stream.written().decode("utf-8") == "\u00e9 \u2717\n"


def test_two_reports_for_one_file() -> None:
    for outputs in (("a", "a"), ("r.json", "json=r.json"), ("csv=b", "json=b")):
        with pytest.raises(UsageError, match="two reports for one file"):
            output.targets(None, outputs)
    assert len(output.targets(None, ("json=-", "csv=-"))) == 3


def test_half_a_surrogate_pair_is_escaped() -> None:
    stream = _Narrow("utf-8")
    output.write_text(stream, "a\udcff✗\n")
    assert stream.written() == "a\\udcff✗\n".encode()


@pytest.mark.parametrize(("encoding", "ascii_only"), [("utf-8", False), ("cp1252", True)])
def test_marks_need_an_encoding(
    monkeypatch: pytest.MonkeyPatch, encoding: str, ascii_only: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", _Narrow(encoding))
    assert output.look_of(None).ascii is ascii_only


def test_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Narrow("utf-8"))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert output.look_of(None).width == 120
    monkeypatch.setenv("COLUMNS", "72")
    assert output.look_of(None).width == 72
    monkeypatch.setenv("COLUMNS", "3")
    assert output.look_of(None).width == 40


class _Terminal(_Narrow):
    def isatty(self) -> bool:
        return True


def test_colors_on_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Terminal("utf-8"))
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert output.look_of(None).color
    monkeypatch.setenv("TERM", "dumb")
    assert not output.look_of(None).color
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not output.look_of(None).color
    assert output.look_of(True) == Look(width=output.look_of(None).width, color=True)
