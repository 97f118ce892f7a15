"""Rules of the OTLP reader: attributes in every spelling, and how traces are told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.model.errors import InputError
from refetch.model.trace import Request, Trace
from refetch.readers import read_bytes
from refetch.readers.span_attributes import asked_in, kind_of, people_in, told_in


def value(plain: Any) -> dict[str, Any]:
    if isinstance(plain, bool):
        return {"boolValue": plain}
    if isinstance(plain, int):
        return {"intValue": str(plain)}
    if isinstance(plain, list):
        return {"arrayValue": {"values": [value(item) for item in plain]}}
    return {"stringValue": plain if isinstance(plain, str) else json.dumps(plain)}


def span(key: str, parent: str = "", at: int = 1, **more: Any) -> dict[str, Any]:
    attributes = {k.replace("__", "."): v for k, v in more.pop("attributes", {}).items()}
    return {
        "traceId": "t1",
        "spanId": key,
        "parentSpanId": parent,
        "name": key,
        "startTimeUnixNano": str(at * 10**9),
        "endTimeUnixNano": str(at * 10**9 + 10**8),
        "attributes": [{"key": k, "value": value(v)} for k, v in attributes.items()],
    } | more


def exported(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def read(*spans: dict[str, Any]) -> Trace:
    return only_trace(exported(*spans), source="o.json")


SEMCONV = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "f",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": '{"n": 1}',
    "gen_ai.tool.call.result": "x",
}
SPELLINGS = [
    SEMCONV,
    {
        "openinference.span.kind": "TOOL",
        "tool.name": "f",
        "input.value": '{"n": 1}',
        "output.value": "x",
    },
    {"gen_ai.tool.name": "f", "tool_arguments": '{"n": 1}', "tool_response": "x"},
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "f",
        "gcp.vertex.agent.tool_call_args": '{"n": 1}',
        "gcp.vertex.agent.tool_response": "x",
    },
    {
        "ai.toolCall.name": "f",
        "ai.toolCall.id": "c1",
        "ai.toolCall.args": '{"n": 1}',
        "ai.toolCall.result": "x",
    },
    {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "f",
        "traceloop.entity.input": '{"n": 1}',
        "traceloop.entity.output": "x",
    },
]


@pytest.mark.parametrize("attributes", SPELLINGS)
def test_every_spelling_of_a_tool_span(attributes: dict[str, str]) -> None:
    (call,) = read(span("s", attributes=attributes)).calls
    assert (call.name, call.raw_args, bytes(call.result)) == ("f", '{"n": 1}', b'"x"')
    assert (call.status, call.started, call.ended) == ("ok", 1.0, 1.1)


def test_a_model_span_and_its_tool_span() -> None:
    output = [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": {"n": 1}}],
        }
    ]
    trace = read(
        span("agent", attributes={"gen_ai.operation.name": "invoke_agent"}),
        span(
            "chat",
            "agent",
            2,
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.response.model": "m-1",
                "gen_ai.usage.input_tokens": 12,
                "gen_ai.output.messages": output,
            },
        ),
        span("tool", "agent", 3, attributes=SEMCONV),
    )
    assert [(c.turn, c.context, c.call_id) for c in trace.calls] == [(1, "main", "c1")]
    assert events(trace, Request) == [Request(1, "main", "m-1", {"input_tokens": 12})]
    assert trace.turns == "recorded"


def test_flattened_messages_of_openinference() -> None:
    prefix = "llm.output_messages.0.message.tool_calls.0.tool_call"
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m-1",
        f"{prefix}.id": "c1",
        f"{prefix}.function.name": "f",
        f"{prefix}.function.arguments": '{"n": 1}',
    }
    (call,) = read(span("llm", attributes=attributes)).calls
    assert (call.name, call.call_id, call.raw_args) == ("f", "c1", '{"n": 1}')


def test_an_error_status() -> None:
    failed = span("s", attributes=SEMCONV, status={"code": 2, "message": "boom"})
    (call,) = read(failed).calls
    assert (call.status, call.error) == ("error", "boom")


def test_without_content_arguments_are_unknown() -> None:
    bare = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    (call,) = read(span("s", attributes=bare)).calls
    assert not call.has_args
    assert (call.status, call.result_hash) == ("ok", None)


def test_trace_ids_are_traces_and_conversations_join_them() -> None:
    alone = [span("a", attributes=SEMCONV), span("b", attributes=SEMCONV, traceId="t2")]
    assert [t.run for t in read_bytes(json.dumps(exported(*alone)).encode())] == ["t1", "t2"]
    named = SEMCONV | {"gen_ai.conversation.id": "talk"}
    joined = [span("a", attributes=named), span("b", attributes=named, traceId="t2")]
    (trace,) = read_bytes(json.dumps(exported(*joined)).encode())
    assert (trace.run, len(trace.calls)) == ("talk", 2)


def test_one_document_a_line() -> None:
    data = encoded(exported(span("a", attributes=SEMCONV)), exported(span("b", attributes=SEMCONV)))
    (trace,) = read_bytes(data)
    assert trace.lines == {0: 1, 1: 2}


@pytest.mark.parametrize(
    "number", [{"intValue": 12}, {"intValue": "12"}, {"intValue": {"low": 12, "high": 0}}]
)
def test_numbers_in_every_spelling(number: dict[str, Any]) -> None:
    chat = span("c", attributes={"gen_ai.operation.name": "chat"})
    chat["attributes"].append({"key": "gen_ai.usage.input_tokens", "value": number})
    assert events(read(chat), Request)[0].usage == {"input_tokens": 12}


@pytest.mark.parametrize(
    "message",
    [
        {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]},
        [{"toolCallId": "c", "toolName": "f", "input": "{}"}],
        {"additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "f"}}]}},
    ],
)
def test_calls_in_every_kind_of_answer(message: Any) -> None:
    assert [(call.call_id, call.name) for call in asked_in(message)] == [("c", "f")]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"parts": [{"type": "tool_call_response", "id": "c", "response": "x"}]},
    ],
)
def test_results_in_every_kind_of_prompt(message: Any) -> None:
    assert [(t.call_id, bytes(t.result)) for t in told_in([message])] == [("c", b'"x"')]
    assert people_in([message]) == 0


def test_words_of_people() -> None:
    assert people_in([{"role": "user", "content": "hi"}, {"role": "system", "content": "x"}]) == 1
    assert people_in({"messages": [{"type": "human", "content": "hi"}]}) == 1
    assert people_in([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]) == 1
    assert people_in("hi") == 0


def test_spans_of_other_kinds_are_no_calls() -> None:
    assert kind_of({"http.method": "GET"}) == "other"
    assert read(span("http", attributes={"http.method": "GET"})).calls == []


def test_no_spans_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b'{"resourceSpans": []}')
