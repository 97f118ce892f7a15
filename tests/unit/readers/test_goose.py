"""Goose's database: read from memory, whatever is in it; the user's file is never touched."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.samples import kept
from tests.unit.readers.goose_database import (
    FOR_THE_MODEL,
    HIDDEN,
    Message,
    answered,
    asked,
    database,
    message,
    text,
)

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Trace, UserMessage
from refetch.readers import read_bytes, read_path
from refetch.readers.registry import UnknownFormatError

DATABASE = next(s.read() for s in kept() if s.name == "goose/sessions.db")
LS = ("developer__shell", {"command": "ls"})


def read(*messages: Message) -> Trace:
    [trace] = read_bytes(database({"20260101_1": list(messages)})["db"])
    return trace


def outcome_of(response: dict[str, Any]) -> tuple[str, int | None]:
    trace = read(
        message("assistant", 1, asked("a", *LS)),
        message("user", 2, response),
    )
    [call] = trace.calls
    return call.status, call.exit_code


def test_sessions_are_traces() -> None:
    assert [trace.run for trace in read_bytes(DATABASE)] == ["20250101_1", "20250101_2"]


def test_a_session_names_its_folder_and_model() -> None:
    trace = read(message("assistant", 1, asked("a", *LS)))
    assert (trace.harness, trace.model, trace.calls[0].cwd) == ("goose", "m", "/w")
    assert trace.calls[0].status == "missing"


def test_text_and_calls_side_by_side_are_one_response() -> None:
    trace = read(
        message("user", 1, text("go")),
        message("assistant", 2, text("I look")),
        message("assistant", 3, asked("a", *LS)),
        message("user", 3, answered("a", "x")),
        message("assistant", 9, asked("b", *LS)),
    )
    assert [call.turn for call in trace.calls] == [1, 2]
    assert trace.turns == "recorded"


def test_pairs_of_one_second_are_a_batch_and_that_is_a_guess() -> None:
    trace = read(
        message("assistant", 5, asked("a", *LS)),
        message("user", 5, answered("a", "x")),
        message("assistant", 5, asked("b", *LS)),
        message("user", 5, answered("b", "x")),
        message("assistant", 8, asked("c", *LS)),
    )
    assert [call.turn for call in trace.calls] == [1, 1, 2]
    assert trace.turns == "inferred"


def test_a_batch_in_one_message_is_no_guess() -> None:
    trace = read(message("assistant", 5, asked("a", *LS), asked("b", *LS)))
    assert [call.turn for call in trace.calls] == [1, 1]
    assert trace.turns == "recorded"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (answered("a", "x"), ("ok", None)),
        (answered("a", "no\n\nCommand exited with code 1", isError=True), ("ok", 1)),
        (answered("a", "no", isError=True, structuredContent={"exit_code": 2}), ("ok", 2)),
        (answered("a", "no such file", isError=True), ("error", None)),
        (answered("a", "x\n\nCommand timed out after 5 seconds", isError=True), ("timeout", None)),
        (answered("a", "x", structuredContent={"timed_out": True}), ("timeout", None)),
        (answered("a", "The user has declined to run this tool. DO NOT"), ("rejected", None)),
        (
            {
                "type": "toolResponse",
                "id": "a",
                "toolResult": {"status": "error", "error": "-32603: x"},
            },
            ("error", None),
        ),
        (
            {
                "type": "toolResponse",
                "id": "a",
                "toolResult": {"status": "error", "error": "Interrupted by the user to make a"},
            },
            ("unknown", None),
        ),
        (
            {
                "type": "toolResponse",
                "id": "a",
                "toolResult": {"status": "success", "value": [text("older shape")]},
            },
            ("ok", None),
        ),
    ],
    ids=range(10),
)
def test_outcomes(response: dict[str, Any], expected: tuple[str, int | None]) -> None:
    assert outcome_of(response) == expected


def test_a_request_that_could_not_be_read_was_never_executed() -> None:
    broken = {"type": "toolRequest", "id": "a", "toolCall": {"status": "error", "error": "bad"}}
    error = {"type": "toolResponse", "id": "a", "toolResult": {"status": "error", "error": "bad"}}
    trace = read(message("assistant", 1, broken), message("user", 1, error))
    assert [call.status for call in trace.calls] == ["not-executed"]


def test_what_a_compaction_hides_was_called_and_is_lost() -> None:
    trace = read(
        message("user", 1, text("go"), seen=HIDDEN),
        message("assistant", 2, asked("a", *LS), seen=HIDDEN),
        message("user", 2, answered("a", "x"), seen=HIDDEN),
        message("user", 5, text("a summary"), seen=FOR_THE_MODEL),
        message("assistant", 5, text("Your context was compacted"), seen=FOR_THE_MODEL),
        message("assistant", 9, asked("b", *LS)),
    )
    assert [(call.turn, call.status) for call in trace.calls] == [(1, "ok"), (2, "missing")]
    assert [e for e in trace.events if isinstance(e, ContextLoss)] == [
        ContextLoss(0, "compaction", lost=[0])
    ]
    assert [e for e in trace.events if isinstance(e, UserMessage)] == [UserMessage(-1)]


def test_an_answer_stamped_before_its_request_is_its_answer() -> None:
    asks = message("assistant", 7, asked("a", *LS))
    answers = message("user", 2, answered("a", "x"))
    exported = [
        {"role": role, "created": at, "content": content}
        for role, at, content, _ in (answers, asks)
    ]
    for trace in (read(asks, answers), *read_bytes(json.dumps({"messages": exported}).encode())):
        assert [(call.call_id, call.status) for call in trace.calls] == [("a", "ok")]


def test_what_is_delegated_may_run_in_the_background() -> None:
    tasks: list[dict[str, Any]] = [{"instructions": "x"}, {"instructions": "x", "async": True}]
    trace = read(
        message("assistant", 1, *(asked(str(i), "delegate", t) for i, t in enumerate(tasks)))
    )
    assert [bool(call.background) for call in trace.calls] == [False, True]


def test_cut_output_is_not_whole() -> None:
    trace = read(
        message("assistant", 1, asked("a", *LS)),
        message("user", 1, answered("a", "x\n\n[Output exceeded. Full output saved to /t.]")),
    )
    assert trace.calls[0].truncated


def test_output_that_was_not_collected_to_its_end_is_cut() -> None:
    told = answered("a", "x", structuredContent={"exit_code": 0, "output_truncated": True})
    trace = read(message("assistant", 1, asked("a", *LS)), message("user", 1, told))
    assert trace.calls[0].truncated


def test_the_file_and_its_folder_stay_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(DATABASE)
    path.chmod(0o444)
    read_path(path)
    assert [p.name for p in tmp_path.iterdir()] == ["sessions.db"]
    assert path.read_bytes() == DATABASE


def test_what_stands_in_the_log_beside_it_is_read(tmp_path: Path) -> None:
    files = database({"s": [message("assistant", 1, asked("a", *LS))]}, wal=True)
    path, log = tmp_path / "sessions.db", tmp_path / "sessions.db-wal"
    path.write_bytes(files["db"])
    with pytest.raises(InputError, match="no sessions"):
        read_bytes(path.read_bytes(), str(path))
    log.write_bytes(files["wal"])
    [trace] = read_bytes(path.read_bytes(), str(path))
    assert len(trace.calls) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sessions.db", "sessions.db-wal"]
    assert (path.read_bytes(), log.read_bytes()) == (files["db"], files["wal"])


def test_a_log_that_is_none_is_passed_over(tmp_path: Path) -> None:
    files = database({"s": [message("assistant", 1, asked("a", *LS))]}, wal=True)
    path = tmp_path / "sessions.db"
    path.write_bytes(files["db"])
    Path(f"{path}-wal").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="no sessions"):
        read_bytes(path.read_bytes(), str(path))


def test_a_log_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = database({"s": [message("assistant", 1, asked("a", *LS))]}, wal=True)
    Path(tmp_path / "x.db-wal").write_bytes(files["wal"])

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match="its log cannot be read: Permission denied"):
        read_bytes(files["db"], str(tmp_path / "x.db"))


@pytest.mark.parametrize("source", ["x" * 5000, "a\0b", "-", "sessions.zip!sessions.db"])
def test_a_source_that_is_no_file_has_no_log(source: str) -> None:
    files = database({"s": [message("assistant", 1, asked("a", *LS))]}, wal=True)
    with pytest.raises(InputError, match="no sessions"):
        read_bytes(files["db"], source)


@pytest.mark.parametrize(
    "statement",
    [
        "create table other(x)",
        "create table messages(id, role)",
        "create table messages(id, session_id, role, content_json, created_timestamp)",
    ],
)
def test_another_database_is_named(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with pytest.raises(InputError, match=r"not one of Goose|no sessions"):
        read_bytes(path.read_bytes(), "x", "goose")
    with pytest.raises(UnknownFormatError, match=r"a SQLite database with tables"):
        read_bytes(path.read_bytes(), "x")


def test_odd_rows_are_survived(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table sessions(id, working_dir)")
        connection.execute("insert into sessions values('s', 7)")
        connection.execute(
            "create table messages(id integer primary key, session_id, role, content_json, "
            "created_timestamp)"
        )
        for row in (
            (None, None, None, None),
            ("s", 'a"b', "not json", "late"),
            ("s", "assistant", b"\xff\xfe", -1),
            ("s", "assistant", "[1, null, {}]", 5),
            ("s", "assistant", '[{"type":"toolRequest","id":7,"toolCall":5}]', 5),
        ):
            connection.execute(
                "insert into messages(session_id, role, content_json, created_timestamp) "
                "values(?, ?, ?, ?)",
                row,
            )
        connection.commit()
    assert [len(trace.calls) for trace in read_bytes(path.read_bytes())] == [0, 1]


def test_an_exported_session_and_an_older_file_say_the_same() -> None:
    blocks = [asked("a", *LS)]
    row = {"role": "assistant", "created": 1, "content": blocks}
    around = {"id": "20260101_1", "working_dir": "/w"}
    [exported] = read_bytes(json.dumps({**around, "conversation": [row]}).encode())
    [older] = read_bytes(b"\n".join(json.dumps(r).encode() for r in (around, row)))
    for trace in (exported, older):
        assert trace.run == "20260101_1"
        assert [(call.name, call.cwd) for call in trace.calls] == [("developer__shell", "/w")]


@given(st.lists(st.tuples(st.integers(0, len(DATABASE) - 1), st.integers(0, 255)), max_size=8))
def test_changed_bytes_never_crash_it(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DATABASE)
    for at, byte in changes:
        data[at] = byte
    try:
        read_bytes(bytes(data), "x", "goose")
    except InputError as error:
        assert "reader failed" not in str(error)  # noqa: PT017
