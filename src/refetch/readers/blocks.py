"""What all readers do with a result: keep its JSON text, hash, measure, read its beginning."""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw
from xxhash import xxh3_128_hexdigest

from refetch.effects.answers import says_failed

EMPTY = Raw()
"""Not recorded."""

NULL = Raw(b"null")
"""Recorded as nothing at all (no arguments)."""

_LIKE_ERRORS = (b"ERROR", b"failed in sandbox")
_QUOTE = 0x22
_MORE = re.compile(r"trailing characters \(byte (\d+)\)")
_WORD = 16
_any = msgspec.json.Decoder()
_string = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def begins(raw: Raw | memoryview, mark: bytes) -> bool:
    """Whether a JSON text begins with these bytes."""
    if len(raw) > _WORD:
        raw = memoryview(raw)[: len(mark)]
    return bytes(raw).startswith(mark)


def raw_hash(raw: Raw | bytes | memoryview) -> str:
    """Hash of the JSON text of a result, as one encoder wrote it: `xxh3-raw:<hex>`.

    Comparable only with hashes made from the same encoder's text, so within one input.
    """
    return "xxh3-raw:" + xxh3_128_hexdigest(raw)


def raw_chars(raw: Raw | memoryview) -> int:
    """Length of a result in characters, measured on its JSON text.

    Quotes of a string are not counted; escapes and multi-byte characters are counted as they are
    written, so this is an upper bound that costs nothing.
    """
    view = memoryview(raw)
    size = len(view)
    return max(0, size - 2) if size and view[0] == _QUOTE else size


def raw_of(value: object) -> Raw:
    """The JSON text of decoded data (for formats that have no text of their own to keep)."""
    return Raw(_encode(value))


def kept_in(around: Raw, text: Raw) -> Raw:
    """A text as the part of another that it is, so that no second copy stays in memory."""
    whole, part = bytes(around), bytes(text)
    at = whole.find(part[:_WORD])
    if at < 0 or whole[at : at + len(part)] != part:
        return text
    return Raw(memoryview(around)[at : at + len(part)])


def parsed_args(text: str) -> Raw:
    """Arguments that came as a string: the JSON text if it is one, else empty (not parseable)."""
    data = text.encode("utf-8", "surrogatepass")
    if not data.strip():
        return NULL
    try:
        _any.decode(data)
    except _BROKEN:
        return EMPTY
    return Raw(data)


def beginning(raw: Raw | memoryview, size: int = 200) -> str:
    """The first characters of a JSON string or of the first text in a list of content blocks.

    Decodes about `size` bytes, however large the value is. Empty for other values and for broken
    text.
    """
    view = memoryview(raw)
    if not view:
        return ""
    if view[0] != _QUOTE:
        start = bytes(view[: size * 2])
        at = start.find(b'"text":')
        at = start.find(b'"', at + 7) if at >= 0 else -1
        if view[0] not in b"[{" or at < 0:
            return ""
        view = view[at:]
    return _cut_string(bytes(view[:size]))


def one_line(raw: Raw) -> Raw:
    """The same JSON without line breaks; itself where it has none.

    Inside a JSON string a line break is always escaped, so every bare one is mere layout.
    """
    if not len(raw) or memoryview(raw)[0] == _QUOTE:
        return raw
    text = bytes(raw)
    if b"\n" not in text and b"\r" not in text:
        return raw
    return Raw(text.replace(b"\n", b" ").replace(b"\r", b" "))


def starts_with(raw: Raw | memoryview, *prefixes: bytes) -> bool:
    """True if a result's text begins with one of these (at most 60 plain ASCII bytes each).

    Looks at the JSON text without decoding it; of content blocks at the first one's text.
    """
    start = bytes(memoryview(raw)[:120])
    if start.startswith(b'"'):
        return start.startswith(prefixes, 1)
    at = start.find(b'"text":')
    return at >= 0 and start[at + 7 :].lstrip().startswith(tuple(b'"' + p for p in prefixes))


def like_error(raw: Raw | memoryview) -> bool:
    """True if a result begins as error messages do: the format does not say that the call failed,
    and it may have.
    """
    return says_failed(raw) or starts_with(raw, *_LIKE_ERRORS)


def ending(raw: Raw | memoryview, size: int = 200) -> str:
    """The last characters of a JSON string, common escapes decoded; empty for other values."""
    view = memoryview(raw)
    if len(view) < 2 or view[-1] != _QUOTE:
        return ""
    text = bytes(view[-size:-1]).decode("utf-8", "replace")
    return text.replace("\\n", "\n").replace('\\"', '"')


def _cut_string(text: bytes) -> str:
    """Decode a JSON string that may be cut anywhere, escapes and characters included."""
    for drop in range(12):
        try:
            return _string.decode(text[: len(text) - drop] + b'"')
        except _BROKEN as error:
            ended = _MORE.search(str(error))
        if ended:
            text = text[: int(ended[1]) - 1].rstrip()
            break
    try:
        return _string.decode(text)
    except _BROKEN:
        return ""


def whole_text(raw: Raw) -> str:
    """The text of a result: a string, or the `text` of all content blocks, one a line."""
    try:
        value = _any.decode(raw)
    except _BROKEN:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(
            str(block.get("text") or "") if isinstance(block, dict) else str(block)
            for block in value
        )
    return "" if value is None else _encode(value).decode()
