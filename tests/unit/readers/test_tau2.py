"""Rules of the tau2-bench reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refetch.model.errors import InputError
from refetch.model.trace import ContextStart, Request, Trace, UserMessage
from refetch.readers import read_bytes


def asked(role: str, *calls: tuple[str, str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "role": role,
        "content": None,
        "tool_calls": [
            {"id": key, "name": name, "arguments": args, "requestor": role}
            for key, name, args in calls
        ],
    } | more


def told(
    key: str, content: str | None, requestor: str = "assistant", **more: Any
) -> dict[str, Any]:
    return {"role": "tool", "id": key, "content": content, "requestor": requestor} | more


def simulation(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"id": "s", "task_id": "7", "trial": 0, "reward_info": None, "messages": list(messages)}


def read(*messages: dict[str, Any]) -> Trace:
    info = {"agent_info": {"llm": "gpt-x"}, "user_info": {"llm": "gpt-u"}}
    data = {"info": info, "tasks": [], "simulations": [simulation(*messages)]}
    (trace,) = read_bytes(json.dumps(data).encode(), "t.json")
    return trace


def test_the_header() -> None:
    trace = read(asked("assistant", ("a", "f", {})), told("a", "1"))
    assert (trace.run, trace.model, trace.harness) == ("s|task=7|trial=0", "gpt-x", None)
    assert trace.paths == {0: "$.simulations[0].messages[0].tool_calls[0]"}


def test_a_bare_list() -> None:
    rows = [simulation(asked("assistant", ("a", "f", {}))), simulation()]
    traces = read_bytes(json.dumps(rows).encode())
    assert [len(trace.calls) for trace in traces] == [1, 0]


def test_the_simulated_user_has_a_context_of_its_own() -> None:
    trace = read(
        asked("assistant", ("a", "f", {})),
        told("a", "1"),
        {"role": "assistant", "content": "Please toggle it."},
        asked("user", ("a", "toggle", {})),
        told("a", "on", "user"),
        {"role": "user", "content": "Done."},
        asked("assistant", ("b", "f", {})),
    )
    assert [(c.seq, c.context, c.turn) for c in trace.calls] == [
        (0, "main", 1),
        (1, "user", 1),
        (2, "main", 3),
    ]
    assert [bytes(c.result) for c in trace.calls[:2]] == [b'"1"', b'"on"']
    assert ContextStart("user", model="gpt-u") in trace.events
    assert [e for e in trace.events if type(e) is UserMessage] == [
        UserMessage(0, "user"),
        UserMessage(1, "main"),
    ]


def test_a_user_without_tools_is_no_context() -> None:
    trace = read({"role": "user", "content": "Hi"}, asked("assistant", ("a", "f", {})))
    assert {getattr(e, "context", "main") for e in trace.events} == {"main"}


@pytest.mark.parametrize(
    ("content", "flag", "outcome"),
    [
        ("Error: no such user", False, "error"),
        ("anything", True, "error"),
        ("Error: Tool 'fly' not found.", True, "not-executed"),
        ("No error", False, "ok"),
        (None, False, "ok"),
    ],
)
def test_outcomes(content: str | None, flag: bool, outcome: str) -> None:
    trace = read(asked("assistant", ("a", "f", {})), told("a", content, error=flag))
    assert trace.calls[0].status == outcome


def test_results_in_one_message() -> None:
    both = {"role": "tool", "tool_messages": [told("b", "2"), told("a", "1")]}
    trace = read(asked("assistant", ("a", "f", {}), ("b", "f", {"n": 1})), both)
    assert [bytes(c.result) for c in trace.calls] == [b'"1"', b'"2"']


def test_a_reused_id_answers_the_latest_turn() -> None:
    trace = read(
        asked("assistant", ("a", "f", {"n": 1})),
        asked("assistant", ("a", "f", {"n": 2})),
        told("a", "2"),
    )
    assert [c.status for c in trace.calls] == ["missing", "ok"]


def test_the_argument_text_comes_from_the_provider() -> None:
    raw = {"message": {"tool_calls": [{"function": {"name": "f", "arguments": '{"n": 5.0}'}}]}}
    trace = read(asked("assistant", ("a", "f", {"n": 5}), raw_data=raw))
    assert trace.calls[0].raw_args == '{"n": 5.0}'


def test_another_call_in_the_providers_answer_is_not_taken() -> None:
    raw = {"message": {"tool_calls": [{"function": {"name": "g", "arguments": "{}"}}]}}
    trace = read(asked("assistant", ("a", "f", {"n": 5}), raw_data=raw))
    assert trace.calls[0].raw_args is None


def test_usage_and_times() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    trace = read(
        asked("assistant", ("a", "f", {}), usage=usage),
        told("a", "1", timestamp="2025-08-01T16:20:44"),
    )
    assert Request(1, "main", "gpt-x", usage) in trace.events
    assert trace.calls[0].ended == "2025-08-01T16:20:44"


def test_odd_fields_cost_no_call() -> None:
    message = asked("assistant", ("a", "f", {}), timestamp=5, usage="none", id=7)
    assert len(read(message).calls) == 1


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b'{"simulations": [], "tasks": []}')


def test_the_labels_name_the_tools(shared_dir: Path) -> None:
    checked = 0
    for line in (shared_dir / "gold/labels.jsonl").read_text("utf-8").splitlines():
        label = json.loads(line)
        if label["set"] == "tau2":
            path = shared_dir / "traces" / label["file"]
            trace = read_bytes(path.read_bytes(), path.name)[label["trace_index"]]
            call = trace.calls[label["repeat_seq"]]
            assert (trace.run, call.name) == (label["run"], label["tool"])
            assert call.context == label["context"]
            checked += 1
    assert checked > 10
