"""Rules of the Codex rollout reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Request, Trace, UserMessage
from refetch.readers import read_bytes

START = "2025-09-25T01:22:20.000Z"
LATER = "2025-09-25T01:23:20.000Z"


def line(kind: str, at: str = LATER, **payload: Any) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(**more: Any) -> dict[str, Any]:
    return line("session_meta", START, id="thread-1", cwd="/w", cli_version="0.40.0", **more)


def context(**more: Any) -> dict[str, Any]:
    return line("turn_context", cwd="/w", model="gpt-x", **more)


def call(key: str, command: str = "ls", at: str = LATER, **args: Any) -> dict[str, Any]:
    text = json.dumps({"command": ["bash", "-lc", command]} | args)
    return line(
        "response_item", at, type="function_call", name="shell", arguments=text, call_id=key
    )


def output(key: str, value: Any = "x", at: str = LATER) -> dict[str, Any]:
    return line("response_item", at, type="function_call_output", call_id=key, output=value)


def structured(text: str, code: int = 0, seconds: float = 0.1) -> str:
    return json.dumps(
        {"output": text, "metadata": {"exit_code": code, "duration_seconds": seconds}}
    )


def counted(total: int) -> dict[str, Any]:
    usage = {"input_tokens": total, "output_tokens": 1}
    return line(
        "event_msg",
        type="token_count",
        info={"total_token_usage": usage, "last_token_usage": usage},
    )


def said(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return line("response_item", type="message", role="user", content=content)


def one(value: Any) -> Any:
    return only_trace(meta(), context(), call("a"), output("a", value)).calls[0]


def turns(trace: Trace) -> list[int]:
    return [c.turn for c in trace.calls]


def test_an_array_of_records_is_not_claimed() -> None:
    """The reader reads lines; what it cannot read meets the message that names every format."""
    records = [meta(), context(), line("response_item", type="message", role="user", content=[])]
    with pytest.raises(InputError) as raised:
        read_bytes(json.dumps(records).encode(), "records.json")
    assert "no known trace format" in str(raised.value)


def test_the_header() -> None:
    trace = only_trace(meta(), context(), call("a"))
    assert (trace.run, trace.model) == ("thread-1", "gpt-x")
    assert (trace.format, trace.harness, trace.lines) == ("codex-cli", "codex-cli", {0: 3})


def test_the_argument_text_and_the_folder() -> None:
    first, second, third = only_trace(
        meta(), context(), call("a"), call("b", workdir="/v"), call("c", workdir="sub")
    ).calls
    assert first.raw_args == '{"command": ["bash", "-lc", "ls"]}'
    assert [first.cwd, second.cwd, third.cwd] == ["/w", "/v", "/w/sub"]


def test_each_turn_context_without_an_id_is_a_request() -> None:
    trace = only_trace(
        meta(),
        context(),
        counted(1),
        call("a"),
        output("a"),
        call("b"),
        output("b"),
        context(),
        counted(2),
        call("c"),
        output("c"),
    )
    assert turns(trace) == [1, 1, 2]
    assert [r.usage["input_tokens"] for r in events(trace, Request)] == [1, 2]


def test_with_a_turn_id_outputs_end_a_response() -> None:
    trace = only_trace(
        meta(),
        context(turn_id="t"),
        call("a"),
        call("b"),
        counted(1),
        output("a"),
        output("b"),
        call("c"),
        counted(2),
        output("c"),
    )
    assert turns(trace) == [1, 1, 2]
    assert [r.usage["input_tokens"] for r in events(trace, Request)] == [1, 2]


def test_a_count_told_twice_is_one_request() -> None:
    trace = only_trace(meta(), context(), counted(1), call("a"), counted(1), output("a"))
    assert len(events(trace, Request)) == 1


def test_a_mirrored_event_is_no_second_call() -> None:
    item = {"type": "CommandExecution", "id": "a", "command": ["ls"]}
    trace = only_trace(
        meta(),
        context(),
        call("a"),
        line("event_msg", type="item_completed", item=item),
        output("a"),
    )
    assert len(trace.calls) == 1


@pytest.mark.parametrize(
    ("value", "outcome", "code"),
    [
        (structured("x"), "ok", 0),
        (structured("", 1), "ok", 1),
        (structured("command timed out after 10 milliseconds\n", 124), "timeout", 124),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nx", "ok", 2),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", "ok", 0),
        ("Plan updated", "ok", None),
        ("patch rejected by user", "rejected", None),
        ("exec command rejected by user", "rejected", None),
        ("aborted by user after 3.2s", "unknown", None),
        ("unsupported call: fly", "not-executed", None),
        ("failed to parse function arguments: missing field", "not-executed", None),
        (
            "failed in sandbox X with execution error: sandbox denied exec error, exit code: 2, "
            "stdout: , stderr: no",
            "error",
            2,
        ),
        ({"content": "x", "success": True}, "ok", None),
        ({"content": "x", "success": False}, "error", None),
        ([{"type": "input_text", "text": "x"}], "ok", None),
    ],
)
def test_outcomes(value: Any, outcome: str, code: int | None) -> None:
    found = one(value)
    assert (found.status, found.exit_code) == (outcome, code)


def test_a_result_is_the_output_without_the_times() -> None:
    first, second = one(structured("x\n", seconds=0.1)), one(structured("x\n", seconds=0.7))
    assert bytes(first.result) == b'"x\\n"'
    assert first.result_hash == second.result_hash
    third = one("Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx\n")
    fourth = one("Wall time: 9.1 seconds\nProcess exited with code 0\nOutput:\nx\n")
    assert bytes(third.result) == b'"x\\n"'
    assert third.result_hash == fourth.result_hash


def test_a_process_that_goes_on_is_in_the_background() -> None:
    text = "Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nx"
    assert one(text).background
    assert not one("Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nx").background


@pytest.mark.parametrize("note", ["[... omitted 288 of 544 lines ...]", "…12 tokens truncated…"])
def test_cut_output_is_truncated(note: str) -> None:
    assert one(structured(f"a\n{note}\nb")).truncated
    assert not one(structured("a\nb")).truncated


def test_the_files_of_a_patch() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"
    trace = only_trace(
        meta(),
        context(),
        line(
            "response_item", type="custom_tool_call", name="apply_patch", input=patch, call_id="p"
        ),
    )
    assert trace.calls[0].resource == ["file:a.py", "file:b.py"]
    assert trace.calls[0].raw_args == patch


def test_a_call_that_an_interrupt_left_open_is_unknown() -> None:
    trace = only_trace(
        meta(), context(), call("a"), line("event_msg", type="turn_aborted", reason="interrupted")
    )
    assert trace.calls[0].status == "unknown"


def test_a_call_without_an_output_is_missing() -> None:
    assert only_trace(meta(), context(), call("a")).calls[0].status == "missing"


def test_only_people_speak() -> None:
    trace = only_trace(
        meta(),
        said("<environment_context>\n<cwd>/w</cwd>"),
        said("# AGENTS.md instructions for /w\nbe kind"),
        context(),
        call("a"),
        output("a"),
        said("<turn_aborted>\nby hand"),
        context(),
        call("b"),
        said("look again"),
        line("event_msg", type="user_message", message="look again"),
    )
    assert events(trace, UserMessage) == [UserMessage(1)]
    assert trace.task == "look again"


def test_a_command_by_hand_is_the_users_call() -> None:
    text = "<user_shell_command>\n<command>\nmake\n</command>\n<result>\nok\n</result>\n"
    trace = only_trace(meta(), context(), said(text + "</user_shell_command>"))
    assert [(c.origin, bytes(c.args)) for c in trace.calls] == [("user", b'{"command":"make"}')]


def test_compaction_loses_everything_once() -> None:
    trace = only_trace(
        meta(),
        context(),
        call("a"),
        output("a"),
        line("compacted", message="so far"),
        line("event_msg", type="context_compacted"),
    )
    assert events(trace, ContextLoss) == [ContextLoss(0)]


def test_a_prompt_taken_back_loses_its_calls() -> None:
    trace = only_trace(
        meta(),
        said("one"),
        context(),
        call("a"),
        output("a"),
        said("two"),
        context(),
        call("b"),
        output("b"),
        line("event_msg", type="thread_rolled_back", num_turns=1),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "trim", lost=[1])]


def test_a_fork_does_not_own_its_parents_calls() -> None:
    trace = only_trace(
        meta(forked_from_id="thread-0"),
        line("session_meta", START, id="thread-0", cwd="/old"),
        line("turn_context", START, cwd="/w", model="gpt-x"),
        call("a", at=START),
        output("a", at=START),
        context(),
        call("b"),
    )
    assert trace.run == "thread-1"
    assert [c.origin for c in trace.calls] == ["harness", "model"]


def test_a_session_that_forked_from_nothing_owns_its_calls() -> None:
    assert only_trace(meta(), context(), call("a", at=START)).calls[0].origin == "model"


def test_a_line_cut_off_costs_only_itself() -> None:
    data = encoded(meta(), context(), call("a")) + b'{"timestamp": "2025", "type": "resp'
    (trace,) = read_bytes(data)
    assert len(trace.calls) == 1
    assert "still being written" in trace.problems[0].message


def test_glued_lines_are_two() -> None:
    data = encoded(meta(), context()) + encoded(call("a"), call("b")).replace(b"\n", b"", 1)
    (trace,) = read_bytes(data)
    assert [c.call_id for c in trace.calls] == ["a", "b"]


def test_an_odd_field_costs_no_call() -> None:
    odd = call("a")
    odd["payload"]["status"] = 5
    odd["timestamp"] = None
    assert len(only_trace(meta(), context(), odd).calls) == 1


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b"nothing\n", input_format="codex-cli")


def test_the_labels_name_calls(shared_dir: Path) -> None:
    checked = 0
    for row in (shared_dir / "gold/labels.jsonl").read_text("utf-8").splitlines():
        label = json.loads(row)
        if label["file"].startswith("codex-cli/"):
            path = shared_dir / "traces" / label["file"]
            (trace,) = read_bytes(path.read_bytes(), path.name)
            assert trace.calls[label["repeat_seq"]].name == label["tool"]
            checked += 1
    assert checked > 3
