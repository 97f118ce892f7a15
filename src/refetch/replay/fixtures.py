"""Fixtures: a scripted run as a JSON file, written by hand or captured from a trace."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from refetch.judge.selecting import codes_of
from refetch.model.errors import FixtureError, InputError, UsageError
from refetch.model.native import is_native, problem_of
from refetch.model.tool import ToolMeta
from refetch.record import Tool, ToolTracer
from refetch.replay.demo_tools import World, demo_tools
from refetch.replay.harness import AgentRun, run_agent
from refetch.replay.scripted import ScriptedModel, scripted_model
from refetch.replay.steps import Step, StepCall

FOLDER = Path(__file__).parent / "fixtures"


class FixtureCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call of a step. `seq`, `n` and `record` come from a captured trace.

    `n` is the call's place among the recorded calls where that is not its `seq`; `record` holds the
    other fields of its record. `args` absent: the trace did not record them. `args_text` and
    `result_text` stand for JSON that another JSON document cannot hold as data. `expect` names the
    rules (by code or name) that this very call, as the repeat, must break.
    """

    tool: str
    args: Any | UnsetType = UNSET
    id: str | None = None
    seq: int | None = None
    n: int | None = None
    args_text: str | None = None
    result_text: str | None = None
    record: dict[str, Any] = {}
    expect: str | list[str] = []


class FixtureStep(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One model response. `turn` where it is not the step's place in its context."""

    tool_calls: list[FixtureCall] | None = None
    final: Any = UNSET
    turn: int | None = None


class Placed(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event of a captured trace, and how many calls were recorded before it."""

    calls_before: int
    event: dict[str, Any]


class OtherCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that no model asked for: an attempt of the harness, a user's, a hook's."""

    context: str
    turn: int
    call: FixtureCall


class Recorded(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a captured fixture keeps of its trace besides the main context's steps."""

    header: dict[str, Any] = {}
    format: str = "native"
    contexts: dict[str, list[FixtureStep]] = {}
    others: list[OtherCall] = []
    events: list[Placed] = []


class Expected(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding that the run must give. `call` is the repeat's raw key; `first` absent: any."""

    code: str
    context: str = "main"
    first: int | None = None
    repeat: int | None = None
    calls: list[int] | None = None
    rule: str | None = None
    level: str | None = None
    call: str | None = None


class Fixture(msgspec.Struct, frozen=True, omit_defaults=True):
    """A scripted run: what the model says, over which world, with which findings.

    `tools` declares metadata by tool name. `recorded` marks a captured fixture: its results
    are those of its trace. `expect` absent: nothing may be flagged but what the calls themselves
    expect. `source`: the file it is from.
    """

    name: str
    steps: list[FixtureStep]
    task: str = ""
    world: World = World()
    tools: dict[str, dict[str, Any]] = {}
    recorded: Recorded | None = None
    expect: list[Expected] | None = None
    redacted: dict[str, int] = {}
    source: str = "-"

    def model(self) -> ScriptedModel:
        """The model that follows the script."""
        return scripted_model(
            [
                Step(
                    [
                        StepCall(c.tool, {} if c.args is UNSET else c.args, c.id)
                        for c in step.tool_calls or ()
                    ],
                    None if step.final is UNSET else step.final,
                    ends=step.tool_calls is None,
                )
                for step in self.steps
            ],
            self.name,
        )


class BrokenFixtureError(FixtureError, InputError):
    """A fixture file that breaks the format: its place, what was expected and what was found."""

    slug = "fixture"


_decode = msgspec.json.Decoder(Fixture).decode


def decode_fixture(data: bytes, source: str) -> Fixture:
    """Decode a fixture, or a trace in the native format as one.

    Raises:
        BrokenFixtureError: with the file, `$.path`, what was expected and what was found.
    """
    if is_native(data):
        from refetch.replay.native_fixture import fixture_text

        data = fixture_text(data, source)
    try:
        fixture = _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        told = problem_of(source, None, error, what="refetch fixture")
        raise BrokenFixtureError(
            source,
            told.message,
            path=told.path,
            expected=told.expected or "a JSON fixture",
            found=told.found,
        ) from None
    for place, steps in _scripts(fixture):
        for index, step in enumerate(steps):
            if (step.tool_calls is None) == (step.final is UNSET):
                found = "neither" if step.tool_calls is None else "both"
                raise _broken(source, f"{place}[{index}]", "`toolCalls` or `final`", found)
            for number, call in enumerate(step.tool_calls or ()):
                _check_inline(call, f"{place}[{index}].toolCalls[{number}].expect", source)
    _check_tools(fixture, source)
    return msgspec.structs.replace(fixture, source=source)


def _scripts(fixture: Fixture) -> list[tuple[str, list[FixtureStep]]]:
    scripts = [("$.steps", fixture.steps)]
    if fixture.recorded is not None:
        for name, steps in fixture.recorded.contexts.items():
            scripts.append((f"$.recorded.contexts[{name!r}]", steps))
    return scripts


def inline_codes(call: FixtureCall) -> list[str]:
    """The codes of the rules that a call expects to break.

    Raises:
        UsageError: a word that is no rule, or not one about repeats.
    """
    words = [call.expect] if isinstance(call.expect, str) else call.expect
    return [_repeat_code(word) for word in words]


def _repeat_code(word: str) -> str:
    code, *more = sorted(codes_of([word])) or [""]
    if more or code in ("", "RF004", "RF108"):
        raise UsageError(f"{word!r} is no single rule about repeats, as RF003 is")
    return code


def _check_inline(call: FixtureCall, path: str, source: str) -> None:
    try:
        inline_codes(call)
    except UsageError as error:
        raise BrokenFixtureError(source, f"{error} (refetch fixture)", path=path) from None


def _check_tools(fixture: Fixture, source: str) -> None:
    for name, meta in fixture.tools.items():
        try:
            msgspec.convert(meta, ToolMeta)
        except msgspec.ValidationError as error:
            raise _broken(source, f"$.tools[{name!r}]", "tool metadata", str(error)) from None


def _broken(source: str, path: str, expected: str, found: str) -> BrokenFixtureError:
    return BrokenFixtureError(
        source,
        f"expected {expected}, found {found} (refetch fixture)",
        path=path,
        expected=expected,
        found=found,
    )


def packaged_fixtures() -> list[str]:
    """The names of the fixtures that ship with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load_fixture(name_or_path: str | os.PathLike[str]) -> Fixture:
    """A fixture by the name of a packaged one, or by its path.

    Raises:
        FixtureError: no such fixture, or it breaks the format.
    """
    name = os.fspath(name_or_path)
    path = Path(name)
    if name in packaged_fixtures():
        path = FOLDER / f"{name}.json"
    try:
        data = path.read_bytes()
    except OSError as error:
        known = ", ".join(packaged_fixtures())
        raise FixtureError(
            f"{name}: no such fixture ({error.strerror or error}); packaged ones: {known}"
        ) from None
    return decode_fixture(data, name)


def fixture_tools(fixture: Fixture) -> dict[str, Tool]:
    """The demo tools over the fixture's world, with the metadata that it declares."""
    tools = demo_tools(fixture.world)
    for name, meta in fixture.tools.items():
        if name in tools:
            tools[name] = dataclasses.replace(tools[name], **meta)
    return tools


def run_fixture(
    fixture: str | os.PathLike[str] | Fixture,
    *,
    tracer: ToolTracer | None = None,
    max_turns: int | None = None,
) -> AgentRun:
    """Run a fixture: its script over its world, or the recording that it was captured from.

    Gives the run with `.trace`, `.answer` and `.tracer` (None for a recording).

    Raises:
        FixtureError: no such fixture, a broken one, or a script that ran out of steps.
    """
    from refetch.replay.recording import recorded_trace

    known = fixture if isinstance(fixture, Fixture) else load_fixture(fixture)
    if known.recorded is not None:
        last = known.steps[-1].final if known.steps else None
        return AgentRun(recorded_trace(known), None if last is UNSET else last)
    tracer = tracer or ToolTracer(run=known.name, task=known.task or None, keep_results=True)
    return run_agent(
        known.model(),
        fixture_tools(known),
        task=known.task,
        tracer=tracer,
        max_turns=max_turns or len(known.steps) + 1,
    )
