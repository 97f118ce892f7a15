"""Rules of the LangSmith reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events, only_trace

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import ContextStart, Request, Trace, UserMessage
from refetch.readers import read_bytes


def run(key: str, kind: str, second: int, parent: str | None = "root", **more: Any) -> Any:
    fields: dict[str, Any] = {
        "id": key,
        "name": key,
        "run_type": kind,
        "trace_id": "t",
        "parent_run_id": parent,
        "start_time": f"2025-06-01T00:00:{second:02}+00:00",
        "end_time": f"2025-06-01T00:00:{second:02}.500000+00:00",
        "error": None,
        "inputs": {},
        "outputs": {},
    }
    return fields | more


def llm(key: str, second: int, *calls: tuple[str, str, Any], **more: Any) -> Any:
    asked = [{"name": n, "args": a, "id": i, "type": "tool_call"} for i, n, a in calls]
    message = {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"]}
    outputs = {"generations": [[{"message": message | {"kwargs": {"tool_calls": asked}}}]]}
    return run(key, "llm", second, **({"outputs": outputs} | more))


def tool(key: str, second: int, call_id: str, args: Any, answer: Any, **more: Any) -> Any:
    outputs = {"output": {"type": "tool", "tool_call_id": call_id, "content": answer}}
    return run(key, "tool", second, **({"inputs": args, "outputs": outputs, "name": "get"} | more))


def node(name: str, space: str) -> dict[str, Any]:
    return {"metadata": {"langgraph_node": name, "langgraph_checkpoint_ns": space}}


ROOT = run("root", "chain", 0, None)


def outline(trace: Trace) -> list[tuple[str, int, str | None, str]]:
    return [(c.context, c.turn, c.call_id, c.status) for c in trace.calls]


def test_a_request_and_its_tool() -> None:
    trace = only_trace(
        ROOT,
        llm("m1", 1, ("c1", "get", {"k": 1}), extra={"metadata": {"ls_model_name": "m-1"}}),
        tool("g1", 2, "c1", {"k": 1}, "one"),
    )
    (call,) = trace.calls
    assert (trace.run, trace.format, trace.turns) == ("t", "langsmith", "recorded")
    assert (call.name, bytes(call.args), bytes(call.result)) == ("get", b'{"k":1}', b'"one"')
    assert outline(trace) == [("main", 1, "c1", "ok")]
    assert call.started == "2025-06-01T00:00:02+00:00"
    assert [r.model for r in events(trace, Request)] == ["m-1"]


def test_a_batch_is_one_turn() -> None:
    trace = only_trace(
        ROOT,
        llm("m1", 1, ("c1", "get", {"k": 1}), ("c2", "get", {"k": 2})),
        tool("g2", 2, "c2", {"k": 2}, "two"),
        tool("g1", 2, "c1", {"k": 1}, "one"),
        llm("m2", 4, ("c3", "get", {"k": 1})),
    )
    assert outline(trace) == [
        ("main", 1, "c1", "ok"),
        ("main", 1, "c2", "ok"),
        ("main", 2, "c3", "missing"),
    ]
    assert [bytes(c.result) for c in trace.calls[:2]] == [b'"one"', b'"two"']


@pytest.mark.parametrize(
    ("error", "outcome"), [("ValueError('no')", "error"), ("ReadTimeout: 30 s", "timeout")]
)
def test_an_error(error: str, outcome: str) -> None:
    trace = only_trace(
        ROOT,
        llm("m1", 1, ("c1", "get", {"k": 1})),
        run("g1", "tool", 2, name="get", inputs={"k": 1}, outputs=None, error=error),
    )
    assert [(c.call_id, c.status, c.error) for c in trace.calls] == [("c1", outcome, error)]


def test_a_tool_message_of_an_error() -> None:
    outputs = {"output": {"tool_call_id": "c1", "content": "bad key", "status": "error"}}
    trace = only_trace(ROOT, tool("g1", 2, "c1", {"k": 1}, "", outputs=outputs))
    assert [(c.status, c.error) for c in trace.calls] == [("error", "bad key")]


def test_a_second_attempt_is_a_call_of_the_same_turn() -> None:
    trace = only_trace(
        ROOT,
        llm("m1", 1, ("c1", "get", {"k": 1})),
        tool("g1", 2, "c1", {"k": 1}, "", error="503"),
        tool("g2", 3, "c1", {"k": 1}, "one"),
    )
    assert outline(trace) == [("main", 1, "c1", "error"), ("main", 1, "c1", "ok")]
    assert check(trace).findings == []


def test_a_text_for_arguments() -> None:
    trace = only_trace(ROOT, tool("g1", 1, "c1", {"input": "{'k': 1}"}, "one"))
    assert [(bytes(c.args), c.raw_args) for c in trace.calls] == [(b"", "{'k': 1}")]


def test_different_texts_are_different_arguments() -> None:
    trace = only_trace(
        ROOT,
        tool("g1", 1, "c1", {"input": "{'k': 1}"}, "same"),
        tool("g2", 3, "c2", {"input": "{'k': 2}"}, "same"),
    )
    assert check(trace).findings == []


def test_people_are_counted_in_prompts() -> None:
    prompt = {"messages": [[{"type": "human", "content": "hi"}]]}
    trace = only_trace(ROOT, llm("m1", 1, inputs=prompt), llm("m2", 2, inputs=prompt))
    assert events(trace, UserMessage) == [UserMessage(-1)]


def test_a_tree_tells_what_its_runs_tell() -> None:
    flat = [llm("m1", 1, ("c1", "get", {"k": 1})), tool("g1", 2, "c1", {"k": 1}, "one")]
    children = [{k: v for k, v in r.items() if k != "parent_run_id"} for r in flat]
    (tree,) = read_bytes(json.dumps(ROOT | {"child_runs": children}).encode(), "s.jsonl")
    assert tree.calls == only_trace(ROOT, *flat).calls
    assert tree.paths == {0: "$.child_runs[0]"}


def test_each_trace_id_is_a_trace() -> None:
    runs = [llm("m1", 1, ("c1", "get", {})), llm("m2", 1, ("c1", "get", {}), trace_id="u")]
    assert [t.run for t in read_bytes(json.dumps(runs).encode())] == ["t", "u"]


# Sub-agents. All runs below a node inherit the node's name, the graph of a sub-agent too.

MAIN_GRAPH = [
    ROOT,
    run("agent", "chain", 1, extra=node("agent", "agent:1")),
    llm("m1", 1, ("c1", "get", {"k": 1}), parent_run_id="agent", extra=node("agent", "agent:1")),
    run("tools", "chain", 2, extra=node("tools", "tools:2")),
    tool("g1", 2, "c1", {"k": 1}, "one", parent_run_id="tools", extra=node("tools", "tools:2")),
    llm("m2", 3, ("c2", "ask", {"q": 1}), extra=node("agent", "agent:3")),
    tool("a1", 4, "c2", {"q": 1}, "done", name="ask", extra=node("tools", "tools:4")),
]
IN_SUB = [node("agent", "tools:4|agent:5"), node("tools", "tools:4|tools:6")]
SUB_GRAPH = [
    run("sub", "chain", 5, "a1", extra=node("tools", "tools:4")),
    llm("m3", 5, ("c3", "get", {"k": 1}), parent_run_id="sub", extra=IN_SUB[0]),
    tool("g3", 6, "c3", {"k": 1}, "one", parent_run_id="sub", extra=IN_SUB[1]),
]
EXPECTED = [("main", 1, "c1", "ok"), ("main", 2, "c2", "ok"), ("sub", 1, "c3", "ok")]


def test_a_sub_graph_is_a_context() -> None:
    trace = only_trace(*MAIN_GRAPH, *SUB_GRAPH)
    assert outline(trace) == EXPECTED
    assert events(trace, ContextStart) == [ContextStart("sub", 1)]
    assert not [f for f in check(trace).findings if f.level == "flag"]


def test_the_order_of_lines_is_no_matter() -> None:
    assert outline(only_trace(*reversed([*MAIN_GRAPH, *SUB_GRAPH]))) == EXPECTED


def test_requests_straight_in_a_tool_are_a_context() -> None:
    inside = [
        llm("m3", 5, ("c3", "get", {"k": 1}), parent_run_id="a1"),
        tool("g3", 6, "c3", {"k": 1}, "one", parent_run_id="a1"),
    ]
    bare = [{**r, "extra": {}, "parent_run_id": "root"} for r in MAIN_GRAPH if r is not ROOT]
    bare.append(ROOT)
    assert [c.context for c in only_trace(*bare, *inside).calls] == ["main", "main", "ask"]


def ordered(runs: list[Any], *around: str) -> list[Any]:
    above = ".".join(f"20250601T000000000000Z{key}" for key in around)
    return [r | {"dotted_order": f"{above}.20250601T000001000000Z{r['id']}"} for r in runs]


def test_an_export_without_chains() -> None:
    kept = ordered([r for r in MAIN_GRAPH if r["run_type"] != "chain"], "root")
    inside = ordered([r for r in SUB_GRAPH if r["run_type"] != "chain"], "root", "a1", "sub")
    trace = only_trace(*kept, *inside)
    assert [c.context for c in trace.calls] == ["main", "main", "ask"]


def test_an_export_of_tools_alone() -> None:
    kept = ordered([r for r in MAIN_GRAPH if r["run_type"] == "tool"], "root", "tools")
    inside = ordered([r for r in SUB_GRAPH if r["run_type"] == "tool"], "root", "a1", "sub")
    trace = only_trace(*kept, *inside)
    assert [c.context for c in trace.calls] == ["main", "main", "ask"]
    assert trace.turns == "inferred"
    assert not [f for f in check(trace).findings if f.level == "flag"]


ODD = {
    "times": {"start_time": "soon", "end_time": []},
    "itself for parent": {"parent_run_id": "g1"},
    "an order of another type": {"dotted_order": 7, "parent_run_id": "gone"},
    "an order that names itself": {"dotted_order": "Zg1.Zg1", "parent_run_id": "gone"},
    "inputs of another type": {"inputs": [1], "outputs": "x", "extra": 3},
    "an error of another type": {"error": {"a": 1}},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_runs_end_nothing(name: str) -> None:
    odd = tool("g1", 2, "c1", {"k": 1}, "one") | ODD[name]
    trace = only_trace(ROOT, odd, llm("m2", 3, ("c2", "get", {})))
    assert {"c2"} <= {c.call_id for c in trace.calls}


def test_runs_around_each_other() -> None:
    trace = only_trace(
        run("a", "tool", 1, "b", name="x"), run("b", "tool", 2, "a", name="y"), llm("m", 3)
    )
    assert len(trace.calls) == 2


def test_a_deep_tree_ends() -> None:
    deep: dict[str, Any] = {}
    for at in range(150):
        deep = run(f"r{at}", "chain", 1) | {"child_runs": [deep] if deep else []}
    assert len(read_bytes(json.dumps(deep).encode())) == 1


@pytest.mark.parametrize("data", [b"[]", b'{"runs": []}', b"[1]", b"x", b'{"a"'])
def test_nothing_readable_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        read_bytes(data, "f", "langsmith")
