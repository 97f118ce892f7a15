"""Langfuse traces as the API gives them: `{trace, observations[]}`.

Sniff: `trace` and `observations` in a document.

- Turn: an observation of type GENERATION. Context: the AGENT (or other observation) that holds
  its requests; the first is `main`.
- Calls: observations of type TOOL; SPANs that the attributes in their metadata call tools, or
  whose output is a tool message; and the calls in a generation's output. One that stands in both
  is one.
- Outcomes: level ERROR is an error, otherwise ok.
- People: user messages that a prompt has more than the prompt before. Usage: `usageDetails`.
  Times: of the observation.

What the format cannot tell: context loss, the harness; arguments as sent only where the output
holds them as text.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, kept_in, raw_of
from refetch.readers.json_records import Lenient, mapping, plain
from refetch.readers.sniff import Sniffed, document_of, members, small_text
from refetch.readers.span_attributes import (
    arguments,
    asked_in,
    describe,
    kind_of,
    people_in,
    structure,
    told_in,
)
from refetch.readers.span_tree import Span, SpanTree
from refetch.readers.trace_builder import TASK_CHARS, TraceBuilder

NAME = "langfuse"
_TOOL_MESSAGE = b"tool_call_id"
_KINDS = {"TOOL": "tool", "GENERATION": "model", "AGENT": "agent"}


class _Observation(msgspec.Struct, rename="camel", gc=False):
    id: str | None = None
    parent_observation_id: str | None = None
    type: str = ""
    name: str | None = None
    start_time: str | None = None
    end_time: str | None = None
    level: str | None = None
    status_message: str | None = None
    model: str | None = None
    input: Raw = Raw()
    output: Raw = Raw()
    metadata: Raw = Raw()
    usage_details: Raw = Raw()


_observation = Lenient(_Observation)


def sniff(sniffed: Sniffed) -> bool:
    """True for a trace with its observations."""
    return sniffed.has("trace", "observations")


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in the document.

    Raises:
        InputError: there are no observations.
    """
    document = document_of(data)
    listed = _observation.decode_list(document.get("observations"))
    if not listed:
        raise InputError(
            source, "no observations", path="$.observations", expected="a list of observations"
        )
    build = TraceBuilder(source, NAME)
    trace = members(document.get("trace"))
    build.run = small_text(trace.get("id"))
    name = small_text(trace.get("name"))
    build.task = name[:TASK_CHARS] if name else None
    spans = []
    for index, found in enumerate(listed):
        path = f"$.observations[{index}]"
        if found is None:
            build.problems.append(Problem(source, "not an observation", None, path, "an object"))
        else:
            spans.append(_span(found, path))
    inferred = SpanTree(spans, build).tell()
    return [build.trace(turns="inferred" if inferred else "recorded")]


def _span(found: _Observation, path: str) -> Span:
    metadata = structure(plain(found.metadata))
    metadata = metadata if isinstance(metadata, dict) else {}
    attributes = structure(metadata.get("attributes"))
    attributes = attributes if isinstance(attributes, dict) else {}
    kind = _KINDS.get(found.type.upper()) or kind_of(attributes)
    if kind == "model" and found.type.upper() not in _KINDS:
        kind = "other"  # Langfuse calls every request a generation
    output = None
    if kind == "model" or _TOOL_MESSAGE in bytes(found.output):
        output = structure(plain(found.output))
    message = output if _is_tool_message(output) else None
    span = Span(
        id=found.id or path,
        parent=found.parent_observation_id,
        kind="tool" if message else kind,
        name=found.name or "",
        started=found.start_time,
        ended=found.end_time,
        path=path,
        node="langgraph_node" in metadata,
        model=found.model,
    )
    describe(span, attributes)
    if span.kind == "tool":
        _tool(span, found, message)
    elif span.kind == "model":
        _model(span, found, output)
    if found.level == "ERROR":
        span.failed = True
        span.error = (found.status_message or span.error or "error")[:200]
    span.session = None  # the document is one trace, whatever its session
    return span


def _is_tool_message(output: Any) -> bool:
    return isinstance(output, dict) and (
        output.get("type") == "tool" and isinstance(output.get("tool_call_id"), str)
    )


def _tool(span: Span, found: _Observation, message: dict[str, Any] | None) -> None:
    sent = plain(found.input)
    if sent is not None and not memoryview(span.args):
        span.args, span.raw_args = arguments(sent)
    if message is not None:
        span.call_id = span.call_id or message["tool_call_id"]
        span.failed = message.get("status") == "error"
    if not memoryview(span.result):
        answer = plain(found.output) if message is None else message.get("content")
        span.result = EMPTY if answer is None else kept_in(found.output, raw_of(answer))


def _model(span: Span, found: _Observation, output: Any) -> None:
    span.usage = mapping(found.usage_details) or span.usage
    span.asked = span.asked or asked_in(output)
    prompt = structure(plain(found.input))
    if not span.told and not span.people:
        span.told, span.people = told_in(prompt), people_in(prompt)
