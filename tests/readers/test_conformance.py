"""What holds for every reader, on every sample there is."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.readers.samples import SMALL, Sample, kept, shared

from refetch.api import check
from refetch.model.errors import InputError
from refetch.model.native import encode_native, read_native
from refetch.model.trace import (
    OUTCOMES,
    ContextLoss,
    ContextStart,
    Result,
    Trace,
    UserMessage,
    Write,
)
from refetch.readers import READERS, read_bytes

SAMPLES = [*SMALL, *kept(), *shared()]
_FAILED = " reader failed on this input"
_READ: dict[str, list[Trace]] = {}


def traces_of(sample: Sample) -> list[Trace]:
    if sample.name not in _READ:
        _READ[sample.name] = read_bytes(sample.read(), sample.name)
    return _READ[sample.name]


def survives(data: bytes, source: str, input_format: str | None = None) -> None:
    """Can be read and judged, or raises an `InputError` that a reader meant."""
    failure: InputError | None = None
    try:
        for trace in read_bytes(data, source, input_format):
            check(trace)
    except InputError as error:
        failure = error
    assert _FAILED not in str(failure), failure.__cause__ if failure else None


each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@each_sample
def test_the_right_reader_claims_it(sample: Sample) -> None:
    assert {trace.format for trace in traces_of(sample)} == {sample.format}


@each_sample
def test_sequence_numbers_count_the_calls_in_order(sample: Sample) -> None:
    for trace in traces_of(sample):
        seqs = [call.seq for call in trace.calls]
        assert seqs == list(range(len(seqs)))


@each_sample
def test_events_point_at_calls_that_exist(sample: Sample) -> None:
    for trace in traces_of(sample):
        count = len(trace.calls)
        for event in trace.events:
            assert type(event) is not Result
            if isinstance(event, (UserMessage, Write, ContextLoss)):
                assert -1 <= event.after < count
            if isinstance(event, ContextLoss):
                assert all(0 <= seq < count for seq in event.lost or ())
            if isinstance(event, ContextStart) and event.parent_call is not None:
                assert 0 <= event.parent_call < count
        assert set(trace.lines) | set(trace.paths) <= set(range(count))


@each_sample
def test_results_are_whole(sample: Sample) -> None:
    for trace in traces_of(sample):
        for call in trace.calls:
            assert call.status in OUTCOMES
            assert call.turn >= 0
            if bytes(call.result):
                msgspec.json.decode(call.result)
                assert call.status != "missing"
            if call.result_hash is not None:
                algorithm, _, digest = call.result_hash.partition(":")
                assert algorithm
                assert digest


@each_sample
def test_arguments_are_kept_as_they_were_sent(sample: Sample) -> None:
    if sample.format == "native":
        pytest.skip("its argument texts are tested with the format")
    sent = "\0".join(strings_in(sample.read()))
    for trace in traces_of(sample):
        for call in trace.calls:
            if bytes(call.args):
                msgspec.json.decode(call.args)
            if call.raw_args is not None:
                assert call.raw_args in sent


@each_sample
def test_every_call_can_be_found_in_its_source(sample: Sample) -> None:
    for trace in traces_of(sample):
        for call in trace.calls:
            assert (
                call.seq in trace.lines or call.seq in trace.paths or sample.format == "swe-agent"
            )


@each_sample
def test_reading_twice_gives_the_same(sample: Sample) -> None:
    assert read_bytes(sample.read(), sample.name) == traces_of(sample)


@each_sample
def test_the_native_format_holds_everything(sample: Sample) -> None:
    for trace in traces_of(sample):
        again = read_native(encode_native(trace), trace.source)
        assert again.events == trace.events
        assert again.problems == []


@each_sample
def test_a_file_cut_anywhere_is_survived(sample: Sample) -> None:
    data = sample.read()
    for part in range(1, 7):
        cut = data[: len(data) * part // 7 + part]
        survives(cut, sample.name)
        survives(cut, sample.name, sample.format)


@pytest.mark.parametrize("reader", [reader.name for reader in READERS])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"null",
        b"{}",
        b"[]",
        b"[[]]",
        b"[null]",
        b'"text"',
        b"\x00\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"messages":[' + b"1" * 10_000 + b"]}",
        b'{"sessionId":"s","uuid":"u","type":"assistant","message":{"id":"m","usage":'
        + b"9" * 9000
        + b"}}",
        b'{"a":"\\ud800","a":"\xed\xa0\x80"}\r\n{"b":1}',
        b"PK\x03\x04 and no more",
        b"SQLite format 3\x00 and no more",
    ],
    ids=range(16),
)
def test_hostile_input_is_survived(reader: str, data: bytes) -> None:
    survives(data, "hostile", reader)


_MUTATED = [sample for sample in SAMPLES if sample.data is not None] + kept()


@settings(max_examples=150)
@given(st.data())
def test_mutations_are_survived(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(_MUTATED))
    content = bytearray(sample.read())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.sampled_from((0, 1, 1, 2, 8, 40)))
        junk = (b"", b"\x00", b"\xff", b'"', b"{", b"]", b"null", b"-1e9", b"\\ud800", b"\n", b"[]")
        content[start : start + length] = data.draw(st.sampled_from(junk))
        if not content:
            break
    survives(bytes(content), sample.name, sample.format)


_ODD: list[Any] = [
    None, True, -1, 2**70, 10**400, 1.5, float("nan"), "", "x", [], [None], [[1]], ["a", {}], {},
    {"a": {"b": []}}, "2026-13-99T00:00:00Z",
]  # fmt: skip


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place below a value, as (container, key)."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


def _records(sample: Sample) -> list[Any] | None:
    """The sample as JSON, one record a line; None where it is something else."""
    try:
        return [json.loads(line) for line in sample.read().decode().splitlines() if line.strip()]
    except ValueError:
        pass
    try:
        return [json.loads(sample.read())]
    except ValueError:
        return None


@pytest.mark.parametrize("sample", _MUTATED, ids=lambda sample: f"{sample.format}:{sample.name}")
def test_a_value_of_any_other_type_costs_no_file(sample: Sample) -> None:
    records = _records(sample)
    if records is None:
        pytest.skip("no JSON")
    chance = random.Random(sample.name)  # noqa: S311
    places = list(_places(records))
    for container, key in chance.sample(places, min(len(places), 80)):
        kept, container[key] = container[key], chance.choice(_ODD)
        text = "\n".join(json.dumps(record) for record in records)
        survives(text.encode(), sample.name, sample.format)
        container[key] = kept


def strings_in(data: bytes) -> Iterator[str]:
    """Every string in JSON or JSON Lines, also those inside strings that hold JSON."""
    decoder = json.JSONDecoder()
    text = data.decode("utf-8", "replace")
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield from _strings(value, decoder)


def _strings(value: object, decoder: json.JSONDecoder) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                inner = decoder.decode(value)
            except ValueError:
                return
            yield from _strings(inner, decoder)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item, decoder)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, decoder)
