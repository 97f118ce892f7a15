"""Replay: a fixture as a test. Red while the findings differ, green when they are as expected."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from refetch.keys import raw_key
from refetch.model.errors import FixtureError, UsageError
from refetch.model.finding import Finding
from refetch.model.trace import Trace
from refetch.record import ToolTracer
from refetch.record.fields import describe
from refetch.replay.capture import expected
from refetch.replay.fixtures import (
    Expected,
    Fixture,
    fixture_tools,
    inline_codes,
    load_fixture,
    run_fixture,
)
from refetch.replay.recording import RecordedTools, calls_of

Check = Callable[[Trace], Sequence[Finding]]
Agent = Callable[..., Any]
REPEATS = frozenset(("RF001", "RF002", "RF003", "RF005"))
"""Codes that differ by the turns of two calls alone, which an agent may have other ones of."""


@dataclasses.dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay found: findings that are `new`, expectations `vanished`, findings as `matched`.

    `passed`: a plain replay passes when nothing is new and nothing vanished; with an agent it
    passes when nothing is new, for then the run got better.
    """

    new: list[Finding]
    vanished: list[Expected]
    matched: list[Finding]
    trace: Trace
    answer: Any = None
    with_agent: bool = False

    @property
    def passed(self) -> bool:
        """Whether the fixture, read as a test, is green."""
        return not self.new and (self.with_agent or not self.vanished)


def replay_fixture(
    fixture: str | os.PathLike[str] | Fixture,
    agent: str | Agent | None,
    check: Check,
) -> ReplayResult:
    """Run a fixture and hold its findings against what it expects.

    Args:
        fixture: a packaged fixture's name, a path, or a loaded fixture.
        agent: None plays the script or the recording back. Else `module:callable`, or the callable:
            it is given the task and the tools (name to a callable that takes one dictionary)
            and gives its answer. A captured fixture's tools answer from the recording. Each call
            counts as a turn, unless the agent takes the tracer as a third argument: then it says
            itself when a response arrived, with `next_turn()`.
        check: the judge: the findings of a trace.

    Without `expect`, no finding at flag level is expected but what stands beside the calls.

    Raises:
        FixtureError: the fixture is broken, its script ran out of steps, or the agent raised.
        UsageError: the agent cannot be imported or called.
    """
    known = fixture if isinstance(fixture, Fixture) else load_fixture(fixture)
    if agent is None:
        run = run_fixture(known)
        return _compared(known, run.trace, check(run.trace), run.answer, by=_place)
    called = imported_agent(agent) if isinstance(agent, str) else agent
    tracer, tools = _stage(known)
    answer = _played(called, known, tracer, tools)
    trace = tracer.trace()
    return _compared(known, trace, check(trace), answer, by=_meaning)


def _stage(fixture: Fixture) -> tuple[ToolTracer, dict[str, Callable[..., Any]]]:
    """A tracer and recorded tools for an agent, described as in the trace that was captured."""
    header = fixture.recorded.header if fixture.recorded is not None else {}
    tracer = ToolTracer(
        run=fixture.name,
        task=fixture.task or None,
        harness=header.get("harness"),
        keep_results=True,
    )
    if fixture.recorded is None:
        return tracer, tracer.wrap_registry(fixture_tools(fixture))
    tools = tracer.wrap_registry(RecordedTools(fixture).registry())
    for name, meta in header.get("tools", {}).items():
        tracer.declare(name, meta)
    return tracer, tools


def _played(
    agent: Agent, fixture: Fixture, tracer: ToolTracer, tools: dict[str, Callable[..., Any]]
) -> Any:
    """Run the agent. What it raises is told as the fixture's error, with the cause attached."""
    try:
        if _takes_tracer(agent):
            return agent(fixture.task, tools, tracer)
        return agent(fixture.task, {n: _own_turn(tracer, tool) for n, tool in tools.items()})
    except (Exception, SystemExit) as error:  # an agent that ends the program has not passed
        raise FixtureError(f"{fixture.source}: the agent raised {describe(error)}") from error


def _own_turn(tracer: ToolTracer, tool: Callable[..., Any]) -> Callable[..., Any]:
    """A tool whose every call is a turn."""

    def turned(args: Any = None) -> Any:
        tracer.next_turn()
        return tool(args)

    return functools.update_wrapper(turned, tool)


def agent_place(name: str) -> tuple[str, str]:
    """Module and callable of `module:callable`.

    Raises:
        UsageError: it is spelled otherwise.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise UsageError(f"an agent is named module:callable, not {name!r}")
    return module, attribute


def imported_agent(name: str) -> Agent:
    """The callable that `module:callable` names.

    Raises:
        UsageError: there is none.
    """
    module, attribute = agent_place(name)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"agent {name!r}: {error}") from None
    except (Exception, SystemExit) as error:  # whatever a module does when it is imported
        raise UsageError(f"agent {name!r}: importing it raised {describe(error)}") from error
    if not callable(found):
        raise UsageError(f"agent {name!r} is not callable")
    agent: Agent = found
    return agent


def _takes_tracer(agent: Agent) -> bool:
    try:
        inspect.signature(agent).bind("", {}, None)
    except (TypeError, ValueError):
        return False
    return True


Identity = Callable[[Expected], tuple[Any, ...]]


def _place(item: Expected) -> tuple[Any, ...]:
    """The same finding of the same run: where it stands."""
    return item.code, item.context, item.first, item.repeat, tuple(item.calls or ())


def _meaning(item: Expected) -> tuple[Any, ...]:
    """The same finding of another run: what is repeated, wherever it stands there."""
    return "repeat" if item.code in REPEATS else item.code, item.call


def _compared(
    fixture: Fixture, trace: Trace, findings: Iterable[Finding], answer: Any, *, by: Identity
) -> ReplayResult:
    wanted = _expectations(fixture, trace)
    left = Counter(map(by, wanted))
    new, matched = [], []
    for finding in findings:
        item = msgspec.convert(expected(finding), Expected)
        keys = by(item), by(msgspec.structs.replace(item, first=None, calls=None))
        key = next((key for key in keys if left[key] > 0), None)
        if key is not None:
            left[key] -= 1
            matched.append(finding)
        elif fixture.expect is not None or finding.level == "flag":
            new.append(finding)
    vanished = []
    for item in reversed(wanted):
        if left[by(item)] > 0:
            left[by(item)] -= 1
            vanished.append(item)
    return ReplayResult(new, vanished[::-1], matched, trace, answer, by is _meaning)


def _expectations(fixture: Fixture, trace: Trace) -> list[Expected]:
    """What a fixture lists, and what its calls expect of themselves."""
    wanted = list(fixture.expect or ())
    played = iter([call.seq for call in trace.calls if call.origin == "model"])
    for context, _, call in calls_of(fixture):
        seq = call.seq or 0 if fixture.recorded is not None else next(played, None)
        for code in inline_codes(call):
            key = raw_key(call.tool, None, {} if call.args is UNSET else call.args)
            wanted.append(Expected(code, context, repeat=seq, call=key))
    return wanted
