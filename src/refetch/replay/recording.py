"""A captured fixture played back: the trace it came from, and tools that answer from it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from refetch.keys import UnreadableArguments, normalized_key
from refetch.model.errors import FixtureError
from refetch.model.native import read_native
from refetch.model.trace import MAIN, Trace
from refetch.record import Tool
from refetch.record.tool import PER_CALL
from refetch.replay.fixtures import BrokenFixtureError, Fixture, FixtureCall, FixtureStep


def recorded_trace(fixture: Fixture) -> Trace:
    """The trace that a captured fixture came from, as far as the fixture holds it.

    Raises:
        FixtureError: the fixture was not captured, or its recording breaks the trace format.
    """
    recorded = fixture.recorded
    if recorded is None:
        raise FixtureError(f"{fixture.source}: not a captured fixture: there is no `recorded`")
    header = {"run": fixture.name, **recorded.header, "refetch": 1, "task": fixture.task or None}
    numbered = sorted(_records(fixture), key=lambda item: item[0])
    records = [record for _, record in numbered]
    rows: list[dict[str, Any]] = [header]
    done = 0
    for placed in sorted(recorded.events, key=lambda item: item.calls_before):
        rows += records[done : placed.calls_before]
        done = max(done, placed.calls_before)
        rows.append(placed.event)
    rows += records[done:]
    data = b"\n".join(_text(row) for row in rows)
    trace = read_native(data, fixture.source)
    if trace.problems:
        told = trace.problems[0]
        raise BrokenFixtureError(
            fixture.source, told.message, path=told.path, expected=told.expected, found=told.found
        )
    return msgspec.structs.replace(trace, format=recorded.format, lines={})


def _text(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _records(fixture: Fixture) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every call as a native record, with its place among the recorded calls."""
    for context, turn, call in _calls(fixture):
        seq = call.seq if call.seq is not None else 0
        record = {
            **call.record,
            "type": "call",
            "seq": seq,
            "turn": turn,
            "name": call.tool,
        }
        if context != MAIN:
            record["context"] = context
        if call.args is not UNSET:
            record["args"] = call.args
        if call.id is not None:
            record["call_id"] = call.id
        yield _place(call), record


def _place(call: FixtureCall) -> int:
    """A call's place among the recorded calls."""
    return call.n if call.n is not None else call.seq or 0


def _calls(fixture: Fixture) -> Iterator[tuple[str, int, FixtureCall]]:
    recorded = fixture.recorded
    contexts: dict[str, list[FixtureStep]] = {MAIN: fixture.steps}
    if recorded is not None:
        contexts |= recorded.contexts
        for other in recorded.others:
            yield other.context, other.turn, other.call
    for context, steps in contexts.items():
        for index, step in enumerate(steps):
            turn = index + 1 if step.turn is None else step.turn
            for call in step.tool_calls or ():
                yield context, turn, call


class NotRecordedError(Exception):
    """A replayed agent asked for something whose answer the recording does not hold."""


class RecordedFailureError(Exception):
    """A recorded call failed; its error is given again."""


class RecordedTools:
    """Tools that answer from a recording by name and normalized arguments, in recorded order.

    When the answers to some arguments are used up, the last one is given again. What was never
    recorded (or only as a hash) fails with `NotRecordedError`; a recorded failure fails again.
    """

    def __init__(self, fixture: Fixture) -> None:
        calls = [call for _, _, call in _calls(fixture) if call.args is not UNSET]
        calls.sort(key=_place)
        self._answers: dict[str, list[FixtureCall]] = defaultdict(list)
        self._given: dict[str, int] = defaultdict(int)
        self._of_tool: dict[str, list[FixtureCall]] = defaultdict(list)
        for call in calls:
            self._answers[_key(call.tool, call.args)].append(call)
            self._of_tool[call.tool].append(call)

    def registry(self) -> dict[str, Tool]:
        """One tool a recorded name, with the metadata that its records carry."""
        return {name: self._tool(name, calls) for name, calls in self._of_tool.items()}

    def _tool(self, name: str, calls: list[FixtureCall]) -> Tool:
        declared: dict[str, Any] = {}
        for field in PER_CALL:
            if any(field in call.record for call in calls):
                declared[field] = self._teller(name, field, calls)
        return Tool(lambda args: self._answer(name, args), **declared)

    def _teller(self, name: str, field: str, calls: list[FixtureCall]) -> Any:
        """What the records say about a call: that of the same arguments, else what all agree on."""
        values = [call.record.get(field) for call in calls]
        common = values[0] if all(value == values[0] for value in values) else None

        def tell(args: dict[str, Any]) -> Any:
            known = self._answers.get(_key(name, args))
            return known[0].record.get(field) if known else common

        return tell

    def _answer(self, name: str, args: dict[str, Any]) -> Any:
        key = _key(name, args)
        known = self._answers.get(key)
        if not known:
            raise NotRecordedError(f"the recording holds no call {key}")
        at = min(self._given[key], len(known) - 1)
        self._given[key] += 1
        record = known[at].record
        outcome = record.get("outcome") or ("ok" if record.get("ok") else "error")
        if "result" in record and outcome == "ok":
            return record["result"]
        if outcome == "timeout":
            raise TimeoutError(record.get("error") or "timeout")
        if outcome == "ok":
            raise NotRecordedError(f"the recording holds no result of {key}")
        raise RecordedFailureError(record.get("error") or outcome)


def _key(name: str, args: Any) -> str:
    try:
        return normalized_key(name, args)
    except UnreadableArguments:
        return f"{name}(unreadable)"


def recorded_tools(fixture: Fixture) -> dict[str, Tool]:
    """The tools of a captured fixture, answering from it."""
    return RecordedTools(fixture).registry()
