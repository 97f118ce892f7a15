"""SQLite databases as inputs: read from a copy in memory, so that the user's file is never opened.

Nothing is written beside the file, no lock is taken, and a database that its program is using is
left alone. What that program has not yet moved from its write-ahead log into the database stands
in a file beside it, which ends in "-wal"; it is read too.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Raw

from refetch.model.errors import InputError

MAGIC = b"SQLite format 3\x00"
BROKEN = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)
"""What reading a damaged database can raise."""

_VERSIONS = slice(18, 20)
_ROLLBACK = b"\x01\x01"
_WAL = b"\x02\x02"


@contextlib.contextmanager
def opened(data: bytes) -> Iterator[sqlite3.Connection]:
    """A connection to a database in memory.

    Broken text is replaced, never raised. Other damage raises one of `BROKEN`.
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = _text
        connection.deserialize(_without_log(data))
        yield connection


def with_log(data: bytes, source: str) -> bytes:
    """The database together with the write-ahead log beside the file, where there is one.

    Args:
        data: the file's bytes.
        source: its path; anything that is no file (standard input, a member of an archive) has no
            log.

    Raises:
        InputError: the log cannot be read. Else one of `BROKEN`, or OSError.
    """
    if data[_VERSIONS] != _WAL:
        return data
    beside = source + "-wal"
    # A source may be any text, and Path raises for those that cannot be names.
    if not os.path.isfile(beside):  # noqa: PTH113
        return data
    try:
        log = Path(beside).read_bytes()
    except OSError as error:
        why = f"its log cannot be read: {error.strerror}"
        raise InputError(source, why, path=beside, expected="a readable file") from None
    if not log:
        return data
    with tempfile.TemporaryDirectory(prefix="refetch-") as folder:
        copy = Path(folder) / "copy.db"
        copy.write_bytes(data)
        Path(folder, "copy.db-wal").write_bytes(log)
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return copy.read_bytes()


def tables_of(data: bytes) -> tuple[str, ...]:
    """The names of the tables in order of creation; empty where the database is damaged."""
    try:
        with opened(data) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return tuple(str(name) for (name,) in rows)
    except BROKEN:
        return ()


def json_in(value: Any) -> Raw:
    """A cell that holds JSON, as text or bytes; empty for anything else."""
    data = value if isinstance(value, bytes) else str(value or "").encode("utf-8", "replace")
    return Raw(data.strip())


def not_of(program: str, source: str, error: Exception, table: str, columns: str) -> InputError:
    """What to raise for another program's database, or a broken one."""
    return InputError(
        source,
        f"a SQLite database, but not one of {program}: {error}",
        path=f"$.{table}",
        expected=f"the table {table} with {columns}",
        found="another database",
    )


def _without_log(data: bytes) -> bytes:
    """SQLite opens no database of the write-ahead kind from memory; without its log it is one of
    the other kind but for these two bytes.
    """
    return data[:18] + _ROLLBACK + data[20:] if data[_VERSIONS] == _WAL else data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
