"""Rules of the reader of MCP logs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import ContextStart, Trace, Write
from refetch.readers import read_bytes


def asks(key: Any, name: str = "get_note", **args: Any) -> dict[str, Any]:
    return request(key, "tools/call", name=name, arguments=args)


def request(key: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "method": method, "params": params}


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def answer(key: Any, text: str = "milk", **more: Any) -> dict[str, Any]:
    result = {"content": [{"type": "text", "text": text}]} | more
    return {"jsonrpc": "2.0", "id": key, "result": result}


def failure(key: Any, code: int, words: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": words}}


def outline(trace: Trace) -> list[tuple[int, str | None, str]]:
    return [(c.turn, c.call_id, c.status) for c in trace.calls]


def test_a_call_and_its_answer() -> None:
    trace = only_trace(asks(1, id=5), answer(1), asks("b", id=6), answer("b"))
    assert (trace.format, trace.turns) == ("mcp-log", "inferred")
    assert outline(trace) == [(1, "1", "ok"), (2, "b", "ok")]
    assert bytes(trace.calls[0].args) == b'{"id": 5}'
    assert bytes(trace.calls[0].result) == b'[{"type": "text", "text": "milk"}]'
    assert trace.lines == {0: 1, 1: 3}


def test_calls_open_together_are_one_turn() -> None:
    trace = only_trace(asks(1, id=1), asks(2, id=2), answer(2), answer(1), asks(3, id=3))
    assert outline(trace) == [(1, "1", "ok"), (1, "2", "ok"), (2, "3", "missing")]


WRAPPERS = {
    "an object": lambda m: {"ts": 1748736000000, "direction": "in", "message": m},
    "a text": lambda m: {"ts": 1748736000000, "message": json.dumps(m)},
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_messages_in_log_records(name: str) -> None:
    (call,) = only_trace(*map(WRAPPERS[name], [asks(1, id=5), answer(1)])).calls
    assert (call.status, call.started, call.ended) == ("ok", 1748736000.0, 1748736000.0)


def test_a_list_of_messages() -> None:
    (trace,) = read_bytes(json.dumps([asks(1), answer(1)]).encode())
    assert (outline(trace), trace.paths) == ([(1, "1", "ok")], {0: "$[0]"})


def test_batches_of_messages() -> None:
    first = request(0, "initialize")
    data = encoded(first, [asks(1, id=1), asks(2, id=2)], [answer(2, "b"), answer(1, "a")], asks(3))
    (trace,) = read_bytes(data)
    assert outline(trace) == [(1, "1", "ok"), (1, "2", "ok"), (2, "3", "missing")]
    assert trace.lines == {0: 2, 1: 2, 2: 4}
    assert b'"a"' in bytes(trace.calls[0].result)


@pytest.mark.parametrize(
    ("said", "outcome", "error"),
    [
        (failure(1, -32602, "no such note"), "error", "no such note"),
        (failure(1, -32603, "upstream timed out"), "timeout", "upstream timed out"),
        (failure(1, -32001, "no answer"), "timeout", "no answer"),
        (failure(1, -32000, "Connection closed"), "unknown", "Connection closed"),
        (answer(1, "no such note", isError=True), "error", "no such note"),
        (answer(1, isError=False), "ok", None),
        (notice("cancelled", requestId=1), "unknown", "cancelled"),
        (notice("cancelled", requestId=1, reason="Request timed out"), "timeout", "Request timed"),
        (notice("cancelled", requestId=9), "missing", None),
        (notice("progress", progressToken=1), "missing", None),
    ],
)
def test_outcomes(said: Any, outcome: str, error: str | None) -> None:
    (call,) = only_trace(asks(1), said).calls
    assert call.status == outcome
    assert (call.error or "").startswith(error or "")


def test_a_cancelled_write_may_have_been_done() -> None:
    trace = only_trace(
        asks(1, "read_file", path="a"),
        answer(1),
        asks(2, "write_file", path="a"),
        notice("cancelled", requestId=2),
        asks(3, "read_file", path="a"),
        answer(3),
    )
    assert not [f for f in check(trace).findings if f.level == "flag"]


def test_an_answer_to_the_server_is_no_result() -> None:
    theirs = request(1, "sampling/createMessage", messages=[])
    reply = {"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant", "content": "hm"}}
    (call,) = only_trace(asks(1), theirs, reply, answer(1, "milk")).calls
    assert b"milk" in bytes(call.result)


def test_a_record_written_twice_is_one_call() -> None:
    trace = only_trace(asks(1, id=5), asks(1, id=5), answer(1), answer(1), asks(2, id=6))
    assert outline(trace) == [(1, "1", "ok"), (2, "2", "missing")]


def test_two_clients_with_one_id() -> None:
    trace = only_trace(asks(1, id=5), asks(1, id=6), answer(1, "a"), answer(1, "b"))
    assert [c.status for c in trace.calls] == ["unknown", "unknown"]


def test_an_id_used_again_is_another_call() -> None:
    trace = only_trace(asks(1, id=5), answer(1), asks(1, id=5), answer(1))
    assert outline(trace) == [(1, "1", "ok"), (2, "1", "ok")]


def test_sessions_are_contexts() -> None:
    trace = only_trace(
        {"session": "s", "message": asks(1)},
        {"session": "u", "message": asks(1)},
        {"session": "u", "message": answer(1)},
    )
    assert [(c.context, c.turn, c.status) for c in trace.calls] == [
        ("s", 1, "missing"),
        ("u", 1, "ok"),
    ]
    assert events(trace, ContextStart) == [ContextStart("s"), ContextStart("u")]


def test_schemas_of_tools() -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer", "default": 10}}}
    hints = {"readOnlyHint": True}
    listed = [{"name": "get_note", "inputSchema": schema, "annotations": hints}, {"name": "bare"}]
    told = {"jsonrpc": "2.0", "id": 1, "result": {"tools": listed}}
    trace = only_trace(request(1, "tools/list"), told, asks(2))
    # Hints are no declarations, and what a trace says of its tools counts as one.
    assert trace.tools == {"get_note": {"schema": schema}}


def test_resources_are_read_and_change() -> None:
    trace = only_trace(
        request(1, "resources/read", uri="note://1"),
        {"jsonrpc": "2.0", "id": 1, "result": {"contents": [{"uri": "note://1", "text": "x"}]}},
        notice("resources/updated", uri="note://1"),
        request(2, "resources/read", uri="note://1"),
        {"jsonrpc": "2.0", "id": 2, "result": {"contents": [{"uri": "note://1", "text": "x"}]}},
    )
    assert [(c.name, bytes(c.args)) for c in trace.calls] == [
        ("resources/read", b'{"uri":"note://1"}')
    ] * 2
    assert events(trace, Write) == [Write("note://1", 0, "external")]
    assert check(trace).findings == []


def test_structured_results_count_whole() -> None:
    (call,) = only_trace(asks(1), answer(1, "", structuredContent={"n": 1})).calls
    assert b"structuredContent" in bytes(call.result)


ODD = {
    "parameters of another type": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 3},
    "no id": {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}},
    "an id of another type": asks({"a": [1]}),
    "a method of another type": {"jsonrpc": "2.0", "id": 1, "method": 5},
    "an error of another type": {"jsonrpc": "2.0", "id": 1, "error": "bad"},
    "a listing of another type": {"jsonrpc": "2.0", "id": 7, "result": {"tools": [1]}},
    "a record of another type": {"message": [1], "payload": "{", "data": None},
    "a notice without a subject": notice("resources/updated"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_messages_end_nothing(name: str) -> None:
    trace = only_trace(request(7, "tools/list"), ODD[name], asks(9), answer(9))
    assert trace.calls[-1].status == "ok"


@pytest.mark.parametrize("data", [b"[]", b'{"messages": []}', b"[1]", b"\x00", b'{"jsonrpc"'])
def test_nothing_readable_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        read_bytes(data, "f", "mcp-log")


@pytest.mark.parametrize(
    "other",
    [{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover"}, {"message": {"role": "user"}}],
)
def test_other_messages_are_left_alone(other: Any) -> None:
    with pytest.raises(InputError, match="no known trace format"):
        read_bytes(encoded(other))
