"""pytest plugin of refetch: thin on purpose, what it offers lives in the package.

Nothing of the package but its table of options is imported before a test uses it, so that other
tests pay nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from refetch.model.finding import RunReport
    from refetch.model.trace import Trace
    from refetch.record import ToolTracer
    from refetch.replay import AgentRun, ReplayResult
    from refetch.testing.assertions import assert_no_redundant_calls as assert_no_redundant_calls
    from refetch.testing.kept_traces import KeptTraces

__all__ = ["assert_no_redundant_calls", "run_fixture", "tool_tracer"]

MARKER = "call_budget"
MARKER_HELP = (
    f"{MARKER}(total=5, read_file=2): fail a test whose tool_tracer (or run_fixture) recorded more "
    "calls than that, in total or of a tool."
)
RUNS_MARKER = "agent_runs"
RUNS_HELP = (
    f"{RUNS_MARKER}(n=10, baseline='main'): call a test that uses tool_tracer n times and compare "
    "the runs with a baseline; skipped unless --refetch-runs is given."
)
FIXTURES, KEEP_RESULTS = "refetch_fixtures", "refetch_keep_results"

PROPERTY = "refetch_"
"""How the names of the properties begin that a test reports."""

SUMMARY_LINES = 20
_HEADER = 1 << 16

_runs = pytest.StashKey[list[Any]]()
_budget = pytest.StashKey[Any]()
_kept = pytest.StashKey["KeptTraces"]()
_places = pytest.StashKey[list[Path]]()


def __getattr__(name: str) -> Any:
    if name == "assert_no_redundant_calls":
        from refetch.testing.assertions import assert_no_redundant_calls

        return assert_no_redundant_calls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Ini keys and flags, from the table of options."""
    from refetch.options import of_pytest

    for option in of_pytest("ini"):
        kind: Literal["paths", "bool"] = "bool" if option.kind is bool else "paths"
        parser.addini(f"refetch_{option.parameter}", option.help, kind, option.default)
    group = parser.getgroup("refetch")
    for option in of_pytest("flag"):
        flag = f"--refetch-{option.name}"
        if option.kind is bool:
            group.addoption(flag, action="store_true", help=option.help)
        else:
            group.addoption(
                flag, action="append", default=[], metavar=option.metavar, help=option.help
            )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; bring folders of fixtures into a run that names no paths."""
    config.addinivalue_line("markers", MARKER_HELP)
    config.addinivalue_line("markers", RUNS_HELP)
    listed, typed = config.getini(FIXTURES), config.getoption("--refetch-fixtures")
    if listed or typed:
        start = config.invocation_params.dir
        ours = [*_found(config, listed), *_found(config, [start / path for path in typed])]
        config.stash[_places] = ours
        if typed or config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            named = [(start / arg.split("::")[0]).resolve() for arg in config.args]
            config.args += [str(path) for path in ours if not _within(path, named)]


def _found(config: pytest.Config, patterns: Iterable[Path]) -> list[Path]:
    """The folders and files that exist; a pattern without any is a typing error or a new clone."""
    found: list[Path] = []
    for pattern in patterns:
        paths = [pattern] if pattern.exists() else _matches(pattern)
        if not paths:
            config.issue_config_time_warning(
                pytest.PytestConfigWarning(f"{FIXTURES}: nothing at {pattern}"), stacklevel=2
            )
        found += [path.resolve() for path in paths]
    return found


def _matches(pattern: Path) -> list[Path]:
    try:
        return sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    except ValueError as error:
        raise pytest.UsageError(f"{FIXTURES}: {pattern}: {error}") from None


def _within(path: Path, places: list[Path]) -> bool:
    return any(path == place or place in path.parents for place in places)


# fixtures


@pytest.fixture
def tool_tracer(request: pytest.FixtureRequest) -> ToolTracer:
    """A `refetch.ToolTracer` for this test: wrap the agent's tools with it."""
    from refetch.record import ToolTracer

    keep = bool(request.config.getini(KEEP_RESULTS))
    tracer = ToolTracer(run=request.node.name, keep_results=keep)
    _noted(request, tracer)
    return tracer


@pytest.fixture
def run_fixture(request: pytest.FixtureRequest) -> Callable[..., AgentRun]:
    """`refetch.run_fixture`: play a scripted run by name or path; gives `.trace` and `.answer`."""
    from refetch.replay import run_fixture

    def run(fixture: Any, **options: Any) -> AgentRun:
        played = run_fixture(fixture, **options)
        if played.tracer is None or played.tracer not in request.node.stash.get(_runs, []):
            _noted(request, played)
        return played

    return run


def _noted(request: pytest.FixtureRequest, run: object) -> None:
    request.node.stash.setdefault(_runs, []).append(run)


# around each test


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget an earlier execution of the same test; read its marker."""
    if _runs in item.stash:
        del item.stash[_runs]
    marks = list(item.iter_markers(MARKER))
    if marks:
        from refetch.model.errors import UsageError
        from refetch.testing.call_budget import budget_of_marks

        try:
            item.stash[_budget] = budget_of_marks(reversed(marks))
        except UsageError as error:
            pytest.fail(f"usage error: {error}", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test marked agent_runs n times, and hold its runs against their baseline."""
    mark = pyfuncitem.get_closest_marker(RUNS_MARKER)
    if mark is None:
        return None
    flags = ("--refetch-runs", "--refetch-record", "--refetch-approve")
    asked = [pyfuncitem.config.getoption(flag) for flag in flags]
    if not any(asked):
        pytest.skip(f"{RUNS_MARKER}: a slow, statistical test; --refetch-runs runs it")
    from refetch.model.errors import RefetchError
    from refetch.runs.in_pytest import hold

    try:
        told = hold(pyfuncitem, mark, *asked)
    except RefetchError as error:
        pytest.fail(f"{RUNS_MARKER}: {error}", pytrace=False)
    if told is not None:
        pytest.fail(told, pytrace=False)
    return True


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Report what the test's agents called; hold a test that passed to its budget."""
    assertions = sys.modules.get("refetch.testing.assertions")
    if assertions is not None:
        assertions.look_for_tables_in(item.config.rootpath)
    try:
        result = yield
    except (Exception, pytest.fail.Exception) as error:
        _explain(item, error)
        raise
    if _runs in item.stash or _budget in item.stash:
        _hold_to_budget(item)
    return result


def _explain(item: pytest.Item, error: BaseException) -> None:
    """Add to a failure what is known of its runs. Nothing here may replace the failure."""
    assertions = sys.modules.get("refetch.testing.assertions")
    try:
        ours = assertions is not None and isinstance(error, assertions.RedundantCalls)
        if ours:
            error.add_note(_keep(item, [error.trace]))  # type: ignore[attr-defined]
        if _runs in item.stash:
            reports = _judge_runs(item)
            _tell(item, reports, [] if ours else [_keep(item, _traces(item))], section=not ours)
    except Exception as problem:
        item.add_report_section("call", "refetch", f"refetch cannot judge this run: {problem!r}")


def _hold_to_budget(item: pytest.Item) -> None:
    """Judge the runs of a test that passed.

    Raises:
        Failed: the test went over its budget, or has one that nothing can exceed.
    """
    from refetch.testing.wording import failure_text

    if not item.stash.get(_runs, []):
        if any(mark.name == MARKER for mark in item.own_markers):
            used = "the calls of tool_tracer and run_fixture, and this test used neither"
            pytest.fail(f"{MARKER} counts {used}", pytrace=False)
        return
    try:
        reports, told = _judge_runs(item), None
    except Exception as problem:
        reports, told = [], f"refetch cannot judge this run: {problem}"
    if told is not None:
        if _budget in item.stash:
            pytest.fail(told, pytrace=False)
        item.add_report_section("call", "refetch", told)
        return
    _tell(item, reports, [])
    over = [(r, [f for f in r.findings if f.limit is not None]) for r in reports]
    texts = [f"refetch: {failure_text(report, found)}" for report, found in over if found]
    if texts:
        pytest.fail("\n".join([*texts, _keep(item, _traces(item))]), pytrace=False)


def _traces(item: pytest.Item) -> list[Trace]:
    from refetch.testing.assertions import trace_of

    return [trace_of(run) for run in item.stash[_runs]]


def _judge_runs(item: pytest.Item) -> list[RunReport]:
    from refetch.testing.assertions import judged

    budget = item.stash.get(_budget, None)
    return [judged(trace, budget, item.config.rootpath) for trace in _traces(item)]


def _tell(
    item: pytest.Item, reports: list[RunReport], more: list[str], *, section: bool = True
) -> None:
    """Properties of the test (for JUnit XML, and across processes), and a section of its report."""
    from refetch.testing.wording import counts_text, failure_text, finding_line

    told = item.user_properties
    told[:] = [pair for pair in told if not str(pair[0]).startswith(PROPERTY)]
    told.append((f"{PROPERTY}calls", sum(report.calls for report in reports)))
    told.append((f"{PROPERTY}redundant", sum(_redundant(report) for report in reports)))
    told += [(f"{PROPERTY}by_tool", counts_text(report.by_tool)) for report in reports]
    found = [finding for report in reports for finding in report.findings]
    told += [(f"{PROPERTY}finding", finding_line(finding)) for finding in found]
    if section and any(report.calls for report in reports):
        texts = [failure_text(report, report.findings) for report in reports]
        item.add_report_section("call", "refetch", "\n".join([*texts, *more]))


def _redundant(report: RunReport) -> int:
    return sum(finding.repeat is not None for finding in report.flags)


def _keep(item: pytest.Item, traces: list[Trace]) -> str:
    """Keep traces under pytest's cache; the command that makes a test of each."""
    kept = _kept_traces(item.config)
    if kept is None:
        return "the run was not kept: pytest runs without its cache"
    try:
        paths = [kept.keep(trace, item.nodeid, run) for run, trace in enumerate(traces, 1)]
    except (OSError, ValueError) as error:  # a full disk; text that has no encoding
        return f"the run was not kept: {error}"
    start = item.config.invocation_params.dir
    return "\n".join(
        f"keep this run as a test: {kept.capture_command(path, start)}" for path in paths
    )


def _kept_traces(config: pytest.Config) -> KeptTraces | None:
    """Under xdist every worker writes in a folder of its own."""
    from refetch.testing.kept_traces import KeptTraces

    cache = getattr(config, "cache", None)
    if cache is None:
        return None
    if _kept not in config.stash:
        worker = getattr(config, "workerinput", {}).get("workerid", "")
        folders = [path for path in config.stash.get(_places, []) if path.is_dir()]
        default = config.rootpath / "tests" / "traces"
        target = os.path.relpath(folders[0] if folders else default, config.invocation_params.dir)
        folder = cache.mkdir("refetch") / worker
        config.stash[_kept] = KeptTraces(folder, Path(target).as_posix())
    return config.stash[_kept]


# fixture files as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FixtureFile | None:
    """A fixture in a folder that the options name is a test."""
    places = parent.config.stash.get(_places, [])
    if not places or not _within(file_path.resolve(), places) or not _is_fixture(file_path):
        return None
    found: FixtureFile = FixtureFile.from_parent(parent, path=file_path)
    return found


def _is_fixture(path: Path) -> bool:
    """Fixtures are JSON, or traces in the native format; other JSON Lines are somebody's data."""
    if path.suffix != ".jsonl":
        return path.suffix == ".json"
    with path.open("rb") as file:
        return b'"refetch"' in file.readline(_HEADER)


class FixtureFile(pytest.File):
    """A fixture's file; it holds one test."""

    def collect(self) -> Iterator[FixtureItem]:
        """The test, under the fixture's own name.

        Raises:
            CollectError: the file is no fixture; names the place.
        """
        from refetch.model.errors import RefetchError
        from refetch.reports.escape import escaped

        try:
            name = escaped(_load(self).name).replace("::", ":")
        except (RefetchError, OSError) as error:
            raise self.CollectError(str(error)) from None
        yield FixtureItem.from_parent(self, name=name or self.path.stem)


class FixtureItem(pytest.Item):
    """Replays a fixture; passes exactly when its findings are those that the fixture expects."""

    def runtest(self) -> None:
        """Replay.

        Raises:
            FixtureDiffersError: findings are new, or have vanished.
            FixtureError: the file is broken, or its script ran out of steps.
        """
        from refetch.replay import replay_fixture
        from refetch.testing.assertions import judged
        from refetch.testing.wording import finding_line

        root = self.config.rootpath
        result = replay_fixture(_load(self), None, lambda t: judged(t, folder=root).findings)
        told = self.user_properties
        told += [(f"{PROPERTY}new", len(result.new)), (f"{PROPERTY}vanished", len(result.vanished))]
        told += [(f"{PROPERTY}finding", finding_line(f)) for f in (*result.matched, *result.new)]
        if not result.passed:
            raise FixtureDiffersError(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The difference in words; no traceback for what is wrong with a file."""
        from refetch.model.errors import RefetchError
        from refetch.testing.wording import replay_text

        if isinstance(excinfo.value, FixtureDiffersError):
            source = _shown(self)
            return (
                f"{replay_text(excinfo.value.result, source)}\nlook closer: refetch replay {source}"
            )
        if isinstance(excinfo.value, RefetchError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where failures are said to be."""
        return self.path, None, self.name


class FixtureDiffersError(Exception):
    """A replayed fixture gave other findings than it expects."""

    def __init__(self, result: ReplayResult) -> None:
        self.result = result
        super().__init__("findings differ from `expect`")


def _load(node: pytest.Item | pytest.File) -> Any:
    from refetch.replay.fixtures import decode_fixture

    return decode_fixture(node.path.read_bytes(), _shown(node))


def _shown(node: pytest.Item | pytest.File) -> str:
    """A node's file as people name it."""
    return os.path.relpath(node.path, node.config.invocation_params.dir)


# at the end


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tests that passed although calls were redundant. Runs where the results come together."""
    lines = []
    for report in terminalreporter.stats.get("passed", []):
        told = dict(getattr(report, "user_properties", ()))
        if getattr(report, "when", None) == "call" and told.get(f"{PROPERTY}redundant"):
            redundant, calls = told[f"{PROPERTY}redundant"], told[f"{PROPERTY}calls"]
            lines.append(f"{report.nodeid}: {redundant} of {calls} calls redundant")
    if lines:
        terminalreporter.section("refetch: tests that passed with redundant calls", sep="-")
        for line in lines[:SUMMARY_LINES]:
            terminalreporter.line(line)
        if len(lines) > SUMMARY_LINES:
            terminalreporter.line(f"and {len(lines) - SUMMARY_LINES} more")
