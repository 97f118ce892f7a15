"""A repeat that the harness made happen, not the model.

One request executed twice, an attachment read twice, or a read that the harness's own rules require
before an edit.

## Why it matters
The tokens are spent all the same, but the fix is in the harness.

## Flagged
- One call id executed twice with success (advice, blame: harness).
- The user names a file twice and the client injects two reads (advice).
- A file is attached, an edit is refused with "read it first", the model reads it (advice: forced).

## Not flagged
- A retry after a failed attempt: that is one call with two attempts.
- A record that was written twice, or a partial record of one call.
- Equal ids in different turns: ids are reused.
- The same id with other arguments.
- Two calls of the model with two ids (RF001).
- A read before an edit that nothing had delivered before.

## If it is wrong for a tool
Give each call its own id, and mark injected calls with `origin`.
"""

from __future__ import annotations

import re

from refetch.judge.knowledge import Entry
from refetch.judge.question import Question
from refetch.judge.rule import ADVICE, Charge, Rule

READ_FIRST = re.compile(
    r"\bread (?:it|the file|this file)? ?first\b|not been read|must (?:first )?(?:be )?read", re.I
)


def decide(question: Question) -> Charge | None:
    """A double execution, an injected duplicate, or a read forced by a refused write."""
    if question.double_of is not None:
        return _charge(
            question.double_of, "one request was executed twice by the harness", "double-execution"
        )
    if question.call.origin != "model":
        return _injected(question)
    return _forced(question)


def _injected(question: Question) -> Charge | None:
    for entry in question.chain():
        reasons = {b.reason for b in question.blocks(entry)}
        if entry.first.origin != "model" and reasons == {"not-the-models-own"}:
            return _charge(entry, "the harness fetched it twice", "harness-duplicate")
    return None


def _forced(question: Question) -> Charge | None:
    if question.resolved.effect != "read":
        return None
    refusal = question.state.refusals.last_on(question.resolved)
    if refusal is None:
        return None
    for access in question.resolved.reads:
        entry = question.context.by_resource.get(access.resource)
        if entry is None or entry.pos > refusal.pos:
            continue
        other = entry.first.origin != "model" or entry.first.name != question.call.name
        reasons = {b.reason for b in question.blocks(entry)} - {"other-view"}
        if other and not reasons:
            return _charge(
                entry,
                "the harness refuses a write before it is read by its own tool",
                "forced-refetch",
            )
    return None


def _charge(entry: Entry, message: str, kind: str) -> Charge:
    return Charge(entry, message, level=ADVICE, kind=kind, blame="harness")


RULE = Rule("RF109", "harness-duplicate", ADVICE, __doc__ or "", decide)
