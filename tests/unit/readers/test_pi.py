"""Rules of the pi reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events, only_trace

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Request, Trace, UserMessage
from refetch.readers import read_bytes

HEAD = {"type": "session", "id": "s1", "timestamp": "2025-11-20T23:33:50Z", "cwd": "/w"}


def message(**fields: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": "2025-11-20T23:33:51Z", "message": fields}


def asked(*calls: tuple[str, str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    content = [{"type": "toolCall", "id": i, "name": n, "arguments": a} for i, n, a in calls]
    fields = {"model": "m-1", "usage": {"input": 3}, "stopReason": "toolUse"} | more
    return message(role="assistant", content=content, **fields)


def told(key: str, text: str = "x", error: bool = False, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    fields = {"toolCallId": key, "toolName": "read", "isError": error} | more
    return message(role="toolResult", content=content, timestamp=1763681630793, **fields)


def user(text: str) -> dict[str, Any]:
    return message(role="user", content=[{"type": "text", "text": text}])


def one(name: str, args: dict[str, Any], text: str, **more: Any) -> Any:
    return only_trace(HEAD, asked(("a", name, args)), told("a", text, toolName=name, **more)).calls[
        0
    ]


def linked(*entries: tuple[str, str | None, dict[str, Any]]) -> Trace:
    return only_trace(HEAD, *(e | {"id": key, "parentId": parent} for key, parent, e in entries))


def test_the_header() -> None:
    trace = only_trace(HEAD, user("port it"), asked(("a", "read", {"path": "a"})))
    assert (trace.run, trace.format, trace.harness) == ("s1", "pi", "pi")
    assert (trace.task, trace.model, trace.lines) == ("port it", "m-1", {0: 3})
    assert Request(1, "main", "m-1", {"input": 3}) in trace.events


def test_a_message_is_a_turn() -> None:
    trace = only_trace(
        HEAD,
        asked(("a", "read", {"path": "a"}), ("b", "read", {"path": "b"})),
        told("b", "B"),
        told("a", "A"),
        asked(("c", "read", {"path": "a"})),
    )
    assert [(c.call_id, c.turn, c.status, c.cwd) for c in trace.calls] == [
        ("a", 1, "ok", "/w"),
        ("b", 1, "ok", "/w"),
        ("c", 2, "missing", "/w"),
    ]
    assert b"B" in bytes(trace.calls[1].result)
    assert trace.calls[0].ended == 1763681630.793


@pytest.mark.parametrize(
    ("text", "outcome", "code"),
    [
        ("grep: no\n\n\nCommand exited with code 2", "ok", 2),
        ("half\n\n\nCommand aborted", "unknown", None),
        ("half\n\n\nCommand timed out after 5 seconds", "timeout", None),
        ("Skipped due to queued user message.", "cancelled", None),
        ("Tool fly not found", "not-executed", None),
        ("Could not find the exact text", "error", None),
    ],
)
def test_failures(text: str, outcome: str, code: int | None) -> None:
    found = one("bash", {"command": "x"}, text, isError=True)
    assert (found.status, found.exit_code) == (outcome, code)


def test_a_message_that_broke_off_ran_nothing() -> None:
    trace = only_trace(HEAD, asked(("a", "edit", {"path": "a", "old": "ha"}), stopReason="aborted"))
    assert trace.calls[0].status == "cancelled"
    assert not trace.calls[0].has_args


NOTE = "... (620 more lines not shown. Use offset={} to continue reading)"


@pytest.mark.parametrize(
    ("args", "text", "delivered", "truncated"),
    [
        ({}, "all of it", "all", False),
        ({"offset": 5}, "rest", {"unit": "line", "from": 5, "to": None}, False),
        ({"offset": 5, "limit": 10}, "x", {"unit": "line", "from": 5, "to": 14}, False),
        ({}, "x\n\n" + NOTE.format(2001), {"unit": "line", "from": 1, "to": 2000}, True),
        (
            {"offset": 5, "limit": 10},
            "x\n\n" + NOTE.format(15),
            {"unit": "line", "from": 5, "to": 14},
            False,
        ),
        (
            {"limit": 100},
            "x\n\n[Showing lines 1-40 of 90 (50KB limit). Use offset=41 to continue.]",
            {"unit": "line", "from": 1, "to": 40},
            True,
        ),
        ({}, "x\n\n[Line 1 is 60KB, exceeds 50KB limit. Use bash]", None, True),
    ],
)
def test_delivered_lines(args: dict[str, Any], text: str, delivered: Any, truncated: bool) -> None:
    found = one("read", {"path": "a"} | args, text)
    assert (found.delivered, found.truncated) == (delivered, truncated)


def test_cut_command_output_is_truncated() -> None:
    note = "x\n\n[Showing last 20 lines. Full output: /tmp/x]"
    assert one("bash", {"command": "x"}, note).truncated
    assert one("bash", {"command": "x"}, "x", details={"truncation": {"truncated": True}}).truncated
    assert not one("bash", {"command": "x"}, "x", details={}).truncated


def test_people() -> None:
    ran = message(role="bashExecution", command="make", output="ok", exitCode=0)
    trace = only_trace(HEAD, asked(("a", "ls", {})), told("a"), user("again"), ran)
    assert events(trace, UserMessage) == [UserMessage(0)]
    assert [(c.origin, c.exit_code) for c in trace.calls] == [("model", None), ("user", 0)]


def test_the_model_is_not_shown_all_that_people_run() -> None:
    for more, losses in (
        ({}, []),
        ({"excludeFromContext": True}, [ContextLoss(0, "trim", lost=[0])]),
    ):
        ran = message(role="bashExecution", command="cat a", output="x", exitCode=0, **more)
        trace = only_trace(HEAD, ran, asked(("a", "bash", {"command": "cat a"})), told("a"))
        assert events(trace, ContextLoss) == losses


def test_cut_output_of_a_command_by_hand_is_cut() -> None:
    ran = message(role="bashExecution", command="cat a", output="x", exitCode=0, truncated=True)
    assert only_trace(HEAD, ran).calls[0].truncated


def test_compaction_loses_what_stands_before_the_first_entry_kept() -> None:
    trace = linked(
        ("1", None, asked(("a", "ls", {}))),
        ("2", "1", told("a")),
        ("3", "2", asked(("b", "ls", {}))),
        ("4", "3", told("b")),
        ("5", "4", {"type": "compaction", "summary": "so far", "firstKeptEntryId": "3"}),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, lost=[0])]


def test_compaction_in_a_flat_file_loses_everything() -> None:
    trace = only_trace(HEAD, asked(("a", "ls", {})), told("a"), {"type": "compaction"})
    assert events(trace, ContextLoss) == [ContextLoss(0)]


def test_going_back_loses_the_branch_that_was_left() -> None:
    trace = linked(
        ("1", None, asked(("a", "ls", {}))),
        ("2", "1", told("a")),
        ("3", "2", asked(("b", "ls", {}))),
        ("4", "3", told("b")),
        ("5", "2", user("another way")),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "trim", lost=[1])]


def test_a_straight_tree_loses_nothing() -> None:
    trace = linked(
        ("1", None, asked(("a", "ls", {}))), ("2", "1", told("a")), ("3", "2", user("x"))
    )
    assert events(trace, ContextLoss) == []


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b"x\n", input_format="pi")


def test_the_sample(shared_dir: Path) -> None:
    path = shared_dir / "traces/pi/large-session.jsonl"
    (trace,) = read_bytes(path.read_bytes(), path.name)
    assert len(trace.calls) == 391
    for row in (shared_dir / "gold/labels.jsonl").read_text("utf-8").splitlines():
        label = json.loads(row)
        if label["file"].startswith("pi/"):
            first, repeat = (trace.calls[label[key]] for key in ("first_seq", "repeat_seq"))
            assert first.name == repeat.name == label["tool"]
            assert bytes(first.args) == bytes(repeat.args)
