"""JSON in and out, without losing what makes two arguments different.

Reading keeps the digits of integers of any length and the text of numbers beyond a double; of a key
that stands twice in one object the last wins, as in ECMAScript and Python. Writing prints what
JSON.stringify prints, apart from integers beyond 2**53, which keep their digits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from refetch.keys.numbers import literal_text, number_text

MAX_DEPTH = 256
"""Deeper nesting is refused, so that the answer never depends on how full the stack is."""

_LONGEST_PLAIN_INTEGER = 400  # digits; far below the length at which CPython refuses to convert

_MIN_ENCODED, _MAX_ENCODED = -(2**63), 2**63 - 1  # integers that the encoder takes at any time

_DECODER = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_quote = json.encoder.encode_basestring


class UnreadableArguments(ValueError):
    """Arguments that are no JSON, nest too deeply or hold an object that JSON has no form for."""


class NumberLiteral(str):
    """A number kept as its JSON text, because no Python number holds it faithfully."""

    __slots__ = ()


def decode_json(raw: bytes | str | msgspec.Raw) -> Any:
    """Python data of a JSON text.

    Raises UnreadableArguments when the text is no JSON, no UTF-8, or nests too deeply.
    """
    try:
        return _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        return _decode_leniently(raw)
    except RecursionError:
        raise too_deep() from None


def _decode_leniently(raw: bytes | str | msgspec.Raw) -> Any:
    """Reads what the fast decoder refuses and real recorders write all the same.

    That is lone surrogates, NaN, integers of thousands of digits, numbers beyond a double, and
    control characters inside strings.
    """
    try:
        text = raw if isinstance(raw, str) else bytes(raw).decode("utf-8")
        return json.loads(
            text,
            strict=False,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=NumberLiteral,
        )
    except RecursionError:
        raise too_deep() from None
    except ValueError as error:
        raise UnreadableArguments(f"the arguments are no JSON: {error}") from None


def _integer(literal: str) -> int | NumberLiteral:
    return int(literal) if len(literal) <= _LONGEST_PLAIN_INTEGER else NumberLiteral(literal)


def _float(literal: str) -> float | NumberLiteral:
    value = float(literal)
    return value if math.isfinite(value) else NumberLiteral(literal)


def encode_json(value: object) -> str:
    """JSON text of the output of ``encodable``, in the order in which its objects stand."""
    try:
        return _ENCODER.encode(value).decode()
    except UnicodeEncodeError:
        return _encode_surrogates(value)


def _encode_surrogates(value: object) -> str:
    """The same text with lone surrogates escaped, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        members = (f"{quote(key)}:{_encode_surrogates(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_encode_surrogates, value)) + "]"
    return _ENCODER.encode(value).decode()


def quote(text: str) -> str:
    r"""A string as JSON.stringify quotes it: lone surrogates as ``\udXXX``, U+2028 as it is."""
    # Two halves of a pair that stand side by side are one character to ECMAScript.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", _quote(joined))


def encodable(value: Any, *, sort_keys: bool = False, depth: int = 0) -> Any:
    """The value in the types that ``encode_json`` takes; numbers become their ECMAScript text.

    Strings stay as they are. With ``sort_keys`` objects are put in the order of their keys' UTF-16
    code units. Raises UnreadableArguments.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int and _MIN_ENCODED <= value <= _MAX_ENCODED:
        return value
    if kind is int or kind is float or kind is NumberLiteral:
        return msgspec.Raw(number_or_literal_text(value).encode())
    if depth > MAX_DEPTH:
        raise too_deep()
    deeper = depth + 1
    if kind is dict:
        members = string_keys(value)
        order = utf16_order(members) if sort_keys else members
        return {key: encodable(members[key], sort_keys=sort_keys, depth=deeper) for key in order}
    if kind is list:
        return [encodable(item, sort_keys=sort_keys, depth=deeper) for item in value]
    return encodable(as_json_type(value), sort_keys=sort_keys, depth=deeper)


def number_or_literal_text(value: int | float | NumberLiteral) -> str:
    """ECMAScript text of a decoded number, whichever way it was kept."""
    return literal_text(str(value)) if isinstance(value, NumberLiteral) else number_text(value)


def utf16_order(members: dict[str, Any]) -> list[str]:
    """The keys sorted by UTF-16 code unit, which is how ECMAScript compares strings.

    Code points order alike except that the surrogates of U+10000 and above come before U+E000.
    """
    if len(members) < 2:
        return list(members)
    keys = sorted(members)
    if not "".join(keys).isascii():
        keys.sort(key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return keys


def string_keys(members: dict[Any, Any]) -> dict[str, Any]:
    """The same members under the names that JSON.stringify would give them; the last wins."""
    for key in members:
        if type(key) is not str:
            break
    else:
        return members
    return {_key_text(key): item for key, item in members.items()}


def _key_text(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool):
        return _CONSTANTS[key]
    if isinstance(key, int | float):
        return number_text(key)
    raise UnreadableArguments(f"an object key of type {type(key).__name__} has no JSON form")


_CONSTANTS = {None: "null", True: "true", False: "false"}


def as_json_type(value: object) -> Any:
    """One step from any Python object to JSON's own types; members are left for the next step.

    A recorder in the program itself sees tuples, enumerations, data classes, dates and the like.
    Raises UnreadableArguments for an object that has no JSON form.
    """
    for known, convert in _BASES:
        if isinstance(value, known):
            return convert(value)
    try:
        return msgspec.to_builtins(value, order="deterministic")
    except RecursionError:
        raise too_deep() from None
    except (TypeError, ValueError) as error:
        raise UnreadableArguments(f"the arguments have no JSON form: {error}") from None


_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (msgspec.Raw, decode_json),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (list, list),
    (tuple, list),
    (Mapping, dict),
)


def too_deep() -> UnreadableArguments:
    """The error for nesting beyond MAX_DEPTH."""
    return UnreadableArguments(f"the arguments nest deeper than {MAX_DEPTH} levels")
