"""Rules of the OpenAI Responses reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import encoded, events, only_trace

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.trace import Call, ContextLoss, ContextStart, Request, Trace, UserMessage
from refetch.readers import UnknownFormatError, read_bytes

GO = {"role": "user", "content": "go"}
DONE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "done"}],
}
THINKS = {"type": "reasoning", "summary": []}


def call(key: str, name: str = "get_x", arguments: str = "{}", **fields: Any) -> dict[str, Any]:
    given = {"type": "function_call", "call_id": key, "name": name, "arguments": arguments}
    return given | fields


def result(key: str, output: Any = "x", **fields: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": key, "output": output, **fields}


def response(key: str | None, *output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": key, "object": "response", "output": list(output), **fields}


def logged(
    sent: Any, answer: dict[str, Any], previous: str | None = None, **fields: Any
) -> dict[str, Any]:
    request = {"input": sent, "previous_response_id": previous}
    return {"request": request, "response": answer, **fields}


def read(*items: dict[str, Any]) -> Trace:
    (trace,) = read_bytes(json.dumps(items).encode(), "r.json")
    assert trace.format == "openai-responses"
    return trace


def told(trace: Trace) -> list[tuple[str | None, int, str]]:
    return [(c.call_id, c.turn, c.status) for c in trace.calls]


def test_what_the_model_says_between_results_is_a_turn() -> None:
    trace = read(
        GO, THINKS, call("a"), call("b", arguments='{"n": 5.0}'), result("b", "y"), result("a"),
        THINKS, call("c"), result("c"), DONE,
    )  # fmt: skip
    assert told(trace) == [("a", 1, "ok"), ("b", 1, "ok"), ("c", 2, "ok")]
    assert (bytes(trace.calls[1].args), trace.calls[1].raw_args) == (b'{"n": 5.0}', '{"n": 5.0}')
    assert bytes(trace.calls[1].result) == b'"y"'
    assert [r.turn for r in events(trace, Request)] == [1, 2, 3]
    assert (trace.task, trace.paths[1]) == ("go", "$[3]")
    assert events(trace, UserMessage) == [UserMessage(-1)]


def test_reused_ids_lose_no_call() -> None:
    trace = read(
        GO,
        call("call_0"),
        result("call_0", "one"),
        call("call_0", "update_x"),
        result("call_0", "done"),
        call("call_0"),
        result("call_0", "one"),
    )
    assert [c.name for c in trace.calls] == ["get_x", "update_x", "get_x"]
    assert {c.status for c in trace.calls} == {"ok"}
    assert check(trace).findings == []


@pytest.mark.parametrize(
    ("output", "fields", "outcome"),
    [
        ("x", {}, "ok"),
        ([{"type": "input_text", "text": "x"}], {"status": "completed"}, "ok"),
        ("Error: no such user", {}, "unknown"),
        ("An error occurred while running the tool. Please try again.", {}, "unknown"),
        ("part of it", {"status": "incomplete"}, "unknown"),
        ("no", {"status": "failed"}, "error"),
        ("", {}, "ok"),
    ],
)
def test_outcomes_of_functions(output: Any, fields: dict[str, Any], outcome: str) -> None:
    (one,) = read(GO, call("a"), result("a", output, **fields)).calls
    assert one.status == outcome
    assert (one.error is None) == (outcome == "ok")


def test_a_missing_result_stays_missing_and_a_broken_off_call_never_ran() -> None:
    trace = read(GO, call("a"), call("b", status="incomplete", arguments='{"n'))
    assert told(trace) == [("a", 1, "missing"), ("b", 1, "not-executed")]
    assert (bytes(trace.calls[1].args), trace.calls[1].raw_args) == (b"", '{"n')


MCP = {"type": "mcp_call", "name": "f", "server_label": "s", "arguments": "{}"}


@pytest.mark.parametrize(
    ("kind", "fields", "outcome", "args"),
    [
        ("web_search", {"status": "failed", "action": {"q": "x"}}, "error", b'{"q": "x"}'),
        ("web_search", {"status": "completed", "action": {}}, "ok", b"{}"),
        ("file_search", {"status": "searching", "queries": ["x"]}, "missing", b'["x"]'),
        ("code_interpreter", {"status": "completed", "code": "1", "outputs": []}, "ok", b'"1"'),
        ("image_generation", {"status": "incomplete"}, "unknown", b"null"),
        ("mcp__s__f", {**MCP, "output": "x"}, "ok", b"{}"),
        ("mcp__s__f", {**MCP, "error": {"message": "bad"}}, "error", b"{}"),
        ("mcp__s__f", {**MCP, "error": "bad"}, "error", b"{}"),
    ],
)
def test_tools_that_the_provider_runs(
    kind: str, fields: dict[str, Any], outcome: str, args: bytes
) -> None:
    (one,) = read(GO, {"id": "h1", "type": f"{kind}_call", **fields}).calls
    assert (one.name, one.call_id, one.status, bytes(one.args)) == (kind, "h1", outcome, args)


def ran(*commands: str, **output: Any) -> Call:
    action = {"commands": list(commands), "max_output_length": 100}
    asked = {"type": "shell_call", "call_id": "a", "action": action}
    told = {"type": "shell_call_output", "call_id": "a", **output}
    (call,) = read(GO, asked, told).calls
    return call


def printed(text: str, code: int) -> dict[str, Any]:
    return {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": code}}


def test_several_commands_have_one_outcome() -> None:
    both = [printed("x", 3), printed("y", 0)]
    assert ran("make", "ls", output=both).exit_code == 3
    assert ran("ls", "ls a", output=[printed("x", 0), printed("y", 0)]).exit_code == 0


@pytest.mark.parametrize(
    ("length", "more", "cut"),
    [(60, {}, True), (20, {}, False), (20, {"max_output_length": 30}, True)],
)
def test_long_output_reached_the_model_cut(length: int, more: dict[str, Any], cut: bool) -> None:
    output = [printed("x" * length, 0), printed("é" * length, 0)]
    assert bool(ran("cat a", "cat b", output=output, **more).truncated) is cut


@pytest.mark.parametrize(
    "output",
    [
        "Tool execution was not approved.",
        [{"stdout": "", "stderr": "Tool execution was not approved.", "outcome": {}}],
    ],
)
def test_what_a_person_did_not_approve_is_rejected(output: Any) -> None:
    assert ran("ls", output=output).status == "rejected"


def test_a_local_shell_tells_its_folder() -> None:
    action = {"type": "exec", "command": ["ls"], "working_directory": "/w"}
    (call,) = read(GO, {"type": "local_shell_call", "call_id": "c", "action": action}).calls
    assert call.cwd == "/w"


def test_shells_and_patches() -> None:
    ran = [{"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]
    late = [{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}]
    trace = read(
        GO,
        {"type": "shell_call", "call_id": "a", "action": {"commands": ["grep x y"]}},
        {"type": "shell_call", "call_id": "b", "action": {"commands": ["sleep 9"]}},
        {"type": "shell_call_output", "call_id": "a", "output": ran, "status": "completed"},
        {"type": "shell_call_output", "call_id": "b", "output": late, "status": "completed"},
        {"type": "local_shell_call", "id": "i", "call_id": "c", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "c", "output": "a b"},
        {"type": "apply_patch_call", "call_id": "d", "operation": {"path": "a"}},
        {"type": "apply_patch_call_output", "call_id": "d", "status": "failed", "output": "no"},
        {"type": "custom_tool_call", "call_id": "e", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "e", "output": "1"},
    )
    assert [(c.name, c.turn, c.status, c.exit_code) for c in trace.calls] == [
        ("shell", 1, "ok", 1),
        ("shell", 1, "timeout", None),
        ("local_shell", 2, "ok", None),
        ("apply_patch", 3, "error", None),
        ("sql", 4, "ok", None),
    ]
    assert bytes(trace.calls[4].args) == b'{"input":"select 1"}'


def test_a_refused_approval_is_a_rejection_by_a_person() -> None:
    asked = {"type": "mcp_approval_request", "id": "p", "name": "f", "server_label": "s"}
    refused = {"type": "mcp_approval_response", "approval_request_id": "p", "approve": False}
    trace = read(GO, call("a"), result("a"), {**asked, "arguments": "{}"}, refused)
    assert [(c.name, c.turn, c.status) for c in trace.calls][1:] == [("mcp__s__f", 2, "rejected")]
    assert UserMessage(1) in trace.events
    assert len(read(GO, call("a"), {**asked, "arguments": "{}"}).calls) == 1


def test_calls_of_a_program_are_not_the_models_own() -> None:
    caller = {"type": "program", "caller_id": "p"}
    trace = read(
        GO,
        {"type": "program", "call_id": "p", "code": "…"},
        call("a", caller=caller),
        result("a"),
        {"type": "program_output", "call_id": "p", "result": "y"},
        call("b"),
        result("b"),
    )
    assert [(c.context, c.origin, c.status) for c in trace.calls] == [
        ("main", "model", "ok"),
        ("program p", "harness", "ok"),
        ("main", "model", "ok"),
    ]
    assert events(trace, ContextStart) == [ContextStart("program p", 0)]


def test_a_log_that_repeats_the_history_tells_each_item_once() -> None:
    one = response("r1", THINKS, call("a", id="fc_1", status="completed"), model="m")
    one["usage"] = {"input_tokens": 3}
    history = [GO, THINKS, call("a"), result("a")]
    two = response("r2", call("b", id="fc_2"))
    trace = only_trace(
        logged("go", one),
        logged([{**GO}, *history[1:]], two),
        logged([*history, call("b"), result("b")], response("r3", DONE)),
    )
    assert told(trace) == [("a", 1, "ok"), ("b", 2, "ok")]
    assert events(trace, Request)[0] == Request(1, "main", "m", {"input_tokens": 3})
    assert [r.turn for r in events(trace, Request)] == [1, 2, 3]
    assert events(trace, ContextLoss) == []


def test_responses_that_name_the_one_before() -> None:
    say = {"role": "user", "content": "again"}
    trace = only_trace(
        logged([say], response("r1", call("a"))),
        logged([result("a"), say], response("r2", call("b")), "r1"),
        logged([result("b")], response("r3", DONE), "r2"),
    )
    assert told(trace) == [("a", 1, "ok"), ("b", 2, "ok")]
    assert events(trace, UserMessage) == [UserMessage(-1), UserMessage(0)]
    assert events(trace, ContextLoss) == []


def test_items_that_a_request_names_by_their_id() -> None:
    named = {"type": "item_reference", "id": "fc_1"}
    lost = {"type": "item_reference", "id": "of another log"}
    trace = only_trace(
        logged([GO], response("r1", call("a", id="fc_1"))),
        logged([GO, lost, named, result("a")], response("r2", DONE)),
    )
    assert told(trace) == [("a", 1, "ok")]


def test_two_answers_to_one_response_are_two_conversations() -> None:
    trace = only_trace(
        logged([GO], response("r1", call("a"))),
        logged([result("a")], response("r2", call("b", "get_y")), "r1"),
        logged([result("a")], response("r3", call("b", "get_y")), "r1"),
        logged([result("b")], response("r4", DONE), "r2"),
        logged([result("b")], response("r5", DONE), "r3"),
    )
    assert [(c.context, c.status) for c in trace.calls] == [
        ("main", "ok"),
        ("main", "ok"),
        ("conversation 2", "ok"),
    ]
    assert [f.code for f in check(trace).findings if f.level == "flag"] == []


def test_conversations_that_the_provider_keeps() -> None:
    trace = only_trace(
        logged([GO], {**response("r1", call("a")), "conversation": {"id": "c1"}}),
        logged([result("a")], {**response("r2", DONE), "conversation": {"id": "c1"}}),
    )
    assert told(trace) == [("a", 1, "ok")]
    assert events(trace, ContextLoss) == []


def test_conversations_that_follow_one_another_are_traces() -> None:
    rows = []
    for key in "ab":
        say = {"role": "user", "content": key}
        rows.append(logged([say], response(f"r{key}", call(key))))
        rows.append(logged([say, call(key), result(key)], response(f"s{key}", DONE)))
    traces = read_bytes(encoded(*rows), "log")
    assert [(t.run, told(t)) for t in traces] == [
        ("log#0", [("a", 1, "ok")]),
        ("log#1", [("b", 1, "ok")]),
    ]


def test_a_result_that_is_not_sent_any_more_is_lost() -> None:
    trace = only_trace(
        logged([GO], response("r1", call("a"))),
        logged([GO, call("a"), result("a")], response("r2", call("b"))),
        logged([GO, call("b"), result("b")], response("r3", call("c", arguments='{"n":1}'))),
    )
    assert events(trace, ContextLoss) == [ContextLoss(1, "trim", lost=[0])]


def test_a_compaction_is_a_loss() -> None:
    compacted = {"type": "compaction", "id": "k", "encrypted_content": "…"}
    trace = read(GO, call("a"), result("a"), compacted, call("b"), result("b"))
    assert events(trace, ContextLoss) == [ContextLoss(0, "compaction")]
    assert [c.turn for c in trace.calls] == [1, 2]


def test_lists_that_begin_with_the_newest_item() -> None:
    listed = [DONE, result("b"), call("b"), result("a"), call("a"), GO]
    (trace,) = read_bytes(json.dumps({"object": "list", "data": listed}).encode(), "l.json")
    assert told(trace) == [("a", 1, "ok"), ("b", 2, "ok")]
    assert trace.paths == {0: "$.data[4]", 1: "$.data[2]"}


def test_responses_alone_and_streams_of_one() -> None:
    half = response("r1", status="in_progress")
    whole = response("r1", call("a"), usage={"input_tokens": 3}, model="m")
    rows = [
        {"type": "response.created", "response": half},
        {"type": "response.output_item.done", "item": call("a")},
        {"type": "response.completed", "response": whole},
        {"type": "response.completed", "response": whole},
        response("r2", call("b"), call("c")),
    ]
    trace = only_trace(*rows)
    assert told(trace) == [("a", 1, "missing"), ("b", 2, "missing"), ("c", 2, "missing")]
    assert events(trace, Request)[0].usage == {"input_tokens": 3}


def test_lines_of_a_batch() -> None:
    row = {"custom_id": "x", "response": {"body": response("r1", call("a"))}}
    assert told(only_trace(row)) == [("a", 1, "missing")]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "function_call"},
        {"type": "function_call", "call_id": 5, "name": [], "arguments": {"n": 1}},
        {"type": "function_call_output", "call_id": "nobody"},
        {"type": "function_call_output", "call_id": "a", "output": None},
        {"type": "shell_call_output", "call_id": "a", "output": [5, {"outcome": "x"}]},
        {"type": "mcp_call", "error": 5, "arguments": 7},
        {"type": "mcp_approval_response", "approval_request_id": 5},
        {"type": "compaction"},
        {"type": 5, "role": 5, "content": 5},
        {"role": "user"},
        {"object": "response", "output": [None, 5, {}], "usage": 5, "id": []},
    ],
)
def test_odd_shapes_are_no_crash(odd: dict[str, Any]) -> None:
    assert told(read(GO, call("a"), odd))[0][0] == "a"
    only_trace(logged([GO, odd], response("r", call("a"), odd)))


def test_arguments_that_came_as_an_object() -> None:
    (one,) = read(GO, {**call("a"), "arguments": {"n": 1}}).calls
    assert (bytes(one.args), one.raw_args) == (b'{"n": 1}', None)


def test_a_line_that_cannot_be_read_is_named() -> None:
    (trace,) = read_bytes(encoded(logged([GO], response("r", call("a")))) + b'{"requ\n', "log")
    assert [p.line for p in trace.problems] == [2]


@pytest.mark.parametrize("data", [b'{"alpha": 1}', b"[]", b"[5]"])
def test_no_items_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError, match="no items"):
        read_bytes(data, "r.json", "openai-responses")


@pytest.mark.parametrize(
    "document", [{"input": "x", "output": "y"}, [{"type": "program", "name": "x"}]]
)
def test_what_is_of_other_formats(document: Any) -> None:
    with pytest.raises(UnknownFormatError):
        read_bytes(json.dumps(document).encode(), "c.json")


def test_rollouts_of_codex_hold_the_same_items() -> None:
    row = {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": call("a")}
    assert only_trace(row, row).format == "codex-cli"
