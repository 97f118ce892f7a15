"""The path of a run as data: every execution and event in order of time, with what it came to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from refetch.effects.resolve import Resolved, Resolver, ToolTable
from refetch.hygiene import Step, prepare
from refetch.judge.knowledge import raw_key_of
from refetch.model.finding import Acquittal, Finding, RunReport
from refetch.model.trace import Call, ContextLoss, ContextStart, Event, Trace, UserMessage, Write

Verdict = Finding | Acquittal


class Stop(msgspec.Struct, frozen=True):
    """One execution of a tool on the path of a run.

    `role` is call, attempt (of the logical call `of`), artefact or double, as hygiene decided;
    `verdict` is there where the call repeats an earlier one.
    """

    call: Call
    role: str
    of: int
    resolved: Resolved
    verdict: Verdict | None = None


class Happening(msgspec.Struct, frozen=True):
    """Something that is no call: `kind` is user-message, context-loss, write or context."""

    kind: str
    context: str
    text: str


def path(
    trace: Trace, report: RunReport, user: ToolTable | None = None
) -> Iterator[Stop | Happening]:
    """Walk a run in order of time."""
    verdicts: dict[int, Verdict] = {a.repeat.seq: a for a in report.acquitted}
    verdicts.update((f.repeat.seq, f) for f in report.findings if f.repeat is not None)
    resolver = Resolver(trace, user)
    for step in prepare(trace):
        if type(step.event) is Call:
            yield _stop(step.event, step, verdicts, resolver)
        else:
            happening = _happening(step.event)
            if happening is not None:
                yield happening


def _stop(call: Call, step: Step, verdicts: dict[int, Verdict], resolver: Resolver) -> Stop:
    of = step.of.seq if step.of is not None else call.seq
    verdict = verdicts.get(call.seq) if step.role in ("call", "double") else None
    return Stop(call, step.role, of, resolver.resolve(call), verdict)


def _happening(event: Event) -> Happening | None:
    if type(event) is UserMessage:
        return Happening("user-message", event.context, "the user speaks")
    if type(event) is ContextLoss:
        what = "everything so far" if event.lost is None else _results(len(event.lost))
        return Happening("context-loss", event.context, f"{event.kind}: {what} left the context")
    if type(event) is Write:
        return Happening("write", "", f"{event.by} writes {event.scope}")
    if type(event) is ContextStart and event.parent_call is not None:
        return Happening("context", event.context, f"a context begins, by #{event.parent_call}")
    return None


def _results(count: int) -> str:
    return "1 result" if count == 1 else f"{count} results"


def path_document(
    trace: Trace, report: RunReport, user: ToolTable | None = None
) -> list[dict[str, Any]]:
    """The path as JSON-ready data."""
    return [
        _stop_document(item) if isinstance(item, Stop) else msgspec.to_builtins(item)
        for item in path(trace, report, user)
    ]


def _stop_document(stop: Stop) -> dict[str, Any]:
    call, resolved = stop.call, stop.resolved
    out: dict[str, Any] = {
        "kind": "call",
        "seq": call.seq,
        "turn": call.turn,
        "context": call.context,
        "raw_key": raw_key_of(call),
        "origin": call.origin,
        "outcome": call.status,
        "role": stop.role,
        "effect": resolved.effect,
        "effect_from": resolved.sources.get("effect", "unknown"),
        "reads": [access.resource for access in resolved.reads],
        "writes": [target.resource for target in resolved.writes],
    }
    if stop.of != call.seq:
        out["of"] = stop.of
    if isinstance(stop.verdict, Finding):
        first = stop.verdict.first
        out["finding"] = {"code": stop.verdict.code, "level": stop.verdict.level}
        out["finding"] |= {"first": first.seq} if first is not None else {}
    elif isinstance(stop.verdict, Acquittal):
        out["acquitted"] = {"reason": stop.verdict.reason, "first": stop.verdict.first.seq}
    return out
