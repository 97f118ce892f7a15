"""Decoding that loses a field rather than a record."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.readers.json_records import JsonLines, Lenient, mapping, parts, plain


class Inner(msgspec.Struct):
    name: str | None = None
    size: int | None = None


class Record(msgspec.Struct, rename="camel"):
    kind_of: str = ""
    inner: Inner | None = None
    several: list[Inner] | None = None
    rest: Raw = Raw()


lenient = Lenient(Record)


def decoded(value: Any) -> Record:
    record = lenient.decode(json.dumps(value).encode())
    assert record is not None
    return record


def test_a_record_as_expected() -> None:
    record = decoded({"kindOf": "a", "inner": {"size": 1}, "several": [{"name": "b"}], "rest": [1]})
    assert (record.kind_of, record.inner) == ("a", Inner(size=1))
    assert record.several == [Inner("b")]
    assert bytes(record.rest) == b"[1]"


def test_an_odd_member_costs_only_itself() -> None:
    odd = {
        "kindOf": 5,
        "inner": {"name": [], "size": 2},
        "several": [{"size": "x", "name": "b"}, 7],
    }
    record = decoded(odd)
    assert (record.kind_of, record.inner) == ("", Inner(size=2))
    assert record.several == [Inner("b")]


@pytest.mark.parametrize("text", [b"", b"5", b"[]", b"{", b'"x"', b"null"])
def test_what_is_no_object_is_nothing(text: bytes) -> None:
    assert lenient.decode(text) is None


def lines(data: bytes) -> tuple[list[tuple[int, str]], list[str]]:
    records = JsonLines(data, "f", Record, "record")
    found = [(number, record.kind_of) for number, record in records]
    return found, [problem.message for problem in records.problems]


def test_lines_glued_and_cut_off() -> None:
    data = b'{"kindOf":"a"}\n\n{"kindOf":"b"}{"kindOf":"c"}\nnonsense\n{"kindOf":"d"'
    found, problems = lines(data)
    assert found == [(1, "a"), (3, "b"), (3, "c")]
    assert len(problems) == 2
    assert "still being written" in problems[1]


def test_a_line_cut_off_in_the_middle_is_no_running_writer() -> None:
    found, problems = lines(b'{"kindOf":"a\n{"kindOf":"b"}\n')
    assert found == [(2, "b")]
    assert "still being written" not in problems[0]


def test_carriage_returns() -> None:
    assert lines(b'{"kindOf":"a"}\r\n{"kindOf":"b"}\r\n') == ([(1, "a"), (2, "b")], [])


@given(st.binary(max_size=60))
def test_no_bytes_raise(data: bytes) -> None:
    lenient.decode(data)
    lines(data)
    parts(memoryview(data))
    plain(Raw(data))
    assert isinstance(mapping(Raw(data)), dict)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["kindOf", "inner", "several", "rest", "name", "size"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_object_is_a_record(value: Any) -> None:
    record = lenient.decode(json.dumps(value).encode())
    assert (record is None) == (not isinstance(value, dict))
