"""Rules of the mini-swe-agent reader, each on a trajectory of a few messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refetch.model.errors import InputError
from refetch.model.trace import Request, Trace, UserMessage
from refetch.readers import read_bytes

RULES = "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."


def assistant(*commands: str, word: str = "bash") -> dict[str, Any]:
    fences = "\n\n".join(f"```{word}\n{command}\n```" for command in commands)
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {
        "role": "assistant",
        "content": f"THOUGHT: look.\n\n{fences}",
        "extra": {"response": {"model": "m-1", "usage": usage}},
    }


def ran(output: str, code: int = 0) -> dict[str, Any]:
    text = f"<returncode>{code}</returncode>\n<output>\n{output}</output>"
    return {"role": "user", "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def document(*messages: dict[str, Any], **info: Any) -> bytes:
    config = {"environment": {"cwd": "/testbed"}, "model": {"model_name": "m-1"}}
    return json.dumps(
        {
            "info": {"exit_status": "Submitted", "config": config, "mini_version": "1.15.0"} | info,
            "messages": [{"role": "system", "content": "rules"}, user("fix it"), *messages],
            "trajectory_format": "mini-swe-agent-1",
            "instance_id": "repo__1",
        }
    ).encode()


def read(*messages: dict[str, Any], **info: Any) -> Trace:
    (trace,) = read_bytes(document(*messages, **info), "t.traj.json")
    return trace


def test_the_header() -> None:
    trace = read(assistant("ls"), ran("a\n"))
    assert (trace.run, trace.format, trace.harness) == ("repo__1", *["mini-swe-agent"] * 2)
    assert (trace.task, trace.model, trace.turns) == ("fix it", "m-1", "recorded")


def test_a_fence_is_a_call_in_a_fresh_shell() -> None:
    (call,) = read(assistant("ls -la"), ran("a\n", 0)).calls
    assert (call.name, bytes(call.args), call.cwd) == ("bash", b'{"command":"ls -la"}', "/testbed")
    assert (call.turn, call.outcome, call.exit_code) == (1, "ok", 0)
    assert bytes(call.result) == b'"a\\n"'


def test_a_failed_command_has_answered() -> None:
    (call,) = read(assistant("grep x a"), ran("", 1)).calls
    assert (call.outcome, call.exit_code, bytes(call.result)) == ("ok", 1, b'""')


def test_a_rejected_message_is_no_call_and_nobody_spoke() -> None:
    trace = read(
        assistant("ls"), ran("a"), assistant("ls", "pwd"), user(RULES), assistant("pwd"), ran("/")
    )
    assert [(c.seq, c.turn) for c in trace.calls] == [(0, 1), (1, 3)]
    assert [e for e in trace.events if type(e) is UserMessage] == [UserMessage(-1)]


def test_a_message_without_a_fence_is_no_call() -> None:
    trace = read(assistant(), user(RULES), assistant("ls"), ran("a"))
    assert len(trace.calls) == 1


def test_a_timeout_is_a_call() -> None:
    killed = "The last command <command>sleep 99</command> timed out and has been killed."
    trace = read(assistant("sleep 99"), user(killed), assistant("ls"), ran("a"))
    assert [c.outcome for c in trace.calls] == ["timeout", "ok"]


def test_the_submission_is_a_call() -> None:
    (call,) = read(assistant("echo MINI_SWE_AGENT_FINAL_OUTPUT"), user("diff --git a b")).calls
    assert (call.outcome, call.exit_code) == ("ok", None)


def test_an_answer_in_no_known_words_is_unknown() -> None:
    trace = read(assistant("ls"), user("Observation: a"), assistant("ls"), ran("a"))
    assert [c.outcome for c in trace.calls] == ["unknown", "ok"]


def test_a_command_that_never_returned_is_missing() -> None:
    (call,) = read(assistant("ls"), exit_status="RuntimeError").calls
    assert call.status == "missing"


def test_elided_output_is_truncated() -> None:
    text = (
        "<returncode>0</returncode>\n<output_head>\na\n</output_head>\n"
        "<elided_chars>\n9 characters elided\n</elided_chars>\n<output_tail>\nb\n</output_tail>"
    )
    cut, whole = read(assistant("cat a"), user(text), assistant("cat b"), ran("b")).calls
    assert cut.truncated
    assert not whole.truncated


def test_a_refused_command_never_ran_and_a_person_spoke() -> None:
    words = "Command not executed. The user rejected your command with the message: no"
    trace = read(assistant("rm -r x"), user(words), assistant("ls"), ran("a"))
    assert trace.calls[0].status == "rejected"
    assert UserMessage(0) in trace.events


def test_usage_belongs_to_its_turn() -> None:
    trace = read(assistant("ls"), ran("a"))
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    assert [e for e in trace.events if type(e) is Request] == [Request(1, "main", "m-1", usage)]


def test_a_bare_list_with_its_own_fences() -> None:
    messages = [user("fix"), assistant("ls", word="mswea_bash_command"), ran("a")]
    (trace,) = read_bytes(json.dumps(messages).encode())
    assert [bytes(c.args) for c in trace.calls] == [b'{"command":"ls"}']
    assert trace.calls[0].cwd is None


def test_tool_calls_of_the_second_version() -> None:
    calls = [
        {"id": f"c{n}", "function": {"name": "bash", "arguments": json.dumps({"command": text})}}
        for n, text in enumerate(("ls", "pwd"))
    ]
    answers = [
        {"role": "tool", "tool_call_id": f"c{n}", "content": text, "extra": {"returncode": n}}
        for n, text in ((1, "/"), (0, "a"))
    ]
    trace = read({"role": "assistant", "content": "", "tool_calls": calls}, *answers)
    assert [(c.call_id, c.turn, c.exit_code) for c in trace.calls] == [("c0", 1, 0), ("c1", 1, 1)]
    assert [bytes(c.result) for c in trace.calls] == [b'"a"', b'"/"']


def test_a_timeout_of_the_second_version() -> None:
    asked = {"role": "assistant", "content": "", "extra": {"actions": [{"command": "sleep 9"}]}}
    extra = {"returncode": -1, "exception_info": "Command 'sleep 9' timed out after 1 seconds"}
    (call,) = read(asked, {"role": "user", "content": "x", "extra": extra}).calls
    assert call.outcome == "timeout"


def test_no_messages_is_an_error() -> None:
    with pytest.raises(InputError, match="no messages"):
        read_bytes(b'{"trajectory_format": "mini-swe-agent-1", "messages": []}')


def test_the_labels_name_the_commands(shared_dir: Path) -> None:
    rows = (shared_dir / "gold/labels.jsonl").read_text("utf-8").splitlines()
    checked = 0
    for label in map(json.loads, rows):
        if label["set"] == "mini-swe-agent":
            path = shared_dir / "traces" / label["file"]
            call = read_bytes(path.read_bytes(), path.name)[0].calls[label["first_seq"]]
            assert json.loads(bytes(call.args))["command"].startswith(label["tool"])
            checked += 1
    assert checked > 20
