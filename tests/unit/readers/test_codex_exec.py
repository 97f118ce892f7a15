"""Rules of the `codex exec --json` reader."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events, only_trace

from refetch.model.errors import InputError
from refetch.model.trace import Trace, UserMessage
from refetch.readers import read_bytes


def item(event: str, key: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": {"id": key, "type": kind} | more}


def ran(key: str, command: str = "ls", code: int = 0, text: str = "a\n") -> list[dict[str, Any]]:
    return [
        item("started", key, "command_execution", command=command, status="in_progress"),
        item(
            "completed",
            key,
            "command_execution",
            command=command,
            aggregated_output=text,
            exit_code=code,
            status="failed" if code else "completed",
        ),
    ]


def read(*records: dict[str, Any]) -> Trace:
    return only_trace(
        {"type": "thread.started", "thread_id": "t1"}, {"type": "turn.started"}, *records
    )


def test_the_header() -> None:
    trace = read(*ran("i1"))
    assert (trace.run, trace.format, trace.harness) == ("t1", "codex-exec", "codex-cli")
    assert trace.turns == "inferred"


def test_an_item_is_one_call() -> None:
    (call,) = read(*ran("i1", code=1)).calls
    assert (call.name, bytes(call.args)) == ("shell", b'{"command":"ls"}')
    assert (call.status, call.exit_code, bytes(call.result)) == ("ok", 1, b'"a\\n"')


def test_items_that_overlap_are_one_turn() -> None:
    first, second = ran("i1"), ran("i2")
    trace = read(first[0], second[0], first[1], second[1], *ran("i3"))
    assert [c.turn for c in trace.calls] == [1, 1, 2]


def test_a_command_that_was_declined_never_ran() -> None:
    declined = item("completed", "i", "command_execution", command="rm x", status="declined")
    assert read(declined).calls[0].status == "rejected"


def test_a_command_still_running_is_missing() -> None:
    assert read(ran("i1")[0]).calls[0].status == "missing"


def test_changed_files_are_resources() -> None:
    changes = [{"path": "/w/a.py", "kind": "update"}]
    (call,) = read(item("completed", "i", "file_change", changes=changes, status="completed")).calls
    assert (call.name, call.resource, call.status) == ("apply_patch", ["file:/w/a.py"], "ok")


def test_an_mcp_call() -> None:
    (call,) = read(
        item(
            "completed",
            "i",
            "mcp_tool_call",
            server="docs",
            tool="search",
            arguments={"q": "x"},
            result={"content": []},
            status="completed",
        )
    ).calls
    assert (call.name, bytes(call.args)) == ("mcp__docs__search", b'{"q": "x"}')
    assert (call.status, bytes(call.result)) == ("ok", b'{"content": []}')


def test_words_are_no_calls_and_each_prompt_is_a_message() -> None:
    trace = read(item("completed", "i", "agent_message", text="hi"), {"type": "turn.started"})
    assert trace.calls == []
    assert events(trace, UserMessage) == [UserMessage(-1)]


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b"x\n", input_format="codex-exec")
