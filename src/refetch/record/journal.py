"""The tracer's book: calls and events as they happen, read out or streamed when asked."""

from __future__ import annotations

import contextvars
import itertools
import os
import threading
import time
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from msgspec import UNSET

from refetch.model.native import Header, NativeWriter
from refetch.model.trace import MAIN, Call, ContextStart, Event, Problem, Trace
from refetch.record.encoding import Digest, digest_value, encode, encode_anyway
from refetch.record.fields import checked, describe, with_metadata
from refetch.record.rows import ContextState, OpenCall, Scope, settle, to_call

_KEEP_PROBLEMS = 100
_SETTLE_EVERY = 512
"""Calls after which, at a turn's end, string results are hashed and let go."""


class Journal:
    """Calls, contexts and events of one run. See `ToolTracer`, which people use."""

    def __init__(
        self,
        *,
        run: str | None = None,
        task: str | None = None,
        model: str | None = None,
        harness: str | None = None,
        keep_results: bool = False,
        stream: str | os.PathLike[str] | None = None,
    ) -> None:
        self.run = run if run is not None else uuid.uuid4().hex[:12]
        self.task = task
        self.model = model
        self.harness = harness
        self.keep_results = keep_results
        self.problems: list[Problem] = []
        self._seen_problems: set[str] = set()
        self._main = ContextState(MAIN)
        self._contexts: dict[str, ContextState] = {MAIN: self._main}
        self.here: contextvars.ContextVar[OpenCall | Scope] = contextvars.ContextVar(
            "refetch_here",
            default=Scope(self._main),  # noqa: B039 - one scope, never changed
        )
        self.log: list[OpenCall | Event] = []
        self.next_seq = itertools.count().__next__
        self._offset = time.time() - time.perf_counter()
        self._lock = threading.RLock()
        self._tools: dict[str, dict[str, Any]] = {}
        self._settled = 0
        self._path = stream
        self._writer: NativeWriter | None = None
        self._header_tools: frozenset[str] = frozenset()

    # where a call made now belongs

    def context_here(self) -> ContextState:
        """The context that a call made now belongs to."""
        here = self.here.get()
        return here.inner or self.implicit(here)

    def implicit(self, row: OpenCall | Scope) -> ContextState:
        """What runs inside a call without naming its context gets one of its own."""
        with self._lock:
            if row.inner is None:
                assert isinstance(row, OpenCall)
                row.inner = self._start(self._unused(f"call:{row.seq}"), row, implicit=True)
            return row.inner

    def _start(
        self,
        name: str,
        parent: OpenCall | None,
        inherits: bool = False,
        background: bool = False,
        model: str | None = None,
        *,
        implicit: bool = False,
    ) -> ContextState:
        state = self._contexts[name] = ContextState(name, implicit=implicit)
        seq = parent.seq if parent is not None else None
        self._event(ContextStart(name, seq, inherits, background, model))
        return state

    def _unused(self, name: str) -> str:
        if name not in self._contexts:
            return name
        return next(n for i in itertools.count(2) if (n := f"{name}#{i}") not in self._contexts)

    def _event(self, event: Event) -> None:
        self.log.append(event)
        if self._path is not None:
            self._stream(event)

    def _last(self) -> int:
        for entry in reversed(self.log):
            if type(entry) is OpenCall:
                return entry.seq
        return -1

    # what wrappers report; none of it raises

    def encode(self, args: Any) -> bytes:
        """Arguments as JSON text, empty where there is none."""
        try:
            return encode(args)
        except Exception:
            raw = encode_anyway(args)
            if not raw:
                self.problem("arguments of a call have no JSON text and were not recorded")
            return raw

    def note(self, row: OpenCall, fields: Mapping[str, Any]) -> None:
        """Put checked fields on a call."""
        for name, value in fields.items():
            try:
                row.note(**{name: checked(name, value)})
            except Exception as error:
                self.problem(f"call {row.seq} {row.name!r}: {name}: {describe(error)}")

    def returned(self, row: OpenCall, result: Any) -> None:
        """A call came back with a result."""
        if row.outcome is None:
            row.outcome = "ok"
        if result is UNSET or issubclass(type(result), (str, Digest)):
            row.result = result
        else:
            try:
                row.result = digest_value(result, keep=self.keep_results)
            except Exception as error:
                row.result = UNSET
                self.problem(f"tool {row.name!r}: result not hashed: {describe(error)}")
        self.finished(row)

    def failed(self, row: OpenCall, error: BaseException, outcome: str | None = None) -> None:
        """A call ended in an exception: what is no `Exception` stopped it half way."""
        row.error = describe(error)
        if outcome is not None:
            row.outcome = outcome
        elif issubclass(type(error), TimeoutError):
            row.outcome = "timeout"
        else:
            row.outcome = "error" if issubclass(type(error), Exception) else "unknown"
        self.finished(row)

    def finished(self, row: OpenCall) -> None:
        """Stamp the end of a call and write it where calls are streamed."""
        row.ended = time.perf_counter()
        if self._path is not None:
            self._stream(row)

    def problem(self, message: str) -> None:
        """Note once that something could not be recorded."""
        if message not in self._seen_problems and len(self.problems) < _KEEP_PROBLEMS:
            self._seen_problems.add(message)
            self.problems.append(Problem(source="tracer", message=message))

    # reading out

    @property
    def events(self) -> list[Event]:
        """Calls and events so far, in the order in which they began."""
        return [self._record(entry) for entry in self._ordered()]

    def trace(self) -> Trace:
        """The run so far. May be read at any time; open calls have no outcome yet."""
        return Trace(
            run=self.run,
            events=self.events,
            task=self.task,
            model=self.model,
            harness=self.harness,
            turns="inferred" if self._turns_unknown() else "recorded",
            tools=dict(self._tools),
            problems=list(self.problems),
        )

    @property
    def streaming(self) -> bool:
        """Whether finished calls are written to a file."""
        return self._path is not None

    def _turns_unknown(self) -> bool:
        """Nobody said when a model response began, so the calls' turns are a guess."""
        return any(
            type(entry) is OpenCall and not entry.turn and not entry.context.implicit
            for entry in self.log
        ) and not any(state.turn for state in self._contexts.values())

    def _ordered(self) -> list[OpenCall | Event]:
        """The log; two threads may have appended in another order than they took their numbers."""
        log = list(self.log)
        rows = iter(sorted((e for e in log if type(e) is OpenCall), key=lambda row: row.seq))
        return [next(rows) if type(entry) is OpenCall else entry for entry in log]

    def _record(self, entry: OpenCall | Event) -> Event:
        if not isinstance(entry, OpenCall):
            return entry
        return to_call(entry, offset=self._offset, keep=self.keep_results)

    def _release(self) -> None:
        """Hash string results in batches, so that long runs do not hold every result they saw."""
        if len(self.log) - self._settled < _SETTLE_EVERY:
            return
        done = self._settled
        for entry in itertools.islice(self.log, done, len(self.log)):
            if type(entry) is OpenCall:
                if not entry.ended:
                    break
                settle(entry, keep=self.keep_results)
            done += 1
        self._settled = done

    # streaming

    def _stream(self, entry: OpenCall | Event) -> None:
        try:
            with self._lock:
                if self._writer is None:
                    self._writer = self._open_stream()
                record = self._record(entry)
                if isinstance(record, Call) and record.name not in self._header_tools:
                    record = with_metadata(record, self._tools.get(record.name, {}))
                self._writer.write(record)
        except Exception as error:
            self.problem(f"cannot write the trace: {describe(error)}")

    def _open_stream(self) -> NativeWriter:
        """The file is opened at the first event, when the tools are known that its header names."""
        assert self._path is not None
        self._header_tools = frozenset(self._tools)
        return NativeWriter(
            self._path,
            Header(
                refetch=1,
                run=self.run,
                task=self.task,
                model=self.model,
                harness=self.harness,
                turns="inferred" if self._turns_unknown() else "recorded",
                tools=self._tools,
            ),
        )

    def finish(self) -> Trace:
        """The run is over: write calls that never ended, close the stream, give the trace."""
        if self._path is not None:
            for entry in list(self.log):
                if type(entry) is OpenCall and not entry.ended:
                    self._stream(entry)
            with self._lock:
                if self._writer is None:
                    try:
                        self._writer = self._open_stream()
                    except OSError as error:
                        self.problem(f"cannot write the trace: {describe(error)}")
                if self._writer is not None:
                    self._writer.close()
        return self.trace()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()
