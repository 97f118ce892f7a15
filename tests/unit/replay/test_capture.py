"""Capture and replay: a bad run becomes a test, red on the harness and green once it is mended."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch import api
from refetch.model import (
    Call,
    ContextLoss,
    ContextStart,
    FixtureError,
    Request,
    Trace,
    UsageError,
    UserMessage,
    Write,
)
from refetch.model.finding import Finding
from refetch.model.native import encode_native, read_native
from refetch.readers import read_path
from refetch.record import ToolTracer
from refetch.replay import capture, encode_fixture, replay_fixture, run_agent, run_fixture
from refetch.replay.fixtures import Fixture, decode_fixture
from refetch.replay.recording import RecordedTools, recorded_trace


def judge(trace: Trace) -> Sequence[Finding]:
    return api.check(trace).findings


def captured(trace: Trace, **options: Any) -> Fixture:
    return decode_fixture(encode_fixture(capture(trace, judge(trace), **options)), "captured.json")


def call(seq: int, turn: int, name: str = "read_file", args: Any = None, **more: Any) -> Call:
    text = b"" if args is None else msgspec.json.encode(args)
    result = msgspec.json.encode(more.pop("result")) if "result" in more else None
    raws: dict[str, Any] = {} if not text else {"args": Raw(text)}
    if result is not None:
        raws["result"] = Raw(result)
    return Call(seq, turn, name, **raws, **{"ok": True, **more})


def rich_trace() -> Trace:
    read: dict[str, Any] = {"resource": "file:a", "effect": "read", "mutates": False}
    return Trace(
        run="rich",
        task="t",
        harness="h",
        model="m",
        tools={"read_file": {"view": "content"}},
        events=[
            UserMessage(-1),
            Request(1, usage={"input_tokens": 3}),
            call(0, 1, args={"path": "a"}, call_id="x", result="text", **read),
            call(1, 1, args={"path": "b"}, ok=False, error="later"),
            call(
                2, 1, args={"path": "b"}, origin="harness-retry", attempt_of=1, result={"k": [1.0]}
            ),
            call(3, 3, "agent", {"task": "look"}, ok=None, outcome="unknown"),
            ContextStart("sub", 3),
            call(4, 1, args={"path": "a"}, context="sub", parent=3, result="text", **read),
            call(5, 2, args={"path": "a"}, context="sub", result="text", **read),
            Write("file:z", 5, "hook"),
            call(
                6, 4, args={"path": "a"}, result="text", region={"unit": "line", "from": 1}, **read
            ),
            call(7, 4, args={"path": "a"}, result="text", **read),
            ContextLoss(7, "trim", lost=[0, 7]),
            call(8, 3, raw_args='{"path":  "a"}', result="text", **read),
            call(9, 5),
            UserMessage(9),
        ],
    )


def test_every_event_comes_back_as_it_was() -> None:
    trace = rich_trace()
    again = recorded_trace(captured(trace))
    assert encode_native(again).split(b"\n")[1:] == encode_native(trace).split(b"\n")[1:]
    assert (again.run, again.task, again.harness, again.model) == ("rich", "t", "h", "m")
    assert again.tools == trace.tools


def test_replay_gives_the_findings_of_the_trace() -> None:
    trace = rich_trace()
    assert judge(trace), "the trace is meant to have findings"
    result = replay_fixture(captured(trace), None, judge)
    assert result.passed
    assert len(result.matched) == len(judge(trace))
    assert not result.new
    assert not result.vanished


def test_the_script_reads_like_a_fixture_written_by_hand() -> None:
    data = capture(run_fixture("sloppy").trace, [])
    assert data["name"] == "sloppy"
    assert data["steps"][-1] == {"final": ""}
    first = data["steps"][0]["toolCalls"][0]
    assert (first["tool"], first["args"], first["seq"]) == ("search", {"query": "config"}, 0)
    assert first["record"]["result"] == "config.json\nREADME.md"
    assert first["record"]["resource"] == "search:config"
    assert data["redacted"] == {}


def test_a_captured_fixture_runs_like_any_other() -> None:
    trace = rich_trace()
    run = run_fixture(captured(trace))
    assert (run.answer, run.tracer) == ("", None)
    assert len(run.trace.calls) == len(trace.calls)


def test_numbers_keep_their_kind_and_their_digits() -> None:
    texts = [b'{"n":5.0}', b'{"n":12345678901234567890123}', b'{"n":1e-7}', b'{"n":-0.0}']
    trace = Trace("n", [Call(i, 1, "t", args=Raw(text)) for i, text in enumerate(texts)])
    found = [bytes(c.args) for c in recorded_trace(captured(trace)).calls]
    assert found == [b'{"n":5.0}', b'{"n":12345678901234567890123}', b'{"n":1e-07}', b'{"n":-0.0}']


def test_arguments_and_results_that_cannot_be_decoded_do_not_stop_the_capture() -> None:
    deep = b"[" * 500 + b"]" * 500
    odd = [
        Call(0, 1, "t", args=Raw(b'{"n":1e999}'), ok=True),
        Call(1, 1, "t", args=Raw(deep), ok=True, result=Raw(b'"\\ud800"')),
        Call(2, 1, "t", args=Raw(b'{"s":"\\ud800"}'), ok=True),
    ]
    again = recorded_trace(captured(Trace("odd", list(odd)))).calls
    assert [c.seq for c in again] == [0, 1, 2]
    assert [bytes(c.args) for c in again] == [bytes(c.args) for c in odd]
    assert [bytes(c.result) for c in again] == [bytes(c.result) for c in odd]
    tools = RecordedTools(captured(Trace("odd", [call(0, 1, "t", {}), *odd[1:2]]))).registry()
    with pytest.raises(Exception, match="holds no call"):
        tools["t"].run({"a": 1})


def test_records_out_of_order_or_written_twice_come_back_in_their_order() -> None:
    events: list[Any] = [
        call(1, 1, args={"a": 1}),
        call(0, 1, args={"a": 2}),
        call(0, 1, args={"a": 2}),
        UserMessage(0),
        call(7, 1, args={"a": 3}),
    ]
    again = recorded_trace(captured(Trace("r", events)))
    assert [e.seq for e in again.calls] == [1, 0, 0, 7]
    assert type(again.events[3]) is UserMessage


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["main", "sub"]),
            st.integers(0, 4),
            st.sampled_from(["model", "harness-retry", "user"]),
            st.sampled_from([None, {}, {"p": "a"}, {"p": 5}]),
            st.sampled_from(["ok", "error", "timeout", "missing"]),
            st.sampled_from([None, "text", {"k": [1, None]}]),
        ),
        max_size=12,
    )
)
def test_any_trace_comes_back(rows: list[tuple[Any, ...]]) -> None:
    events: list[Any] = []
    for seq, (context, turn, origin, args, outcome, result) in enumerate(rows):
        more: dict[str, Any] = {} if result is None else {"result": result}
        more |= {"context": context, "origin": origin, "outcome": outcome, "ok": None}
        events.append(call(seq, turn, "t", args, **more))
        if outcome == "timeout":
            events.append(ContextLoss(seq, context=context))
    trace = read_native(encode_native(Trace("any", events)))
    fixture = captured(trace)
    again = recorded_trace(fixture)
    assert encode_native(again).split(b"\n")[1:] == encode_native(trace).split(b"\n")[1:]
    assert replay_fixture(fixture, None, judge).passed


def test_secrets_are_out_by_default_and_the_findings_stay() -> None:
    secret = "sk-ant-" + "x1y2" * 8
    read: dict[str, Any] = {"resource": f"url:https://u:{secret}@h/", "effect": "read"}
    events: list[Any] = [
        call(n, n + 1, "get", {"key": secret, "password": "p w"}, result=f"got {secret}", **read)
        for n in range(2)
    ]
    trace = Trace("s", events, task=f"use {secret}")
    data = capture(trace, judge(trace))
    text = encode_fixture(data).decode()
    assert secret not in text
    assert "p w" not in text
    assert data["redacted"] == {"anthropic-key": 8, "named-secret": 2}
    assert [item["code"] for item in data["expect"]] == ["RF003"]
    assert replay_fixture(decode_fixture(text.encode(), "s.json"), None, judge).passed
    assert secret in encode_fixture(capture(trace, [], redact=False)).decode()
    assert "redacted" not in capture(trace, [], redact=False)
    assert secret in encode_fixture(capture(trace, [], redact=["slack-token"])).decode()


def test_a_changed_verdict_is_red() -> None:
    fixture = captured(run_fixture("sloppy").trace)
    silent = replay_fixture(fixture, None, lambda trace: [])
    assert not silent.passed
    assert [item.code for item in silent.vanished] == ["RF001", "RF002", "RF003"]
    assert fixture.expect is not None
    fewer = msgspec.structs.replace(fixture, expect=fixture.expect[:2])
    loud = replay_fixture(fewer, None, judge)
    assert not loud.passed
    assert [finding.code for finding in loud.new] == ["RF003"]


def test_without_expectations_nothing_may_be_flagged(tmp_path: Path) -> None:
    fixture = captured(run_fixture("sloppy").trace)
    unexpected = replay_fixture(msgspec.structs.replace(fixture, expect=None), None, judge)
    assert [finding.code for finding in unexpected.new] == ["RF001", "RF002", "RF003"]
    clean = msgspec.structs.replace(captured(run_fixture("well-behaved").trace), expect=None)
    assert replay_fixture(clean, None, judge).passed


@pytest.mark.parametrize("name", ["sloppy", "well-behaved", "transient-retry"])
def test_the_packaged_fixtures_expect_what_they_give(name: str) -> None:
    assert replay_fixture(name, None, judge).passed


def sloppy_agent(task: str, tools: dict[str, Any]) -> str:
    """Repeats itself as the captured run did."""
    tools["search"]({"query": "config"})
    tools["search"]({"query": "config"})
    tools["read_file"]({"path": "config.json"})
    tools["read_file"]({"path": "config.json"})
    return task


def mended_agent(task: str, tools: dict[str, Any]) -> str:
    """Asks for everything once."""
    tools["search"]({"query": "config"})
    text: str = tools["read_file"]({"path": "config.json"})
    tools["get_user"]({"id": 5})
    tools["write_file"]({"path": "config.json", "content": text})
    return text


def worse_agent(task: str, tools: dict[str, Any], tracer: ToolTracer) -> None:
    """Repeats what the captured run did not."""
    for _ in range(2):
        tracer.next_turn()
        tools["read_file"]({"path": "README.md"})


def test_an_agent_is_red_while_it_misbehaves_in_new_ways_and_green_once_mended() -> None:
    fixture = captured(run_fixture("sloppy").trace)
    mended = replay_fixture(fixture, mended_agent, judge)
    assert mended.passed
    assert [item.code for item in mended.vanished] == ["RF001", "RF002", "RF003"]
    assert mended.answer == '{"timeout": 30, "owner": 5}\n'
    same = replay_fixture(fixture, sloppy_agent, judge)
    assert same.passed
    assert [item.code for item in same.vanished] == ["RF002"]
    worse = replay_fixture(fixture, worse_agent, judge)
    assert not worse.passed
    assert [finding.code for finding in worse.new] == ["RF003"]


def test_against_no_expectations_an_agent_must_be_clean() -> None:
    fixture = msgspec.structs.replace(captured(run_fixture("sloppy").trace), expect=[])
    assert not replay_fixture(fixture, sloppy_agent, judge).passed
    assert replay_fixture(fixture, mended_agent, judge).passed
    assert replay_fixture("sloppy", mended_agent, judge).passed


def test_a_write_of_other_content_is_answered_as_the_recorded_one() -> None:
    registry = RecordedTools(captured(run_fixture("sloppy").trace)).registry()
    write = registry["write_file"]
    other = {"path": "config.json", "content": "something else"}
    assert write.run(other) == "wrote config.json"
    assert callable(write.resource)
    assert write.resource(other) == "file:config.json"
    with pytest.raises(Exception, match="holds no call"):
        write.run({"path": "other.json", "content": "something else"})


def test_an_agent_that_raises_is_told_with_its_reason() -> None:
    def agent(task: str, tools: dict[str, Any]) -> None:
        tools["read_file"]({"path": "never.read"})

    with pytest.raises(
        FixtureError, match=r"captured\.json: the agent raised NotRecordedError: .*never"
    ):
        replay_fixture(captured(run_fixture("sloppy").trace), agent, judge)


def test_an_agent_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("an_agent_module")
    module.__dict__.update(agent=mended_agent, no_agent=5)
    monkeypatch.setitem(sys.modules, "an_agent_module", module)
    fixture = captured(run_fixture("sloppy").trace)
    assert replay_fixture(fixture, "an_agent_module:agent", judge).passed
    for name in (
        "an_agent_module",
        "an_agent_module:nope",
        "no_such_module:x",
        "an_agent_module:no_agent",
    ):
        with pytest.raises(UsageError, match="agent"):
            replay_fixture(fixture, name, judge)


def test_recorded_tools_answer_by_normalized_arguments_in_recorded_order() -> None:
    trace = Trace(
        "r",
        [
            call(0, 1, "get", {"id": 5}, result="one", resource="user:5", ttl=4),
            call(1, 2, "get", {"id": "5"}, result={"n": 2}, resource="user:5"),
            call(2, 2, "get", {"id": 6}, ok=False, error="no such user", resource="user:6"),
            call(3, 2, "get", {"id": 7}, ok=None, outcome="timeout"),
            call(4, 2, "get", {"id": 8}, result_hash="x:1"),
            call(5, 2, "set", {"id": 8}, result="done", mutates=True),
            call(6, 2, "set", {"id": 9}, result="done", mutates=True),
        ],
    )
    registry = RecordedTools(captured(trace)).registry()
    get = registry["get"]
    assert [get.run({"id": " 5 "}) for _ in range(3)] == ["one", {"n": 2}, {"n": 2}]
    with pytest.raises(Exception, match="no such user"):
        get.run({"id": 6})
    with pytest.raises(TimeoutError):
        get.run({"id": 7})
    with pytest.raises(Exception, match="holds no result"):
        get.run({"id": 8})
    with pytest.raises(Exception, match="holds no call"):
        get.run({"id": 99})
    assert callable(get.resource)
    assert callable(registry["set"].mutates)
    assert get.resource({"id": 5}) == "user:5"
    assert get.resource({"id": 99}) is None
    assert registry["set"].mutates({"id": 99}) is True


def test_an_agent_sees_the_tools_as_the_trace_described_them() -> None:
    trace = rich_trace()
    fixture = captured(trace)

    def agent(task: str, tools: dict[str, Any]) -> None:
        tools["read_file"]({"path": "a"})

    again = replay_fixture(fixture, agent, judge).trace
    assert again.harness == "h"
    assert again.tools["read_file"]["view"] == "content"
    (record,) = again.calls
    assert (record.resource, record.effect, record.mutates) == ("file:a", "read", False)


def test_a_captured_script_can_drive_the_loop_as_well() -> None:
    fixture = captured(run_fixture("sloppy").trace)
    run = run_agent(fixture.model(), RecordedTools(fixture).registry())
    assert [finding.code for finding in judge(run.trace)] == ["RF001", "RF002", "RF003"]


@pytest.mark.parametrize("change", [{"turn": "x"}, {"outcome": 5}])
def test_a_broken_recording_is_a_fixture_error(change: dict[str, Any]) -> None:
    data = capture(run_fixture("sloppy").trace, [])
    if "turn" in change:
        data["recorded"]["events"] = [{"calls_before": 0, "event": {"type": "request", **change}}]
    else:
        data["steps"][0]["toolCalls"][0]["record"].update(change)
    with pytest.raises(FixtureError, match=r"captured\.json: \$\."):
        run_fixture(decode_fixture(json.dumps(data).encode(), "captured.json"))
    with pytest.raises(FixtureError, match="not a captured fixture"):
        recorded_trace(decode_fixture(b'{"name": "a", "steps": []}', "f.json"))


@pytest.mark.slow
def test_real_sessions_give_their_findings_again(shared_dir: Path) -> None:
    found = 0
    for path in sorted((shared_dir / "traces" / "claude-code").glob("*.jsonl"))[:12]:
        for trace in read_path(path):
            fixture = captured(trace)
            again = recorded_trace(fixture)
            if not fixture.redacted:
                old, new = encode_native(trace), encode_native(again)
                assert new.split(b"\n")[1:] == old.split(b"\n")[1:]
            result = replay_fixture(fixture, None, judge)
            assert result.passed, path.name
            found += len(result.matched)
    assert found
