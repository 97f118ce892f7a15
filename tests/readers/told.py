"""What a trace tells, in lines that a person can compare with the file it came from."""

from __future__ import annotations

from refetch.model.trace import Call, ContextLoss, ContextStart, Request, Trace, UserMessage


def told(traces: list[Trace]) -> str:
    """One line for each event; texts are cut, times and hashes left out."""
    lines: list[str] = []
    for trace in traces:
        lines.append(f"# {trace.format}, turns {trace.turns}, harness {trace.harness}")
        lines.append(f"# task {trace.task!r}, model {trace.model}")
        lines += [_line(event) for event in trace.events]
        lines += [f"problem {p.line} {p.path} {p.message}" for p in trace.problems]
    return "\n".join(lines) + "\n"


def _line(event: object) -> str:
    if isinstance(event, Call):
        return _call(event)
    if isinstance(event, Request):
        usage = sum(v for v in (event.usage or {}).values() if isinstance(v, int))
        return f"request turn {event.turn} @{event.context} model {event.model} usage {usage}"
    if isinstance(event, UserMessage):
        return f"user @{event.context} after {event.after}"
    if isinstance(event, ContextLoss):
        return f"loss {event.kind} @{event.context} after {event.after} lost {event.lost}"
    if isinstance(event, ContextStart):
        return f"context {event.context} by {event.parent_call}"
    return repr(event)


def _call(call: Call) -> str:
    args = bytes(call.args).decode("utf-8", "replace")[:90]
    result = bytes(call.result).decode("utf-8", "replace")[:60]
    more = [f"exit {call.exit_code}"] if call.exit_code is not None else []
    more += [f"sent {call.raw_args!r}"] if call.raw_args is not None else []
    more += ["timed"] if call.started is not None else []
    more += [f"error {call.error[:50]!r}"] if call.error else []
    place = f"{call.turn} @{call.context} #{call.seq} [{call.call_id}]"
    return " ".join([place, f"{call.name}({args})", call.status, result, *more]).rstrip()
