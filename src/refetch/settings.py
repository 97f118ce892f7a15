"""Settings from a configuration file: `[tool.refetch]` in pyproject.toml, or refetch.toml.

Which keys there are says the table of options. What the command line said comes first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from refetch.effects.resolve import ToolTable
from refetch.effects.user_tables import PYPROJECT, REFETCH_TOML
from refetch.judge import Options, judge_trace
from refetch.judge.selecting import codes_of
from refetch.model.errors import UsageError, nearest
from refetch.model.finding import Finding, RunReport
from refetch.model.trace import Trace
from refetch.options import Option, choices_of, keys_of

_TABLES = ("tools", "tasks", "paths")
_FIELDS = {name: option.field for name, option in keys_of("top").items() if option.field}
_DEFAULTS = Options()


class Settings(msgspec.Struct, frozen=True):
    """What a file sets, and what was `said` on the command line.

    `tasks` are budgets by a glob of the task's name (or the run's id), `paths` budgets and rules by
    a glob of the trace's path, seen from the folder of the file, `tools` the same by a glob of the
    tool's name.
    """

    values: dict[str, Any] = {}
    tasks: dict[str, dict[str, Any]] = {}
    paths: dict[str, dict[str, Any]] = {}
    tools: dict[str, dict[str, Any]] = {}
    source: str = ""
    said: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """An option that holds for all traces: as said, as in the file, or its default."""
        return self.said.get(name, self.values.get(name, keys_of("top")[name].default))

    def options(self, options: Options = _DEFAULTS) -> Options:
        """The options of the judgement for all traces."""
        return _applied(options, {**self.values, **self.said})

    def options_for(self, trace: Trace, options: Options = _DEFAULTS) -> Options:
        """The options of one trace: of its task, else of its path, else of the tools."""
        task = _fitting(self.tasks, trace.task, trace.run)
        own = {**self.values, **self._of_path(trace), **task, **self.said}
        options = _applied(options, own)
        if self.tools:
            of_tools = {
                name: table["budget"]
                for name in dict.fromkeys(call.name for call in trace.calls)
                if "budget" in (table := _fitting(self.tools, name))
            }
            options = msgspec.structs.replace(options, per_tool={**of_tools, **options.per_tool})
        return options

    def judged(
        self, trace: Trace, user: ToolTable | None = None, options: Options = _DEFAULTS
    ) -> RunReport:
        """The verdict on a trace: its budgets, and the findings that are wanted of it."""
        options = self.options_for(trace, options)
        report = judge_trace(trace, options, user)
        if options.token_budget is not None or options.cost_budget_usd is not None:
            from refetch.cost.budgets import usage_budget_findings

            report.findings.extend(usage_budget_findings(trace, options))
        everywhere, of_path = {**self.values, **self.said}, self._of_path(trace)
        report.findings[:] = [
            finding
            for finding in report.findings
            if all(_wanted(finding, t) for t in (everywhere, of_path, self._of_tool(finding)))
        ]
        return report

    def _of_path(self, trace: Trace) -> Mapping[str, Any]:
        if not self.paths:
            return {}
        path = Path(trace.source)
        try:
            seen = path.resolve().relative_to(Path(self.source).resolve().parent)
        except (OSError, ValueError):
            seen = path
        return _fitting(self.paths, seen.as_posix(), path.as_posix())

    def _of_tool(self, finding: Finding) -> Mapping[str, Any]:
        return _fitting(self.tools, finding.repeat.name if finding.repeat else None)


def _fitting(tables: Mapping[str, dict[str, Any]], *names: str | None) -> Mapping[str, Any]:
    """The table that has one of the names, else that of the longest glob that fits one."""
    told = [name for name in names if name]
    globs = [glob for glob in tables if any(fnmatchcase(name, glob) for name in told)]
    best = next((name for name in told if name in tables), max(globs, key=len, default=None))
    return tables[best] if best is not None else {}


def _wanted(finding: Finding, table: Mapping[str, Any]) -> bool:
    select, ignore = table.get("select"), table.get("ignore")
    if select and finding.code not in codes_of(select):
        return False
    return not ignore or finding.code not in codes_of(ignore)


def _applied(options: Options, values: Mapping[str, Any]) -> Options:
    changes = {_FIELDS[name]: value for name, value in values.items() if name in _FIELDS}
    return msgspec.structs.replace(options, **changes) if changes else options


def load_settings(
    config: str | None, said: Mapping[str, Any] | None = None, start: Path | None = None
) -> Settings:
    """The settings of a file, or of the nearest configuration at or above a folder (this one).

    Args:
        said: what the command line set, by name of option.

    Raises:
        UsageError: the file cannot be read, or something is set wrongly.
    """
    keys = keys_of("top")
    flags = {name: value for name, value in (said or {}).items() if name in keys}
    _check_rules(flags)
    for path in [Path(config)] if config is not None else _candidates((start or Path()).resolve()):
        if not path.is_file():
            continue
        try:
            document = tomllib.loads(path.read_text("utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{path}: no valid TOML: {error}") from None
        table, prefix = document, ""
        tool = document.get("tool")
        if path.name == PYPROJECT or (isinstance(tool, Mapping) and "refetch" in tool):
            found = tool.get("refetch") if isinstance(tool, Mapping) else None
            if found is None:
                continue
            table, prefix = found, "tool.refetch"
        return msgspec.structs.replace(_Reading(path, prefix).settings(table), said=flags)
    return Settings(said=flags)


def _candidates(start: Path) -> Iterator[Path]:
    for folder in (start, *start.parents):
        yield from (folder / REFETCH_TOML, folder / PYPROJECT)


class _Reading:
    """The reading of one file; every mistake names file, table and key."""

    def __init__(self, path: Path, prefix: str) -> None:
        self._path = path
        self._prefix = prefix

    def settings(self, table: Any) -> Settings:
        self._need_table(table, self._prefix)
        top = {key: value for key, value in table.items() if key not in _TABLES}
        values = self._values(top, "top", self._prefix)
        own = {name: self._by_glob(table.get(name, {}), name) for name in _TABLES}
        return Settings(values, source=str(self._path), **own)

    def _by_glob(self, tables: Any, name: str) -> dict[str, dict[str, Any]]:
        where = f"{self._prefix}.{name}".removeprefix(".")
        self._need_table(tables, where, f" of {name}")
        found = {}
        for glob, table in tables.items():
            place = f'{where}."{glob}"'
            self._need_table(table, place)
            if name == "tools":  # the rest is metadata, which `load_user_tools` reads
                table = {key: table[key] for key in keys_of(name) if key in table}
                if not table:
                    continue
            found[glob] = self._values(table, name, place)
        return found

    def _values(self, given: Mapping[str, Any], place: str, where: str) -> dict[str, Any]:
        known = keys_of(place)
        told = f"{self._path}: [{where}] " if where else f"{self._path}: "
        values: dict[str, Any] = {}
        for key, value in given.items():
            if key not in known:
                names = [*known, *(_TABLES if place == "top" else ())]
                near = nearest(key, names)
                hint = f"did you mean {near}?" if near else f"known: {', '.join(names)}"
                raise UsageError(f"{told}unknown key `{key}`; {hint}")
            try:
                values[key] = self._value(known[key], value)
            except (msgspec.ValidationError, ValueError) as error:
                raise UsageError(f"{told}{key}: {error}") from None
        _check_rules(values, told)
        return values

    def _value(self, option: Option, given: Any) -> Any:
        value = msgspec.convert(given, option.kind)
        for number in value.values() if isinstance(value, dict) else [value]:
            if option.least is not None and not number >= option.least:  # also no NaN
                raise ValueError(f"expected {option.least:g} or more, found {number:g}")
        if option.choices and not option.open and value not in choices_of(option):
            raise ValueError(f"expected one of {', '.join(choices_of(option))}")
        if option.metavar != "FILE":
            return value
        # A file is seen from the folder of the settings.
        folder = self._path.parent
        return str(folder / value) if isinstance(value, str) else [str(folder / v) for v in value]

    def _need_table(self, table: Any, where: str, what: str = "") -> None:
        if not isinstance(table, Mapping):
            raise UsageError(f"{self._path}: [{where}] must be a table{what}")


def _check_rules(values: Mapping[str, Any], told: str = "") -> None:
    for key in ("select", "ignore"):
        try:
            codes_of(values.get(key, ()))
        except UsageError as error:
            raise UsageError(f"{told}{error}") from None
