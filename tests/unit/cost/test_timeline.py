"""Which requests carried a result: the counted answer against a walk over all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.cost.timeline import Timeline, cached_share
from refetch.model import Call, ContextLoss, Request, Trace

contexts = st.sampled_from("ab")
turns = st.integers(0, 6)
usages = st.sampled_from(
    [None, {"input_tokens": 10}, {"input_tokens": 9, "cache_read_input_tokens": 3}]
)
events = st.lists(
    st.one_of(
        st.tuples(st.just("call"), contexts, turns),
        st.tuples(st.just("request"), contexts, turns, usages),
        st.tuples(st.just("loss"), contexts, st.none() | st.lists(st.integers(0, 9), max_size=3)),
    ),
    max_size=25,
)


def trace_of(told: list[Any]) -> Trace:
    trace = Trace("r", [])
    for seq, (kind, context, what, *usage) in enumerate(told):
        if kind == "call":
            trace.events.append(Call(seq, what, "f", Raw(b"{}"), context=context))
        elif kind == "request":
            trace.events.append(Request(what, context, usage=usage[0]))
        else:
            trace.events.append(ContextLoss(seq, "clear", context, lost=what))
    return trace


@pytest.mark.parametrize("ordered", [True, False])
@given(told=events)
def test_what_carried_a_result(told: list[Any], ordered: bool) -> None:
    if ordered:
        told = sorted(told, key=lambda one: one[2] if isinstance(one[2], int) else 3)
    trace = trace_of(told)
    timeline = Timeline(trace)
    for call in trace.calls:
        at = timeline.place[call.seq]
        ends = [
            place
            for place, lost in timeline.losses.get(call.context, ())
            if place > at and (lost is None or call.seq in lost)
        ]
        requests = timeline.requests[call.context]
        later = [
            cached_share(asked.usage)
            for asked in requests
            if at < asked.at < min([*ends, len(told)]) and asked.turn > call.turn
        ]
        found = timeline.carriers(call)
        assert (found.requests, found.known) == (len(later), None not in later)
        assert found.cached == pytest.approx(sum(share or 0.0 for share in later))
        asking = next((asked for asked in requests if asked.turn == call.turn), None)
        assert timeline.asking(call)[0] is asking
