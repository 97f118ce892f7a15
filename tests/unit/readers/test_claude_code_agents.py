"""Sub-agents, copies, broken lines: what a Claude Code reader must survive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.readers.claude_records import SESSION, answered, asked, lines, record, told

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, ContextStart, Trace
from refetch.readers import read_bytes, read_path
from refetch.readers.claude_code import read_parts

READ = ("t1", "Read", {"file_path": "/w/a"})


def read(*records: dict[str, Any]) -> Trace:
    (trace,) = read_bytes(lines(*records), "s.jsonl")
    return trace


def places(trace: Trace) -> list[tuple[int, str, int, str | None]]:
    return [(c.seq, c.context, c.turn, c.call_id) for c in trace.calls]


def agent_said(uuid: str, inner: dict[str, Any]) -> dict[str, Any]:
    message = {key: inner[key] for key in ("type", "uuid", "timestamp", "message")}
    data = {"type": "agent_progress", "agentId": "ag1", "message": message, "prompt": "look"}
    return record("progress", uuid, data=data, parentToolUseID="task", toolUseID="agent_msg")


def test_a_sub_agent_in_progress_records() -> None:
    trace = read(
        asked("a0", "m0", ("task", "Task", {"prompt": "look"})),
        agent_said("p0", told("s0", "look")),
        agent_said("p1", asked("s1", "n1", READ, model="claude-small")),
        agent_said("p2", answered("s2", "t1", "text")),
        answered("r0", "task", [{"type": "text", "text": "found"}]),
        asked("a1", "m1", ("t2", "Read", {})),
    )
    assert places(trace) == [
        (0, "main", 1, "task"),
        (1, "ag1", 1, "t1"),
        (2, "main", 2, "t2"),
    ]
    assert [c.status for c in trace.calls] == ["ok", "ok", "missing"]
    assert [e for e in trace.events if type(e) is ContextStart] == [
        ContextStart("ag1", 0, model="claude-small")
    ]


def sidechain(*records: dict[str, Any], agent: str | None = "ag1") -> list[dict[str, Any]]:
    changes: dict[str, Any] = {"isSidechain": True}
    if agent:
        changes["agentId"] = agent
    return [{**row, **changes} for row in records]


def at(second: int, row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "timestamp": f"2026-01-01T00:00:{second:02d}.000Z"}


def session_and_agent() -> tuple[bytes, bytes]:
    main = lines(
        at(1, asked("a0", "m0", ("task", "Task", {"prompt": "look", "run_in_background": True}))),
        at(6, answered("r0", "task", "x", toolUseResult={"agentId": "ag1", "isAsync": True})),
        at(7, asked("a1", "m1", ("t2", "Read", {}))),
    )
    agent = lines(
        *sidechain(
            at(2, told("s0", "look")),
            at(3, asked("s1", "n1", READ)),
            at(4, record("system", "s2", subtype="compact_boundary")),
            at(5, answered("s3", "t1")),
        )
    )
    return main, agent


def check_merged(trace: Trace) -> None:
    assert places(trace) == [(0, "main", 1, "task"), (1, "ag1", 1, "t1"), (2, "main", 2, "t2")]
    start = next(e for e in trace.events if type(e) is ContextStart)
    assert (start.context, start.parent_call, start.background) == ("ag1", 0, True)
    assert [e for e in trace.events if type(e) is ContextLoss] == [
        ContextLoss(1, "compaction", "ag1")
    ]


def test_a_sub_agent_in_its_own_file() -> None:
    main, agent = session_and_agent()
    (trace,) = read_parts([("s.jsonl", main), ("agent-ag1.jsonl", agent)])
    check_merged(trace)
    assert trace.lines == {0: 1, 1: 2, 2: 3}
    assert trace.paths == {1: "agent-ag1.jsonl"}


@pytest.mark.parametrize("layout", [f"{SESSION}/subagents", "."])
def test_a_project_folder_is_read_by_session(tmp_path: Path, layout: str) -> None:
    main, agent = session_and_agent()
    (tmp_path / layout).mkdir(parents=True, exist_ok=True)
    (tmp_path / f"{SESSION}.jsonl").write_bytes(main)
    (tmp_path / layout / "agent-ag1.jsonl").write_bytes(agent)
    (trace,) = read_path(tmp_path)
    check_merged(trace)


def test_naming_the_session_takes_its_sub_agents_along(tmp_path: Path) -> None:
    main, agent = session_and_agent()
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / f"{SESSION}.jsonl").write_bytes(main)
    (folder / "agent-ag1.jsonl").write_bytes(agent)
    (trace,) = read_path(tmp_path / f"{SESSION}.jsonl")
    check_merged(trace)


def test_both_layouts_at_once_count_once() -> None:
    main = lines(
        at(1, asked("a0", "m0", ("task", "Task", {}))),
        at(3, agent_said("p1", at(3, asked("s1", "n1", READ)))),
        at(4, agent_said("p2", at(4, answered("s2", "t1")))),
    )
    agent = lines(*sidechain(at(3, asked("s1", "n1", READ)), at(4, answered("s2", "t1"))))
    (trace,) = read_parts([("s.jsonl", main), ("agent-ag1.jsonl", agent)])
    assert places(trace) == [(0, "main", 1, "task"), (1, "ag1", 1, "t1")]


def test_sidechains_without_agent_ids_are_told_apart_by_their_threads() -> None:
    trace = read(
        asked("a0", "m0", ("k1", "Task", {}), ("k2", "Task", {})),
        *sidechain(told("x0", "one"), told("y0", "two"), agent=None),
        *sidechain(
            asked("x1", "n1", ("t1", "Read", {}), parentUuid="x0"),
            asked("y1", "n2", ("t2", "Read", {}), parentUuid="y0"),
            asked("x2", "n3", ("t3", "Read", {}), parentUuid="x1"),
            agent=None,
        ),
    )
    assert [(c.context, c.turn) for c in trace.calls[2:]] == [
        ("sidechain-1", 1),
        ("sidechain-2", 1),
        ("sidechain-1", 2),
    ]


def test_a_resumed_file_that_copies_history_counts_it_once() -> None:
    history = [asked("a0", "m0", READ), answered("r0", "t1")]
    copied = [asked("b0", "m0", READ), answered("b1", "t1")]
    trace = read(*history, *history, *copied, asked("a1", "m1", ("t2", "Read", {})))
    assert places(trace) == [(0, "main", 1, "t1"), (1, "main", 2, "t2")]


def test_a_call_id_used_twice_is_two_calls() -> None:
    trace = read(
        asked("a0", "m0", READ),
        answered("r0", "t1", "one"),
        asked("a1", "m1", READ),
        answered("r1", "t1", "two"),
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"one"', b'"two"']


def test_a_late_result_goes_to_the_record_that_asked() -> None:
    trace = read(
        asked("a0", "m0", READ),
        asked("a1", "m1", READ),
        answered("r0", "t1", "one", sourceToolAssistantUUID="a0"),
    )
    assert [c.status for c in trace.calls] == ["ok", "missing"]
    trace = read(asked("a0", "m0", READ), asked("a1", "m1", READ), answered("r0", "t1", "one"))
    assert [c.status for c in trace.calls] == ["missing", "ok"]


def test_a_second_result_and_a_result_without_call_change_nothing() -> None:
    trace = read(
        asked("a0", "m0", READ),
        answered("r0", "t1", "one"),
        answered("r1", "t1", "two"),
        answered("r2", "unknown", "three"),
    )
    assert [bytes(c.result) for c in trace.calls] == [b'"one"']
    assert trace.problems == []


def test_two_records_on_one_line() -> None:
    first, second = lines(asked("a0", "m0", READ)), lines(answered("r0", "t1", "one"))
    for glue in (b"", b" "):
        (trace,) = read_bytes(first.strip() + glue + second + lines(asked("a1", "m1")))
        assert [c.status for c in trace.calls] == ["ok"]
        assert trace.problems == []


def test_a_last_line_cut_off_by_a_running_writer() -> None:
    data = lines(asked("a0", "m0", READ), answered("r0", "t1"), asked("a1", "m1", READ))
    (trace,) = read_bytes(data[:-30], "s.jsonl")
    assert len(trace.calls) == 1
    (problem,) = trace.problems
    assert (problem.source, problem.line) == ("s.jsonl", 3)
    assert "cut off" in problem.message


def test_a_broken_line_costs_only_itself() -> None:
    good, other = lines(asked("a0", "m0", READ)), lines(answered("r0", "t1"))
    (trace,) = read_bytes(good + b'{"type":"user","uuid":\n' + b"\x00\xff\n" + other, "s.jsonl")
    assert [c.status for c in trace.calls] == ["ok"]
    assert [p.line for p in trace.problems] == [2, 3]


def test_an_odd_field_does_not_cost_the_call() -> None:
    row = {**asked("a0", "m0", READ), "cwd": 5, "timestamp": {"odd": 1}, "data": "text"}
    (trace,) = read_bytes(lines(row, answered("r0", "t1")))
    assert [(c.status, c.cwd) for c in trace.calls] == [("ok", None)]
    assert trace.problems == []


def test_an_unreadable_message_is_reported_with_its_place() -> None:
    row = {**asked("a0", "m0", READ), "message": {"id": "m0", "content": [{"type": 5}]}}
    (trace,) = read_bytes(lines(asked("a", "m", READ), row), "s.jsonl")
    (problem,) = trace.problems
    assert (problem.line, problem.path) == (2, "$.message.content[0].type")


def test_stream_json() -> None:
    base = {"session_id": "s1", "parent_tool_use_id": None}
    rows = [
        {"type": "system", "subtype": "init", "session_id": "s1", "apiKeySource": "none"},
        {**base, "type": "assistant", "message": asked("", "m0", ("k", "Task", {}))["message"]},
        {
            **base,
            "parent_tool_use_id": "k",
            "type": "assistant",
            "message": asked("", "n0", READ)["message"],
        },
        {**base, "type": "user", "message": answered("", "k")["message"]},
        {"type": "result", "session_id": "s1", "result": "done"},
    ]
    (trace,) = read_bytes(lines(*rows))
    assert trace.run == "s1"
    assert places(trace) == [(0, "main", 1, "k"), (1, "agent-of-k", 1, "t1")]
    assert [c.status for c in trace.calls] == ["ok", "missing"]
    start = next(e for e in trace.events if type(e) is ContextStart)
    assert start.parent_call == 0


def test_nothing_readable_is_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        read_bytes(b'{"type":"user","sessionId":"s","uuid"', "s.jsonl", "claude-code")
    assert caught.value.line == 1


def test_counts_agree_with_the_manifest(shared_dir: Path) -> None:
    rows = [
        line.split("\t")
        for line in (shared_dir / "traces/MANIFEST.tsv").read_text().splitlines()[1:]
    ]
    wrong = {}
    for file, kind, *rest in rows:
        if kind != "claude-code":
            continue
        (trace,) = read_bytes((shared_dir / "traces" / file).read_bytes(), file)
        calls = [call for call in trace.calls if call.origin == "model"]
        main = sum(call.context == "main" for call in calls)
        found = f"{main}+{len(calls) - main}sub" if main < len(calls) else str(main)
        if found != rest[3] or trace.problems:
            wrong[file] = (found, rest[3], trace.problems)
    assert len(rows) > 30
    assert not wrong
