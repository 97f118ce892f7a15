"""JSON records that lose a field rather than a call: typed decoding with a loose second try."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.native import lines_of
from refetch.model.trace import Problem

T = TypeVar("T", bound=msgspec.Struct)

BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding untrusted JSON can raise."""

_KEEP_PROBLEMS = 20
_ARRAY = b"[ \t\r\n"
"""What an array can begin with."""
_GLUED = re.compile(r"trailing characters \(byte (\d+)\)")
_PLACE = re.compile(r" - at `(?P<path>.+)`$")

_object = msgspec.json.Decoder(dict[str, Raw])
_array = msgspec.json.Decoder(list[Raw])
_any = msgspec.json.Decoder()


class Lenient(Generic[T]):
    """Decodes objects of one shape; a member of another type than the shape's becomes its default.

    Every field of the shape needs a default. Members that are objects, or lists of objects, of
    another shape are treated alike; in a list of `shape | None` None stands for what is no object.
    """

    def __init__(self, shape: type[T]) -> None:
        self._shape = shape
        self._decoder = msgspec.json.Decoder(shape)
        self._list = msgspec.json.Decoder(list[shape])  # type: ignore[valid-type]
        self._members: list[tuple[str, str, Any]] | None = None

    def decode(self, raw: Raw | memoryview | bytes) -> T | None:
        """The record, or None where the text is no JSON object at all."""
        view = memoryview(raw)
        if not view:
            return None
        try:
            return self._decoder.decode(view)
        except BROKEN:
            pass
        try:
            found = _object.decode(view)
        except BROKEN:
            return None
        if self._members is None:
            self._members = [
                (field.encode_name, field.name, _reader_of(field.type))
                for field in msgspec.structs.fields(self._shape)
            ]
        values = {}
        for key, name, reader in self._members:
            if key in found and (value := reader(found[key])) is not None:
                values[name] = value
        return self._shape(**values)

    def decode_list(self, raw: Raw | memoryview | bytes | None) -> list[T | None]:
        """The records in a JSON array, None where an element is no object; empty for anything else.

        Decodes the array in one pass where every element fits the shape.
        """
        if raw is None or not (view := memoryview(raw)) or view[0] not in _ARRAY:
            return []
        try:
            found: list[T | None] = self._list.decode(view)
        except BROKEN:
            return [self.decode(part) for part in parts(view)]
        return found


def _reader_of(kind: Any) -> Any:
    if kind is Raw:
        return lambda raw: raw
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    for option in options:
        inner = (typing.get_args(option) or (None,))[0] if _is_list(option) else option
        keeps_places = isinstance(inner, types.UnionType)
        if keeps_places:
            inner = typing.get_args(inner)[0]
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            lenient: Lenient[Any] = Lenient(inner)
            if inner is option:
                return lenient.decode
            if keeps_places:
                return lenient.decode_list
            return lambda raw: [item for item in lenient.decode_list(raw) if item is not None]
    decoder = msgspec.json.Decoder(kind)

    def read(raw: Raw) -> Any:
        try:
            return decoder.decode(raw)
        except BROKEN:
            return None

    return read


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) is list


def parts(raw: Raw | memoryview | bytes) -> list[Raw]:
    """The elements of a JSON array, undecoded; empty for anything else."""
    view = memoryview(raw)
    if not view or view[0] not in _ARRAY:
        return []
    try:
        return _array.decode(raw)
    except BROKEN:
        return []


def plain(raw: Raw | None) -> Any:
    """A value decoded as it is; None where it is absent or broken."""
    if raw is None or not memoryview(raw):
        return None
    try:
        return _any.decode(raw)
    except BROKEN:
        return None


def number(value: object) -> float | None:
    """A number of ordinary size, as a float; None for anything else (NaN, infinity, beyond it)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    return float(value)


def epoch_seconds(value: object) -> float | None:
    """A time in seconds or, as its size tells, milliseconds; None where it is no number of such."""
    found = number(value)
    return found / 1000 if found is not None and found > 1e11 else found


def milliseconds(value: object) -> float | None:
    """A time in milliseconds, as seconds; None where it is none."""
    found = number(value)
    return None if found is None else found / 1000


def mapping(raw: Raw | None) -> dict[str, Any]:
    """A JSON object decoded as it is; empty for anything else."""
    value = plain(raw)
    return value if isinstance(value, dict) else {}


class JsonLines(Generic[T]):
    """The records of a JSON Lines input in order, and what could not be read.

    Two objects glued on one line are two records. A line that breaks off is reported and skipped;
    the last one breaks off when its writer is still at work.

    Args:
        data: the input.
        source: what problems call it.
        shape: the shape of a record.
        what: what a record is called in problems.
    """

    def __init__(self, data: bytes, source: str, shape: type[T], what: str) -> None:
        self.data = data
        self.source = source
        self.what = what
        self.problems: list[Problem] = []
        self._lenient = Lenient(shape)
        self._decode = msgspec.json.Decoder(shape).decode

    def __iter__(self) -> Iterator[tuple[int, T]]:
        decode = self._decode
        for number, text in lines_of(self.data):
            try:
                record = decode(text)
            except BROKEN as error:
                for record in self._broken(number, text, error):
                    yield number, record
                continue
            yield number, record

    def nothing(self) -> InputError:
        """What to raise where not one record could be read: the first problem, if there is one."""
        first = self.problems[0] if self.problems else None
        return InputError(
            self.source,
            first.message if first else "no records",
            line=first.line if first else None,
            expected=f"{self.what}s, one JSON object a line",
            found=(first.found if first else None) or "nothing",
        )

    def _broken(self, number: int, text: memoryview, error: Exception) -> Iterator[T]:
        while glued := _GLUED.search(str(error)):
            at = int(glued[1]) - 1  # the decoder counts the byte that it tripped over
            first = self._lenient.decode(text[:at])
            if first is not None:
                yield first
            text = text[at:]
            try:
                yield self._decode(text)
                return
            except BROKEN as next_error:
                error = next_error
        if not bytes(text[:256]).strip() and not bytes(text).strip():
            return
        last = self._lenient.decode(text)
        if last is not None:
            yield last
        else:
            self._report(number, text, error)

    def _report(self, number: int, text: memoryview, error: Exception) -> None:
        if len(self.problems) >= _KEEP_PROBLEMS:
            return
        words = str(error)
        place = _PLACE.search(words)
        message = _PLACE.sub("", words)
        cut_off = "truncated" in words
        tail = bytes(text[-64:])
        if cut_off and tail and self.data.rstrip(b"\r\n").endswith(tail.rstrip(b"\r")):
            message = "the last line is cut off (still being written?); everything before it counts"
        self.problems.append(
            Problem(
                self.source,
                message,
                number,
                place["path"] if place else None,
                expected=f"a complete {self.what}",
                found="a record that breaks off" if cut_off else None,
            )
        )
