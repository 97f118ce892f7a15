"""The raw key: what the model sent, to the byte."""

from __future__ import annotations

from refetch.keys.json_text import encodable, encode_json


def raw_key(name: str, raw_args: str | None, args: object = None) -> str:
    """``name(ARGS)``, ARGS exactly as sent where ``raw_args`` is known.

    Where only parsed arguments exist, ARGS is what ``stringify`` prints for them; ``None`` prints
    ``null`` and ``{}`` prints ``{}``, which normalized keys hold equal. Raises UnreadableArguments.
    """
    return f"{name}({stringify(args) if raw_args is None else raw_args})"


def stringify(value: object) -> str:
    """What JSON.stringify prints for the value: 5.0 prints ``5``, keys stay in recorded order.

    Three differences, each so that two different calls never print alike: integers beyond 2**53
    keep their digits, keys that look like array indexes stay where they were recorded, and numbers
    that JSON cannot hold print as ``Infinity``, ``-Infinity`` and ``NaN`` instead of ``null``.
    Raises UnreadableArguments.
    """
    return encode_json(encodable(value))
