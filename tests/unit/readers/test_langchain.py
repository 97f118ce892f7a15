"""Rules of the LangChain reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Request, Trace, UserMessage
from refetch.readers import read_bytes


def asks(own: str | None, *calls: tuple[str, str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    asked = [{"name": n, "args": a, "id": i, "type": "tool_call"} for i, n, a in calls]
    return {"type": "ai", "content": "", "id": own, "tool_calls": asked} | more


def tells(own: str | None, call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool", "content": content, "id": own, "tool_call_id": call_id} | more


HUMAN = {"type": "human", "content": "find x", "id": "h"}
NORMAL = [HUMAN, asks("a1", ("c1", "get", {"k": 1})), tells("t1", "c1", "one")]


def constructor(message: dict[str, Any]) -> dict[str, Any]:
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    path = ["langchain", "schema", "messages", names[message["type"]]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": message}


def tagged(message: dict[str, Any]) -> dict[str, Any]:
    return {"type": message["type"], "data": message}


def read(messages: Any) -> Trace:
    (trace,) = read_bytes(json.dumps(messages).encode(), "s.json")
    return trace


def outline(trace: Trace) -> list[tuple[int, str, str, str]]:
    return [(c.turn, c.name, bytes(c.args).decode(), c.status) for c in trace.calls]


ENCODINGS = {
    "dumps": [constructor(m) for m in NORMAL],
    "messages_to_dict": [tagged(m) for m in NORMAL],
    "model_dump": NORMAL,
    "a state": {"messages": NORMAL},
    "a state as dumped": {"messages": [constructor(m) for m in NORMAL]},
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_tells_the_same(name: str) -> None:
    trace = read(ENCODINGS[name])
    assert (trace.format, trace.task, trace.turns) == ("langchain", "find x", "recorded")
    assert outline(trace) == [(1, "get", '{"k": 1}', "ok")]
    assert bytes(trace.calls[0].result) == b'"one"'
    assert events(trace, UserMessage) == [UserMessage(-1)]


def test_lines_of_messages() -> None:
    trace = only_trace(*NORMAL)
    assert outline(trace) == [(1, "get", '{"k": 1}', "ok")]
    assert trace.lines == {0: 2}


def test_a_batch_is_one_turn() -> None:
    calls = [("c1", "get", {"k": 1}), ("c2", "get", {"k": 2})]
    trace = read([asks("a1", *calls), tells("t2", "c2", "two"), tells("t1", "c1", "one")])
    assert [(c.turn, c.call_id, bytes(c.result)) for c in trace.calls] == [
        (1, "c1", b'"one"'),
        (1, "c2", b'"two"'),
    ]


@pytest.mark.parametrize(
    ("content", "outcome"),
    [("no such key", "error"), ("Error: TimeoutError()", "timeout")],
)
def test_a_failed_call(content: str, outcome: str) -> None:
    trace = read([asks("a1", ("c1", "get", {})), tells("t1", "c1", content, status="error")])
    assert [(c.status, c.error) for c in trace.calls] == [(outcome, content)]


def test_a_missing_result() -> None:
    trace = read([asks("a1", ("c1", "get", {})), tells("t1", "other", "x")])
    assert [c.status for c in trace.calls] == ["missing"]


def test_arguments_that_could_not_be_read_never_ran() -> None:
    broken = {"name": "get", "args": '{"k":', "id": "c1", "error": "bad JSON"}
    trace = read([asks("a1", invalid_tool_calls=[broken])])
    assert [(c.status, c.raw_args, c.call_id) for c in trace.calls] == [
        ("not-executed", '{"k":', "c1")
    ]


def test_calls_that_only_the_provider_names() -> None:
    sent = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"k": 1}'}}
    trace = read([asks("a1", additional_kwargs={"tool_calls": [sent]}), tells("t1", "c1", "one")])
    assert [(c.name, c.raw_args, c.status) for c in trace.calls] == [("get", '{"k": 1}', "ok")]


def test_usage_and_model() -> None:
    usage = {"input_tokens": 3, "output_tokens": 2}
    trace = read([asks("a1", usage_metadata=usage, response_metadata={"model_name": "m-1"})])
    assert events(trace, Request) == [Request(1, "main", "m-1", usage)]
    assert trace.model == "m-1"


def test_snapshots_repeat_nothing() -> None:
    more = [*NORMAL, asks("a2", ("c2", "get", {"k": 2})), tells("t2", "c2", "two")]
    trace = only_trace({"messages": NORMAL}, {"messages": more})
    assert [c.call_id for c in trace.calls] == ["c1", "c2"]
    assert events(trace, ContextLoss) == []


def test_a_state_without_an_earlier_result_has_lost_it() -> None:
    later = [HUMAN, asks("a2", ("c2", "get", {"k": 1})), tells("t2", "c2", "one")]
    trace = only_trace({"messages": NORMAL}, {"messages": later}, {"messages": later})
    assert events(trace, ContextLoss) == [ContextLoss(0, "trim", "main", [0])]
    assert not [f for f in check(trace).findings if f.level == "flag"]


def test_updates_are_no_whole_states() -> None:
    trace = only_trace(
        {"agent": {"messages": [NORMAL[1]]}},
        {"tools": {"messages": [NORMAL[2]]}},
        {"agent": {"messages": [asks("a2", ("c2", "get", {"k": 1}))]}},
    )
    assert [(c.turn, c.status) for c in trace.calls] == [(1, "ok"), (2, "missing")]
    assert events(trace, ContextLoss) == []


@pytest.mark.parametrize(("own", "lost"), [("t1", [0]), ("__remove_all__", None)])
def test_removed_messages_are_lost(own: str, lost: list[int] | None) -> None:
    trace = only_trace(*NORMAL, {"type": "remove", "content": "", "id": own})
    assert events(trace, ContextLoss) == [ContextLoss(0, "trim", "main", lost)]


def piece(own: str, text: str | None, call_id: str | None = None, at: int = 0) -> dict[str, Any]:
    name = "read" if call_id else None
    shown: list[Any] = [{"name": name or "", "args": {}, "id": call_id, "type": "tool_call"}]
    chunk = {"name": name, "args": text, "id": call_id, "index": at, "type": "tool_call_chunk"}
    fields = {"content": "", "id": own, "tool_calls": shown, "tool_call_chunks": [chunk]}
    return {"type": "AIMessageChunk"} | fields


def test_a_streamed_message_is_joined() -> None:
    trace = only_trace(
        piece("a1", "", "c1"),
        piece("a1", '{"path": '),
        piece("a1", "", "c2", 1),
        piece("a1", '"a"}'),
        piece("a1", '{"path": "b"}', None, 1),
        tells("t1", "c1", "x"),
    )
    assert outline(trace) == [
        (1, "read", '{"path": "a"}', "ok"),
        (1, "read", '{"path": "b"}', "missing"),
    ]
    assert trace.calls[0].raw_args == '{"path": "a"}'


def test_streamed_reads_of_different_files_are_not_one() -> None:
    trace = only_trace(
        piece("a1", "", "c1"),
        piece("a1", '{"path": "a"}'),
        tells("t1", "c1", "same"),
        piece("a2", "", "c2"),
        piece("a2", '{"path": "b"}'),
        tells("t2", "c2", "same"),
    )
    assert check(trace).findings == []


ODD = {
    "a call that is no object": asks("a1", tool_calls=[None, 3, "x"]),
    "calls that are no list": asks("a1", tool_calls={"a": 1}),
    "a name that is no text": asks("a1", tool_calls=[{"name": 5, "args": [], "id": 7}]),
    "metadata of another type": asks("a1", usage_metadata=[1], response_metadata="x"),
    "a result of nothing": tells(None, "c1", None),
    "chunks without index": {"type": "AIMessageChunk", "content": "", "tool_call_chunks": [{}, 1]},
    "arguments that are a number": piece("a1", None) | {"tool_call_chunks": [{"args": 3}]},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_messages_end_nothing(name: str) -> None:
    trace = only_trace(*NORMAL, ODD[name], asks("z", ("c9", "get", {"k": 9})), reader="langchain")
    assert (trace.calls[0].call_id, trace.calls[-1].call_id) == ("c1", "c9")


@pytest.mark.parametrize("data", [b"[]", b'{"messages": []}', b"[1, 2]", b"\xff\xfe", b"[[[["])
def test_nothing_readable_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        read_bytes(data, "f", "langchain")


def test_a_broken_line_is_named() -> None:
    trace = only_trace(*NORMAL)
    (broken,) = read_bytes(encoded(*NORMAL) + b'{"type": "ai", \n', "f")
    assert outline(broken) == outline(trace)
    assert [(p.line, p.path is not None or p.message != "") for p in broken.problems] == [(4, True)]


@pytest.mark.parametrize(
    "other",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}]},
        [{"id": "r", "run_type": "llm", "inputs": {"messages": NORMAL}, "trace_id": "t"}],
    ],
)
def test_other_formats_are_left_alone(other: Any) -> None:
    assert read_bytes(json.dumps(other).encode())[0].format != "langchain"
