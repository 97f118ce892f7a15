"""ATIF, Harbor's Agent Trajectory Interchange Format, versions 1.0 to 1.8.

Sniff: `schema_version` that begins with "ATIF-v1".

- Turn: an agent step that asked a model (`llm_call_count` is not 0). Contexts: `main`, each of
  `subagent_trajectories` (by `trajectory_id`, started by the call whose result refers to it), and
  `sidechain` for steps that a converter marked so.
- Calls: `tool_calls`; those of a step without a model call have origin "harness". `raw_args`
  where a converter kept the argument text. Results: `observation.results` by `source_call_id`,
  else in order.
- Copied context (`is_copied_context`) is passed over: its calls belong to another trajectory.
- Outcomes: a result is ok, unless it or its metadata says error; `exit_code` from the metadata.
  Converters lose results: such calls stay missing.
- People: user steps that the harness did not write. Usage: `metrics`. `harness`: `agent.name`.

What the format cannot tell: success or failure (there is no flag), when a call ran, context loss,
and in which order two trajectories interleaved (`order: inferred` where there are several).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import (
    EMPTY,
    NULL,
    beginning,
    begins,
    like_error,
    starts_with,
    whole_text,
)
from refetch.readers.carried import KEY, restored
from refetch.readers.gemini_cli import without_process_ids
from refetch.readers.json_records import Lenient, mapping, parts, plain
from refetch.readers.sniff import Sniffed, document_of, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "atif"
_PREFIX = "ATIF-v1"
_SIDECHAIN = "sidechain"
_HARNESSES = {"codex": "codex-cli"}
_NOT_PEOPLE = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|system-reminder|task-notification|local-command"
    r"|command-name|INSTRUCTIONS|turn_aborted)|# AGENTS\.md instructions|\[Request interrupted)"
)
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,9})\b")
_CODE_FIRST = (b"Exit code ", b"Error: Exit code ")
_FAILED = re.compile(rb'"is_error"\s*:\s*true')
_TAIL = 400
_PROCESS_IDS = b"Process Group PGID: "
_REFUSED = (b"The user doesn't want to", b"[Request interrupted", b"patch rejected by user")


class _ToolCall(msgspec.Struct, gc=False):
    tool_call_id: str | None = None
    function_name: str | None = None
    arguments: Raw = Raw()
    extra: Raw = Raw()


class _Reference(msgspec.Struct, gc=False):
    trajectory_id: str | None = None
    session_id: str | None = None


class _Result(msgspec.Struct, gc=False):
    source_call_id: str | None = None
    content: Raw = Raw()
    subagent_trajectory_ref: list[_Reference] | None = None
    extra: Raw = Raw()


class _Observation(msgspec.Struct, gc=False):
    results: list[_Result] | None = None


class _Step(msgspec.Struct, gc=False):
    source: str = ""
    message: Raw = Raw()
    model_name: str | None = None
    tool_calls: list[_ToolCall] | None = None
    observation: _Observation | None = None
    metrics: Raw = Raw()
    llm_call_count: int | None = None
    is_copied_context: bool = False
    extra: Raw = Raw()


_step = Lenient(_Step)


def sniff(sniffed: Sniffed) -> bool:
    """True for a trajectory document."""
    return (small_text(sniffed.document.get("schema_version")) or "").startswith(_PREFIX)


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a trajectory document.

    Raises:
        InputError: there is no list of steps.
    """
    document = document_of(data)
    converted = _converted(document, source)
    if converted is not None:
        return [converted]
    reading = _Reading(source, document)
    if not reading.trajectory(document, MAIN, "$"):
        raise InputError(source, "no steps", path="$.steps", expected="a list of steps")
    return [reading.build.trace(order="inferred" if reading.several else "recorded")]


def _converted(document: dict[str, Raw], source: str) -> Trace | None:
    """The trace that refetch itself wrote as ATIF, with all that it carried along."""
    run = members(document.get("extra", EMPTY)).get(KEY)
    if run is None:
        return None
    calls = []
    for trajectory in (
        document,
        *map(members, parts(document.get("subagent_trajectories", EMPTY))),
    ):
        for step in _step.decode_list(trajectory.get("steps")):
            results = step.observation.results if step and step.observation else None
            answers = {r.source_call_id: r.content for r in results or ()}
            for asked in (step.tool_calls if step else None) or ():
                own = members(asked.extra).get(KEY)
                if own is None:
                    return None
                # A stand-in for arguments that were not recorded or are no object is left alone.
                args = asked.arguments if len(bytes(asked.arguments)) > 2 else EMPTY
                calls.append((own, args, answers.get(asked.tool_call_id, EMPTY)))
    return restored(run, calls, source, NAME)


class _Reading:
    def __init__(self, source: str, document: dict[str, Raw]) -> None:
        agent = mapping(document.get("agent"))
        name = agent.get("name")
        harness = _HARNESSES.get(name, name) if isinstance(name, str) else None
        self.build = TraceBuilder(source, NAME, harness)
        self.build.run = small_text(document.get("session_id")) or small_text(
            document.get("trajectory_id")
        )
        model, extra = agent.get("model_name"), agent.get("extra")
        self.build.model = model if isinstance(model, str) else None
        cwd = extra.get("cwd") if isinstance(extra, dict) else None
        self.cwd: str | None = cwd if isinstance(cwd, str) else None
        self.parents: dict[str, int] = {}
        self.several = False
        self._sidechain = False

    def trajectory(self, document: dict[str, Raw], context: str, path: str) -> bool:
        """Take the steps of a trajectory, then its sub-agents; False where it has no steps."""
        steps = _step.decode_list(document.get("steps"))
        for index, step in enumerate(steps):
            place = f"{path}.steps[{index}]"
            if step is None:
                self.build.problems.append(
                    Problem(self.build.source, "not a step", None, place, "an object")
                )
            elif not step.is_copied_context:
                self._step(step, context, place)
        for index, raw in enumerate(parts(document.get("subagent_trajectories", Raw()))):
            inner = members(raw)
            name = small_text(inner.get("trajectory_id")) or f"{context}/{index}"
            self.several = True
            agent = mapping(inner.get("agent"))
            model = agent.get("model_name")
            self.build.start_context(
                ContextStart(
                    name,
                    self.parents.get(name),
                    model=model if isinstance(model, str) else None,
                )
            )
            self.trajectory(inner, name, f"{path}.subagent_trajectories[{index}]")
        return bool(steps)

    def _step(self, step: _Step, context: str, path: str) -> None:
        extra = mapping(step.extra) if memoryview(step.extra) else {}
        if context == MAIN and extra.get("is_sidechain") is True:
            context = self._enter_sidechain()
        if step.source == "user":
            text = whole_text(step.message)
            if text.strip() and not _NOT_PEOPLE.match(text):
                self.build.user_message(text, context)
            return
        if step.source != "agent":
            return
        by_model = step.llm_call_count != 0
        if by_model:
            self.build.begin_turn(context, step.model_name, mapping(step.metrics))
        details = extra.get("tool_call_details")
        for index, asked in enumerate(step.tool_calls or ()):
            detail = details.get(asked.tool_call_id) if isinstance(details, dict) else None
            fields = self._fields(asked, extra, detail)
            if not by_model:
                fields["origin"] = "harness"
            call = self.build.call(
                asked.function_name or "",
                asked.arguments if memoryview(asked.arguments) else NULL,
                context=context,
                call_id=asked.tool_call_id,
                path=f"{path}.tool_calls[{index}]",
                **fields,
            )
            self._result(call, index, step, detail)

    def _enter_sidechain(self) -> str:
        if not self._sidechain:
            self._sidechain = self.several = True
            self.build.start_context(ContextStart(_SIDECHAIN))
        return _SIDECHAIN

    def _fields(self, asked: _ToolCall, extra: dict[str, Any], detail: Any) -> dict[str, Any]:
        cwd = extra.get("cwd")
        fields: dict[str, Any] = {"cwd": cwd if isinstance(cwd, str) else self.cwd}
        sent = detail.get("raw_arguments") if isinstance(detail, dict) else None
        if not isinstance(sent, str) and len(asked.extra):
            sent = members(asked.extra).get("raw_arguments")
            sent = plain(sent) if sent is not None and begins(sent, b'"') else None
        fields["raw_args"] = sent if isinstance(sent, str) else None
        folder = None
        if b'"workdir"' in bytes(asked.arguments):
            folder = mapping(asked.arguments).get("workdir")
        if isinstance(folder, str):
            base = fields["cwd"]
            absolute = folder.startswith(("/", "~")) or base is None
            fields["cwd"] = folder if absolute else f"{base}/{folder}"
        return fields

    def _result(self, call: OpenCall, index: int, step: _Step, detail: Any) -> None:
        results = (step.observation.results if step.observation else None) or []
        answer = next(
            (r for r in results if r.source_call_id and r.source_call_id == call.fields["call_id"]),
            None,
        )
        if answer is None and all(r.source_call_id is None for r in results):
            answer = results[index] if index < len(results) else None
        if answer is None:
            return
        for reference in answer.subagent_trajectory_ref or ():
            if reference.trajectory_id is not None:
                self.parents[reference.trajectory_id] = call.seq
        _answer(call, answer, detail)


def _answer(call: OpenCall, answer: _Result, detail: Any) -> None:
    metadata = detail.get("metadata") if isinstance(detail, dict) else None
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    content = answer.content
    if code is None and starts_with(content, *_CODE_FIRST):
        stated = _EXIT.match(beginning(content, 60))
        code = int(stated[1]) if stated else None
    if _PROCESS_IDS in bytes(memoryview(content)[-_TAIL:]):
        hashed = without_process_ids(content)
        call.answer(content, "ok", hashed=hashed, exit_code=code)
    elif isinstance(code, int):
        call.answer(content, "ok", exit_code=code)
    elif starts_with(content, *_REFUSED):
        call.answer(content, "rejected", error=beginning(content))
    elif len(answer.extra) and _FAILED.search(answer.extra):
        call.answer(content, "error", error=beginning(content))
    elif like_error(content):
        call.answer(content, "unknown", error=beginning(content))
    else:
        call.answer(content, "ok")
