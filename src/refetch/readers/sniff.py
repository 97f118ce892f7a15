"""What a format can be recognised by: first bytes, shape, and the keys of the first records.

Formats are told apart by content, never by file name. Nothing large is decoded: values stay
`msgspec.Raw` slices of the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Raw

from refetch.model.native import lines_of

Shape = Literal["object", "array", "lines", "zip", "sqlite", "other"]

_ROWS = 64
_INNER = 20
_LINES_TRIED = 200
_SMALL = 400
_BLANK = b" \t\r\n"
_ARRAY = b"[" + _BLANK
_LINE_WINDOW = 1 << 16
_ROW_BYTES = 1 << 19
_SHORT = 1 << 12
_COMMA = 0x2C
_MORE = re.compile(r"trailing characters \(byte (\d+)\)")

_raw = msgspec.json.Decoder(Raw)
_object = msgspec.json.Decoder(dict[str, Raw])
_array = msgspec.json.Decoder(list[Raw])
_objects = msgspec.json.Decoder(list[dict[str, Raw]])
_text = msgspec.json.Decoder(str).decode
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
    _inner: dict[int, list[dict[str, Raw]]] = msgspec.field(default_factory=dict)

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

    def inner(self, raw: Raw) -> list[dict[str, Raw]]:
        """The first objects (at most 20) in a list that one of the rows holds.

        Many formats ask for the same ones, so each list is taken apart once.
        """
        known = self._inner.get(id(raw))
        if known is None:
            known = self._inner[id(raw)] = [members(item) for item in elements(raw, _INNER)]
        return known

    def row_text(self, key: str) -> list[str]:
        """The small string values of `key` among the first records."""
        return [value for row in self.rows if (value := small_text(row.get(key))) is not None]


def small_text(raw: Raw | None) -> str | None:
    """A JSON string of at most 400 bytes, decoded; None for anything else."""
    if raw is None or len(raw) > _SMALL:
        return None
    try:
        return _text(raw)
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


def elements(raw: Raw | memoryview | bytes | None, limit: int | None = None) -> list[Raw]:
    """The elements of a JSON array, undecoded; empty for anything else.

    With a `limit` at most so many are looked at, and fewer where they are long.
    """
    if raw is None or not (view := memoryview(raw)) or view[0] not in _ARRAY:
        return []
    if limit is not None and len(view) > _SHORT and view[0] == 0x5B:
        found = leading(view, limit)
        if found is not None:
            return found
    try:
        return _array.decode(view)[:limit]
    except _BROKEN:
        return []


def objects(raw: Raw | memoryview | bytes | None) -> list[dict[str, Raw]]:
    """The elements of a JSON array one level deep, in one pass; empty where one is no object."""
    if raw is None or not (view := memoryview(raw)) or view[0] not in _ARRAY:
        return []
    try:
        return _objects.decode(view)
    except _BROKEN:
        return [members(element) for element in elements(raw)]


def leading(view: memoryview, limit: int) -> list[Raw] | None:
    """The first elements of a JSON array, up to half a megabyte; None where one is broken.

    An element ends where the decoder finds more text behind it, so what follows is not looked at:
    it may be broken.
    """
    found: list[Raw] = []
    at = 1
    while len(found) < limit and at < _ROW_BYTES:
        try:
            _raw.decode(view[at:])
        except _BROKEN as error:
            more = _MORE.search(str(error))
        else:
            return None
        if more is None:
            return None
        end = at + int(more[1]) - 1
        found.append(_trimmed(view, at, end))
        if view[end] != _COMMA:
            return found if bytes(view[end : end + 64]).strip() == b"]" else None
        at = end + 1
    return found


def _trimmed(view: memoryview, start: int, end: int) -> Raw:
    """A part without the blanks around it, and without a copy: it may be nearly the whole input."""
    while start < end and view[start] in _BLANK:
        start += 1
    while start < end and view[end - 1] in _BLANK:
        end -= 1
    return Raw(view[start:end])


def document_of(data: bytes) -> dict[str, Raw]:
    """The members of the JSON object that fills an input; empty where it is none.

    What was taken apart to be recognised is not taken apart again to be read: the latest input is
    remembered until `forget`.
    """
    known, document = _latest
    if known is data:
        return document
    try:
        return _object.decode(data)
    except _BROKEN:
        return {}


def forget() -> None:
    """Let go of the latest input."""
    global _latest
    _latest = b"", {}


_latest: tuple[bytes, dict[str, Raw]] = b"", {}


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
    return sniffed_lines(data) if first else Sniffed(head, "other", {}, ())


def _sniff_array(data: bytes, head: bytes) -> Sniffed:
    view = memoryview(data)[len(data) - len(data.lstrip(_BLANK)) :]
    items: list[Raw] | None = None
    if data[-64:].rstrip(_BLANK).endswith(b"]"):
        items = leading(view, _ROWS)
    try:
        items = items or _array.decode(data)
    except _BROKEN as error:
        return sniffed_lines(data, str(error))
    return Sniffed(head, "array", {}, _rows(memoryview(item) for item in items))


def _sniff_object(data: bytes, head: bytes) -> Sniffed:
    walker = lines_of(data)
    line = next((line for _, line in walker if bytes(line[:64]).strip(_BLANK)), memoryview(b""))
    if next(walker, None) is not None and _decoded(line) is not None:
        return sniffed_lines(data)
    global _latest
    try:
        document = _object.decode(data)
    except _BROKEN as error:
        return sniffed_lines(data, str(error))
    _latest = data, document
    return Sniffed(head, "object", document, (document,))


def sniffed_lines(data: bytes, error: str | None = None) -> Sniffed:
    """An input that is no document, for the reason in `error`."""
    rows = _rows(line for _, line in lines_of(data))
    return Sniffed(data[:64], "lines" if rows else "other", {}, rows, error)


def broken_array(data: bytes) -> str | None:
    """Why an input that begins like a JSON array is none; None where it is one, or does not."""
    if data.lstrip(_BLANK)[:1] != b"[":
        return None
    try:
        _array.decode(data)
    except _BROKEN as error:
        return str(error)
    return None


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
