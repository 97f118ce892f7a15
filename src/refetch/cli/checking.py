"""From paths to verdicts: what `check` and `show` do before anything is printed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence

import msgspec

from refetch.cli.jobs import checked_parts, processes_for, size_of
from refetch.cli.progress import shown
from refetch.effects.resolve import ToolTable
from refetch.judge import Options
from refetch.model.errors import UsageError
from refetch.model.finding import RunReport
from refetch.model.trace import Problem, Trace
from refetch.readers.open_input import Unit, find_inputs, load_family, unit_families
from refetch.reports.batch import Batch, Checked, spelled
from refetch.settings import Settings

_DEFAULTS = Options()
_NOTHING_SET = Settings()


class Work(msgspec.Struct, frozen=True):
    """How to read and judge one family of files: the same in every process."""

    options: Options
    user: ToolTable | None = None
    input_format: str | None = None
    needs: frozenset[str] = frozenset()
    cost: bool = True
    settings: Settings = _NOTHING_SET

    def check(self, family: Sequence[Unit]) -> Batch:
        """Read and judge; never raises for what the files hold."""
        loaded = load_family(family, self.input_format)
        part = Batch(skipped=loaded.skipped, errors=list(loaded.problems))
        self.judge(part, loaded.traces)
        return part

    def judge(self, batch: Batch, traces: Iterable[Trace]) -> None:
        """Add the verdicts on some traces."""
        for trace in traces:
            batch.errors += trace.problems
            try:
                report = self.settings.judged(trace, self.user, self.options)
                if self.cost and report.findings:
                    from refetch.cost import costed

                    report = costed(report, trace)
            except Exception as error:
                # A bug in one rule must not hide the verdicts on everything else.
                batch.errors.append(_bug(trace, error))
                continue
            if "keys" in self.needs:
                report = spelled(report, trace)
            kept = "all" in self.needs or ("one" in self.needs and not batch.checked)
            batch.checked.append(Checked(report, trace if kept else None))


def check_paths(
    paths: Sequence[str],
    *,
    user: ToolTable | None,
    options: Options = _DEFAULTS,
    input_format: str | None = None,
    needs: Collection[str] = (),
    jobs: int = 1,
    cost: bool = True,
    settings: Settings = _NOTHING_SET,
) -> Batch:
    """Read and judge everything the paths lead to; never raises for what the files hold.

    Args:
        needs: what the reports need beside the verdicts (see `Format.needs`).
        jobs: processes at most; 0 takes one a processor where the files are worth it.
        cost: whether findings say what they cost.
        settings: what the user set, for all traces or for some.

    Raises:
        UsageError: no reader has the name `input_format`.
    """
    found = find_inputs(path for path in paths if not _is_packaged(path))
    families = unit_families(found.units)
    processes = 1 if "all" in needs else processes_for(families, jobs)
    # Traces are not sent between processes.
    wanted = frozenset(needs) - {"one"} if processes > 1 else frozenset(needs)
    work = Work(options, user, input_format, wanted, cost, settings)
    batch = Batch(budget=settings.options(options).budget, user=user)
    for path in filter(_is_packaged, paths):
        work.judge(batch, [_packaged_trace(path)])
    batch.skipped += found.skipped
    batch.errors += found.problems
    parts = checked_parts(work.check, families, processes)
    for part in shown(parts, len(families), size_of(families)):
        if batch.checked and part.checked and "all" not in wanted:
            # One trace is shown call by call, several are not: none has to stay in memory.
            part.checked = [Checked(one.report) for one in part.checked]
            batch.checked = [Checked(one.report) for one in batch.checked]
        batch.skipped += part.skipped
        batch.errors += part.errors
        batch.checked += part.checked
    if processes > 1 and "one" in needs and len(batch.checked) == 1:
        return check_paths(
            paths,
            options=options,
            user=user,
            input_format=input_format,
            needs=needs,
            cost=cost,
            settings=settings,
        )
    return batch


def _is_packaged(path: str) -> bool:
    """Whether a packaged fixture is named instead of a file."""
    if os.sep in path or path == "-" or os.path.lexists(path):
        return False
    from refetch.replay.fixtures import packaged_fixtures

    return path in packaged_fixtures()


def _packaged_trace(path: str) -> Trace:
    from refetch.replay.fixtures import run_fixture

    return msgspec.structs.replace(run_fixture(path).trace, source=path)


def _bug(trace: Trace, error: Exception) -> Problem:
    import traceback

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
