"""Why a repeat was found legitimate (SPEC 7, accounting)."""

from __future__ import annotations

from refetch.judge.knowledge import Entry
from refetch.judge.question import Block, Question
from refetch.model.finding import REASONS, Acquittal, CallRef
from refetch.model.trace import Call, Trace

_ORDER = {reason: place for place, reason in enumerate(REASONS)}


def candidates(question: Question) -> Entry | None:
    """The latest earlier call with the same key, or the latest earlier read of what this call
    reads.
    """
    state, resolved = question.state, question.resolved
    entry = question.entry
    if resolved.identity.known:
        found = [state.latest_same.get(entry.same), state.latest_key.get(entry.normalized_key)]
    else:
        found = [state.latest_unknown.get(question.call.name)]
    if resolved.effect == "read":
        found += [state.latest_read.get(access.resource) for access in resolved.reads]
    elif resolved.effect == "write":
        found += [state.latest_read.get(target.resource) for target in resolved.writes]
    return max((entry for entry in found if entry), key=lambda entry: entry.pos, default=None)


def acquit(question: Question, trace: Trace, earlier: Entry | None) -> Acquittal | None:
    """The acquittal of a repeat against `earlier`, or None where there is nothing to acquit."""
    if earlier is None:
        return None
    entry = question.entry
    equal = earlier.same == entry.same or earlier.normalized_key == entry.normalized_key
    if question.resolved.effect == "write" and not equal:
        blocks = [Block("not-comparable")]  # a write after a read of what it writes
    else:
        blocks = question.blocks(earlier) + _nature(question, earlier)
    blocks.sort(key=lambda block: _ORDER[block.reason])
    reasons = list(dict.fromkeys(block.reason for block in blocks)) or ["not-comparable"]
    evidence = sorted(
        {seq for block in blocks if block.reason == reasons[0] for seq in block.evidence}
    )
    return Acquittal(
        reason=reasons[0],
        reasons=reasons,
        context=question.call.context,
        first=earlier.ref(trace.lines, trace.paths),
        repeat=question.entry.ref(trace.lines, trace.paths),
        evidence=evidence or None,
    )


def _nature(question: Question, earlier: Entry) -> list[Block]:
    """Reasons that lie in what the repeat is, not in what happened in between."""
    effect = question.resolved.effect
    blocks = []
    if effect == "opaque":
        blocks.append(Block("effect-unknown"))
    elif effect == "none":
        blocks.append(Block("effect-none"))
    user = question.state.barriers.user_between(earlier.pos, question.entry.asked)
    if user.pos >= 0:
        blocks.append(Block("user-message", (user.seq,)))
    return blocks


def artefact(call: Call, kept: Call) -> Acquittal:
    """A record that says the same as another one."""
    return _plain("recorder-artefact", kept, call)


def retry(call: Call, first: Call) -> Acquittal:
    """A further attempt of one logical call by the harness."""
    return _plain("harness-retry", first, call)


def _plain(reason: str, first: Call, repeat: Call) -> Acquittal:
    def ref(of: Call) -> CallRef:
        return CallRef(of.seq, of.turn, of.name, of.call_id, context=of.context)

    return Acquittal(reason, [reason], repeat.context, ref(first), ref(repeat))
