"""One labelled case as a native trace: positions become seq, its fields become native ones."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    InputError,
    Trace,
    UserMessage,
    Write,
)
from refetch.model.trace import MAIN

_NAMES = {
    "tool": "name",
    "agent": "context",
    "ttl_s": "ttl",
    "content_returned": "unchanged",
}
"""Case fields that only have another name in the native format."""

_SAME = (
    "ok",
    "outcome",
    "origin",
    "exit_code",
    "error",
    "result_hash",
    "result_chars",
    "result_tokens",
    "region",
    "delivered",
    "view",
    "mutates",
    "effect",
    "volatile",
    "depends_on",
    "truncated",
    "unchanged",
    "background",
    "cwd",
    "call_id",
    "attempt_of",
    "name",
    "context",
    "ttl",
    "raw_args",
    "started",
    "ended",
    "parent",
)
"""Case fields that are native fields."""

_TOOL_FIELDS = (
    "idempotent",
    "repeatable",
    "ignore_args",
    "verbatim",
    "defaults",
    "domain",
    "independent",
    "unordered",
    "path_args",
    "url_args",
)
"""Case fields that describe the tool rather than the call."""

_SHELL_CLASSES = {
    "read": "read",
    "read_only": "read",
    "readonly": "read",
    "write": "write",
    "mutating": "write",
    "neutral": "none",
    "noop": "none",
    "opaque": "opaque",
    "unknown": "opaque",
}

_LOSSES = {
    "compaction": "compaction",
    "context_trim": "trim",
    "trim": "trim",
    "eviction": "eviction",
    "clear": "clear",
    "clearing": "clear",
    "truncation": "truncation",
}

_WRITERS = {"write": "external", "external_write": "external", "user_write": "user", "hook": "hook"}


def translate(case: dict[str, Any]) -> Trace:
    """A case as a trace; a record that hygiene drops before any verdict is not in it.

    Dropped here are streamed partials and spans nested in the span of the same call, because the
    native format has no words for them.

    Raises:
        InputError: a call or an event lacks what it needs, or holds a value of another type.
    """
    name = str(case.get("id", "case"))
    rows = case["trace"]
    for position, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("tool", row.get("name")), str):
            raise InputError(
                name, "a call needs the name of its tool", path=f"$.trace[{position}].tool"
            )
        if not isinstance(row.get("turn", 0), int | None):
            raise InputError(name, "a turn is a number", path=f"$.trace[{position}].turn")
    turns = _turns(rows)
    events: list[Event] = []
    tools: dict[str, Any] = {}
    for position, row in enumerate(rows):
        if _is_artefact(row, rows):
            continue
        _add_tool(tools, row)
        fields = _call_fields(row, position, turns[position])
        try:
            events.append(msgspec.convert(fields, Call))
        except msgspec.ValidationError as error:
            raise InputError(name, str(error), path=f"$.trace[{position}]") from None
        if row.get("child"):
            events.append(ContextStart(str(row["child"]), parent_call=position))
    for position, event in enumerate(case.get("events") or []):
        events += _event(name, position, event)
    return Trace(run=name, events=events, source=name, tools=tools)


def _turns(rows: list[dict[str, Any]]) -> list[int]:
    """Turn of each call: calls of one response (message id) stand in one turn."""
    of_message: dict[tuple[str, str], int] = {}
    last: dict[str, int] = {}
    turns = []
    for row in rows:
        context, message = str(row.get("agent") or MAIN), row.get("message_id")
        turn = row.get("turn")
        if message is not None:
            fresh = last.get(context, 0) + 1 if turn is None else turn
            turn = of_message.setdefault((context, str(message)), fresh)
        elif turn is None:
            turn = last.get(context, 0) + 1
        last[context] = max(last.get(context, 0), turn)
        turns.append(turn)
    return turns


def _is_artefact(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    if row.get("partial") is True:
        return True
    outer = row.get("parent_span")
    return outer is not None and any(
        other is not row
        and other.get("span") == outer
        and (other.get("tool"), other.get("args")) == (row.get("tool"), row.get("args"))
        for other in rows
    )


def _add_tool(tools: dict[str, Any], row: dict[str, Any]) -> None:
    meta = {field: row[field] for field in _TOOL_FIELDS if row.get(field) is not None}
    schema = row.get("schema")
    if isinstance(schema, dict) and schema:
        meta["schema"] = schema if "properties" in schema else _json_schema(schema)
    if meta:
        tools.setdefault(row.get("tool") or row["name"], {}).update(meta)


def _json_schema(types: dict[str, Any]) -> dict[str, Any]:
    properties = {k: {"type": v} if isinstance(v, str) else v for k, v in types.items()}
    return {"type": "object", "properties": properties}


def _call_fields(row: dict[str, Any], seq: int, turn: int) -> dict[str, Any]:
    fields = {name: row[name] for name in _SAME if row.get(name) is not None}
    for theirs, ours in _NAMES.items():
        if row.get(theirs) is not None:
            fields[ours] = row[theirs]
    fields.update(seq=seq, turn=turn)
    if "content_returned" in row:
        fields["unchanged"] = row["content_returned"] is False
    if row.get("ts") is not None:
        fields["started"] = fields["ended"] = row["ts"]
    fields.update(_arguments(row))
    fields.update(_resource(row))
    fields.update(_outcome(row))
    shell = _SHELL_CLASSES.get(str(row.get("shell_class")))
    if shell and row.get("mutates") is None:
        fields.setdefault("effect", shell)
    return fields


def _arguments(row: dict[str, Any]) -> dict[str, Any]:
    form = row.get("args_form")
    if form == "not_recorded" or ("args" not in row and form is None):
        return {}
    args = row.get("args")
    if form == "string" and isinstance(args, str):
        try:
            parsed = json.loads(args)
        except ValueError:
            parsed = args
        return {"raw_args": args, "args": _json(parsed)}
    return {"args": _json(args)}


def _resource(row: dict[str, Any]) -> dict[str, Any]:
    own = row.get("resource")
    names = [own] if isinstance(own, str) else list(own or [])
    names += row.get("aliases") or []
    if not names:
        return {}
    return {"resource": names[0] if len(names) == 1 else names}


def _outcome(row: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    result = row.get("result")
    # An answer out of a cache says nothing about the resource now, so it is no known result.
    if result is not None and not row.get("cached"):
        out["result"] = _json(result)
    if row.get("cached"):
        out["result_hash"] = None
    if row.get("denied"):
        out["outcome"] = "rejected"
    elif row.get("executed") is False:
        out["outcome"] = "not-executed"
    failed = row.get("ok") is False or out.get("outcome")
    if failed and isinstance(result, str) and row.get("error") is None:
        out["error"] = result
    return out


def _event(name: str, position: int, event: Any) -> list[Event]:
    kind, after = (event.get("type"), event.get("after")) if isinstance(event, dict) else (0, 0)
    if not isinstance(after, int) or not isinstance(kind, str):
        raise InputError(name, "an event needs after and type", path=f"$.events[{position}]")
    context = str(event.get("agent") or event.get("context") or MAIN)
    if kind == "user_message":
        return [UserMessage(after=after, context=context)]
    if kind in _LOSSES:
        fields = {"after": after, "kind": _LOSSES[kind], "context": context}
        try:
            return [msgspec.convert({**fields, "lost": event.get("dropped")}, ContextLoss)]
        except msgspec.ValidationError as error:
            raise InputError(name, str(error), path=f"$.events[{position}]") from None
    if kind in _WRITERS:
        scope = event.get("scope") or event.get("resource") or "*"
        return [Write(scope=str(scope), after=after, by=str(event.get("by") or _WRITERS[kind]))]
    # Anything else (a nudge) tells nothing about what the model knows or what has changed.
    return []


def _json(value: Any) -> Raw:
    return Raw(json.dumps(value, ensure_ascii=False).encode())
