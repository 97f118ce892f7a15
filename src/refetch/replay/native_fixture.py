"""A trace in the native format as a fixture: what its calls expect stands in their records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from refetch.model.native import lines_of, read_native
from refetch.replay.capture import capture, encode_fixture
from refetch.replay.fixtures import BrokenFixtureError


class _Record(msgspec.Struct, frozen=True):
    """What the trace format has no place for: `expect`, beside the number of the call."""

    seq: int | None = None
    expect: Any = None


_decode = msgspec.json.Decoder(_Record).decode


def fixture_text(data: bytes, source: str) -> bytes:
    """The text of a fixture that plays the trace back.

    Raises:
        BrokenFixtureError: the trace breaks its format.
    """
    trace = read_native(data, source)
    for told in trace.problems:
        raise BrokenFixtureError(
            source,
            told.message,
            line=told.line,
            path=told.path,
            expected=told.expected,
            found=told.found,
        )
    fixture = capture(trace, (), redact=False)
    del fixture["expect"]
    wanted = dict(map(_expectation, (line for _, line in lines_of(data))))
    for call in _calls(fixture):
        if wanted.get(call["seq"]) is not None:
            call["expect"] = wanted[call["seq"]]
    return encode_fixture(fixture)


def _expectation(line: memoryview) -> tuple[int | None, Any]:
    try:
        record = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # text that only the trace's reader repairs
        return None, None
    return record.seq, record.expect


def _calls(fixture: dict[str, Any]) -> Iterator[dict[str, Any]]:
    recorded = fixture["recorded"]
    for steps in (fixture["steps"], *recorded.get("contexts", {}).values()):
        for step in steps:
            yield from step.get("toolCalls", ())
    for other in recorded.get("others", ()):
        yield other["call"]
