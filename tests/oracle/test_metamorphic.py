"""Changes to a trace that change the verdicts in exactly one known way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.oracle.strategies import as_native, random_trace, shrink

from refetch.api import check
from refetch.model import Call, Event, Trace
from refetch.model.trace import UserMessage, Write

SEEDS = range(1500)
Found = set[tuple[str, str, int, int]]


def verdicts(trace: Trace) -> Found:
    """(code, level, first, repeat) of everything said about single calls."""
    return {
        (f.code, f.level, f.first.seq, f.repeat.seq)
        for f in check(trace).findings
        if f.first is not None and f.repeat is not None and f.code != "RF108"
    }


def holds_for_all(law: Callable[[Trace], str | None]) -> None:
    """Try a law on every seed; show the smallest trace that breaks it."""
    for seed in SEEDS:
        trace = random_trace(seed)
        if law(trace):
            small = shrink(trace, lambda fewer: law(fewer) is not None)
            pytest.fail(f"seed {seed}\n{as_native(small)}{law(small)}")


def compare(expected: Found, got: Found) -> str | None:
    if expected == got:
        return None
    return f"missing {sorted(expected - got)}, new {sorted(got - expected)}"


def replace_calls(trace: Trace, change: Callable[[Call], Call]) -> Trace:
    events = [change(e) if isinstance(e, Call) else e for e in trace.events]
    return msgspec.structs.replace(trace, events=events)


def shifted(trace: Trace, by: int) -> list[Event]:
    """All events, `by` places later."""
    moved: list[Event] = []
    for event in trace.events:
        changes: dict[str, Any] = {}
        for field in ("seq", "after", "parent_call", "attempt_of", "parent"):
            if getattr(event, field, None) is not None:
                changes[field] = getattr(event, field) + by
        if getattr(event, "lost", None) is not None:
            changes["lost"] = [seq + by for seq in event.lost]  # type: ignore[union-attr]
        moved.append(msgspec.structs.replace(event, **changes))
    return moved


def test_verdicts_do_not_depend_on_the_names_of_resources() -> None:
    def renamed(text: str) -> str:
        return text.replace("docs/c.md", "notes/z.md").replace("docs", "notes")

    def rename(trace: Trace) -> str | None:
        text = renamed(as_native(trace)).encode()
        return compare(verdicts(trace), verdicts(read(text)))

    holds_for_all(rename)


def read(data: bytes) -> Trace:
    from refetch.model.native import read_native

    return read_native(data)


def test_verdicts_survive_being_written_and_read() -> None:
    def through_a_file(trace: Trace) -> str | None:
        return compare(verdicts(trace), verdicts(read(as_native(trace).encode())))

    holds_for_all(through_a_file)


def test_the_order_of_lines_does_not_matter() -> None:
    def reversed_lines(trace: Trace) -> str | None:
        other = msgspec.structs.replace(trace, events=trace.events[::-1])
        return compare(verdicts(trace), verdicts(other))

    holds_for_all(reversed_lines)


def test_a_neutral_call_changes_nothing() -> None:
    def add_neutral(trace: Trace) -> str | None:
        events = shifted(trace, 1)
        turn: dict[str, Any] = {
            "seq": 0,
            "turn": 0,
            "name": "ponder",
            "effect": "none",
            "outcome": "ok",
        }
        other = msgspec.structs.replace(trace, events=[Call(**turn), *events])
        expected = {(c, v, first + 1, repeat + 1) for c, v, first, repeat in verdicts(trace)}
        return compare(expected, verdicts(other))

    holds_for_all(add_neutral)


def test_a_write_to_everything_after_each_call_leaves_no_read_redundant() -> None:
    def write_always(trace: Trace) -> str | None:
        writes: list[Event] = [Write(scope="*", after=c.seq) for c in trace.calls]
        other = msgspec.structs.replace(trace, events=[*trace.events, *writes])
        pure = {c.seq for c in trace.calls if c.effect in ("pure", "none")}
        stale = {v for v in verdicts(other) if v[3] not in pure and v[0] not in ("RF105", "RF109")}
        return f"still said {sorted(stale)}" if stale else None

    holds_for_all(write_always)


def test_a_user_message_after_each_call_leaves_no_read_at_flag_level() -> None:
    def speak_always(trace: Trace) -> str | None:
        words: list[Event] = [UserMessage(after=c.seq, context=c.context) for c in trace.calls]
        other = msgspec.structs.replace(trace, events=[*trace.events, *words])
        pure = {c.seq for c in trace.calls if c.effect == "pure"}
        flagged = {v for v in verdicts(other) if v[0] == "RF003" and v[3] not in pure}
        return f"still flagged {sorted(flagged)}" if flagged else None

    holds_for_all(speak_always)


def test_a_context_of_its_own_for_each_call_leaves_nothing_at_flag_level() -> None:
    def alone(trace: Trace) -> str | None:
        other = replace_calls(
            trace, lambda c: msgspec.structs.replace(c, context=f"c{c.seq}", call_id=None)
        )
        flagged = {v for v in verdicts(other) if v[1] == "flag"}
        return f"still flagged {sorted(flagged)}" if flagged else None

    holds_for_all(alone)


def test_results_that_all_differ_leave_only_double_mutations_at_flag_level() -> None:
    def unlike(trace: Trace) -> str | None:
        def change(call: Call) -> Call:
            if call.status != "ok":
                return call
            result = msgspec.Raw(f'"only {call.seq}"'.encode())
            return msgspec.structs.replace(call, result=result, unchanged=False)

        other = replace_calls(trace, change)
        mutating = {c.seq for c in trace.calls if c.mutates}
        late = {c.seq for c in trace.calls if c.status != "ok"}
        flagged = {v for v in verdicts(other) if v[1] == "flag" and v[3] not in mutating | late}
        return f"still flagged {sorted(flagged)}" if flagged else None

    holds_for_all(unlike)


def test_the_history_once_more_in_front_blames_nothing_new_inside_it() -> None:
    """The second half may be redundant with the first; inside the first nothing changes."""

    def twice(trace: Trace) -> str | None:
        size = max(c.seq for c in trace.calls) + 1 if trace.calls else 0
        last = {c.context: c.turn for c in trace.calls}
        later = []
        for event in shifted(trace, size):
            if isinstance(event, Call):
                turn = event.turn + last[event.context]
                event = msgspec.structs.replace(event, turn=turn)
            later.append(event)
        # Times would go backwards at the seam and make calls of both halves overlap.
        both = msgspec.structs.replace(trace, events=[*trace.events, *later])
        front = {v for v in verdicts(both) if v[3] < size}
        return compare(verdicts(trace), front)

    holds_for_all(lambda trace: None if _timed(trace) else twice(trace))


def _timed(trace: Trace) -> bool:
    return any(c.started is not None for c in trace.calls)


# -- single laws on small traces -----------------------------------------------------------------


def call(seq: int, turn: int, **fields: Any) -> Call:
    args = msgspec.Raw(fields.pop("args", b"{}"))
    return Call(seq=seq, turn=turn, args=args, **{"outcome": "ok", **fields})


def fetch(seq: int, turn: int, **fields: Any) -> Call:
    base = {"name": "show_page", "mutates": False, "resource": "page:1", "args": b'{"n":1}'}
    return call(seq, turn, **{**base, **fields})


def lines(seq: int, turn: int, first: int, last: int) -> Call:
    region = {"unit": "line", "from": first, "to": last}
    args = f'{{"start_line":{first},"end_line":{last}}}'.encode()
    return call(
        seq,
        turn,
        name="lines",
        mutates=False,
        resource="file:a",
        view="v",
        region=region,
        args=args,
    )


def save(seq: int, turn: int, resource: str = "page:1", **fields: Any) -> Call:
    args = f'{{"to":"{resource}"}}'.encode()
    return call(
        seq, turn, **{"name": "save", "mutates": True, **fields}, resource=resource, args=args
    )


def trace_of(*events: Event) -> Trace:
    return Trace("law", list(events))


def test_splitting_a_read_into_two_halves_turns_the_flag_into_covered() -> None:
    whole = trace_of(lines(0, 1, 1, 20), lines(2, 3, 1, 20))
    halves = trace_of(lines(0, 1, 1, 10), lines(1, 2, 11, 20), lines(2, 3, 1, 20))
    gap = trace_of(lines(0, 1, 1, 9), lines(1, 2, 11, 20), lines(2, 3, 1, 20))
    assert verdicts(whole) == {("RF003", "flag", 0, 2)}
    assert verdicts(halves) == {("RF101", "advice", 1, 2)}
    assert verdicts(gap) == set()


def test_halves_with_a_write_between_cover_nothing() -> None:
    halves = [lines(0, 1, 1, 10), save(1, 2, "file:a"), lines(2, 3, 11, 20), lines(3, 4, 1, 20)]
    assert verdicts(trace_of(*halves)) == set()


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_inserting_a_write_acquits_wherever_it_stands_between(turn: int) -> None:
    assert verdicts(trace_of(fetch(0, 1), fetch(2, 3))) == {("RF003", "flag", 0, 2)}
    assert verdicts(trace_of(fetch(0, 1), save(1, turn), fetch(2, 3))) == set()


def test_a_write_before_or_after_both_changes_nothing() -> None:
    around = trace_of(save(0, 1), fetch(1, 2), fetch(2, 3), save(3, 4, "page:1/x"))
    assert verdicts(around) == {("RF003", "flag", 1, 2)}


def test_folding_a_retry_leaves_the_pair_as_it_was() -> None:
    retried = trace_of(
        fetch(0, 1),
        fetch(1, 2, outcome="error", error="reset"),
        fetch(2, 2, origin="harness-retry"),
    )
    assert verdicts(retried) == {("RF003", "flag", 0, 1)}


def test_a_write_that_only_a_retry_carried_out_is_a_write() -> None:
    rows = (
        fetch(0, 1),
        save(1, 2, outcome="error", error="reset"),
        save(2, 2, origin="harness-retry"),
        fetch(3, 3),
    )
    assert verdicts(trace_of(*rows)) == set()


def test_independent_calls_of_two_contexts_can_change_places() -> None:
    one = fetch(1, 1, context="a"), fetch(2, 1, context="b", resource="page:2", args=b'{"n":2}')
    rest = fetch(3, 2, context="a"), fetch(4, 2, context="b", resource="page:2", args=b'{"n":2}')
    swapped = msgspec.structs.replace(one[1], seq=1), msgspec.structs.replace(one[0], seq=2)
    assert verdicts(trace_of(*one, *rest)) == {
        ("RF003", "flag", 1, 3),
        ("RF003", "flag", 2, 4),
    }
    assert verdicts(trace_of(*swapped, *rest)) == {
        ("RF003", "flag", 2, 3),
        ("RF003", "flag", 1, 4),
    }
