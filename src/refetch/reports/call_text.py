"""A call as people write it: `read_file(path="config.json", limit=20)`."""

from __future__ import annotations

import json
from typing import Any

from refetch.keys import VERBATIM_DEFAULT, UnreadableArguments, decode_json, stringify
from refetch.model.trace import Call
from refetch.reports.escape import escaped
from refetch.reports.paint import shortened

_SHOWN_WHOLE = frozenset(("pattern", "regex", "command", "old", "new"))
_BODY_CHARS = 24
_VALUE_CHARS = 120


def call_text(call: Call, width: int) -> str:
    """The call in at most `width` columns; bodies of text stand as an ellipsis."""
    return shortened(f"{escaped(call.name)}({_arguments(call)})", width)


def _arguments(call: Call) -> str:
    if not call.has_args:
        return "?"
    raw = (
        call.raw_args if call.raw_args is not None else bytes(call.args).decode("utf-8", "replace")
    )
    try:
        args: Any = decode_json(raw.encode("utf-8", "surrogatepass"))
    except (UnreadableArguments, UnicodeError):
        return escaped(raw)
    if args is None:
        return ""
    if not isinstance(args, dict):
        return escaped(_value(args))
    shown = [_argument(str(name), value) for name, value in args.items()]
    # Several bodies in a row say no more than one.
    kept = [text for i, text in enumerate(shown) if text != "…" or shown[i - 1 : i] != ["…"]]
    return escaped(", ".join(kept))


def _argument(name: str, value: Any) -> str:
    body = name in VERBATIM_DEFAULT and name not in _SHOWN_WHOLE
    text = _value(value)
    if body and len(text) > _BODY_CHARS:
        return "…"
    return f"{name}={shortened(text, _VALUE_CHARS)}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        return stringify(value)
    except UnreadableArguments:
        return "?"
