"""Rules of the Gemini CLI reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events, only_trace

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Request, Trace, UserMessage
from refetch.readers import read_bytes

HEAD = {"sessionId": "s1", "projectHash": "p1"}


def tool(
    name: str,
    args: dict[str, Any],
    output: str | None = "x",
    status: str | None = "success",
    key: str = "output",
) -> dict[str, Any]:
    answer = [{"functionResponse": {"id": "i", "name": name, "response": {key: output}}}]
    return {
        "id": f"{name}-1",
        "name": name,
        "args": args,
        "result": None if output is None else answer,
        "status": status,
        "timestamp": "2026-01-10T20:25:11.495Z",
    }


def gemini(*calls: dict[str, Any], key: str = "m") -> dict[str, Any]:
    return {
        "id": key,
        "type": "gemini",
        "content": "",
        "model": "gemini-x",
        "tokens": {"input": 5, "output": 1},
        "toolCalls": list(calls),
    }


def user(text: str, key: str = "u") -> dict[str, Any]:
    return {"id": key, "type": "user", "content": text}


def read(*messages: dict[str, Any]) -> Trace:
    (trace,) = read_bytes(json.dumps(HEAD | {"messages": list(messages)}).encode(), "c.json")
    return trace


def shell(output: str, status: str = "success") -> Any:
    return read(gemini(tool("run_shell_command", {"command": "x"}, output, status))).calls[0]


def printed(code: int, pgid: int = 7, background: str = "(none)") -> str:
    return (
        f"Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: {code}\nSignal: 0\n"
        f"Background PIDs: {background}\nProcess Group PGID: {pgid}"
    )


def test_the_header() -> None:
    trace = read(user("do it"), gemini(tool("read_file", {"file_path": "a"})))
    assert (trace.run, trace.format, trace.harness) == ("s1", "gemini-cli", "gemini-cli")
    assert (trace.task, trace.model) == ("do it", "gemini-x")
    assert trace.paths == {0: "$.messages[1].toolCalls[0]"}
    assert Request(1, "main", "gemini-x", {"input": 5, "output": 1}) in trace.events


def test_a_message_is_a_turn() -> None:
    trace = read(
        gemini(tool("a", {}), tool("b", {})), user("more"), gemini(tool("a", {"n": 1}), key="n")
    )
    assert [(c.name, c.turn) for c in trace.calls] == [("a", 1), ("b", 1), ("a", 2)]
    assert events(trace, UserMessage) == [UserMessage(1)]
    assert bytes(trace.calls[0].result) == b'"x"'
    assert trace.calls[0].ended == "2026-01-10T20:25:11.495Z"


@pytest.mark.parametrize(
    ("status", "output", "outcome"),
    [
        ("success", "x", "ok"),
        ("error", "No such file", "error"),
        ("error", 'Tool "fly" not found in registry', "not-executed"),
        ("cancelled", "[Operation Cancelled] Reason: User denied execution.", "rejected"),
        ("cancelled", "[Operation Cancelled] Reason: User did not allow tool call", "rejected"),
        ("cancelled", "[Operation Cancelled] Reason: User cancelled tool execution.", "unknown"),
        ("cancelled", "[Operation Cancelled]", "unknown"),
        ("cancelled", None, "unknown"),
        (None, None, "missing"),
    ],
)
def test_outcomes(status: str | None, output: str | None, outcome: str) -> None:
    assert read(gemini(tool("a", {}, output, status))).calls[0].status == outcome


def test_a_command_with_an_exit_code_has_answered() -> None:
    call = shell(printed(1), "error")
    assert (call.status, call.exit_code, call.background) == ("ok", 1, False)
    assert shell(printed(0, background="12")).background


def test_process_ids_are_no_difference() -> None:
    assert shell(printed(0, 7)).result_hash == shell(printed(0, 8)).result_hash
    assert shell(printed(0)).result_hash != shell(printed(1)).result_hash


def test_a_note_names_the_lines_shown() -> None:
    note = "IMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-20 of 90 total"
    cut, whole = (
        read(gemini(tool("read_file", {"file_path": "a"}, text))).calls[0] for text in (note, "x")
    )
    assert (cut.delivered, cut.truncated) == ({"unit": "line", "from": 1, "to": 20}, True)
    assert (whole.delivered, whole.truncated) == (None, False)


def test_lines_that_repeat_a_message_are_one() -> None:
    trace = only_trace(
        HEAD, user("x"), gemini(tool("a", {}, None, None)), gemini(tool("a", {}), tool("b", {}))
    )
    assert [(c.name, c.status, c.turn) for c in trace.calls] == [("a", "ok", 1), ("b", "ok", 1)]


def test_going_back_loses_what_followed() -> None:
    trace = only_trace(
        HEAD,
        user("x", "1"),
        gemini(tool("a", {}), key="2"),
        user("y", "3"),
        gemini(tool("b", {}), key="4"),
        {"$rewindTo": "3"},
        user("z", "5"),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "trim", lost=[1])]


def test_a_new_history_loses_what_it_lacks_or_tells_otherwise() -> None:
    def asked(name: str, output: str) -> dict[str, Any]:
        answer = {"functionResponse": {"id": f"{name}-1", "response": {"output": output}}}
        return tool(name, {}) | {"result": [answer]}

    first = gemini(asked("a", "x"), key="1")
    second = gemini(asked("b", "x"), asked("c", "x"), key="2")
    masked = gemini(asked("b", "[masked]"), asked("c", "x"), key="2")
    trace = only_trace(
        HEAD,
        {"$set": {"lastUpdated": "2026"}},
        first,
        second,
        {"$set": {"messages": [user("a summary"), masked]}},
        gemini(asked("a", "x"), key="3"),
    )
    assert events(trace, ContextLoss) == [ContextLoss(2, "compaction", lost=[0, 1])]


def test_a_new_history_tells_the_results_of_a_turn_at_each_call() -> None:
    answers = [
        {"functionResponse": {"id": f"{name}-1", "response": {"output": name}}} for name in "ab"
    ]
    own = [tool(name, {}) | {"result": [part]} for name, part in zip("ab", answers, strict=True)]
    whole = [tool(name, {}) | {"result": answers} for name in "ab"]
    history = {"$set": {"messages": [gemini(*whole, key="1")]}}
    trace = only_trace(HEAD, gemini(*own, key="1"), history, gemini(tool("c", {}), key="2"))
    assert events(trace, ContextLoss) == []


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("Command was automatically cancelled because it exceeded the timeout", "timeout"),
        ("<untrusted_context>\nCommand was automatically cancelled because", "timeout"),
        ("Command was cancelled by user before it could complete. Below", "unknown"),
        ("Output: a\nError: (none)\nExit Code: (none)\nSignal: 15\nBackground", "unknown"),
        ("Output: a\nError: (none)\nExit Code: (none)\nSignal: (none)\n", "ok"),
    ],
)
@pytest.mark.parametrize("status", ["success", "error"])
def test_a_command_that_did_not_end_by_itself(output: str, outcome: str, status: str) -> None:
    expected = status if outcome == "ok" and status == "error" else outcome
    assert shell(output, status).status == expected


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b"5\n", input_format="gemini-cli")


def test_one_odd_result_changes_nothing_about_the_others() -> None:
    """The usual form is read in one pass, everything else the long way."""
    usual = [
        gemini(tool("a", {"x": 1}, "one"), tool("b", {}, "no", "error", "error"), key="m1"),
        user("go on"),
        gemini(tool("run_shell_command", {"command": "x"}, printed(3)), tool("c", {}, None)),
    ]
    odd = tool("d", {}, "two")
    odd["result"][0]["functionResponse"]["response"]["more"] = 1
    for last in (odd, tool("d", {}, 5), {**odd, "result": "text"}):  # type: ignore[arg-type]
        trace = read(*usual, gemini(last, key="m3"))
        assert trace.calls[:-1] == read(*usual).calls
        assert trace.calls[-1].status == "ok"
