"""Where records stand in a file: lists, documents, lines, and what logs wrap around them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem
from refetch.readers.json_records import epoch_seconds
from refetch.readers.records import Record, RecordList, logged, record_lists, run_of
from refetch.readers.sniff import members


def read(data: bytes, *keys: str) -> tuple[list[RecordList], list[Problem]]:
    problems: list[Problem] = []
    return record_lists(data, "f", keys, "thing", problems), problems


def record(value: dict[str, Any]) -> Record:
    return Record(members(Raw(json.dumps(value).encode())), "$")


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        (b'[{"a":1},{"a":2}]', [["$[0]", "$[1]"]]),
        (b'{"list":[{"a":1}]}', [["$.list[0]"]]),
        (b'[{"list":[{"a":1}]},{"list":[{"a":2}]}]', [["$[0].list[0]"], ["$[1].list[0]"]]),
        (b'{"a":1}\n{"a":2}\n', [["$", "$"]]),
        (b'{"list":[{"a":1}]}\n{"list":[{"a":2}]}\n', [["$.list[0]"], ["$.list[0]"]]),
        (b'{"a":1}', [["$"]]),
        (b'[null, 5, {"a":1}]', [["$[2]"]]),
    ],
)
def test_where_records_stand(data: bytes, paths: list[list[str]]) -> None:
    found, _ = read(data, "list")
    assert [[one.path for one in listed.records] for listed in found] == paths


def test_lines_are_numbered_and_broken_ones_named() -> None:
    (listed,), problems = read(b'{"a":1}\n{"a":\n{"a":2}\n')
    assert [one.line for one in listed.records] == [1, 3]
    assert [problem.line for problem in problems] == [2]


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"list":[]}', b"words"])
def test_no_records_are_an_error(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "list")
    assert caught.value.expected == "a list of things"


def test_a_member_that_is_null_is_absent() -> None:
    one = record({"a": None, "b": 1})
    assert bytes(one.get("a", "b")) == b"1"
    assert bytes(one.get("a")) == b""


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"messages": []}, "$"),
        ({"request": {"messages": []}}, "$.request"),
        ({"request": {"body": {"messages": []}}}, "$.request.body"),
        ({"request": json.dumps({"messages": []})}, "$.request"),
        ({"response": {"messages": []}}, None),
        ({"request": "{broken"}, None),
        ({"request": [{"messages": []}]}, None),
        ({"request": {"request": {"request": {"request": {"messages": []}}}}}, None),
    ],
)
def test_what_a_log_wraps(value: dict[str, Any], path: str | None) -> None:
    found = logged(record(value), ("request", "body"), "messages")
    assert (found.path if found else None) == path


def test_runs_of_a_log() -> None:
    assert run_of(record({"trace_id": "t", "session_id": "s"})) == "s"
    assert run_of(record({"session_id": 5})) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (5, 5), (1_700_000_000, 1_700_000_000), (1_700_000_000_500, 1_700_000_000.5), (-1, -1),
        (10**400, None), (-(10**400), None), (float("nan"), None), (float("inf"), None),
        (True, None), ("5", None), (None, None), ([], None), ({}, None),
    ],
)  # fmt: skip
def test_times_as_numbers(value: object, seconds: float | None) -> None:
    assert epoch_seconds(value) == seconds
