"""Capture: any trace as a fixture, so that a bad run becomes a test that stays."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.finding import Finding
from refetch.model.native import header_of
from refetch.model.trace import MAIN, Call, Trace
from refetch.replay.redaction import Redactor

_OWN_PLACE = frozenset(("seq", "turn", "name", "args", "context", "call_id", "result", "type"))
_encode = msgspec.json.Encoder().encode


def capture(
    trace: Trace, findings: Iterable[Finding], *, redact: bool | Collection[str] = True
) -> dict[str, Any]:
    """A fixture of a trace, as JSON-ready data (`encode_fixture` gives its text).

    The main context's turns become the script, everything else that decides a verdict (other
    contexts, attempts of the harness, events, metadata, results where the trace holds them) stands
    under `recorded`, and the findings under `expect`. Replaying it gives these findings again.

    Args:
        findings: what the judge said about the trace.
        redact: True: replace secrets (`redaction.PATTERNS` says which); names of patterns: only
            those; False: keep everything.

    Raises:
        UsageError: `redact` names an unknown pattern.
    """
    redactor = Redactor(redact)
    calls = trace.calls
    scripts: dict[str, list[dict[str, Any]]] = {MAIN: []}
    others = []
    for number, call in enumerate(calls):
        entry = _entry(call, number)
        if call.origin == "model":
            _into_script(scripts.setdefault(call.context, []), call.turn, entry)
        else:
            others.append({"context": call.context, "turn": call.turn, "call": entry})
    main = [*scripts.pop(MAIN), {"final": ""}]
    recorded = {
        "header": _header(trace),
        "format": trace.format,
        "contexts": scripts,
        "others": others,
        "events": _events(trace),
    }
    data: dict[str, Any] = {
        "name": trace.run,
        "task": trace.task or "",
        "steps": main,
        "recorded": {key: value for key, value in recorded.items() if value},
        "expect": [expected(finding) for finding in findings],
    }
    if redact is not False:
        data = _redacted(data, redactor)
        data["redacted"] = dict(sorted(redactor.counts.items()))
    return data


def encode_fixture(fixture: dict[str, Any]) -> bytes:
    """A fixture as readable JSON text."""
    text = json.dumps(fixture, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "replace") + b"\n"


def expected(finding: Finding) -> dict[str, Any]:
    """A finding as `expect` holds it."""
    named = {
        "code": finding.code,
        "rule": finding.rule,
        "level": finding.level,
        "context": finding.context if finding.context != MAIN else None,
        "first": finding.first.seq if finding.first is not None else None,
        "repeat": finding.repeat.seq if finding.repeat is not None else None,
        "calls": finding.calls,
        "call": finding.repeat.raw_key if finding.repeat is not None else None,
    }
    return {key: value for key, value in named.items() if value is not None}


def _into_script(steps: list[dict[str, Any]], turn: int, entry: dict[str, Any]) -> None:
    """Add a call to its turn's step; a turn that goes on after others is another step."""
    last = len(steps) and steps[-1].get("turn", len(steps))
    if not steps or last != turn:
        steps.append({"toolCalls": []})
        if turn != len(steps):
            steps[-1]["turn"] = turn
    steps[-1]["toolCalls"].append(entry)


def _entry(call: Call, number: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"tool": call.name}
    record = {
        key: value
        for key, value in msgspec.to_builtins(
            msgspec.structs.replace(call, args=_NOTHING.args, result=_NOTHING.result)
        ).items()
        if key not in _OWN_PLACE
    }
    _put(entry, "args", call.args)
    _put(record, "result", call.result)
    if "result_text" in record:
        entry["result_text"] = record.pop("result_text")
    if call.call_id is not None:
        entry["id"] = call.call_id
    entry["seq"] = call.seq
    if call.seq != number:
        entry["n"] = number
    if record:
        entry["record"] = record
    return entry


_NOTHING = Call(0, 0, "")
_UNREADABLE = object()
_DEEP = 100
"""Levels of nesting up to which data is kept as data; the walks over a fixture are recursive."""


def _put(entry: dict[str, Any], name: str, raw: Raw) -> None:
    """JSON data under its name, or its text where a fixture cannot hold the data."""
    value = _json(raw)
    if value is not _UNREADABLE:
        entry[name] = value
    elif bytes(raw):
        entry[f"{name}_text"] = bytes(raw).decode("utf-8", "replace")


def _json(raw: Raw) -> Any:
    """JSON data, or `_UNREADABLE` where there is none. Numbers keep their kind and their digits."""
    data = bytes(raw)
    if not data:
        return _UNREADABLE
    try:
        value = json.loads(data, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair has no text
        if data.count(b"[") + data.count(b"{") > _DEEP and _depth(value) > _DEEP:
            return _UNREADABLE
    except (ValueError, RecursionError):
        return _UNREADABLE
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
    return depth


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number


def _header(trace: Trace) -> dict[str, Any]:
    header: dict[str, Any] = msgspec.to_builtins(header_of(trace))
    header.pop("refetch")
    for name in ("task", "source"):
        header.pop(name, None)
    return header


def _events(trace: Trace) -> list[dict[str, Any]]:
    placed, before = [], 0
    for event in trace.events:
        if type(event) is Call:
            before += 1
        else:
            placed.append({"calls_before": before, "event": msgspec.to_builtins(event)})
    return placed


def _redacted(data: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    cleaned: dict[str, Any] = redactor.value(data)
    return cleaned
