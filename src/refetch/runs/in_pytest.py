"""`@pytest.mark.agent_runs`: the statistical test inside pytest.

The marked test is the agent's run: it is called n times, each time with a tracer of its own, and
the runs are compared with a recorded baseline. Slow and perhaps costly, so that it is skipped
unless it is asked for.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from refetch.model.errors import UsageError
from refetch.model.native import encode_native
from refetch.model.trace import Trace
from refetch.record import ToolTracer
from refetch.reports.escape import escaped
from refetch.runs import baseline, render
from refetch.runs.compare import INCONCLUSIVE, REGRESSED, Comparison, compare
from refetch.runs.metrics import GATED, metrics_of
from refetch.runs.store import Run, Runs, slug

CANDIDATE = "-candidate"
"""What a baseline is called that waits for a review."""


class Plan(msgspec.Struct, frozen=True):
    """The arguments of the marker."""

    n: int = 10
    baseline: str = "main"
    alpha: float = 0.05
    practical: float = 0.10
    metrics: tuple[str, ...] = GATED
    strict: bool = False


def hold(
    item: Any, mark: Any, compare_runs: bool, record_runs: bool, approve_runs: bool
) -> str | None:
    """Run a marked test and compare, record or approve; why it fails, or None.

    Args:
        item: the pytest function. mark: its marker. The flags: what the command line asked for.

    Raises:
        UsageError: wrong use, or no baseline.
    """
    plan = plan_of(mark.args, mark.kwargs)
    root = item.config.rootpath
    if approve_runs:
        item.add_report_section("call", "refetch", approve(plan.baseline, root))
        return None
    names = item._fixtureinfo.argnames
    if "tool_tracer" not in names:
        raise UsageError("the test does not use tool_tracer, which records its runs")
    args = {name: item.funcargs[name] for name in names}
    traces = run_times(item.obj, args, item.nodeid, plan.n)
    runs = runs_of(traces, item.nodeid)
    if record_runs:
        item.add_report_section("call", "refetch", record(runs, plan.baseline, root))
        return None
    found = judge(runs, plan, root)
    item.user_properties.append(("refetch_verdict", found.verdict))
    return failure_of(found, plan, traces, root / ".pytest_cache" / "refetch")


def plan_of(args: tuple[Any, ...], given: Mapping[str, Any]) -> Plan:
    """The plan that a marker describes.

    Raises:
        UsageError: unknown or wrong arguments.
    """
    if args:
        raise UsageError("agent_runs takes named arguments, as in agent_runs(n=10)")
    unknown = sorted(set(given) - set(Plan.__struct_fields__))
    if unknown:
        raise UsageError(f"agent_runs has no argument {unknown[0]!r}")
    try:
        plan = msgspec.convert(dict(given), Plan)
    except msgspec.ValidationError as error:
        raise UsageError(f"agent_runs: {error}") from None
    if plan.n < 2:
        raise UsageError("agent_runs: n must be 2 or more, one run shows nothing")
    return plan


def run_times(function: Callable[..., Any], args: dict[str, Any], task: str, n: int) -> list[Trace]:
    """Call a test n times, each with a tracer of its own in the place of `tool_tracer`."""
    traces = []
    for number in range(1, n + 1):
        tracer = ToolTracer(run=f"{task}#{number}", task=task, keep_results=True)
        answer = function(**{**args, "tool_tracer": tracer})
        if inspect.isawaitable(answer):
            asyncio.run(_awaited(answer))
        traces.append(tracer.trace())
    return traces


async def _awaited(answer: Any) -> Any:
    return await answer


def runs_of(traces: list[Trace], task: str) -> list[Run]:
    """The traces as runs."""
    return [
        Run(
            task,
            f"{number:03d}",
            metrics_of(trace),
            trace.model,
            tuple(sorted({call.name for call in trace.calls})),
        )
        for number, trace in enumerate(traces)
    ]


def record(runs: list[Run], name: str, root: Path) -> str:
    """Write the runs as the baseline, or as its candidate where there is one already."""
    folder = root / baseline.FOLDER
    task = runs[0].task
    known = name in baseline.names(root=folder) and task in baseline.read_all(name, root=folder)
    target = f"{name}{CANDIDATE}" if known else name
    (path,) = baseline.record(target, Runs(runs), root=folder, force=True)
    return f"recorded {path}" + ("; --refetch-approve puts it in place" if known else "")


def approve(name: str, root: Path) -> str:
    """Put the candidate in the place of the baseline."""
    written = baseline.approve(name, f"{name}{CANDIDATE}", root=root / baseline.FOLDER)
    return "approved " + ", ".join(map(str, written))


def judge(runs: list[Run], plan: Plan, root: Path) -> Comparison:
    """Compare the runs with the baseline of their task.

    Raises:
        UsageError: there is none.
    """
    task = runs[0].task
    known = baseline.read_all(plan.baseline, root=root / baseline.FOLDER)
    if task not in known:
        raise UsageError(f"baseline {plan.baseline!r} has no task {task!r}: --refetch-record")
    return compare(
        {task: known[task]},
        {task: runs},
        alpha=plan.alpha,
        practical=plan.practical,
        gated=plan.metrics,
    )


def _waste(trace: Trace) -> tuple[float, int]:
    return metrics_of(trace)["redundant_calls"], len(trace.calls)


def failure_of(found: Comparison, plan: Plan, traces: list[Trace], folder: Path) -> str | None:
    """Why the test fails, with the run that shows it best saved as a trace; None if it passes."""
    if found.verdict != REGRESSED and not (plan.strict and found.verdict == INCONCLUSIVE):
        return None
    worst = max(traces, key=_waste)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{slug(worst.run)}.jsonl"
    path.write_bytes(encode_native(worst))
    fixture = f"tests/traces/{slug(worst.run)}.json"
    return (
        f"refetch: {escaped(render.text(found), keep_newlines=True)}"
        f"keep its worst run as a test: refetch capture {path} -o {fixture}"
    )
