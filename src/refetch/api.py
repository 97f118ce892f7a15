"""The one facade: load traces, check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from refetch.effects.resolve import ToolTable
from refetch.judge import Options, judge_trace
from refetch.model.finding import Finding, RunReport
from refetch.model.trace import Trace


def check(
    trace: Trace,
    *,
    options: Options | None = None,
    user: ToolTable | None = None,
    budget: int | None = None,
    per_tool: Mapping[str, int] | None = None,
) -> RunReport:
    """Judge one trace.

    Args:
        trace: what a reader or the tracer gives. options: every switch of the judgement; `budget`
        and `per_tool` are shortcuts for two of them. user: the user's tool tables.

    Raises:
        TypeError: something else than a trace.
    """
    import msgspec

    given: object = trace
    if not isinstance(given, Trace):
        what = type(given).__name__
        raise TypeError(f"check() judges a Trace, which load(path) or a tracer gives, not {what}")
    options = options or Options()
    if budget is not None:
        options = msgspec.structs.replace(options, budget=budget)
    if per_tool is not None:
        options = msgspec.structs.replace(options, per_tool=dict(per_tool))
    return judge_trace(trace, options, user)


def _of(source: Any, code: str) -> list[Finding]:
    report = source if isinstance(source, RunReport) else check(_trace(source))
    return [f for f in report.findings if f.code == code and f.level == "flag"]


def _trace(source: Any) -> Trace:
    return source if isinstance(source, Trace) else source.trace


def find_exact_duplicates(source: Any) -> list[Finding]:
    """RF001 findings at flag level of a trace, a run or a report."""
    return _of(source, "RF001")


def find_semantic_duplicates(source: Any) -> list[Finding]:
    """RF002 findings at flag level of a trace, a run or a report."""
    return _of(source, "RF002")


def find_stale_refetches(source: Any) -> list[Finding]:
    """RF003 findings at flag level of a trace, a run or a report."""
    return _of(source, "RF003")


def call_counts(source: Any) -> dict[str, int]:
    """The model's logical calls by tool name, plus their sum under "total"."""
    report = source if isinstance(source, RunReport) else check(_trace(source))
    return {"total": report.calls, **report.by_tool}


def check_all(traces: Iterable[Trace], **options: Any) -> list[RunReport]:
    """Judge several traces, each on its own."""
    return [check(trace, **options) for trace in traces]
