"""The tracer: records what an agent's tools are asked and what came of it, at little cost.

While the agent runs, a call costs one encoding of its arguments and one small record in memory;
hashes, links between attempts and the trace itself are made when somebody asks for them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeVar, overload

from msgspec import UNSET

from refetch.model.trace import Request
from refetch.record.narration import Narration
from refetch.record.rows import ContextState, OpenCall
from refetch.record.tool import Tool, as_tool
from refetch.record.wrapping import wrap_callable, wrap_entry

F = TypeVar("F", bound=Callable[..., Any])


class ToolTracer(Narration):
    """Records the tool calls of one agent run.

    Args:
        run: the run's name; made up if absent.
        task, model, harness: what the trace's header says about the run.
        keep_results: store results, not only their hash and length.
        stream: a file to which every finished call is written at once, so that a killed process
            leaves a readable trace.

    The tracer never raises into the agent; what went wrong while recording stands in `problems`.
    Wrapped tools give the same results and raise the same exceptions as before.
    """

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
        super().__init__(
            run=run,
            task=task,
            model=model,
            harness=harness,
            keep_results=keep_results,
            stream=stream,
        )
        self._turn_of: dict[tuple[str, str], int] = {}
        self._asked: dict[tuple[str, str, int], list[tuple[str, Any]]] = {}
        self._executed: dict[tuple[str, str, int, str], list[OpenCall]] = {}

    # wrapping

    def wrap_registry(self, registry: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
        """A registry's tools, recorded: name to a callable that takes one dictionary of arguments.

        Raises:
            UsageError: an entry has nothing to run, or declares what no trace can hold.
        """
        return {name: wrap_entry(self, name, self._adopt(name, e)) for name, e in registry.items()}

    def wrap(self, target: Any, *, name: str | None = None, **declared: Any) -> Any:
        """A registry or one callable, recorded.

        A mapping without `run` is a registry; a `Tool` (or mapping with `run`) becomes a callable
        that takes one dictionary; a callable keeps its own signature. `declared`: fields of `Tool`,
        and `skip`, names of parameters that are no arguments of the model.
        """
        if isinstance(target, Mapping) and "run" not in target:
            return self.wrap_registry(target)
        if isinstance(target, (Tool, Mapping)):
            run = target.run if isinstance(target, Tool) else target["run"]
            named = name or str(getattr(run, "__name__", "tool"))
            return wrap_entry(self, named, self._adopt(named, target))
        if isinstance(target, (staticmethod, classmethod)):
            return type(target)(self.wrap(target.__func__, name=name, **declared))
        name = name or str(getattr(target, "__name__", type(target).__name__))
        skip = tuple(declared.pop("skip", ()))
        return wrap_callable(self, name, Tool(target, **declared), skip, self._declare)

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(self, function: None = None, /, **declared: Any) -> Callable[[F], F]: ...
    def tool(self, function: Any = None, /, **declared: Any) -> Any:
        """Decorator: `@tracer.tool` or `@tracer.tool(mutates=False, resource=lambda a: …)`."""
        if function is not None:
            return self.wrap(function, **declared)
        return lambda inner: self.wrap(inner, **declared)

    def _adopt(self, name: str, entry: Any) -> Tool:
        tool, unknown = as_tool(name, entry)
        for key in unknown:
            self.problem(f"tool {name!r}: unknown key {key!r} is ignored")
        self._declare(name, tool)
        return tool

    def declare(self, name: str, metadata: Mapping[str, Any]) -> None:
        """What the trace's header says about a tool, besides what its entry declares."""
        self._tools = {**self._tools, name: {**metadata, **self._tools.get(name, {})}}

    def _declare(self, name: str, tool: Tool) -> None:
        declared = tool.declared()
        if declared:
            self._tools = {**self._tools, name: declared}

    # the core for frameworks

    def step(
        self,
        run: str | None = None,
        response_id: str | None = None,
        calls: Iterable[tuple[str | None, str, Any]] = (),
        usage: dict[str, Any] | None = None,
        agent: str | None = None,
        *,
        model: str | None = None,
    ) -> int:
        """A model response of the history `run` arrived. Gives its turn.

        `calls` are (call id, name, arguments as the model sent them: text or data). `run` None is
        whatever runs inside the innermost open call. `response_id` and `agent` identify nothing
        (some providers repeat one id) and decide nothing.
        """
        with self._lock:
            state = self._state_of(run)
            state.turn += 1
            for call_id, name, sent in calls:
                if call_id is not None:
                    self._turn_of[state.name, call_id] = state.turn
                    asked = self._asked.setdefault((state.name, call_id, state.turn), [])
                    asked.append((name, sent))
            self._release()
            self._event(Request(state.turn, state.name, model, usage))
            return state.turn

    def open(
        self,
        name: str,
        args: Any = UNSET,
        *,
        run: str | None = None,
        call_id: str | None = None,
        turn: int | None = None,
        origin: str | None = None,
        attempt_of: int | None = None,
        **fields: Any,
    ) -> OpenCall:
        """A tool begins to run; `close` ends it. For hooks that come before and after.

        The turn is looked up by (run, call id), never "the current one". The same id asked once and
        run again is the harness's retry. Without `args` the call's arguments count as not recorded.
        """
        with self._lock:
            state = self._state_of(run)
            if turn is None:
                known = self._turn_of.get((state.name, call_id)) if call_id is not None else None
                turn = state.turn if known is None else known
            here = self.here.get()
            raw = b"" if args is UNSET else self.encode(args)
            row = OpenCall(
                self.next_seq(), turn, name, raw, state, here,
                origin or here.ambient, time.perf_counter(),
                attempt_of=attempt_of, call_id=call_id,
            )  # fmt: skip
            if call_id is not None:
                self._as_sent(row, call_id)
                self._retried(row, call_id, origin)
            self.log.append(row)
        self.note(row, fields)
        return row

    def _as_sent(self, row: OpenCall, call_id: str) -> None:
        """Frameworks coerce arguments before they run a tool: what the model sent counts."""
        asked = self._asked.get((row.context.name, call_id, row.turn), ())
        sent = [item for name, item in asked if name == row.name]
        if len(sent) != 1 or sent[0] is None:
            return
        if isinstance(sent[0], str):
            row.raw_args = sent[0]
        else:
            row.args = self.encode(sent[0])

    def _retried(self, row: OpenCall, call_id: str, origin: str | None) -> None:
        key = (row.context.name, call_id, row.turn, row.name)
        earlier = self._executed.setdefault(key, [])
        same = [e for e in earlier if (e.args, e.raw_args) == (row.args, row.raw_args)]
        asked = self._asked.get(key[:3], ())
        if len(same) >= max(1, len(asked)) and origin is None and row.attempt_of is None:
            row.origin, row.attempt_of = "harness-retry", same[0].seq
        earlier.append(row)

    def close(
        self,
        call: OpenCall,
        result: Any = UNSET,
        error: BaseException | str | None = None,
        *,
        outcome: str | None = None,
        **fields: Any,
    ) -> Any:
        """The call ended. Gives back `result`. Closing twice changes nothing."""
        if call.ended:
            return result
        self.note(call, fields)
        if isinstance(error, BaseException):
            self.failed(call, error, outcome)
        elif error is not None:
            call.error, call.outcome = error, outcome or call.outcome or "error"
            self.finished(call)
        else:
            call.outcome = outcome or call.outcome
            self.returned(call, result)
        return result

    def call(self, name: str, args: Any = UNSET, **about: Any) -> _Recorded:
        """`with tracer.call(name, args, run=…, call_id=…) as c:` around sync code and awaits alike.

        Set `c.result` (or `c.error`, `c.outcome`) inside. An exception is recorded and goes on.
        What runs inside is nested in the call.
        """
        return _Recorded(self, name, args, about)

    def _state_of(self, run: str | None) -> ContextState:
        if run is None:
            return self.context_here()
        state = self._contexts.get(run)
        if state is None:
            here = self.here.get()
            state = self._start(run, here if isinstance(here, OpenCall) else here.call)
        return state


class _Recorded:
    """One call as a context manager; the same for sync and async code."""

    __slots__ = ("_about", "_args", "_name", "_row", "_token", "_tracer")

    def __init__(self, tracer: ToolTracer, name: str, args: Any, about: dict[str, Any]) -> None:
        self._tracer, self._name, self._args, self._about = tracer, name, args, about

    def __enter__(self) -> OpenCall:
        self._row = self._tracer.open(self._name, self._args, **self._about)
        self._token = self._tracer.here.set(self._row)
        return self._row

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tracer.here.reset(self._token)
        if error is not None:
            self._tracer.close(self._row, error=error)
        else:
            self._tracer.close(self._row, self._row.result, self._row.error)
