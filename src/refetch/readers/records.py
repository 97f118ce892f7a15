"""Records wherever a file keeps them: a list, a list under a key, one a line, or logs of requests.

Message formats differ in what a message is, not in where the messages stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.native import lines_of, problem_of
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, begins
from refetch.readers.json_records import BROKEN, plain
from refetch.readers.sniff import Sniffed, document_of, members, objects, small_text
from refetch.readers.trace_builder import TraceBuilder

_TRIED = 20
_KEPT_PROBLEMS = 20

_row = msgspec.json.Decoder(dict[str, Raw])


class Record(NamedTuple):
    """One record: its members undecoded, and where it stands."""

    fields: dict[str, Raw]
    path: str
    line: int | None = None

    def get(self, *keys: str) -> Raw:
        """The first of these members that is there; an empty text for none."""
        for key in keys:
            raw = self.fields.get(key)
            if raw is not None and raw != NULL:
                return raw
        return EMPTY

    def inner(self, key: str) -> list[Record]:
        """The objects in the list under this key."""
        path, line = f"{self.path}.{key}[", self.line
        return [
            Record(fields, f"{path}{at}]", line)
            for at, fields in enumerate(objects(self.fields.get(key)))
        ]


class RecordList(NamedTuple):
    """The records of one run and the fields beside the list."""

    records: list[Record]
    around: dict[str, Raw]


def record_lists(
    data: bytes, source: str, keys: Sequence[str], what: str, problems: list[Problem]
) -> list[RecordList]:
    """The runs in an input: one, or one for each document that holds a list under one of `keys`.

    Args:
        problems: lines that cannot be read are added here.

    Raises:
        InputError: there are no records.
    """
    found: list[RecordList] = []
    if document := document_of(data):
        found = [_of_document(document, keys, "$", None)]
    elif rows := objects(data):
        found = _of_array(rows, keys)
    if not found:
        found = _of_lines(data, source, keys, what, problems)
    found = [one for one in found if one.records]
    if not found:
        first = problems[0] if problems else None
        raise InputError(
            source,
            first.message if first else f"no {what}s",
            line=first.line if first else None,
            path=first.path if first else None,
            expected=f"a list of {what}s",
            found=first.found if first else None,
        )
    return found


class Reading(Protocol):
    """What follows the records of one run."""

    build: TraceBuilder

    def take(self, record: Record) -> None:
        """The next record."""


def traces_of(
    lists: Sequence[RecordList], source: str, named_by: str, reading: Callable[[str], Reading]
) -> list[Trace]:
    """One trace for each run.

    Args:
        named_by: the field beside the list that holds the run's name; without it the runs are
            numbered, where there are several.
        reading: makes what follows the records, from the source's name.
    """
    traces = []
    for index, one in enumerate(lists):
        follower = reading(source)
        follower.build.run = small_text(one.around.get(named_by)) or (
            source if len(lists) == 1 else f"{source}#{index}"
        )
        for record in one.records:
            follower.take(record)
        traces.append(follower.build.trace())
    return traces


_RUN_KEYS = ("session_id", "conversation_id", "trace_id", "run_id", "custom_id")


def run_of(row: Record) -> str | None:
    """What a log line calls its run, where it says so."""
    return next((text for key in _RUN_KEYS if (text := small_text(row.fields.get(key)))), None)


def logged(record: Record, wrappers: Sequence[str], member: str, depth: int = 3) -> Record | None:
    """The object with `member`: the record itself, or what it holds under one of `wrappers`.

    Logs wrap what was sent and what came back; some keep it as a string of JSON.
    """
    if member in record.fields:
        return record
    if depth:
        for key in wrappers:
            inner = _object_in(record.fields.get(key))
            if inner:
                path = f"{record.path}.{key}"
                found = logged(Record(inner, path, record.line), wrappers, member, depth - 1)
                if found is not None:
                    return found
    return None


def _object_in(raw: Raw | None) -> dict[str, Raw]:
    if raw is not None and begins(raw, b'"{'):
        text = plain(raw)
        return members(Raw(text.encode("utf-8", "surrogatepass"))) if text else {}
    return members(raw)


def _of_array(rows: list[dict[str, Raw]], keys: Sequence[str]) -> list[RecordList]:
    if rows and rows[0] and _key_of(rows[0], keys) is not None:
        return [_of_document(row, keys, f"$[{at}]", None) for at, row in enumerate(rows) if row]
    return [RecordList([Record(row, f"$[{at}]") for at, row in enumerate(rows) if row], {})]


def _of_document(
    document: dict[str, Raw], keys: Sequence[str], path: str, line: int | None
) -> RecordList:
    key = _key_of(document, keys)
    if key is None:
        return RecordList([Record(document, path, line)], {})
    records = [
        Record(row, f"{path}.{key}[{at}]", line)
        for at, row in enumerate(objects(document[key]))
        if row
    ]
    return RecordList(records, document)


def _of_lines(
    data: bytes, source: str, keys: Sequence[str], what: str, problems: list[Problem]
) -> list[RecordList]:
    flat: list[Record] = []
    found: list[RecordList] = []
    for number, line in lines_of(data):
        try:
            row = _row.decode(line)
        except msgspec.ValidationError:
            continue  # JSON, but no object
        except BROKEN as error:
            if len(problems) < _KEPT_PROBLEMS:
                problems.append(problem_of(source, number, error, what=what))
            continue
        if _key_of(row, keys) is not None:
            found.append(_of_document(row, keys, "$", number))
        elif row:
            flat.append(Record(row, "$", number))
    return [*found, RecordList(flat, {})] if flat else found


def _key_of(document: dict[str, Raw], keys: Sequence[str]) -> str | None:
    return next((k for k in keys if k in document and begins(document[k], b"[")), None)


def sniffed_records(sniffed: Sniffed, keys: Sequence[str]) -> Iterator[dict[str, Raw]]:
    """The first records of an input, for a sniff rule."""
    for row in sniffed.rows[:_TRIED]:
        key = _key_of(row, keys)
        if key is None:
            yield row
            continue
        yield from sniffed.inner(row[key])
