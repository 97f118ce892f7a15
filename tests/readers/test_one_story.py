"""One story in every message format: the same calls, and so the same verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from refetch.api import check
from refetch.model.trace import Trace
from refetch.readers import read_bytes


class Asked(NamedTuple):
    """One call and what it gave; None where no result was recorded."""

    id: str
    name: str
    args: dict[str, Any]
    result: str | None


Turn = list[Asked]
Story = list[Turn]

GET = ("get_user", {"id": 5}, "five")
SLOPPY: Story = [
    [Asked("a", *GET), Asked("b", *GET), Asked("c", "list_users", {"page": 1}, "5, 6")],
    [Asked("d", "get_user", {"id": 6}, "six")],
    [Asked("e", *GET)],
    [Asked("f", "list_users", {"page": 2}, "7")],
]
CAREFUL: Story = [
    [Asked("a", *GET)],
    [Asked("b", "update_user", {"id": 5, "name": "x"}, "done")],
    [Asked("c", *GET)],
    [Asked("d", "get_user", {"id": 6}, None)],
    [Asked("e", "get_user", {"id": 6}, "six")],
]
GO = "Look after the users."


def _document(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(rows: list[Any]) -> bytes:
    return b"\n".join(map(_document, rows))


def openai_chat(story: Story) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "user", "content": GO}]
    for turn in story:
        calls = [
            {"id": c.id, "function": {"name": c.name, "arguments": json.dumps(c.args)}}
            for c in turn
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": c.id, "content": c.result} for c in turn if c.result
        ]
    return _document({"messages": messages})


def _items(turn: Turn) -> tuple[list[Any], list[Any]]:
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": json.dumps(c.args)}
        for c in turn
    ]
    results = [
        {"type": "function_call_output", "call_id": c.id, "output": c.result}
        for c in turn
        if c.result
    ]
    return calls, results


def responses_items(story: Story) -> bytes:
    items: list[Any] = [{"role": "user", "content": GO}]
    for turn in story:
        calls, results = _items(turn)
        items += [{"type": "reasoning", "summary": []}, *calls, *results]
        if not results:  # no result and no word of a person: nothing would end the turn
            items.append({"role": "user", "content": "Go on."})
    return _document(items)


def responses_log(story: Story, *, chained: bool = False) -> bytes:
    rows: list[Any] = []
    history: list[Any] = [{"role": "user", "content": GO}]
    news = list(history)
    for at, turn in enumerate(story):
        calls, results = _items(turn)
        request: dict[str, Any] = {"input": news if chained else list(history)}
        if chained and at:
            request["previous_response_id"] = f"r{at - 1}"
        answer = {"id": f"r{at}", "object": "response", "output": calls}
        rows.append({"request": request, "response": answer})
        history += [*calls, *results]
        news = results
    rows.append({"request": {"input": news, "previous_response_id": f"r{len(story) - 1}"}})
    if not chained:
        rows[-1] = {"request": {"input": history}}
    return _lines(rows)


def responses_chain(story: Story) -> bytes:
    return responses_log(story, chained=True)


def _messages(turn: Turn) -> tuple[dict[str, Any], dict[str, Any]]:
    calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.args} for c in turn]
    results = [
        {"type": "tool_result", "tool_use_id": c.id, "content": c.result} for c in turn if c.result
    ]
    return {"role": "assistant", "content": calls}, {"role": "user", "content": results}


def anthropic_body(story: Story) -> bytes:
    messages: list[Any] = [{"role": "user", "content": GO}]
    for turn in story:
        messages += _messages(turn)
    return _document({"model": "m", "messages": messages})


def anthropic_log(story: Story) -> bytes:
    rows: list[Any] = []
    history: list[Any] = [{"role": "user", "content": GO}]
    for at, turn in enumerate(story):
        answer, results = _messages(turn)
        response = {"id": f"m{at}", "type": "message", "stop_reason": "tool_use", **answer}
        marked = json.loads(json.dumps(history))
        if at:
            for block in marked[-1]["content"][-1:]:
                block["cache_control"] = {"type": "ephemeral"}
        rows.append({"request": {"messages": marked}, "response": response})
        history += [answer, results]
    return _lines([*rows, {"request": {"messages": history}}])


def vercel_ui(story: Story) -> bytes:
    parts: list[Any] = []
    for turn in story:
        parts.append({"type": "step-start"})
        for c in turn:
            part = {"type": f"tool-{c.name}", "toolCallId": c.id, "input": c.args}
            state = "output-available" if c.result else "input-available"
            parts.append({**part, "state": state, **({"output": c.result} if c.result else {})})
    user = {"id": "u", "role": "user", "parts": [{"type": "text", "text": GO}]}
    return _document([user, {"id": "a", "role": "assistant", "parts": parts}])


def vercel_model(story: Story) -> bytes:
    messages: list[Any] = [{"role": "user", "content": GO}]
    for turn in story:
        calls = [
            {"type": "tool-call", "toolCallId": c.id, "toolName": c.name, "input": c.args}
            for c in turn
        ]
        results = [
            {
                "type": "tool-result",
                "toolCallId": c.id,
                "toolName": c.name,
                "output": {"type": "text", "value": c.result},
            }
            for c in turn
            if c.result
        ]
        messages += [{"role": "assistant", "content": calls}, {"role": "tool", "content": results}]
    return _document(messages)


def google_adk(story: Story) -> bytes:
    events: list[Any] = [{"author": "user", "content": {"parts": [{"text": GO}]}}]
    for turn in story:
        calls = [{"functionCall": {"id": c.id, "name": c.name, "args": c.args}} for c in turn]
        results = [
            {"functionResponse": {"id": c.id, "name": c.name, "response": {"result": c.result}}}
            for c in turn
            if c.result
        ]
        events.append({"author": "agent", "content": {"parts": calls}})
        events.append({"author": "agent", "content": {"parts": results}})
    return _lines(
        [{**event, "invocationId": "i", "id": str(at)} for at, event in enumerate(events)]
    )


FORMATS: dict[Callable[[Story], bytes], str] = {
    openai_chat: "openai-chat",
    responses_items: "openai-responses",
    responses_log: "openai-responses",
    responses_chain: "openai-responses",
    anthropic_body: "anthropic-messages",
    anthropic_log: "anthropic-messages",
    vercel_ui: "vercel-ai",
    vercel_model: "vercel-ai",
    google_adk: "google-adk",
}
each_format = pytest.mark.parametrize("write", FORMATS, ids=lambda write: write.__name__)


def read(write: Callable[[Story], bytes], story: Story) -> Trace:
    (trace,) = read_bytes(write(story), "story")
    assert trace.format == FORMATS[write]
    return trace


@each_format
@pytest.mark.parametrize("story", [SLOPPY, CAREFUL], ids=["sloppy", "careful"])
def test_every_format_tells_the_same_calls(write: Callable[[Story], bytes], story: Story) -> None:
    trace = read(write, story)
    assert trace.task == GO
    assert trace.problems == []
    assert [
        (c.call_id, c.turn, c.name, json.loads(bytes(c.args)), c.context, c.status)
        for c in trace.calls
    ] == [
        (c.id, number, c.name, c.args, "main", "ok" if c.result else "missing")
        for number, turn in enumerate(story, 1)
        for c in turn
    ]
    assert [json.loads(bytes(c.result)) for c in trace.calls if bytes(c.result)] == [
        c.result for turn in story for c in turn if c.result
    ]


@each_format
def test_a_sloppy_run_is_found_out(write: Callable[[Story], bytes]) -> None:
    found = check(read(write, SLOPPY)).findings
    assert [(f.code, f.level, f.repeat.seq if f.repeat else None) for f in found] == [
        ("RF001", "flag", 1),
        ("RF003", "flag", 4),
    ]


@each_format
def test_a_careful_run_is_clean(write: Callable[[Story], bytes]) -> None:
    assert check(read(write, CAREFUL)).findings == []
