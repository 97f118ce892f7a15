"""Goose's database: read from memory, whatever is in it; the user's file is never touched."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.samples import kept

from refetch.model.errors import InputError
from refetch.readers import read_bytes, read_path

DATABASE = next(s.read() for s in kept() if s.name == "goose/sessions.db")


def test_sessions_are_traces() -> None:
    assert [trace.run for trace in read_bytes(DATABASE)] == ["20250101_1", "20250101_2"]


def test_the_file_and_its_folder_stay_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(DATABASE)
    path.chmod(0o444)
    read_path(path)
    assert [p.name for p in tmp_path.iterdir()] == ["sessions.db"]
    assert path.read_bytes() == DATABASE


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
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(InputError, match=r"not one of Goose|no sessions"):
        read_bytes(path.read_bytes(), "x")


def test_odd_rows_are_survived(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
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
    connection.close()
    assert len(read_bytes(path.read_bytes())) == 2


@given(st.lists(st.tuples(st.integers(0, len(DATABASE) - 1), st.integers(0, 255)), max_size=8))
def test_changed_bytes_never_crash_it(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DATABASE)
    for at, byte in changes:
        data[at] = byte
    try:
        read_bytes(bytes(data), "x", "goose")
    except InputError as error:
        assert "reader failed" not in str(error)  # noqa: PT017
