"""What the judge says: findings, acquittals, and the report of one run (SPEC 7 and 12)."""

from __future__ import annotations

from typing import Any

import msgspec

from refetch.model.trace import MAIN, Problem

REASONS = (
    "recorder-artefact",
    "harness-retry",
    "arguments-unknown",
    "not-executed",
    "earlier-failed",
    "not-delivered-whole",
    "other-region",
    "written-since",
    "opaque-since",
    "expired",
    "volatile",
    "context-lost",
    "other-context",
    "not-the-models-own",
    "result-changed",
    "other-view",
    "repeat-failed",
    "declared-repeatable",
    "effect-unknown",
    "effect-none",
    "user-message",
    "not-comparable",
)
"""The closed list of acquittal reasons, in the order in which the first that holds is given."""


class Location(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Where a call stands in its source: 1-based line and/or `$.path`."""

    line: int | None = None
    path: str | None = None


class CallRef(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call as findings name it. `seq` is the input record's."""

    seq: int
    turn: int
    name: str
    call_id: str | None = None
    raw_key: str = ""
    resource: str | None = None
    context: str = MAIN
    location: Location | None = None

    def __post_init__(self) -> None:
        """Defaults are left out of JSON by identity, and a copy of the text is no such thing."""
        if self.context == MAIN:
            msgspec.structs.force_setattr(self, "context", MAIN)


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One redundant call (first, repeat), or a run-level finding (`calls`, `limit`, `actual`)."""

    code: str
    rule: str
    level: str
    confidence: str = "declared"
    kind: str | None = None
    context: str = MAIN
    resource: str | None = None
    equal_by: list[str] | None = None
    metadata_from: dict[str, str] | None = None
    blame: str | None = None
    side_effect: bool = False
    first: CallRef | None = None
    repeat: CallRef | None = None
    calls: list[int] | None = None
    limit: float | None = None
    actual: float | None = None
    message: str = ""
    evidence: list[int] | None = None
    cost: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready data; the level is always spelled out."""
        out: dict[str, Any] = msgspec.to_builtins(self)
        # Written or left out by the identity of the text: not left to chance.
        for field in ("confidence", "context"):
            out.pop(field, None)
            out[field] = getattr(self, field)
        return out


class Acquittal(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A repeat that was looked at and found legitimate. `evidence`: seqs of the calls that
    prove it.
    """

    reason: str
    reasons: list[str]
    context: str
    first: CallRef
    repeat: CallRef
    evidence: list[int] | None = None


class RunReport(msgspec.Struct, frozen=True):
    """The verdict on one trace.

    `calls` counts the model's logical calls, `attempts` every execution of them, `by_tool` the
    logical calls by tool name. `recognised` counts the calls whose effect was known from any source
    but a guess.
    """

    run: str
    source: str
    format: str
    turns: str
    order: str
    calls: int
    attempts: int
    by_tool: dict[str, int]
    findings: list[Finding]
    acquitted: list[Acquittal]
    problems: list[Problem] = []
    contexts: int = 1
    turn_count: int = 0
    recognised: int = 0
    recognised_by: dict[str, int] = {}
    harness: str | None = None
    model: str | None = None

    @property
    def flags(self) -> list[Finding]:
        """The findings that can fail a test."""
        return [finding for finding in self.findings if finding.level == "flag"]
