"""The normalized key: two calls that mean the same by construction get the same text.

What counts as the same: the order of an object's keys, the spelling of a number (``5``, ``5.0``,
``5e0`` and ``"5"``), and ECMAScript white space around a string. What does not: letter case,
Unicode form, a boolean or null and the string that spells it, a string that would have to be parsed
(``"00713"``, ``"7e2"``), and anything inside a verbatim argument.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from refetch.keys.json_text import (
    MAX_DEPTH,
    NumberLiteral,
    as_json_type,
    decode_json,
    encodable,
    encode_json,
    number_or_literal_text,
    string_keys,
    too_deep,
    utf16_order,
)
from refetch.keys.numbers import float_text, integer_text
from refetch.keys.text import WHITE_SPACE, trim

VERBATIM_DEFAULT: frozenset[str] = frozenset(
    {
        "body", "code", "command", "content", "diff", "new", "new_string", "old", "old_string",
        "patch", "pattern", "regex", "script", "text",
    }
)  # fmt: skip
"""Arguments in which every character may matter; section 2 of the specification names them."""

NO_ARGUMENTS = "{}"
"""Canonical text of a call without arguments, whether it sent ``{}``, ``null`` or nothing."""


def normalize_args(args: object, *, verbatim: Collection[str] = VERBATIM_DEFAULT) -> str:
    """Canonical JSON text of a call's arguments, given as Python data.

    Numbers are written as strings, so that 5 and ``"5"`` are equal; strings are trimmed; keys are
    sorted by UTF-16 code unit. An argument named in ``verbatim``, at any depth, is kept with
    everything below it: strings untrimmed, numbers as numbers. ``None`` and ``{}`` are equal.

    ``normalize_args({"b": 5.0, "a": " x "})`` gives ``{"a":"x","b":"5"}``.

    Raises UnreadableArguments (a ValueError) for arguments that nest deeper than 256 levels or hold
    an object without a JSON form.
    """
    if args is None:
        return NO_ARGUMENTS
    return encode_json(_canonical(args, verbatim, 0))


def canonical_members(args: dict[str, Any], verbatim: Collection[str]) -> dict[str, Any]:
    """The canonical form of each argument, in canonical order; ``encode_json`` gives the text.

    For those who compare arguments one by one. Raises UnreadableArguments.
    """
    members: dict[str, Any] = _canonical_object(args, verbatim, 0)
    return members


def normalize_json(
    raw: bytes | str | msgspec.Raw, *, verbatim: Collection[str] = VERBATIM_DEFAULT
) -> str:
    """Canonical JSON text of arguments given as JSON; what ``normalize_args`` gives for the data.

    Of a key that stands twice the last wins. An empty text is a call without arguments, as some
    model APIs send it. Raises UnreadableArguments.
    """
    if not isinstance(raw, msgspec.Raw) and not raw.strip():
        return NO_ARGUMENTS
    return normalize_args(decode_json(raw), verbatim=verbatim)


def normalized_key(name: str, args: object, *, verbatim: Collection[str] = VERBATIM_DEFAULT) -> str:
    """``name(ARGS)`` with the canonical text of the arguments. Raises UnreadableArguments."""
    return f"{name}({normalize_args(args, verbatim=verbatim)})"


def _canonical(value: Any, verbatim: Collection[str], depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return trim(value)
    if kind is int:
        return integer_text(value)
    if kind is bool or value is None:
        return value
    if kind is dict:
        return _canonical_object(value, verbatim, depth)
    if kind is float:
        return float_text(value)
    if kind is NumberLiteral:
        return number_or_literal_text(value)
    if depth > MAX_DEPTH:
        raise too_deep()
    if kind is list:
        return [_canonical(item, verbatim, depth + 1) for item in value]
    return _canonical(as_json_type(value), verbatim, depth + 1)


def _canonical_object(value: dict[Any, Any], verbatim: Collection[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise too_deep()
    members = string_keys(value)
    result: dict[str, Any] = {}
    for key in utf16_order(members):
        item = members[key]
        if key in verbatim:
            result[key] = encodable(item, sort_keys=True, depth=depth + 1)
        elif type(item) is str:  # nearly all arguments are strings: spares a call
            result[key] = item.strip(WHITE_SPACE)
        else:
            result[key] = _canonical(item, verbatim, depth + 1)
    return result
