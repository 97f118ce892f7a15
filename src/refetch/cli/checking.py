"""From paths to verdicts: what `check` and `show` do before anything is printed."""

from __future__ import annotations

import os
import traceback
from collections.abc import Collection, Iterable, Sequence

import msgspec

from refetch.api import check
from refetch.effects.resolve import ToolTable
from refetch.judge import Options
from refetch.model.errors import UsageError
from refetch.model.finding import RunReport
from refetch.model.trace import Problem, Trace
from refetch.readers.open_input import read_paths
from refetch.reports.batch import Batch, Checked, spelled


def check_paths(
    paths: Sequence[str],
    *,
    options: Options,
    user: ToolTable | None,
    input_format: str | None = None,
    needs: Collection[str] = (),
) -> Batch:
    """Read and judge everything the paths lead to; never raises for what the files hold.

    Args:
        needs: what the reports need beside the verdicts (see `Format.needs`).

    Raises:
        UsageError: no reader has the name `input_format`.
    """
    batch = Batch(budget=options.budget, user=user)
    files = []
    for path in paths:
        packaged = _packaged_trace(path)
        if packaged is None:
            files.append(path)
        else:
            _judge(batch, [packaged], options, user, needs)
    for loaded in read_paths(files, input_format):
        batch.skipped += loaded.skipped
        batch.errors += loaded.problems
        _judge(batch, loaded.traces, options, user, needs)
    return batch


def _packaged_trace(path: str) -> Trace | None:
    """The run of a packaged fixture that is named instead of a file."""
    if os.sep in path or path == "-" or os.path.lexists(path):
        return None
    from refetch.replay.fixtures import packaged_fixtures, run_fixture

    if path not in packaged_fixtures():
        return None
    return msgspec.structs.replace(run_fixture(path).trace, source=path)


def _judge(
    batch: Batch,
    traces: Iterable[Trace],
    options: Options,
    user: ToolTable | None,
    needs: Collection[str],
) -> None:
    for trace in traces:
        batch.errors += trace.problems
        try:
            report = check(trace, options=options, user=user)
        except Exception as error:
            # A bug in one rule must not hide the verdicts on everything else.
            batch.errors.append(_bug(trace, error))
            continue
        if "keys" in needs:
            report = spelled(report, trace)
        single = "one" in needs and not batch.checked
        if batch.checked and "all" not in needs:
            batch.checked[0] = Checked(batch.checked[0].report)
        batch.checked.append(Checked(report, trace if single or "all" in needs else None))


def _bug(trace: Trace, error: Exception) -> Problem:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}, line {frames[-1].lineno}" if frames else "?"
    what = f"{type(error).__name__}: {error} (in {where})"
    return Problem(
        trace.source, f"internal error while judging this trace, please report it: {what}"
    )


def exit_code(reports: Iterable[RunReport], errors: Sequence[Problem], fail_on: str) -> int:
    """0 clean, 1 findings at the asked level, 2 something could not be read (or was not judged)."""
    if errors:
        return 2
    if fail_on == "never":
        return 0
    levels = ("flag",) if fail_on == "flag" else ("flag", "advice")
    return int(any(f.level in levels for report in reports for f in report.findings))


def only_run(batch: Batch, run: str | None) -> None:
    """Keep the traces whose run has this id, or one that begins with it.

    Raises:
        UsageError: there is none; the message names some that there are.
    """
    if run is None:
        return
    exact = [one for one in batch.checked if one.report.run == run]
    kept = exact or [one for one in batch.checked if one.report.run.startswith(run)]
    if not kept:
        known = ", ".join(one.report.run for one in batch.checked[:5]) or "none"
        raise UsageError(f"no run {run!r}; there is: {known}")
    batch.checked[:] = kept
