"""Beginnings and hashes of results, on undecoded JSON text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.readers.blocks import (
    beginning,
    kept_in,
    like_error,
    one_line,
    parsed_args,
    raw_chars,
    raw_hash,
    raw_of,
    starts_with,
    whole_text,
)


def raw(value: object, *, ascii_only: bool = True) -> Raw:
    return Raw(json.dumps(value, ensure_ascii=ascii_only).encode())


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans(), st.integers(20, 60))
def test_the_beginning_is_a_beginning(text: str, ascii_only: bool, size: int) -> None:
    found = beginning(raw(text, ascii_only=ascii_only), size)
    assert text.startswith(found)
    # An escape takes at most 12 bytes, so this much fits into what is looked at.
    assert len(found) >= min(len(text), (size - 13) // 12)
    assert text.startswith(beginning(raw([{"type": "text", "text": text}]), size))


def test_the_beginning_of_short_and_odd_values() -> None:
    assert beginning(raw('it\'s "quoted" \\')) == 'it\'s "quoted" \\'
    assert beginning(raw([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])) == "a"
    assert beginning(raw([{"type": "image"}])) == ""
    assert beginning(raw(5)) == beginning(Raw()) == beginning(raw({})) == ""
    assert beginning(Raw(b'"\xff\xfe"')) == ""


def test_starts_with_looks_at_plain_texts_and_blocks() -> None:
    assert starts_with(raw("Exit code 1"), b"x", b"Exit code ")
    assert not starts_with(raw("an Exit code 1"), b"Exit code ")
    assert starts_with(raw([{"type": "text", "text": "Error: x"}]), b"Error:")
    assert not starts_with(raw([{"type": "image"}]), b"Error:")
    assert not starts_with(raw(None), b"Error:")
    assert not starts_with(Raw(), b"Error:")


def test_hashes_and_lengths() -> None:
    assert raw_hash(raw("a")) == raw_hash(raw("a")) != raw_hash(raw("b"))
    assert raw_hash(raw("a")).startswith("xxh3-raw:")
    assert raw_chars(raw("abc")) == 3
    assert raw_chars(raw([1])) == 3
    assert raw_chars(Raw()) == 0


def test_arguments_that_came_as_text() -> None:
    assert bytes(parsed_args('{"a": 5.0}')) == b'{"a": 5.0}'
    assert bytes(parsed_args("")) == b"null"
    assert bytes(parsed_args('{"a":')) == b""
    assert bytes(parsed_args("\ud800")) == b""


def test_whole_texts() -> None:
    assert whole_text(raw("a")) == "a"
    assert whole_text(raw([{"text": "a"}, {"type": "image"}, "b"])) == "a\n\nb"
    assert whole_text(raw(None)) == whole_text(Raw(b"{")) == ""
    assert whole_text(raw_of({"a": 1})) == '{"a":1}'


def test_layout_is_put_on_one_line_and_texts_stay() -> None:
    value = {"a": ["two\nlines", 5], "b": {}}
    spread = Raw(json.dumps(value, indent=2).replace("\n", "\r\n").encode())
    flat = one_line(spread)
    assert b"\n" not in bytes(flat)
    assert json.loads(bytes(flat)) == value
    assert one_line(flat) is flat
    assert bytes(one_line(Raw())) == b""


def test_what_begins_like_an_error() -> None:
    for text in ("Error: no", "ERROR 5", "Traceback (most recent call last)", "An error occurred"):
        assert like_error(raw(text))
        assert like_error(raw([{"type": "text", "text": text}]))
    for refusal in (
        "The user denied this operation.",
        "The user rejected permission to use this specific tool call.",
        "Tool execution was not approved.",
        '{"status":"denied","message":"The user denied this operation."}',
        '{"status":"error","message":"The tool execution failed"}',
    ):
        assert like_error(raw(refusal))
        assert like_error(raw([{"type": "text", "text": refusal}]))
    assert like_error(raw({"error": "x"}))
    value: object
    for value in (
        "Errors: 0",
        "no Error:",
        '{"status":"ok"}',
        "The user said no",
        "",
        {"error": None, "items": []},
        5,
        [],
        ["Error: x"],
    ):
        assert not like_error(raw(value))
    assert not like_error(Raw())


def test_a_text_that_stands_in_another_is_kept_there() -> None:
    around = Raw(b'{"a": "one", "b": "one more"}')
    assert kept_in(around, Raw(b'"one more"')) == Raw(b'"one more"')
    assert kept_in(around, missing := Raw(b'"two"')) is missing
    assert kept_in(around, Raw()) == Raw()
    assert kept_in(Raw(), missing) is missing
