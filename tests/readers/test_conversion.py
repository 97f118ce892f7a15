"""Every sample in every output format, and back: nothing is lost on the way."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from tests.readers.samples import Sample
from tests.readers.test_conformance import each_sample, traces_of

from refetch.api import check
from refetch.model.native import encode_line
from refetch.model.trace import Call, Trace
from refetch.readers import read_bytes
from refetch.writers import writer_named
from refetch.writers.registry import WRITERS

FORMAT = {"native": "native", "atif": "atif", "otlp": "otel-genai"}
each_writer = pytest.mark.parametrize("name", [writer.name for writer in WRITERS])
LARGEST = 300
"""Calls; longer samples add nothing but minutes."""


def told(trace: Trace) -> tuple[list[Call], Counter[bytes], list[object]]:
    """What a trace says, whatever the order of events that have no place in time."""
    others = Counter(encode_line(e) for e in trace.events if type(e) is not Call)
    calls = sorted(trace.calls, key=lambda call: call.seq)
    head = [trace.run, trace.task, trace.model, trace.harness, trace.turns, trace.order]
    return calls, others, [*head, msgspec.to_builtins(trace.tools)]


def short(sample: Sample, most: int) -> list[Trace]:
    """Some traces of a sample."""
    found = [trace for trace in traces_of(sample) if len(trace.calls) <= LARGEST][:most]
    return found or pytest.skip(f"every trace has more than {LARGEST} calls")


def there_and_back(traces: list[Trace], name: str) -> list[Trace]:
    writer = writer_named(name)
    if writer.many:
        return read_bytes(writer.write(traces).data, "converted")
    return [t for trace in traces for t in read_bytes(writer.write([trace]).data, "converted")]


@each_sample
@each_writer
def test_a_converted_trace_says_the_same(sample: Sample, name: str) -> None:
    traces = short(sample, 5)
    again = there_and_back(traces, name)
    assert [trace.format for trace in again] == [FORMAT[name]] * len(traces)
    for before, after in zip(traces, again, strict=True):
        assert told(after) == told(before)


@each_sample
@each_writer
def test_a_converted_trace_gets_the_same_verdicts(sample: Sample, name: str) -> None:
    traces = short(sample, 2)
    for before, after in zip(traces, there_and_back(traces, name), strict=True):
        mine, other = check(before), check(after)
        assert [(f.code, f.level, f.message) for f in other.findings] == [
            (f.code, f.level, f.message) for f in mine.findings
        ]
        assert [(a.reason, a.repeat.seq) for a in other.acquitted] == [
            (a.reason, a.repeat.seq) for a in mine.acquitted
        ]


@each_sample
def test_atif_fits_its_own_model(sample: Sample) -> None:
    atif = pytest.importorskip("atif", reason="the atif package checks ATIF files")
    for trace in short(sample, 3):
        atif.Trajectory.model_validate_json(writer_named("atif").write([trace]).data)


def test_calls_without_ids_arguments_or_results_keep_what_they_have() -> None:
    raw = msgspec.Raw
    trace = Trace(
        "r",
        [
            Call(0, 1, "a"),
            Call(1, 1, "a", raw(b"{}")),
            Call(2, 1, "b", raw(b"null"), call_id="x", result=raw(b'"one"')),
            Call(3, 1, "b", raw(b"[1, 2]"), call_id="x", result=raw(b'{"two": 2.0}')),
            Call(4, 1, "b", raw(b'{"n": 1.50}'), call_id="x"),
            Call(9, 2, "c", raw(b"{ }"), context="child", result=raw(b'"\\u00e9"'), ok=False),
            Call(7, 2, "c", raw(b'"text"'), origin="user", result=raw(b"null"), outcome="rejected"),
        ],
    )
    for writer in WRITERS:
        (again,) = there_and_back([trace], writer.name)
        assert [bytes(call.args) for call in told(again)[0]] == [
            bytes(call.args) for call in told(trace)[0]
        ]
        assert told(again) == told(trace)
