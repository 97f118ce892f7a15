"""Arguments and results as JSON text, at call time, whatever they hold."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec
import xxhash
from msgspec import Raw

HASH = "xxh3_128"
"""Results are hashed over their UTF-8 text: of a string itself, of anything else its JSON."""

_strange = itertools.count(1)


def _plain(value: Any) -> Any:
    """What the encoder does not know: a model's fields, else a name that equals no other.

    Two values that merely print alike must never look equal, so the stand-in is numbered.
    """
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    return f"<{type(value).__name__} #{next(_strange)}>"


encode = msgspec.json.Encoder(enc_hook=_plain).encode
_strict = msgspec.json.Encoder(
    enc_hook=lambda value: (
        value.model_dump(mode="json") if hasattr(value, "model_dump") else _refuse(value)
    )
).encode


def _refuse(value: Any) -> Any:
    raise TypeError(f"cannot encode {type(value).__name__}")


def encode_anyway(value: Any) -> bytes:
    """The text of arguments that the fast encoder refused; empty where there is none.

    Integers of any size keep their digits, lone surrogates are spelled out, infinities are null.
    """
    try:
        return json.dumps(_walk(value), ensure_ascii=False, separators=(",", ":")).encode()
    except Exception:
        return b""


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_walk(str(key)): _walk(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_walk(item) for item in value]
    try:
        return msgspec.json.decode(encode(value))
    except Exception:
        return f"<{type(value).__name__} #{next(_strange)}>"


class Digest(msgspec.Struct, frozen=True):
    """What is kept of a result: `algo:hex`, its length in characters, its JSON text if asked."""

    hash: str
    chars: int
    raw: Raw = Raw()


def digest_text(text: str, *, keep: bool) -> Digest:
    """The digest of a string result."""
    data = text.encode("utf-8", "surrogatepass")
    raw = Raw(encode_anyway(text)) if keep else Raw()
    return Digest(f"{HASH}:{xxhash.xxh3_128_hexdigest(data)}", len(text), raw)


def digest_value(value: Any, *, keep: bool) -> Digest:
    """The digest of any other result, through its JSON text.

    Raises:
        Exception: the value has no JSON text; equality of such results cannot be known.
    """
    data = _strict(value)
    chars = len(data) if data.isascii() else len(data.decode())
    return Digest(f"{HASH}:{xxhash.xxh3_128_hexdigest(data)}", chars, Raw(data) if keep else Raw())
