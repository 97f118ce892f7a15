"""tau-bench result files: a list of `{task_id, trial, traj: […chat messages…]}`, each one a trace.

Sniff: a JSON array whose objects have `traj` and `task_id`.

- Run: `idx=I|task=T|trial=K`, I the place in the file. Turn: one assistant message. Context:
  `main`.
- Calls: `tool_calls` with `arguments` as the model's string. Ids repeat within a file and within a
  conversation, so a result is paired with the calls of the assistant message before it.
- Outcomes: a content that begins with "Error" failed; "Unknown action" never ran; all else is ok.
- People: the simulated user's messages.

What the format cannot tell: model, usage, times, context loss.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import MAIN, Problem, Trace
from refetch.readers.blocks import beginning, starts_with
from refetch.readers.json_records import Lenient, plain
from refetch.readers.openai_chat import arguments_of
from refetch.readers.sniff import Sniffed
from refetch.readers.trace_builder import TraceBuilder

NAME = "tau-bench"


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Raw = Raw()


class _ToolCall(msgspec.Struct, gc=False):
    id: str | None = None
    function: _Function | None = None


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Raw = Raw()
    name: str | None = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None


class _Run(msgspec.Struct, gc=False):
    task_id: Raw = Raw()
    trial: Raw = Raw()
    traj: list[_Message | None] | None = None


_run = Lenient(_Run)


def sniff(sniffed: Sniffed) -> bool:
    """True for a list of runs."""
    return sniffed.shape == "array" and sniffed.any_row("task_id", "traj")


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each run in the file, in order.

    Raises:
        InputError: the file is no list of runs.
    """
    traces = []
    problems = []
    for index, run in enumerate(_run.decode_list(data)):
        if run is None or run.traj is None:
            problems.append(Problem(source, "no `traj`", None, f"$[{index}]", "a run"))
            continue
        traces.append(_trace(run, run.traj, index, source))
    if not traces:
        raise InputError(source, "no runs", expected="a list of runs with `traj`", found="none")
    traces[0].problems.extend(problems)
    return traces


def _trace(run: _Run, messages: list[_Message | None], index: int, source: str) -> Trace:
    build = TraceBuilder(source, NAME)
    build.run = f"idx={index}|task={plain(run.task_id)}|trial={plain(run.trial)}"
    for place, message in enumerate(messages):
        path = f"$[{index}].traj[{place}]"
        if message is None:
            build.problems.append(Problem(source, "not a message", None, path, "an object"))
        elif message.role == "assistant":
            build.begin_turn()
            for number, call in enumerate(message.tool_calls or ()):
                asked = call.function or _Function()
                args, raw_args = arguments_of(asked.arguments)
                build.call(
                    asked.name or "",
                    args,
                    raw_args=raw_args,
                    call_id=call.id,
                    path=f"{path}.tool_calls[{number}]",
                )
        elif message.role == "tool":
            _answer(build, message)
        elif message.role == "user":
            build.user_message(message.content)
    return build.trace()


def _answer(build: TraceBuilder, message: _Message) -> None:
    waiting = build.still_open(MAIN)
    call = next(
        (c for c in waiting if c.fields["call_id"] == message.tool_call_id),
        waiting[0] if waiting else None,
    )
    if call is None:
        return
    outcome = outcome_of(message.content)
    error = None if outcome == "ok" else beginning(message.content)
    call.answer(message.content, outcome, error=error)


def outcome_of(content: Raw) -> str:
    """What a tool's answer says about the call."""
    if not starts_with(content, b"Unknown action", b"Error"):
        return "ok"
    return "error" if starts_with(content, b"Error") else "not-executed"
