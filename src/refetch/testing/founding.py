"""The founding detectors over declared metadata: the yardstick that any later judge has to beat.

Exact: same turn, same name, same arguments to the byte. Semantic: the same after the founding
normalization. Stale: a later turn, a non-mutating call on the same declared resource, no successful
mutating call on exactly that resource between. Contexts, regions, results and events are not looked
at.
"""

from __future__ import annotations

import json
from typing import Any

from refetch.model import Call, CallRef, Finding, Trace


def detect(trace: Trace) -> list[Finding]:
    """All findings of the three founding detectors, in the order of the repeats."""
    calls = [c for c in trace.calls if c.status == "ok" and c.origin != "harness-retry"]
    found: list[Finding] = []
    for index, call in enumerate(calls):
        earlier = calls[:index]
        for pick in (_exact, _semantic, _stale):
            finding = pick(earlier, call)
            if finding is not None:
                found.append(finding)
    return found


def _exact(earlier: list[Call], call: Call) -> Finding | None:
    for other in earlier:
        if other.turn == call.turn and _raw_key(other) == _raw_key(call):
            return _finding("RF001", "exact-duplicate", other, call)
    return None


def _semantic(earlier: list[Call], call: Call) -> Finding | None:
    for other in earlier:
        same_turn = other.turn == call.turn
        differs = _raw_key(other) != _raw_key(call)
        if same_turn and differs and _normalized_key(other) == _normalized_key(call):
            return _finding("RF002", "semantic-duplicate", other, call)
    return None


def _stale(earlier: list[Call], call: Call) -> Finding | None:
    if call.mutates is not False or call.resource is None:
        return None
    for other in reversed(earlier):
        if other.resource != call.resource:
            continue
        if other.mutates:
            return None
        if other.turn != call.turn:
            return _finding("RF003", "stale-refetch", other, call)
    return None


def _arguments(call: Call) -> Any:
    text = bytes(call.args) or (call.raw_args or "null").encode()
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")


def _raw_key(call: Call) -> str:
    shown = json.dumps(_arguments(call), separators=(",", ":"), ensure_ascii=False)
    return f"{call.name}({call.raw_args or shown})"


def _normalized_key(call: Call) -> str:
    shown = json.dumps(_fold(_arguments(call) or {}), sort_keys=True, ensure_ascii=False)
    return f"{call.name}({shown})"


def _fold(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fold(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_fold(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def _finding(code: str, rule: str, first: Call, repeat: Call) -> Finding:
    return Finding(
        code=code,
        rule=rule,
        level="flag",
        context=repeat.context,
        first=_ref(first),
        repeat=_ref(repeat),
    )


def _ref(call: Call) -> CallRef:
    resource = call.resource if isinstance(call.resource, str) else None
    return CallRef(
        seq=call.seq,
        turn=call.turn,
        name=call.name,
        call_id=call.call_id,
        raw_key=_raw_key(call),
        resource=resource,
        context=call.context,
    )
