"""A captured fixture played back: the trace it came from, and tools that answer from it."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from refetch.keys import UnreadableArguments, normalized_key
from refetch.model.errors import FixtureError
from refetch.model.native import read_native
from refetch.model.trace import MAIN, Call, Trace
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
    calls = sorted(_records(fixture), key=lambda item: _place(item[0]))
    records = [record for _, record in calls]
    rows = [_text(header)]
    done = 0
    for placed in sorted(recorded.events, key=lambda item: item.calls_before):
        rows += records[done : placed.calls_before]
        done = max(done, placed.calls_before)
        rows.append(_text(placed.event))
    rows += records[done:]
    trace = read_native(b"\n".join(rows), fixture.source)
    if trace.problems:
        told = trace.problems[0]
        raise BrokenFixtureError(
            fixture.source, told.message, path=told.path, expected=told.expected, found=told.found
        )
    whole = iter([call for call, _ in calls])
    events = [
        _with_texts(event, next(whole)) if isinstance(event, Call) else event
        for event in trace.events
    ]
    return msgspec.structs.replace(trace, events=events, format=recorded.format, lines={})


def _with_texts(record: Call, call: FixtureCall) -> Call:
    """Put in the JSON that the fixture holds as text; it passed one reader, not every one would."""
    texts = {"args": call.args_text, "result": call.result_text}
    raws = {
        name: Raw(text.encode("utf-8", "replace"))
        for name, text in texts.items()
        if text is not None
    }
    return msgspec.structs.replace(record, **raws) if raws else record


def _text(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _records(fixture: Fixture) -> Iterator[tuple[FixtureCall, bytes]]:
    """Every call, and as a line of the native format."""
    for context, turn, call in calls_of(fixture):
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
        yield call, _text(record)


def _place(call: FixtureCall) -> int:
    """A call's place among the recorded calls."""
    return call.n if call.n is not None else call.seq or 0


def calls_of(fixture: Fixture) -> Iterator[tuple[str, int, FixtureCall]]:
    """Context, turn and call, of every call of a fixture."""
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
        calls = [call for _, _, call in calls_of(fixture) if call.args is not UNSET]
        calls.sort(key=_place)
        self._answers: dict[str, list[FixtureCall]] = defaultdict(list)
        self._writes: dict[str, list[FixtureCall]] = defaultdict(list)
        self._given: dict[str, int] = defaultdict(int)
        self._of_tool: dict[str, list[FixtureCall]] = defaultdict(list)
        for call in calls:
            self._answers[_key(call.tool, call.args)].append(call)
            if (loose := _without_payload(call.tool, call.args)) is not None:
                self._writes[loose].append(call)
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
            known = self._known(name, args)
            return known[0].record.get(field) if known else common

        return tell

    def _known(self, name: str, args: dict[str, Any]) -> list[FixtureCall]:
        """The recorded calls of these arguments; for a write, of the same place."""
        known = self._answers.get(_key(name, args))
        if known is None and (loose := _without_payload(name, args)) is not None:
            known = self._writes.get(loose)
        return known or []

    def _answer(self, name: str, args: dict[str, Any]) -> Any:
        key = _key(name, args)
        known = self._known(name, args)
        if not known:
            raise NotRecordedError(f"the recording holds no call {key}")
        at = min(self._given[key], len(known) - 1)
        self._given[key] += 1
        record = known[at].record
        outcome = record.get("outcome") or ("ok" if record.get("ok") else "error")
        if "result" in record and outcome == "ok":
            return copy.deepcopy(record["result"])
        if known[at].result_text is not None and outcome == "ok":
            return json.loads(known[at].result_text or "")
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


_PAYLOAD = frozenset(("content", "new_string", "patch", "diff", "file_text"))
"""Arguments that say what is written, not where: an agent may word them otherwise each time."""


def _without_payload(name: str, args: Any) -> str | None:
    if not isinstance(args, dict) or _PAYLOAD.isdisjoint(args):
        return None
    return _key(name, {key: value for key, value in args.items() if key not in _PAYLOAD})
