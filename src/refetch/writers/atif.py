"""ATIF 1.8, Harbor's Agent Trajectory Interchange Format.

One agent step a turn; steps that no model asked for have `llm_call_count` 0. Every other context
is an embedded sub-agent trajectory. What the format has no field for stands under `extra.refetch`,
from where our reader takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from refetch.model.trace import MAIN, Call, ContextStart, Request, Trace, UserMessage, seconds
from refetch.readers.carried import KEY, carried_call, carried_run
from refetch.writers.written import Written

VERSION = "ATIF-v1.8"
_USAGE = {
    "prompt_tokens": ("input_tokens", "prompt_tokens"),
    "completion_tokens": ("output_tokens", "completion_tokens"),
    "cached_tokens": ("cache_read_input_tokens", "cached_tokens"),
}
_OBJECT = b"{"
_STRING = b'"'


def write(traces: Sequence[Trace]) -> Written:
    """One run as a trajectory document."""
    (trace,) = traces
    losses: Counter[str] = Counter()
    contexts = _contexts(trace)
    document = _trajectory(trace, MAIN, contexts.pop(MAIN, []), losses)
    document["extra"] = {KEY: carried_run(trace)}
    children = [_trajectory(trace, name, events, losses) for name, events in contexts.items()]
    if children:
        document["subagent_trajectories"] = children
    return Written(msgspec.json.encode(document) + b"\n", losses)


_Told = Call | UserMessage | Request


def _contexts(trace: Trace) -> dict[str, list[_Told]]:
    """What each context holds, in order; those that only started are named too."""
    found: dict[str, list[_Told]] = {MAIN: []}
    for event in trace.events:
        if isinstance(event, Call | UserMessage | Request):
            found.setdefault(event.context, []).append(event)
        elif isinstance(event, ContextStart):
            found.setdefault(event.context, [])
    return found


def _trajectory(
    trace: Trace, context: str, events: list[_Told], losses: Counter[str]
) -> dict[str, Any]:
    steps = _steps(events, losses) or [{"source": "system", "message": ""}]
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
    agent: dict[str, Any] = {"name": trace.harness or "agent", "version": "unknown"}
    if trace.model is not None:
        agent["model_name"] = trace.model
    head: dict[str, Any] = {"schema_version": VERSION, "session_id": trace.run}
    head["trajectory_id"] = context if context != MAIN else trace.run
    return {**head, "agent": agent, "steps": steps}


def _steps(events: Iterable[_Told], losses: Counter[str]) -> list[dict[str, Any]]:
    usage = {event.turn: event for event in events if isinstance(event, Request)}
    steps: list[dict[str, Any]] = []
    open_step: tuple[int, bool] | None = None
    for event in events:
        if isinstance(event, UserMessage):
            steps.append({"source": "user", "message": ""})
            open_step = None
        elif isinstance(event, Call):
            key = (event.turn, event.origin == "model")
            if key != open_step:
                steps.append(_agent_step(event, usage))
                open_step = key
            _add_call(steps[-1], event, losses)
    return steps


def _agent_step(call: Call, usage: dict[int, Request]) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": "", "tool_calls": []}
    if call.origin != "model":
        step["llm_call_count"] = 0
    elif (request := usage.get(call.turn)) is not None:
        if request.model is not None:
            step["model_name"] = request.model
        if metrics := _metrics(request.usage or {}):
            step["metrics"] = metrics
    started = seconds(call.started)
    if started is not None and 0 <= started < 1e11:
        step["timestamp"] = datetime.fromtimestamp(started, UTC).isoformat()
    return step


def _metrics(usage: dict[str, Any]) -> dict[str, int]:
    found = {}
    for ours, names in _USAGE.items():
        value = next((usage[n] for n in names if isinstance(usage.get(n), int)), None)
        if value is not None:
            found[ours] = value
    return found


def _add_call(step: dict[str, Any], call: Call, losses: Counter[str]) -> None:
    identity = call.call_id if call.call_id is not None else f"call-{call.seq}"
    if any(earlier["tool_call_id"] == identity for earlier in step["tool_calls"]):
        identity = f"{identity}#{call.seq}"  # results are found by it
    args, result = bytes(call.args), bytes(call.result)
    # An empty object also stands where nothing was recorded.
    holds_args = args.lstrip().startswith(_OBJECT) and len(args) > len(b"{}")
    holds_result = result.lstrip().startswith(_STRING)
    losses["arguments that are no object (kept in extra)"] += len(args) > 2 and not holds_args
    losses["results that are no text (kept in extra)"] += bool(result) and not holds_result
    step["tool_calls"].append(
        {
            "tool_call_id": identity,
            "function_name": call.name,
            "arguments": call.args if holds_args else {},
            "extra": {KEY: carried_call(call, holds_args=holds_args, holds_result=holds_result)},
        }
    )
    if result:
        answer: dict[str, Any] = {"source_call_id": identity}
        answer["content"] = call.result if holds_result else result.decode("utf-8", "replace")
        if call.status not in ("ok", "missing"):
            answer["extra"] = {"is_error": True}
        step.setdefault("observation", {"results": []})["results"].append(answer)
