"""Assertions about tool calls, for any test runner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from refetch.model.errors import UsageError
from refetch.testing.call_budget import Budget, budget_of

if TYPE_CHECKING:
    from refetch.model.finding import Finding, RunReport
    from refetch.model.trace import Trace

Level = Literal["flag", "advice"]

_tables_folder: Path | None = None


class HasTrace(Protocol):
    """A finished run: it holds its trace."""

    @property
    def trace(self) -> Trace: ...


class Recorder(Protocol):
    """A recorder such as `ToolTracer`: it gives the trace so far."""

    def trace(self) -> Trace: ...


class RedundantCalls(AssertionError):
    """The calls of a run are not as the test wants them.

    `report` is the verdict on `trace`, `findings` are those that count.
    """

    # Tracebacks head the message with these two, and people know the program, not this class.
    __module__ = "builtins"
    __qualname__ = "refetch"

    def __init__(self, text: str, trace: Trace, report: RunReport, findings: list[Finding]) -> None:
        self.trace, self.report, self.findings = trace, report, findings
        super().__init__(text)

    def __reduce__(self) -> tuple[Callable[..., RedundantCalls], tuple[Any, ...]]:
        return _again, (str(self), self.trace, self.report, self.findings)


def _again(*args: Any) -> RedundantCalls:
    return RedundantCalls(*args)


def assert_no_redundant_calls(
    trace_or_run: Trace | HasTrace | Recorder,
    *,
    budget: int | None = None,
    per_tool: Mapping[str, int] | None = None,
    ignore: Iterable[str] = (),
    level: Level = "flag",
) -> RunReport:
    """Fail if a run made redundant calls, or more calls than it may.

    Args:
        trace_or_run: a trace, a run (`run_agent`, `run_fixture`), or a tracer.
        budget: calls of the model that are allowed in total; without it what the settings allow.
        per_tool: the same by name of tool.
        ignore: rules that do not count, by code ("RF003", "RF1") or name ("stale-refetch").
        level: "flag" for what is certain, "advice" for everything that refetch remarks.

    Gives the verdict. Settings and metadata of tools come from the nearest `refetch.toml` or
    `[tool.refetch]`, metadata from the trace as well.

    Raises:
        RedundantCalls: an `AssertionError` that shows each pair.
        UsageError: a ceiling that is no number, an unknown rule or level.
        TypeError: not a trace, and nothing that has one.
    """
    __tracebackhide__ = True
    allowed = budget_of(budget, per_tool)
    ignored = rule_codes(ignore)
    if level not in ("flag", "advice"):
        raise UsageError(f"level must be 'flag' or 'advice', found {level!r}")
    trace = trace_of(trace_or_run)
    report = judged(trace, allowed)
    counted = [f for f in report.findings if f.code not in ignored and level in ("advice", f.level)]
    if counted:
        from refetch.testing.wording import failure_text

        raise RedundantCalls(failure_text(report, counted), trace, report, counted)
    return report


def trace_of(source: object) -> Trace:
    """The trace of a run, of a tracer, or the trace itself.

    Raises:
        TypeError: not a trace, and nothing that has one.
    """
    from refetch.model.trace import Trace

    held = source if isinstance(source, Trace) else getattr(source, "trace", None)
    if callable(held):
        held = held()
    if not isinstance(held, Trace):
        raise TypeError(f"expected a trace, a run or a tracer, found {type(source).__name__}")
    return held


def judged(trace: Trace, budget: Budget | None = None, folder: Path | None = None) -> RunReport:
    """The verdict on a trace under a budget, with settings and tool tables found from `folder`
    upwards.

    Raises:
        UsageError: settings or tables are broken.
    """
    from refetch.effects.user_tables import load_user_tools
    from refetch.settings import load_settings

    total, per_tool = budget or Budget(None, {})
    stated = {"budget": total} if total is not None else {}
    start = folder or _tables_folder or Path()
    settings = load_settings(None, stated | ({"per-tool": per_tool} if per_tool else {}), start)
    return settings.judged(trace, load_user_tools(start))


def look_for_tables_in(folder: Path) -> None:
    """Look for settings here from now on: a test may have changed the working directory."""
    global _tables_folder
    _tables_folder = folder


def rule_codes(words: Iterable[str]) -> frozenset[str]:
    """The codes of rules named by code, beginning of a code, or name.

    Raises:
        UsageError: no such rule; says the nearest.
    """
    from refetch.judge.selecting import codes_of

    return codes_of([words] if isinstance(words, str) else map(str, words))
