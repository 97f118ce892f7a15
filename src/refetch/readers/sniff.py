"""What a format can be recognised by: first bytes, shape, and the keys of the first records.

Formats are told apart by content, never by file name. Nothing large is decoded: values stay
`msgspec.Raw` slices of the input.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Raw

from refetch.model.native import lines_of

Shape = Literal["object", "array", "lines", "zip", "sqlite", "other"]

_ROWS = 64
_LINES_TRIED = 200
_SMALL = 400
_BLANK = b" \t\r\n"
_LINE_WINDOW = 1 << 16

_object = msgspec.json.Decoder(dict[str, Raw])
_array = msgspec.json.Decoder(list[Raw])
_string = msgspec.json.Decoder(str)
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Sniffed(msgspec.Struct, frozen=True):
    """The start of an input.

    Attributes:
        head: the first 64 bytes, byte order mark removed.
        shape: "object" or "array" for one JSON document, "lines" for JSON Lines (also when some
        lines are
            broken), "zip" and "sqlite" by their magic bytes, else "other".
        document: the members of a JSON object, values undecoded; empty for every other shape.
        rows: the first records (at most 64), values undecoded: parseable object lines of JSON
        Lines, object
            elements of an array, or the document itself.
        error: why the input is no JSON document, in the decoder's words, where it began like one.
        tables: the tables of a SQLite database.
    """

    head: bytes
    shape: Shape
    document: dict[str, Raw]
    rows: tuple[dict[str, Raw], ...]
    error: str | None = None
    tables: tuple[str, ...] = ()

    @property
    def first_keys(self) -> list[str]:
        """The top-level keys of the first record, in order: what an error message shows."""
        return list(self.rows[0]) if self.rows else []

    def has(self, *keys: str) -> bool:
        """True if the JSON document is an object with all of these keys."""
        return bool(self.document) and all(key in self.document for key in keys)

    def any_row(self, *keys: str) -> bool:
        """True if one of the first records has all of these keys."""
        return any(all(key in row for key in keys) for row in self.rows)

    def row_text(self, key: str) -> list[str]:
        """The small string values of `key` among the first records."""
        return [value for row in self.rows if (value := small_text(row.get(key))) is not None]


def small_text(raw: Raw | None) -> str | None:
    """A JSON string of at most 400 bytes, decoded; None for anything else."""
    if raw is None:
        return None
    view = memoryview(raw)
    if len(view) > _SMALL or len(view) < 2 or view[0] != 0x22:
        return None
    try:
        return _string.decode(view)
    except _BROKEN:
        return None


def keys_of(raw: Raw | None) -> list[str]:
    """The keys of a JSON object, values undecoded; empty for anything else."""
    return list(members(raw))


def members(raw: Raw | None) -> dict[str, Raw]:
    """A JSON object one level deep; empty for anything else."""
    if raw is None or not (view := memoryview(raw)) or view[0] != 0x7B:
        return {}
    try:
        return _object.decode(view)
    except _BROKEN:
        return {}


def elements(raw: Raw | None, limit: int | None = None) -> list[Raw]:
    """The elements of a JSON array, undecoded (the first `limit`); empty for anything else."""
    if raw is None or not (view := memoryview(raw)) or view[0] != 0x5B:
        return []
    try:
        return _array.decode(view)[:limit]
    except _BROKEN:
        return []


def normalized_text(data: bytes) -> bytes:
    """The input as UTF-8 without byte order mark (PowerShell's `>` writes UTF-16)."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data


def sniff_bytes(data: bytes) -> Sniffed:
    """Look at the start of an input (already `normalized_text`)."""
    head = data[:64]
    if head.startswith(b"PK\x03\x04"):
        return Sniffed(head, "zip", {}, ())
    if head.startswith(b"SQLite format 3\x00"):
        # Rarely needed, and a tenth of the start-up.
        from refetch.readers.sqlite_file import tables_of

        return Sniffed(head, "sqlite", {}, (), tables=tables_of(data))
    first = head.lstrip(_BLANK)[:1] or data[:_LINE_WINDOW].lstrip(_BLANK)[:1]
    if first == b"[":
        return _sniff_array(data, head)
    if first == b"{":
        return _sniff_object(data, head)
    rows = _rows(line for _, line in lines_of(data)) if first else ()
    return Sniffed(head, "lines" if rows else "other", {}, rows)


def _sniff_array(data: bytes, head: bytes) -> Sniffed:
    try:
        items = _array.decode(data)
    except _BROKEN as error:
        rows = _rows(line for _, line in lines_of(data))
        return Sniffed(head, "lines" if rows else "other", {}, rows, str(error))
    return Sniffed(head, "array", {}, _rows(memoryview(item) for item in items))


def _sniff_object(data: bytes, head: bytes) -> Sniffed:
    walker = lines_of(data)
    line = next((line for _, line in walker if bytes(line[:64]).strip(_BLANK)), memoryview(b""))
    if _decoded(line) is not None and next(walker, None) is not None:
        return Sniffed(head, "lines", {}, _rows(line for _, line in lines_of(data)))
    try:
        document = _object.decode(data)
    except _BROKEN as error:
        rows = _rows(line for _, line in lines_of(data))
        return Sniffed(head, "lines" if rows else "other", {}, rows, str(error))
    return Sniffed(head, "object", document, (document,))


def _rows(lines: Iterable[memoryview]) -> tuple[dict[str, Raw], ...]:
    rows: list[dict[str, Raw]] = []
    for tried, line in enumerate(lines):
        if tried >= _LINES_TRIED or len(rows) >= _ROWS:
            break
        row = _decoded(line)
        if row:
            rows.append(row)
    return tuple(rows)


def _decoded(line: memoryview) -> dict[str, Raw] | None:
    try:
        return _object.decode(line)
    except _BROKEN:
        return None
