"""Shapes and first keys, obtained without decoding values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.readers.sniff import (
    broken_array,
    document_of,
    elements,
    forget,
    keys_of,
    leading,
    members,
    normalized_text,
    small_text,
    sniff_bytes,
)


@pytest.mark.parametrize(
    ("data", "shape", "keys"),
    [
        (b'{"a":1,"b":{"c":2}}', "object", ["a", "b"]),
        (b'\n  {\n"a": 1\n}\n', "object", ["a"]),
        (b'{"a":1}\n', "object", ["a"]),
        (b'{"a":1}\n{"b":2}', "lines", ["a"]),
        (b'{"a":1}\r\n{"b":2}\r\n', "lines", ["a"]),
        (b'broken\n{"a":1}\n{"b":2}', "lines", ["a"]),
        (b'{"cut":\n{"a":1}\n', "lines", ["a"]),
        (b'{"a":1}{"b":2}\n{"c":1}\n', "lines", ["c"]),
        (b'[{"a":1},{"b":2}]', "array", ["a"]),
        (b"[1,2]", "array", []),
        (b'[{"a":1},', "other", []),
        (b"[2026-01-01] start\n", "other", []),
        (b"", "other", []),
        (b"\x00\x01\x02", "other", []),
        (b"PK\x03\x04rest", "zip", []),
        (b"SQLite format 3\x00rest", "sqlite", []),
    ],
)
def test_shapes(data: bytes, shape: str, keys: list[str]) -> None:
    sniffed = sniff_bytes(data)
    assert (sniffed.shape, sniffed.first_keys) == (shape, keys)


def test_only_a_document_has_a_document() -> None:
    assert sniff_bytes(b'{"a":1}').has("a")
    assert not sniff_bytes(b'{"a":1}').has("a", "b")
    assert not sniff_bytes(b'{"a":1}\n{"b":2}').has("a")
    assert sniff_bytes(b'{"a":1}\n{"b":2}').any_row("b")
    assert sniff_bytes(b'{"t":"x"}\n{"t":5}\n{"t":"y"}').row_text("t") == ["x", "y"]


def test_a_broken_document_keeps_the_reason() -> None:
    assert "truncated" in (sniff_bytes(b'{"a":').error or "")


def test_deep_nesting_is_no_crash() -> None:
    for data in (b"[" * 100_000, b'{"a":' * 100_000, b'{"a":' + b"[" * 100_000):
        assert sniff_bytes(data).shape == "other"


def test_values_one_level_deep() -> None:
    assert small_text(Raw(b'"x"')) == "x"
    assert small_text(Raw(b"5")) is None
    assert small_text(Raw(b'"' + b"x" * 1000 + b'"')) is None
    assert small_text(Raw(b'"\xff"')) is None
    assert small_text(None) is None
    assert keys_of(Raw(b'{"a":{"b":1}}')) == ["a"]
    assert members(Raw(b"[1]")) == {}
    assert members(Raw(b'{"a":')) == {}
    assert [bytes(e) for e in elements(Raw(b'[1,{"a":2}]'))] == [b"1", b'{"a":2}']
    assert elements(Raw(b'{"a":1}')) == elements(None) == elements(Raw(b"[1")) == []


@pytest.mark.parametrize(
    ("text", "limit", "found"),
    [
        ('[1, "a,]" ,{"b": [2]} ]', 9, ["1", '"a,]"', '{"b": [2]}']),
        ("[[1], [2], broken", 2, ["[1]", "[2]"]),
        ("[[1], [2], broken", 3, None),
        ("[1, 2", 2, None),
        ("[1] 2", 2, None),
        ("[1 2]", 2, None),
        ("[]", 2, None),
    ],
)
def test_the_first_elements_need_no_look_at_the_rest(
    text: str, limit: int, found: list[str] | None
) -> None:
    first = leading(memoryview(text.encode()), limit)
    texts = None if first is None else [bytes(raw).decode() for raw in first]
    assert texts == found


@given(st.lists(st.recursive(st.none() | st.text(), st.lists)), st.integers(1, 5))
def test_few_elements_are_the_first_of_all(values: list[object], limit: int) -> None:
    text = Raw(json.dumps(values, indent=1).encode().ljust(5000))
    assert [bytes(e) for e in elements(text, limit)] == [bytes(e) for e in elements(text)][:limit]


def test_an_array_that_breaks_behind_its_first_elements() -> None:
    data = b"[" + b'{"a":1},' * 100 + b'{"a"]'
    assert sniff_bytes(data).shape == "array"
    assert "malformed" in (broken_array(data) or "")
    assert broken_array(b'[{"a":1}]') is broken_array(b'{"a"') is None


def test_a_document_is_taken_apart_once() -> None:
    data = b'{"a": 1}'
    assert document_of(data) == {"a": Raw(b"1")} != document_of(b"[1]")
    assert sniff_bytes(data).document is document_of(data)
    forget()
    assert sniff_bytes(data).document is document_of(data)
    assert sniff_bytes(b'{"a": 1').document is not document_of(data)


@given(st.binary(max_size=200))
def test_any_bytes_can_be_sniffed(data: bytes) -> None:
    sniff_bytes(normalized_text(data))


@given(st.lists(st.sampled_from(['{"a":1}', "{", "[", "]", "}", '"', "\n", ",", "x"]), max_size=12))
def test_any_json_like_text_can_be_sniffed(parts: list[str]) -> None:
    sniff_bytes("".join(parts).encode())
