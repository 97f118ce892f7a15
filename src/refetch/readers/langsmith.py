"""LangSmith runs: exported as a list, as JSON Lines, or as a tree with `child_runs`.

Sniff: runs with `run_type` beside `inputs` or `trace_id`.

- Traces: one for each `trace_id`. Turn: a run of type "llm".
- Context: the graph around it; a run is a graph where the `langgraph_checkpoint_ns` of a run in it
  goes a step deeper than its own (all runs below a node inherit the node's name, sub-graphs too).
  Elsewhere the run that holds several requests, or the tool that a run happened in.
- Exports that leave runs out: a run stands below the nearest exported one of its `dotted_order`.
- Calls: runs of type "tool", and the calls in a model's answer; one that stands in both is one.
- Outcomes: `error`. Times, usage and model: recorded. People: human messages in prompts.

What the format cannot tell: context loss, and arguments that a tracer was told to hide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import kept_in, raw_of
from refetch.readers.json_records import epoch_seconds, mapping, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, small_text
from refetch.readers.span_attributes import arguments, asked_in, people_in, structure, told_in
from refetch.readers.span_tree import Span, SpanTree
from refetch.readers.trace_builder import TraceBuilder

NAME = "langsmith"
_KEYS = ("runs",)
_KINDS = {"tool": "tool", "llm": "model"}
_DEPTH = 60
_SPACE = "langgraph_checkpoint_ns"


def sniff(sniffed: Sniffed) -> bool:
    """True for runs."""
    return any(
        "run_type" in row and ("inputs" in row or "trace_id" in row or "child_runs" in row)
        for row in sniffed_records(sniffed, _KEYS)
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each trace id, in order of appearance.

    Raises:
        InputError: there are no runs.
    """
    problems: list[Problem] = []
    runs: dict[str, list[_Run]] = {}
    for one in record_lists(data, source, _KEYS, "run", problems):
        for record in one.records:
            _collect(record, None, runs, 0)
    traces = []
    for run, found in runs.items():
        build = TraceBuilder(source, NAME)
        build.run = run
        _join(found)
        _mark_graphs(found)
        inferred = SpanTree([*_insides(found), *(one.span for one in found)], build).tell()
        traces.append(build.trace(turns="inferred" if inferred else "recorded"))
    traces[0].problems.extend(problems)
    return traces


class _Run(NamedTuple):
    """A span, the name space of the graph's node it ran in, and the runs around it."""

    span: Span
    space: str
    around: list[str]


def _join(runs: list[_Run]) -> None:
    """Runs whose parent was not exported move below the nearest run that was."""
    known = {run.span.id for run in runs}
    for run in runs:
        if run.span.parent is not None and run.span.parent not in known:
            found = (own for own in reversed(run.around) if own in known and own != run.span.id)
            run.span.parent = next(found, None)


def _mark_graphs(runs: list[_Run]) -> None:
    by_id = {run.span.id: run for run in runs}
    for run in runs:
        parent = by_id.get(run.span.parent or "")
        if not run.space or parent is None or parent.span.kind != "other":
            continue
        if not parent.space or run.space.startswith(parent.space + "|"):
            parent.span.kind, parent.span.node = "agent", False


def _insides(runs: list[_Run]) -> list[Span]:
    """Agents for what ran inside a tool; where there are any, what ran outside has one as well."""
    tools = {run.span.id: run.span for run in runs if run.span.kind == "tool"}
    found: dict[str, Span] = {}
    for run in runs:
        tool = tools.get(run.span.parent or "")
        if tool is not None and not _same_call(tool, run.span):
            key = f"in {tool.id}"
            found.setdefault(key, Span(key, tool.id, "agent", tool.name, tool.started))
            run.span.parent = key
    for run in runs if found else ():
        if run.span.parent is None and run.span.kind in ("tool", "model"):
            found["run"] = Span("in run", None, "agent", "run")
            run.span.parent = "in run"
        elif run.span.parent is None:
            run.span.kind = "agent"
    return list(found.values())


def _same_call(around: Span, span: Span) -> bool:
    """A tool run in a tool run of its name is the same call once more (a wrapper, a retry)."""
    return span.kind == "tool" and span.name == around.name


def _collect(record: Record, trace_id: str | None, runs: dict[str, list[_Run]], depth: int) -> None:
    own = small_text(record.get("id"))
    trace_id = small_text(record.get("trace_id")) or trace_id or own or "runs"
    runs.setdefault(trace_id, []).append(_run(record))
    if depth < _DEPTH:
        for child in record.inner("child_runs"):
            if own is not None:
                child.fields.setdefault("parent_run_id", raw_of(own))
            _collect(child, trace_id, runs, depth + 1)


def _run(record: Record) -> _Run:
    metadata = mapping(record.get("extra")).get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    run_type = small_text(record.get("run_type")) or ""
    span = Span(
        id=small_text(record.get("id")) or record.path,
        parent=small_text(record.get("parent_run_id")),
        kind=_KINDS.get(run_type, "other"),
        name=small_text(record.get("name")) or "",
        started=_time(record.get("start_time")),
        ended=_time(record.get("end_time")),
        path=record.path,
        line=record.line,
        node="langgraph_node" in metadata,
    )
    error = plain(record.get("error"))
    if error:
        span.failed, span.error = True, str(error)[:200]
    inputs, outputs = mapping(record.get("inputs")), mapping(record.get("outputs"))
    if span.kind == "tool":
        _tool(span, inputs, outputs)
        span.result = kept_in(record.get("outputs"), span.result)
    elif span.kind == "model":
        model = metadata.get("ls_model_name")
        span.model = model if isinstance(model, str) else None
        span.asked = asked_in(outputs)
        prompt = inputs.get("messages", inputs)
        span.told, span.people = told_in(prompt), people_in(_flat(prompt))
        span.usage = _usage(outputs)
    space = metadata.get(_SPACE)
    order = plain(record.get("dotted_order"))
    around = order.split(".")[:-1] if isinstance(order, str) else []
    return _Run(
        span, space if isinstance(space, str) else "", [step.partition("Z")[2] for step in around]
    )


def _tool(span: Span, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    sent: Any = inputs
    if set(inputs) == {"input"}:
        # Tracers write arguments in Python's spelling, which is no JSON: the text is all there is.
        decoded = structure(inputs["input"])
        sent = inputs["input"] if decoded is None else decoded
    span.args, span.raw_args = arguments(sent)
    output: Any = outputs.get("output", outputs or None)
    if isinstance(output, dict) and isinstance(output.get("kwargs"), dict):
        output = output["kwargs"]  # a message as LangChain writes it
    if isinstance(output, dict) and isinstance(output.get("tool_call_id"), str):
        span.call_id = output["tool_call_id"]
        span.failed = span.failed or output.get("status") == "error"
        output = output.get("content")
    if output is not None:
        span.result = raw_of(output)


def _flat(prompt: Any) -> Any:
    """Batches of prompts hold one list in another."""
    return (
        prompt[0] if isinstance(prompt, list) and prompt and isinstance(prompt[0], list) else prompt
    )


def _usage(outputs: dict[str, Any]) -> dict[str, Any]:
    found = outputs.get("usage_metadata")
    if found is None and isinstance(outputs.get("llm_output"), dict):
        found = outputs["llm_output"].get("token_usage")
    return found if isinstance(found, dict) else {}


def _time(raw: Raw) -> float | str | None:
    value = plain(raw)
    return value if isinstance(value, str) else epoch_seconds(value)
