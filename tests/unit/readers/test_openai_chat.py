"""Turns, arguments and pairing in chat messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refetch.model.errors import InputError
from refetch.model.trace import Request, Trace, UserMessage
from refetch.readers import UnknownFormatError, read_bytes


def asks(*calls: tuple[str | None, str, Any], **fields: Any) -> dict[str, Any]:
    listed = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed, **fields}


def tells(call_id: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


USER = {"role": "user", "content": "what is the weather?"}


def read(*messages: dict[str, Any], **around: Any) -> Trace:
    (trace,) = read_bytes(json.dumps({"messages": messages, **around}).encode(), "c.json")
    return trace


CHAT = (
    {"role": "system", "content": "be brief"},
    USER,
    asks(("c1", "get_weather", '{"city": "Bern",  "days":5.0}'), ("c2", "get_time", "")),
    tells("c2", "noon"),
    tells("c1", [{"type": "text", "text": "sun"}]),
    {"role": "assistant", "content": "sun, noon"},
    {"role": "user", "content": "and tomorrow?"},
    asks(("c3", "get_weather", '{"city":"Bern"')),
)


def test_turns_arguments_results() -> None:
    trace = read(*CHAT, model="gpt-x", id="run-7")
    assert (trace.run, trace.model, trace.format, trace.harness) == (
        "run-7",
        "gpt-x",
        "openai-chat",
        None,
    )
    assert trace.task == "what is the weather?"
    first, second, third = trace.calls
    assert [(c.seq, c.turn, c.call_id, c.status) for c in trace.calls] == [
        (0, 1, "c1", "ok"),
        (1, 1, "c2", "ok"),
        (2, 3, "c3", "missing"),
    ]
    assert first.raw_args == '{"city": "Bern",  "days":5.0}'
    assert bytes(first.args) == first.raw_args.encode()
    assert (second.raw_args, bytes(second.args)) == ("", b"null")
    assert (third.raw_args, bytes(third.args)) == ('{"city":"Bern"', b"")
    assert bytes(second.result) == b'"noon"'
    assert [e.after for e in trace.events if type(e) is UserMessage] == [-1, 1]
    assert [e.turn for e in trace.events if type(e) is Request] == [1, 2, 3]
    assert trace.paths[1] == "$.messages[2].tool_calls[1]"


def test_every_spelling_of_one_chat_gives_the_same_calls() -> None:
    texts = [
        json.dumps(CHAT),
        json.dumps({"messages": CHAT}),
        json.dumps([{"messages": CHAT}]),
        json.dumps(CHAT, indent=2),
        "\n".join(json.dumps(message) for message in CHAT),
        json.dumps({"messages": CHAT}) + "\n",
    ]
    traces = [read_bytes(text.encode(), "c")[0] for text in texts]
    assert {len(t.calls) for t in traces} == {3}
    told_apart = {
        tuple((c.seq, c.turn, c.name, c.raw_args, c.call_id, c.status) for c in t.calls)
        for t in traces
    }
    assert len(told_apart) == 1
    assert traces[4].lines == {0: 3, 1: 3, 2: 8}


def test_each_line_is_a_trace_unless_it_repeats_the_one_before() -> None:
    one, two = {"messages": CHAT[:5]}, {"messages": CHAT}
    other = {"messages": [USER, asks(("c1", "get_time", "{}"))]}
    data = "\n".join(json.dumps(row) for row in (one, two, other)).encode()
    traces = read_bytes(data, "c.jsonl")
    assert [len(t.calls) for t in traces] == [3, 1]
    assert [t.run for t in traces] == ["c.jsonl#0", "c.jsonl#1"]


def test_conversations_with_one_system_prompt_are_not_one() -> None:
    rows = [{"messages": [CHAT[0]]}, {"messages": [CHAT[0], USER, asks(("a", "f", "{}"))]}]
    traces = read_bytes("\n".join(map(json.dumps, rows)).encode())
    assert [len(t.calls) for t in traces] == [0, 1]


def test_ids_that_collide_are_paired_inside_their_turn() -> None:
    trace = read(
        asks(("same", "f", "{}"), ("same", "g", "{}")),
        tells("same", "one"),
        tells("same", "two"),
        asks(("same", "h", "{}")),
        tells("same", "three"),
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"one"', b'"two"', b'"three"']


def test_a_result_without_id_goes_by_order_and_name() -> None:
    trace = read(asks((None, "f", "{}"), (None, "g", "{}")), tells(None, "x", name="g"))
    assert [c.status for c in trace.calls] == ["missing", "ok"]


def test_a_late_result_finds_its_call_and_a_stray_one_none() -> None:
    trace = read(
        asks(("a", "f", "{}")),
        {"role": "assistant", "content": "waiting"},
        tells("a", "late"),
        tells("zz", "stray"),
    )
    assert [c.status for c in trace.calls] == ["ok"]


def test_function_call_of_old_versions() -> None:
    old = {"role": "assistant", "content": None}
    trace = read(
        {**old, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    )
    assert [(c.name, c.status, c.call_id) for c in trace.calls] == [("f", "ok", None)]


def test_custom_tools_and_arguments_as_objects() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}
    trace = read({"role": "assistant", "tool_calls": [custom]}, asks(("d", "f", {"a": 1})))
    assert [(c.name, c.raw_args, bytes(c.args)) for c in trace.calls] == [
        ("shell", "ls -l", b""),
        ("f", None, b'{"a": 1}'),
    ]


def test_what_looks_like_an_error_is_unknown_and_what_does_not_is_delivered() -> None:
    trace = read(
        asks(("a", "f", "{}"), ("b", "f", "{}"), ("c", "f", "{}")),
        tells("a", "Error: no such user"),
        tells("b", "no Error: all well"),
        tells("c", ""),
    )
    assert [c.status for c in trace.calls] == ["unknown", "ok", "ok"]


def test_a_message_that_breaks_the_format_costs_only_itself() -> None:
    trace = read(USER, {"role": "assistant", "tool_calls": "x"}, asks(("a", "f", "{}")))
    assert len(trace.calls) == 1
    (problem,) = trace.problems
    assert problem.path == "$.messages[1].tool_calls"


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f"}]}],
        [{"role": "model", "content": "x"}],
        [{"role": "user"}],
        [{"content": "x"}],
        {"messages": []},
        {"messages": "x"},
        [],
    ],
)
def test_other_message_lists_are_not_claimed(document: Any) -> None:
    try:
        traces = read_bytes(json.dumps(document).encode())
    except UnknownFormatError:
        return
    assert traces[0].format != "openai-chat"


def test_a_forced_format_without_messages_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no chat messages"):
        read_bytes(b'{"a":1}', "c", "openai-chat")
