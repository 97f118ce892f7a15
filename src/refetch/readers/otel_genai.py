"""OpenTelemetry spans as OTLP JSON, with GenAI conventions or OpenInference.

Sniff: `resourceSpans` in the document or in one of the first lines.

- Traces: one for each conversation (`gen_ai.conversation.id`, `session.id`), else for each trace
  id.
- Turn: a model span. Context: the agent span around it, else the span that holds several
  requests; the first is `main`. Without model spans, calls that overlap in time are one turn
  (`turns: inferred`).
- Calls: tool spans, and the calls in a model's answer; one that stands in both, or in nested
  spans, is one. Results: of the tool span, else from a later prompt.
- Outcomes: status code 2 or `error.type` is an error (a timeout by its type), otherwise ok.
- People: user messages that a prompt has more than the prompt before. Usage: `gen_ai.usage.*` and
  its older names. Times: of the tool spans.

What the format cannot tell: arguments and results where their capture was off (such calls are
never compared), context loss, and the harness.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Trace
from refetch.readers.blocks import EMPTY, kept_in, raw_of
from refetch.readers.carried import restored
from refetch.readers.json_records import JsonLines, Lenient, plain
from refetch.readers.sniff import Sniffed
from refetch.readers.span_attributes import TOOL_ARGUMENTS, TOOL_RESULTS, describe, kind_of
from refetch.readers.span_tree import Span, SpanTree
from refetch.readers.trace_builder import TraceBuilder

NAME = "otel-genai"
_NANO = 1e9
_CARRIED = b'"refetch.run"'
_ERROR_CODES = (2, "2", "STATUS_CODE_ERROR")


class _Attribute(msgspec.Struct, gc=False):
    key: str = ""
    value: dict[str, Raw] | None = None


class _Status(msgspec.Struct, gc=False):
    code: Any = None
    message: str | None = None


class _Span(msgspec.Struct, rename="camel", gc=False):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str = ""
    start_time_unix_nano: Any = None
    end_time_unix_nano: Any = None
    attributes: list[_Attribute] | None = None
    status: _Status | None = None


class _Scope(msgspec.Struct, gc=False):
    spans: list[_Span] | None = None


class _Resource(msgspec.Struct, rename="camel", gc=False):
    scope_spans: list[_Scope] | None = None
    instrumentation_library_spans: list[_Scope] | None = None


class _Document(msgspec.Struct, rename="camel", gc=False):
    resource_spans: list[_Resource] | None = None


_document = Lenient(_Document)


def sniff(sniffed: Sniffed) -> bool:
    """True for exported spans."""
    return sniffed.any_row("resourceSpans")


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each conversation or trace id, in order of appearance.

    Raises:
        InputError: there is no span.
    """
    whole = _document.decode(data.strip())
    records: JsonLines[_Document] | None = None
    runs: dict[str, list[Span]] = {}
    sessions: dict[str, str] = {}
    if whole is not None:
        converted = _converted(whole, source) if _CARRIED in data else None
        if converted:
            return converted
        _collect(whole, None, runs, sessions)
    else:
        records = JsonLines(data, source, _Document, "OTLP record")
        for number, document in records:
            _collect(document, number, runs, sessions)
    if not runs:
        raise InputError(source, "no spans", path="$.resourceSpans", expected="spans")
    joined: dict[str, list[Span]] = {}
    for trace_id, spans in runs.items():
        joined.setdefault(sessions.get(trace_id, trace_id), []).extend(spans)
    traces = [_trace(run, spans, source) for run, spans in joined.items()]
    if records is not None:
        traces[0].problems.extend(records.problems)
    return traces


def _converted(document: _Document, source: str) -> list[Trace]:
    """The traces that refetch itself wrote as spans; none where anything else stands there."""
    runs: dict[str | None, Raw] = {}
    calls: dict[str | None, list[tuple[Raw, Raw, Raw]]] = {}
    spans = [
        span
        for resource in document.resource_spans or ()
        for scope in resource.scope_spans or ()
        for span in scope.spans or ()
    ]
    for span in spans:
        texts = {a.key: plain((a.value or {}).get("stringValue")) for a in span.attributes or ()}
        if isinstance(run := texts.get("refetch.run"), str):
            runs[span.trace_id] = Raw(run.encode())
        if isinstance(own := texts.get("refetch.call"), str):
            args, result = texts.get(TOOL_ARGUMENTS[0]), texts.get(TOOL_RESULTS[0])
            calls.setdefault(span.trace_id, []).append(
                (
                    Raw(own.encode()),
                    Raw(args.encode()) if isinstance(args, str) else EMPTY,
                    raw_of(result) if isinstance(result, str) else EMPTY,
                )
            )
    if {span.trace_id for span in spans} != set(runs):
        return []
    found = [restored(run, calls.get(key, []), source, NAME) for key, run in runs.items()]
    return [trace for trace in found if trace is not None] if None not in found else []


def _collect(
    document: _Document,
    line: int | None,
    runs: dict[str, list[Span]],
    sessions: dict[str, str],
) -> None:
    for at, resource in enumerate(document.resource_spans or ()):
        scopes = resource.scope_spans or resource.instrumentation_library_spans or []
        for inner, scope in enumerate(scopes):
            for index, found in enumerate(scope.spans or ()):
                path = f"$.resourceSpans[{at}].scopeSpans[{inner}].spans[{index}]"
                trace_id = found.trace_id or "spans"
                span = _span(found, path, line)
                runs.setdefault(trace_id, []).append(span)
                if span.session is not None:
                    sessions.setdefault(trace_id, span.session)


def _span(found: _Span, path: str, line: int | None) -> Span:
    listed = found.attributes or ()
    attributes = {
        one.key: _value({kind: plain(raw) for kind, raw in (one.value or {}).items()})
        for one in listed
    }
    span = Span(
        id=found.span_id or path,
        parent=found.parent_span_id or None,
        kind=kind_of(attributes),
        name=found.name,
        started=_time(found.start_time_unix_nano),
        ended=_time(found.end_time_unix_nano),
        path=path,
        line=line,
    )
    describe(span, attributes)
    for one in listed if memoryview(span.result) else ():
        if one.key in TOOL_RESULTS and one.value is not None:
            span.result = kept_in(one.value.get("stringValue", EMPTY), span.result)
    agent = attributes.get("gen_ai.agent.name")
    if span.kind == "agent" and isinstance(agent, str):
        span.name = agent
    status = found.status
    if status is not None and status.code in _ERROR_CODES:
        span.failed = True
        span.error = (status.message or span.error or "error")[:200]
    return span


def _trace(run: str, spans: list[Span], source: str) -> Trace:
    build = TraceBuilder(source, NAME)
    build.run = run
    inferred = SpanTree(spans, build).tell()
    return build.trace(turns="inferred" if inferred else "recorded")


def _value(value: dict[str, Any]) -> Any:
    """A value of the OTLP attribute union."""
    for kind, inner in value.items():
        if kind == "arrayValue":
            listed = inner.get("values") if isinstance(inner, dict) else None
            return [_value(item) for item in listed or () if isinstance(item, dict)]
        if kind == "kvlistValue":
            listed = inner.get("values") if isinstance(inner, dict) else None
            return {
                item.get("key"): _value(item.get("value") or {})
                for item in listed or ()
                if isinstance(item, dict)
            }
        if kind == "intValue":
            return _integer(inner)
        return inner
    return None


def _integer(value: Any) -> Any:
    """64-bit numbers come as numbers, as texts, and as two halves."""
    if isinstance(value, str):
        return int(value) if value.lstrip("-").isdecimal() and len(value) < 24 else value
    if isinstance(value, dict) and isinstance(value.get("low"), int):
        high = value.get("high")
        return (high if isinstance(high, int) else 0) * 2**32 + value["low"] % 2**32
    return value


def _time(value: Any) -> float | None:
    value = _integer(value)
    return value / _NANO if isinstance(value, (int, float)) and value else None
