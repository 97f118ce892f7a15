"""Rules of the ATIF reader, on documents that the format's own package accepts."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events

from refetch.model.errors import InputError
from refetch.model.trace import ContextStart, Request, Trace, UserMessage
from refetch.readers import read_bytes


def call(key: str, name: str = "read", args: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"tool_call_id": key, "function_name": name, "arguments": args or {"path": "a"}}


def agent(
    *calls: dict[str, Any], results: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": "", "tool_calls": list(calls)}
    if results is not None:
        step["observation"] = {"results": results}
    return step | more


def told(key: str | None, content: str = "x", **more: Any) -> dict[str, Any]:
    return {"source_call_id": key, "content": content} | more


def user(text: str) -> dict[str, Any]:
    return {"source": "user", "message": text}


def document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    numbered = [{"step_id": n} | step for n, step in enumerate(steps, 1)]
    about = {"name": "codex", "version": "1", "model_name": "m-1", "extra": {"cwd": "/w"}}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "s1",
        "agent": about,
        "steps": numbered,
    } | more


def read(*steps: dict[str, Any], **more: Any) -> Trace:
    data = document(*steps, **more)
    if find_spec("atif") is not None:
        import_module("atif").Trajectory.model_validate(data)
    (trace,) = read_bytes(json.dumps(data).encode(), "t.json")
    return trace


def test_the_header() -> None:
    trace = read(user("do it"), agent(call("a"), results=[told("a")], metrics={"prompt_tokens": 5}))
    assert (trace.run, trace.format, trace.harness) == ("s1", "atif", "codex-cli")
    assert (trace.task, trace.model, trace.order) == ("do it", "m-1", "recorded")
    assert Request(1, "main", None, {"prompt_tokens": 5}) in trace.events
    assert trace.calls[0].cwd == "/w"


def test_results_by_id_and_missing_ones() -> None:
    trace = read(
        agent(call("a"), call("b"), call("c"), results=[told("c", "C"), told("a", "A")]),
        agent(call("d")),
    )
    assert [(c.turn, c.status) for c in trace.calls] == [
        (1, "ok"),
        (1, "missing"),
        (1, "ok"),
        (2, "missing"),
    ]
    assert bytes(trace.calls[2].result) == b'"C"'


def test_results_without_ids_pair_in_order() -> None:
    trace = read(agent(call("a"), call("b"), results=[told(None, "A"), told(None, "B")]))
    assert [bytes(c.result) for c in trace.calls] == [b'"A"', b'"B"']


@pytest.mark.parametrize(
    ("content", "outcome", "code"),
    [
        ("fine", "ok", None),
        ("Error: no such file", "unknown", None),
        ("<tool_use_error>no", "unknown", None),
        ("Exit code 2\nx", "ok", 2),
        ("patch rejected by user", "rejected", None),
    ],
)
def test_outcomes(content: str, outcome: str, code: int | None) -> None:
    found = read(agent(call("a"), results=[told("a", content)])).calls[0]
    assert (found.status, found.exit_code) == (outcome, code)


def test_what_a_converter_kept_beside_the_call() -> None:
    details = {"a": {"metadata": {"exit_code": 1}, "raw_arguments": '{"path":"a"}'}}
    found = read(
        agent(
            call("a", "shell", {"command": ["ls"], "workdir": "sub"}),
            results=[told("a", "")],
            extra={"tool_call_details": details},
        )
    ).calls[0]
    assert (found.exit_code, found.raw_args, found.cwd) == (1, '{"path":"a"}', "/w/sub")


def test_copied_context_is_passed_over() -> None:
    trace = read(
        agent(call("a"), results=[told("a")], is_copied_context=True),
        agent(call("b"), results=[told("b")]),
    )
    assert [(c.call_id, c.seq, c.turn) for c in trace.calls] == [("b", 0, 1)]


def test_a_step_without_a_model_is_the_harness() -> None:
    trace = read(agent(call("a"), llm_call_count=0), agent(call("b"), llm_call_count=1))
    assert [(c.origin, c.turn) for c in trace.calls] == [("harness", 0), ("model", 1)]


def test_sub_agents_are_contexts() -> None:
    child = document(agent(call("b"), results=[told("b")]), trajectory_id="child")
    reference = {"trajectory_id": "child"}
    trace = read(
        agent(call("a", "task"), results=[told("a", "", subagent_trajectory_ref=[reference])]),
        subagent_trajectories=[child],
    )
    assert [(c.call_id, c.context) for c in trace.calls] == [("a", "main"), ("b", "child")]
    assert events(trace, ContextStart) == [ContextStart("child", 0, model="m-1")]
    assert trace.order == "inferred"


def test_only_people_speak() -> None:
    trace = read(
        user("<environment_context>x"),
        agent(call("a")),
        user("[Request interrupted by user]"),
        agent(call("b")),
        user("again"),
    )
    assert events(trace, UserMessage) == [UserMessage(1)]


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b'{"schema_version": "ATIF-v1.7", "steps": []}')
