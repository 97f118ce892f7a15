"""The same call, to the byte, twice in one turn.

The model wrote both calls in one response, before it saw any result, and nothing that could change
the answer lies between them. The second call brings nothing; if the tool writes, the effect happens
twice.

## Why it matters
Each copy is executed, paid for and carried in the prompt of every later request. With a tool that
sends or books, the user gets two mails or two bookings.

## Flagged
- `search({"query":"config"})` twice in turn 1.
- `read_file(a)`, `read_file(b)`, `read_file(a)` in one batch: the read of `b` changes nothing.
- `send_email(...)` twice in one batch: two effects (`side_effect`), whatever the two results say.

## Not flagged
- read, write, read of one file in one batch: the second read verifies the write.
- The first call failed, was refused, or has no recorded result.
- One request that the harness executed twice (equal call id): that is RF109, the harness's doing.
- Polls, volatile tools (clock, screenshot) and tools declared `repeatable`.
- The same arguments to two different tools, or from two different agents.
- Commands whose effect is unknown, unless both results are known and equal.

## If it is wrong for a tool
Declare it: `[tool.refetch.tools.roll_dice]` with `repeatable = true` (or `volatile = true` for a
sensor).
"""

from __future__ import annotations

from collections.abc import Iterator

from refetch.judge.knowledge import Entry, Group
from refetch.judge.question import Question
from refetch.judge.rule import FLAG, Charge, Rule, evidence_level

SPARED = frozenset(("context-lost", "other-region", "other-view"))


def in_turn(question: Question, group: Group) -> Charge | None:
    """The charge that both in-turn rules share: (a), (c), (e) and (f) hold between equal calls
    of a turn.
    """
    resolved, mate = question.resolved, question.turn_mate
    if mate is None or resolved.poll or resolved.volatile or resolved.repeatable:
        return None
    if resolved.effect == "write" and question.state.turns_inferred:
        return None
    first = next((e for e in _oldest(question, group) if _covers(question, e, mate.pos)), None)
    if first is None:
        return None
    if resolved.effect == "opaque" and question.equal(first) is not True:
        return None
    level, confidence = _strongest(question, group)
    return Charge(
        first,
        "",
        level=level,
        confidence=confidence,
        side_effect=resolved.effect == "write",
        blame="model",
    )


def _oldest(question: Question, group: Group) -> Iterator[Entry]:
    """The calls of a group that may be named: the first, or the latest where the first expired."""
    if question.resolved.effect != "opaque":
        yield from (group.first, group.latest)
    elif group.known is not None:
        yield group.known


def _covers(question: Question, first: Entry, since: int) -> bool:
    return not {b.reason for b in question.blocks(first, since=since)} - SPARED


def _strongest(question: Question, group: Group) -> tuple[str, str]:
    """What the best evidence in a group allows for: the call nearest to the repeat rests on less
    guessing, and a known result on none.
    """
    found = evidence_level(question, group.first, schemes=False)
    for entry in (group.latest, group.known):
        if found[0] != FLAG and entry is not None:
            found = evidence_level(question, entry, schemes=False)
    return found


def decide(question: Question) -> Charge | None:
    """Same context and turn, same raw key."""
    if question.turn_mate is None:
        return None
    group = question.turn_mate.spelled.get(question.entry.spelling)
    charge = None if group is None else in_turn(question, group)
    if charge is None:
        return None
    twice = "the effect happens twice" if charge.side_effect else "nothing lies between"
    return _worded(charge, f"same turn, same bytes; {twice}")


def _worded(charge: Charge, message: str) -> Charge:
    return Charge(
        charge.first,
        message,
        level=charge.level,
        confidence=charge.confidence,
        side_effect=charge.side_effect,
        blame=charge.blame,
    )


RULE = Rule("RF001", "exact-duplicate", FLAG, __doc__ or "", decide)
