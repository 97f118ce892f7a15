"""LangSmith runs: exported as a list, as JSON Lines, or as a tree with `child_runs`.

Sniff: runs with `run_type` beside `inputs` or `trace_id`.

- Traces: one for each `trace_id`. Turn: a run of type "llm". Context: the agents around it, as in
  span formats (a graph's nodes begin no history of their own).
- Calls: runs of type "tool", and the calls in a model's answer; one that stands in both is one.
- Outcomes: `error`. Times, usage and model: recorded. People: human messages in prompts.

What the format cannot tell: context loss, and arguments that a tracer was told to hide.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import raw_of
from refetch.readers.json_records import mapping, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.span_attributes import arguments, asked_in, people_in, structure, told_in
from refetch.readers.span_tree import Span, SpanTree
from refetch.readers.trace_builder import TraceBuilder

NAME = "langsmith"
_KEYS = ("runs",)
_KINDS = {"tool": "tool", "llm": "model"}
_DEPTH = 60


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
    runs: dict[str, list[Span]] = {}
    for one in record_lists(data, source, _KEYS, "run", problems):
        for record in one.records:
            _collect(record, None, runs, 0)
    traces = []
    for run, spans in runs.items():
        build = TraceBuilder(source, NAME)
        build.run = run
        inferred = SpanTree(spans, build).tell()
        traces.append(build.trace(turns="inferred" if inferred else "recorded"))
    traces[0].problems.extend(problems)
    return traces


def _collect(record: Record, trace_id: str | None, runs: dict[str, list[Span]], depth: int) -> None:
    own = small_text(record.get("id"))
    trace_id = small_text(record.get("trace_id")) or trace_id or own or "runs"
    runs.setdefault(trace_id, []).append(_span(record))
    if depth < _DEPTH:
        for at, raw in enumerate(parts(record.get("child_runs"))):
            child = members(raw)
            if own is not None:
                child.setdefault("parent_run_id", raw_of(own))
            place = f"{record.path}.child_runs[{at}]"
            _collect(Record(child, place, record.line), trace_id, runs, depth + 1)


def _span(record: Record) -> Span:
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
    elif span.kind == "model":
        model = metadata.get("ls_model_name")
        span.model = model if isinstance(model, str) else None
        span.asked = asked_in(outputs)
        prompt = inputs.get("messages", inputs)
        span.told, span.people = told_in(prompt), people_in(_flat(prompt))
        span.usage = _usage(outputs)
    return span


def _tool(span: Span, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    sent = structure(inputs["input"]) if set(inputs) == {"input"} else inputs
    # A tool that takes a text is recorded with Python's spelling of its arguments.
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
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else value
    return value if isinstance(value, str) else None
