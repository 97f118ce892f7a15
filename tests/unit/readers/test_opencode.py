"""Rules of the opencode reader."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.unit.readers.opencode_messages import (
    FINISH,
    START,
    Message,
    assistant,
    database,
    text,
    tool,
    user,
)

from refetch import check
from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, ContextStart, Trace, UserMessage
from refetch.readers import read_bytes, read_path
from refetch.readers.registry import UnknownFormatError

READ = ("read", {"filePath": "/w/a"})
ABORTED = {"name": "MessageAbortedError", "data": {"message": "stop"}}
FAILED = {"name": "APIError", "data": {"message": "overloaded"}}
RUN = text("The following tool was executed by the user", synthetic=True)


def data(*messages: Message) -> bytes:
    return json.dumps({"info": {"id": "ses_1"}, "messages": messages}).encode()


def read(*messages: Message) -> Trace:
    [trace] = read_bytes(data(*messages))
    return trace


def losses(trace: Trace) -> list[ContextLoss]:
    return [event for event in trace.events if isinstance(event, ContextLoss)]


def people(trace: Trace) -> list[UserMessage]:
    return [event for event in trace.events if isinstance(event, UserMessage)]


def flags(raw: bytes) -> list[str]:
    found = check(read_bytes(raw)[0]).findings
    return [finding.code for finding in found if finding.level == "flag"]


def test_a_message_tells_its_folder_and_a_command_its_own() -> None:
    bash = tool("b", "bash", {"command": "ls", "workdir": "src"})
    trace = read(assistant("m1", START, tool("a", *READ), bash))
    assert [call.cwd for call in trace.calls] == ["/w", "/w/src"]
    assert [call.started for call in trace.calls] == [1.0, 1.0]


def test_two_equal_reads_are_flagged() -> None:
    first, second = (assistant(f"m{n}", START, tool(f"c{n}", *READ), FINISH) for n in (1, 2))
    assert flags(data(first, second)) == ["RF003"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"output": "x", "metadata": {"exit": 1}}, ("ok", 1)),
        ({"output": "x", "metadata": {"exit": None}}, ("unknown", None)),
        (
            {
                "output": "x\n\n<bash_metadata>\nbash tool terminated command after exceeding "
                "timeout 120000 ms\n</bash_metadata>"
            },
            ("timeout", None),
        ),
        ({"output": "x\n\n(Command timed out after 5000 ms)"}, ("timeout", None)),
        ({"output": "x\n<shell_metadata>\nUser aborted the command\n"}, ("unknown", None)),
        ({"output": "x\n\n(Command was aborted)"}, ("unknown", None)),
        ({"status": "error", "error": "no match"}, ("error", None)),
        ({"status": "error", "error": "Error: request timed out"}, ("timeout", None)),
        ({"status": "error", "error": "Tool execution aborted"}, ("unknown", None)),
        ({"status": "error", "error": "x", "metadata": {"interrupted": True}}, ("unknown", None)),
        (
            {
                "status": "error",
                "error": "Error: The user rejected permission to use this specific tool call.",
            },
            ("rejected", None),
        ),
        (
            {"status": "error", "error": "The user has specified a rule which prevents you from"},
            ("rejected", None),
        ),
        ({"status": "running"}, ("missing", None)),
    ],
    ids=range(13),
)
def test_outcomes(state: dict[str, Any], expected: tuple[str, int | None]) -> None:
    [call] = read(assistant("m1", START, tool("a", "bash", {"command": "ls"}, **state))).calls
    assert (call.status, call.exit_code) == expected


def test_a_task_may_run_in_the_background() -> None:
    tasks = [tool(str(b), "task", {"prompt": "x", "background": b}) for b in (False, True)]
    trace = read(assistant("m1", START, *tasks))
    assert [bool(call.background) for call in trace.calls] == [False, True]


def test_an_invalid_call_was_not_executed() -> None:
    invalid = {"tool": "reed", "error": "Model tried to call unavailable tool 'reed'"}
    trace = read(assistant("m1", START, tool("a", "invalid", invalid)))
    assert trace.calls[0].status == "not-executed"


@pytest.mark.parametrize(
    "state", [{"status": "pending"}, {"status": "error", "error": "Tool execution aborted"}]
)
def test_arguments_that_never_arrived_are_unknown(state: dict[str, Any]) -> None:
    unknown, known = read(
        assistant("m1", START, tool("a", "read", {}, **state), tool("b", *READ, **state))
    ).calls
    assert (bytes(unknown.args), bool(bytes(known.args))) == (b"", True)


@pytest.mark.parametrize(
    "command", [text("x", synthetic=True) | RUN, {"type": "subtask", "prompt": "x"}]
)
def test_what_a_person_ran_is_no_call_of_the_model(command: dict[str, Any]) -> None:
    run = tool("a", "bash", {"command": "cat a"})
    trace = read(user("u1", command), assistant("m1", run, parentID="u1"))
    [call] = trace.calls
    assert (call.origin, call.turn) == ("user", 0)
    assert people(trace) == [UserMessage(-1)]


def test_the_model_goes_on_after_what_a_person_ran() -> None:
    ran = assistant("m1", tool("a", *READ), parentID="u1")
    asked = assistant("m2", START, tool("b", *READ), FINISH, parentID="u1")
    trace = read(user("u1", RUN), ran, asked)
    assert [(call.origin, call.turn) for call in trace.calls] == [("user", 0), ("model", 1)]


@pytest.mark.parametrize(
    ("listed", "spoke"),
    [
        ((text("go"),), True),
        ((text("go"), text("Called the Read tool", synthetic=True)), True),
        (({"type": "file", "url": "file:///w/a"},), True),
        ((), True),
        ((text("Continue if you have next steps", synthetic=True),), False),
        (({"type": "compaction", "auto": True},), False),
    ],
)
def test_who_spoke(listed: tuple[dict[str, Any], ...], spoke: bool) -> None:
    assert bool(people(read(user("u1", *listed), assistant("m1", START)))) is spoke


def test_the_words_of_people_in_results_count() -> None:
    refused = "The user rejected permission to use this specific tool call"
    trace = read(
        assistant(
            "m1",
            START,
            tool("a", "question", {"questions": []}),
            tool("b", "edit", {"filePath": "a"}, status="error", error=refused),
            tool(
                "c",
                "edit",
                {"filePath": "a"},
                status="error",
                error=f"{refused} with the following feedback: no",
            ),
        )
    )
    assert [event.after for event in people(trace)] == [0, 2]


@pytest.mark.parametrize(
    ("error", "listed", "lost"),
    [
        (FAILED, (START, tool("a", *READ)), [0]),
        (ABORTED, (START, tool("a", *READ)), None),
        (None, (START, tool("a", *READ)), None),
    ],
)
def test_a_message_with_an_error_is_not_shown_again(
    error: dict[str, Any] | None, listed: tuple[dict[str, Any], ...], lost: list[int] | None
) -> None:
    again = assistant("m2", START, tool("b", *READ), FINISH)
    raw = data(assistant("m1", *listed, error=error), again)
    [trace] = read_bytes(raw)
    assert [loss.lost for loss in losses(trace)] == ([lost] if lost else [])
    assert flags(raw) == ([] if lost else ["RF003"])


def test_a_step_that_broke_off_is_not_shown_to_the_next_attempt() -> None:
    attempts = (START, tool("a", *READ), START, tool("b", *READ), FINISH)
    raw = data(assistant("m1", *attempts))
    [trace] = read_bytes(raw)
    assert losses(trace) == [ContextLoss(0, "trim", lost=[0])]
    assert flags(raw) == []


def test_a_step_that_ended_is_shown_to_the_next() -> None:
    steps = (START, tool("a", *READ), FINISH, START, tool("b", *READ), FINISH)
    assert flags(data(assistant("m1", *steps))) == ["RF003"]


def test_a_result_leaves_when_it_was_cleared() -> None:
    old = tool("a", *READ, time={"start": 1000, "end": 1001, "compacted": 5000})
    trace = read(
        assistant("m1", START, old, FINISH, at=1000),
        assistant("m2", START, tool("b", *READ), FINISH, at=4000),
        assistant("m3", START, tool("c", *READ), FINISH, at=6000),
    )
    assert losses(trace) == [ContextLoss(1, "eviction", lost=[0])]


def test_a_summary_follows_a_compaction() -> None:
    trace = read(
        assistant("m1", START, tool("a", *READ), FINISH),
        user("u1", {"type": "compaction", "auto": False}),
        assistant("m2", text("summary"), summary=True, finish="stop"),
        assistant("m3", START, tool("b", *READ), FINISH),
    )
    assert losses(trace) == [ContextLoss(0, "compaction")]


def family() -> list[Message]:
    task = tool("t", "task", {"prompt": "look"}, metadata={"sessionId": "ses_2"})
    return [
        user("m1", text("go"), at=1),
        assistant("m2", START, tool("a", *READ), task, FINISH, at=2),
        user("m3", text("look"), at=3, session="ses_2"),
        assistant("m4", START, tool("c", *READ), FINISH, at=4, sessionID="ses_2"),
        assistant("m5", START, tool("d", *READ), FINISH, at=5),
        user("m6", text("other"), at=6, session="ses_3"),
        assistant("m7", START, tool("e", *READ), FINISH, at=7, sessionID="ses_3"),
    ]


def test_a_database_holds_sessions_and_those_they_started() -> None:
    sessions = {"ses_1": None, "ses_2": "ses_1", "ses_3": None, "ses_4": None}
    first, second = read_bytes(database(sessions, family()))
    assert (first.run, first.task, second.run) == ("ses_1", "go", "ses_3")
    assert [(call.context, call.turn, call.cwd) for call in first.calls] == [
        ("main", 1, "/w"),
        ("main", 1, "/w"),
        ("ses_2", 1, "/w"),
        ("main", 2, "/w"),
    ]
    assert [e for e in first.events if isinstance(e, ContextStart)] == [ContextStart("ses_2", 1)]
    assert people(first) == [UserMessage(-1)]
    assert [f.code for f in check(first).findings] == ["RF103", "RF003"]
    assert len(second.calls) == 1


@pytest.mark.parametrize("parents", [("ses_1", "ses_9"), ("ses_2", "ses_1")])
def test_odd_parents_lose_no_call(parents: tuple[str, str]) -> None:
    sessions: dict[str, str | None] = dict(zip(("ses_1", "ses_2"), parents, strict=True))
    traces = read_bytes(database({**sessions, "ses_3": "ses_3"}, family()))
    assert sum(len(trace.calls) for trace in traces) == 5


@pytest.mark.parametrize(
    "statement",
    ["create table other(x)", "create table session(id, parent_id, directory, time_created)"],
)
def test_another_database_is_named(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with pytest.raises(InputError, match="not one of opencode"):
        read_bytes(path.read_bytes(), "x", "opencode")
    with pytest.raises(UnknownFormatError, match="a SQLite database with tables"):
        read_bytes(path.read_bytes(), "x")


def test_odd_rows_are_survived(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table session(id, parent_id, directory, time_created)")
        connection.execute("create table message(id, session_id, time_created, data)")
        connection.execute("create table part(id, message_id, data)")
        connection.execute("insert into session values('s', 5, x'ff', 'late')")
        for row in (
            (None, "s", None, None),
            ("m", "s", 1, "not json"),
            ("n", "s", 2, b"\xff"),
            ("o", "s", 3, '{"role": "assistant", "time": 5, "path": [], "error": "x"}'),
            ("p", "nobody", 3, '{"role": "assistant"}'),
        ):
            connection.execute("insert into message values(?, ?, ?, ?)", row)
        for part in (
            (1, "o", "[1"),
            (2, "o", None),
            (3, "o", '{"type": "tool", "tool": 5, "state": []}'),
            (4, "x", '{"type": "tool"}'),
        ):
            connection.execute("insert into part values(?, ?, ?)", part)
        connection.commit()
    assert [len(trace.calls) for trace in read_bytes(path.read_bytes())] == [1]


def test_what_a_run_prints_is_read_like_the_messages() -> None:
    lines = [
        {"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": {"messageID": own, **part}}
        for kind, own, part in (
            ("step_start", "m1", START),
            ("tool_use", "m1", tool("a", *READ)),
            ("step_finish", "m1", FINISH),
            ("step_start", "m2", START),
            ("tool_use", "m2", tool("b", *READ)),
            ("text", "m2", text("done")),
        )
    ]
    raw = "\n".join(json.dumps(line) for line in lines).encode()
    [trace] = read_bytes(raw)
    assert trace.run == "ses_1"
    assert [(call.call_id, call.turn, call.status) for call in trace.calls] == [
        ("a", 1, "ok"),
        ("b", 2, "ok"),
    ]
    assert flags(raw) == ["RF003"]


def storage(folder: Path, *, flat: bool) -> Path:
    """A storage folder with the session "ses_1"; `flat`: as it was at first."""
    session = folder / "session" / ("info" if flat else "project") / "ses_1.json"
    base = folder / "session" if flat else folder
    files: dict[Path, Any] = {
        session: {
            "id": "ses_1",
            "title": "t",
            "version": "1",
            "directory": "/w",
            "time": {"created": 1},
        }
    }
    for message in (
        user("msg_1", text("go")),
        assistant("msg_2", START, tool("a", *READ), FINISH),
        assistant("msg_3", START, tool("b", *READ), FINISH),
    ):
        own = message["info"]["id"]
        files[base / "message" / "ses_1" / f"{own}.json"] = message["info"]
        parts = base / "part" / ("ses_1" if flat else "") / own
        for number, part in enumerate(message["parts"]):
            known = {"id": f"prt_{number}", "messageID": own, "sessionID": "ses_1"}
            files[parts / f"prt_{number}.json"] = {**known, **part}
    for path, value in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    return session


@pytest.mark.parametrize("flat", [False, True])
def test_a_storage_folder_is_read_from_its_sessions(flat: bool, tmp_path: Path) -> None:
    session = storage(tmp_path, flat=flat)
    [trace] = read_path(session)
    assert (trace.run, trace.task) == ("ses_1", "go")
    assert [(call.call_id, call.turn, call.cwd) for call in trace.calls] == [
        ("a", 1, "/w"),
        ("b", 2, "/w"),
    ]
    assert [len(trace.calls) for trace in read_path(tmp_path)] == [2]


def test_unreadable_files_of_a_storage_folder_are_problems(tmp_path: Path) -> None:
    session = storage(tmp_path, flat=False)
    (tmp_path / "message" / "ses_1" / "msg_4.json").write_text("[")
    [trace] = read_bytes(session.read_bytes(), str(session))
    assert [Path(problem.source).name for problem in trace.problems] == ["msg_4.json"]


@pytest.mark.parametrize("source", ["-", "a\0b", "x" * 5000, "ses_1.json"])
def test_a_session_without_its_messages_is_an_error(source: str, tmp_path: Path) -> None:
    data = storage(tmp_path, flat=False).read_bytes()
    with pytest.raises(InputError, match="without its messages"):
        read_bytes(data, source)
    alone = tmp_path / "session" / "ses_9.json"
    alone.write_bytes(data)
    with pytest.raises(InputError, match="without its messages"):
        read_bytes(data, str(alone))
