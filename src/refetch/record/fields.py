"""What a tool's functions say about one call, checked before it enters the record."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from refetch.model.region import RegionSpec
from refetch.model.tool import EFFECTS
from refetch.model.trace import Call
from refetch.record.tool import PER_CALL, Args, Tool

CALL_FIELDS = frozenset(Call.__struct_fields__) - {
    "seq", "turn", "name", "args", "raw_args", "context", "call_id", "origin", "attempt_of",
    "ok", "outcome", "error", "result", "result_hash", "started", "ended", "parent",
}  # fmt: skip
"""Fields of a call record that may be noted on it; the others are the tracer's own."""

Note = Callable[[str], None]
Probe = Callable[[Args], dict[str, Any]]


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {type(value).__name__}")
    return value


def _word(value: Any) -> Any:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def _effect(value: Any) -> Any:
    if value not in EFFECTS:
        raise ValueError(f"expected one of {', '.join(EFFECTS)}, got {value!r}")
    return value


def _resources(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return list(value)
    if isinstance(value, (set, frozenset)) and all(isinstance(item, str) for item in value):
        return sorted(value)
    raise TypeError(f"expected text or a list of texts, got {type(value).__name__}")


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"expected a number, got {type(value).__name__}")
    return value


def _region(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 2:
        return msgspec.to_builtins(msgspec.convert(
            {"unit": "line", "from": value[0], "to": value[1]}, RegionSpec
        ))  # fmt: skip
    if value == "all":
        return value
    spec = value if isinstance(value, RegionSpec) else msgspec.convert(value, RegionSpec)
    return msgspec.to_builtins(spec)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "resource": _resources,
    "depends_on": _resources,
    "region": _region,
    "delivered": _region,
    "view": _word,
    "cwd": _word,
    "effect": _effect,
    "mutates": _flag,
    "volatile": _flag,
    "background": _flag,
    "truncated": _flag,
    "unchanged": _flag,
    "ttl": _number,
    "exit_code": _number,
    "result_tokens": _number,
    "result_chars": _number,
}


def checked(name: str, value: Any) -> Any:
    """A field's value as the record holds it.

    Raises:
        TypeError, ValueError: no trace can hold it there.
    """
    check = _CHECKS.get(name)
    if check is None or name not in CALL_FIELDS:
        raise TypeError(f"{name!r} is no field that can be noted on a call")
    return check(value)


def probe_of(name: str, tool: Tool, note: Note) -> Probe | None:
    """Computes a tool's fields for one call and never raises; None if all of them are fixed."""
    computed = tool.computed()
    if not computed:
        return None
    if len(computed) == 1 and computed[0][0] == "resource":
        return _resource_probe(name, computed[0][1], note)

    def probe(args: Args) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for field, function in computed:
            try:
                value = function(args)
                if value is not None:
                    fields[field] = checked(field, value)
            except Exception as error:
                note(f"tool {name!r}: {field}(args) failed: {describe(error)}")
        return fields

    return probe


def _resource_probe(name: str, resource: Callable[[Args], Any], note: Note) -> Probe:
    """The common case: only the resource is a function, and it gives a string."""

    def probe(args: Args) -> dict[str, Any]:
        try:
            value = resource(args)
            if type(value) is str:
                return {"resource": value}
            return {} if value is None else {"resource": _resources(value)}
        except Exception as error:
            note(f"tool {name!r}: resource(args) failed: {describe(error)}")
            return {}

    return probe


def describe(error: BaseException) -> str:
    """An exception in one line, even if it cannot print itself."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:
        return f"{kind} (which cannot be printed)"
    return f"{kind}: {text}" if text else kind


_TEMPLATE = re.compile(r"\{(\w+)(?:=([^}]*))?\}")


def with_metadata(record: Call, declared: dict[str, Any]) -> Call:
    """A record that says itself what its tool's metadata says, for a trace whose header cannot."""
    changes: dict[str, Any] = {}
    for name in PER_CALL:
        value = declared.get(name)
        if value is None or getattr(record, name, None) not in (None, False):
            continue
        if name in ("resource", "depends_on"):
            value = _filled(value, record)
        if value is not None and name in _PLAIN and not isinstance(value, dict):
            changes[name] = value
    return msgspec.structs.replace(record, **changes) if changes else record


_PLAIN = frozenset(PER_CALL) - {"region"}


def _filled(template: str | list[str], record: Call) -> list[str] | str | None:
    """A resource template with the call's arguments put in; nothing where one is absent."""
    try:
        args = msgspec.json.decode(record.args)
    except msgspec.DecodeError:
        args = None
    missing = False

    def value(match: re.Match[str]) -> str:
        nonlocal missing
        found = args.get(match[1], match[2]) if isinstance(args, dict) else match[2]
        if not isinstance(found, (str, int)) or isinstance(found, bool):
            missing = True
            return ""
        return str(found)

    texts = [template] if isinstance(template, str) else template
    filled = [_TEMPLATE.sub(value, text) for text in texts]
    if missing:
        return None
    return filled[0] if isinstance(template, str) else filled
