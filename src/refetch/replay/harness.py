"""A small agent loop: a model asks for tools, the tools run, their results go back."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from refetch.model.trace import Trace
from refetch.record import ToolTracer
from refetch.replay.steps import Step, StepCall, read_step

Message = dict[str, Any]
Model = Callable[[list[Message]], Any]
Tools = Mapping[str, Any]

MAX_TURNS = 50
RETRIES = 2


class TransientError(Exception):
    """A tool failed in a way that passes: the harness tries again, the model never learns of it."""


@dataclasses.dataclass(frozen=True, slots=True)
class AgentRun:
    """What a run left: its trace, the model's answer, and why it ended.

    `stopped` is "final", or "max-turns" (then `answer` is None). `tracer` is absent where the trace
    was rebuilt from a recording.
    """

    trace: Trace
    answer: Any
    tracer: ToolTracer | None = None
    stopped: str = "final"


def run_agent(
    model: Model,
    tools: Tools,
    *,
    task: str = "",
    tracer: ToolTracer | None = None,
    max_turns: int = MAX_TURNS,
    retries: int = RETRIES,
    parallel: bool = False,
) -> AgentRun:
    """Run a model with tools until it gives an answer.

    Args:
        model: takes the messages so far and gives `{"tool_calls": [{"tool", "args", "id"?}]}` or
            `{"final": …}`. Messages are `{"role": "user"|"assistant"|"tool", …}`; those of tools
            hold `tool`, `call_id`, `ok` and `content`.
        tools: a registry as `ToolTracer.wrap_registry` takes it, or one already wrapped.
        max_turns: model responses with calls before the run is stopped.
        retries: further attempts of a call after a `TransientError`.
        parallel: run the calls of one response in threads.
    """
    loop = _Loop(tools, task, tracer, retries)
    for _ in range(max_turns):
        step = loop.heard(model(loop.messages))
        if step.ends:
            return loop.ended(step.final, "final")
        with loop.batch(step.calls) as begun:
            if parallel and len(step.calls) > 1:
                observed = loop.in_threads(step.calls, begun)
            else:
                observed = [loop.run(call, begun) for call in step.calls]
        loop.messages.extend(observed)
    return loop.ended(None, "max-turns")


async def arun_agent(
    model: Model,
    tools: Tools,
    *,
    task: str = "",
    tracer: ToolTracer | None = None,
    max_turns: int = MAX_TURNS,
    retries: int = RETRIES,
    parallel: bool = False,
) -> AgentRun:
    """`run_agent` for asynchronous tools and models; plain ones work as well."""
    loop = _Loop(tools, task, tracer, retries)
    for _ in range(max_turns):
        answer = model(loop.messages)
        step = loop.heard(await answer if inspect.isawaitable(answer) else answer)
        if step.ends:
            return loop.ended(step.final, "final")
        with loop.batch(step.calls) as begun:
            if parallel and len(step.calls) > 1:
                observed = await asyncio.gather(*(loop.arun(c, begun) for c in step.calls))
            else:
                observed = [await loop.arun(call, begun) for call in step.calls]
        loop.messages.extend(observed)
    return loop.ended(None, "max-turns")


class _Loop:
    """The state of one run."""

    def __init__(self, tools: Tools, task: str, tracer: ToolTracer | None, retries: int) -> None:
        self.tracer = tracer or _tracer_of(tools) or ToolTracer(task=task or None)
        self.tools = _recorded(tools, self.tracer)
        self.retries = retries
        self.messages: list[Message] = [{"role": "user", "content": task}]

    def heard(self, answer: Any) -> Step:
        """A response arrived: its turn begins."""
        step = read_step(answer)
        if not step.ends:
            self.tracer.next_turn()
            asked = [{"tool": c.tool, "args": c.args, "id": c.id} for c in step.calls]
            self.messages.append({"role": "assistant", "tool_calls": asked})
        if step.usage is not None:
            self.tracer.request(step.usage)
        return step

    def ended(self, answer: Any, stopped: str) -> AgentRun:
        return AgentRun(self.tracer.trace(), answer, self.tracer, stopped)

    @contextmanager
    def batch(self, calls: Sequence[StepCall]) -> Iterator[list[StepCall]]:
        """A batch that is broken off records the calls that never began as cancelled."""
        begun: list[StepCall] = []
        try:
            yield begun
        except BaseException:
            started = {id(call) for call in begun}
            for call in calls:
                if id(call) not in started:
                    self._refuse(call, "cancelled", "the run was stopped")
            raise

    def run(self, call: StepCall, begun: list[StepCall]) -> Message:
        """Run one call with its retries; what the model is told."""
        begun.append(call)
        tool = self.tools.get(call.tool)
        if (refused := self._unfit(call, tool)) is not None:
            return refused
        assert tool is not None
        with self.tracer.attempts():
            for left in range(self.retries, -1, -1):
                try:
                    return _observed(call, tool(copy.deepcopy(call.args), _call_id=call.id))
                except TransientError as error:
                    if not left:
                        return _observed(call, error)
                except Exception as error:
                    return _observed(call, error)
        raise AssertionError("unreachable")

    async def arun(self, call: StepCall, begun: list[StepCall]) -> Message:
        """`run`, awaiting what has to be awaited."""
        begun.append(call)
        tool = self.tools.get(call.tool)
        if (refused := self._unfit(call, tool)) is not None:
            return refused
        assert tool is not None
        with self.tracer.attempts():
            for left in range(self.retries, -1, -1):
                try:
                    result = tool(copy.deepcopy(call.args), _call_id=call.id)
                    return _observed(call, await result if inspect.isawaitable(result) else result)
                except TransientError as error:
                    if not left:
                        return _observed(call, error)
                except Exception as error:
                    return _observed(call, error)
        raise AssertionError("unreachable")

    def in_threads(self, calls: Sequence[StepCall], begun: list[StepCall]) -> list[Message]:
        """Run a batch in threads that know the context they belong to."""
        with ThreadPoolExecutor(len(calls)) as pool:
            jobs = [
                pool.submit(contextvars.copy_context().run, self.run, call, begun) for call in calls
            ]
            return [job.result() for job in jobs]

    def _unfit(self, call: StepCall, tool: Any) -> Message | None:
        if tool is None:
            return self._refuse(call, "not-executed", f"unknown tool: {call.tool}")
        if not isinstance(call.args, dict):
            kind = type(call.args).__name__
            return self._refuse(call, "not-executed", f"arguments must be an object, found {kind}")
        return None

    def _refuse(self, call: StepCall, outcome: str, why: str) -> Message:
        opened = self.tracer.open(call.tool, call.args, call_id=call.id)
        self.tracer.close(opened, error=why, outcome=outcome)
        return {**_about(call), "ok": False, "content": f"error: {why}"}


def _about(call: StepCall) -> Message:
    return {"role": "tool", "tool": call.tool, "call_id": call.id}


def _observed(call: StepCall, result: Any) -> Message:
    if isinstance(result, Exception):
        return {**_about(call), "ok": False, "content": f"error: {result}"}
    return {**_about(call), "ok": True, "content": result}


def _tracer_of(tools: Tools) -> ToolTracer | None:
    """The tracer that already records these tools."""
    found = {
        id(t): t for tool in tools.values() if (t := getattr(tool, "__refetch_tracer__", None))
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _recorded(tools: Tools, tracer: ToolTracer) -> dict[str, Callable[..., Any]]:
    """Every tool as a recorded callable that takes one dictionary."""
    fresh = {
        name: tool
        for name, tool in tools.items()
        if getattr(tool, "__refetch_tracer__", None) is not tracer
    }
    wrapped = tracer.wrap_registry(fresh)
    return {name: wrapped.get(name) or _by_dictionary(tools[name]) for name in tools}


def _by_dictionary(tool: Callable[..., Any]) -> Callable[..., Any]:
    """A recorded callable with a signature of its own, called with a dictionary."""
    if not getattr(tool, "__refetch_own_signature__", False):
        return tool
    return lambda args, **reserved: tool(**args, **reserved)
