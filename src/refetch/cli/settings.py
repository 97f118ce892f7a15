"""Settings from a configuration file: `[tool.refetch]` in pyproject.toml, or refetch.toml.

One table of options: the file's keys, their types, what they mean. Flags on the command line come
first. Docs and errors are made from the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from refetch.cli.selecting import selection
from refetch.effects.user_tables import PYPROJECT, REFETCH_TOML
from refetch.judge import Options
from refetch.model.errors import UsageError, nearest
from refetch.model.finding import Finding
from refetch.model.trace import Trace


class Setting(NamedTuple):
    """One key: its type, the field of `Options` it sets (or None), its help."""

    name: str
    kind: Any
    field: str | None
    help: str


BUDGETS = (
    Setting("budget", int, "budget", "Most calls of a trace."),
    Setting("per-tool", dict[str, int], "per_tool", "Most calls of a tool, by its name."),
    Setting("per-turn", int, "per_turn", "Most calls of a turn."),
    Setting("tokens", int, "token_budget", "Most tokens of all requests together."),
    Setting("dollars", float, "cost_budget_usd", "Most money, at the prices of genai-prices."),
)
"""What a task may have of its own."""
SELECTION = (
    Setting("select", list[str], None, "Only these rules: codes, beginnings of codes, names."),
    Setting("ignore", list[str], None, "All but these rules."),
)
OF_PATHS = (*BUDGETS, *SELECTION)
"""What the traces of a path may have of their own."""
SETTINGS = (
    *OF_PATHS,
    Setting("fail-on", str, None, "What makes the exit code 1: flag, advice or never."),
    Setting("known", str, None, "File of known findings, which do not fail."),
    Setting("mcp-tools", list[str], None, "Saved tools/list answers of MCP servers."),
    Setting("poll-limit", int, "poll_limit", "The k-th unchanged poll is reported (4)."),
    Setting("failure-limit", int, "failure_limit", "The N-th equal failure is reported (3)."),
    Setting(
        "user-message-is-barrier", bool, "user_message_is_barrier",
        "Whether a repeat behind a user message is advice (true) or as any other.",
    ),
)  # fmt: skip
_OWN = {"tasks": BUDGETS, "paths": OF_PATHS}
_TABLES = ("tools", *_OWN)
_FAIL_ON = ("flag", "advice", "never")


class Settings(msgspec.Struct, frozen=True):
    """What a file sets. `tasks` are budgets by a glob of the task's name (or the run's id), `paths`
    budgets and rules by a glob of the trace's path, seen from the folder of the file.
    """

    values: dict[str, Any] = {}
    tasks: dict[str, dict[str, Any]] = {}
    paths: dict[str, dict[str, Any]] = {}
    source: str = ""

    def options(self, options: Options) -> Options:
        """The options with everything that the file sets and nobody set before."""
        return _applied(options, self.values, SETTINGS, keep=True)

    def options_for(self, options: Options, trace: Trace) -> Options:
        """The options of one trace: of its path, then of its task."""
        options = _applied(options, self._of_path(trace), BUDGETS, keep=False)
        return _applied(options, _fitting(self.tasks, trace.task, trace.run), BUDGETS, keep=False)

    def keep_for(self, trace: Trace) -> Callable[[Finding], bool] | None:
        """A test for the findings that are wanted where a trace lies, or None where all are."""
        own = self._of_path(trace)
        return selection(own.get("select", ()), own.get("ignore", ())) if own else None

    def _of_path(self, trace: Trace) -> Mapping[str, Any]:
        if not self.paths:
            return {}
        path = Path(trace.source)
        try:
            seen = path.resolve().relative_to(Path(self.source).resolve().parent)
        except (OSError, ValueError):
            seen = path
        return _fitting(self.paths, seen.as_posix(), path.as_posix())


def _fitting(tables: Mapping[str, dict[str, Any]], *names: str | None) -> Mapping[str, Any]:
    """The table of the longest glob that fits one of the names."""
    globs = [glob for glob in tables if any(name and fnmatchcase(name, glob) for name in names)]
    return tables[max(globs, key=len)] if globs else {}


def _applied(
    options: Options, values: Mapping[str, Any], table: tuple[Setting, ...], *, keep: bool
) -> Options:
    default = Options()
    changes: dict[str, Any] = {}
    for setting in table:
        if setting.field is None or setting.name not in values:
            continue
        untouched = getattr(options, setting.field) == getattr(default, setting.field)
        if untouched or not keep:
            changes[setting.field] = values[setting.name]
    return msgspec.structs.replace(options, **changes) if changes else options


def load_settings(config: str | None) -> Settings:
    """The settings of a file, or of the nearest configuration at or above this folder.

    Raises:
        UsageError: the file cannot be read, or sets something wrongly.
    """
    for path in [Path(config)] if config is not None else _candidates(Path.cwd()):
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
        return _checked(table, str(path), prefix)
    return Settings()


def _candidates(start: Path) -> list[Path]:
    folders = (start, *start.parents)
    return [folder / name for folder in folders for name in (REFETCH_TOML, PYPROJECT)]


def _checked(table: Any, source: str, prefix: str) -> Settings:
    if not isinstance(table, Mapping):
        raise UsageError(f"{source}: [{prefix}] must be a table")
    values = _values({k: v for k, v in table.items() if k not in _TABLES}, SETTINGS, source, prefix)
    if values.get("fail-on", "flag") not in _FAIL_ON:
        raise UsageError(f"{source}: fail-on: expected one of {', '.join(_FAIL_ON)}")
    own = {name: _by_glob(table.get(name, {}), name, source, prefix) for name in _OWN}
    return Settings(values, source=source, **own)


def _by_glob(tables: Any, name: str, source: str, prefix: str) -> dict[str, dict[str, Any]]:
    where = f"{prefix}.{name}".removeprefix(".")
    if not isinstance(tables, Mapping):
        raise UsageError(f"{source}: [{where}] must be a table of {name}")
    found = {}
    for glob, table in tables.items():
        place = f'{where}."{glob}"'
        found[glob] = values = _values(table, _OWN[name], source, place)
        try:
            selection(values.get("select", ()), values.get("ignore", ()))
        except UsageError as error:
            raise UsageError(f"{source}: [{place}] {error}") from None
    return found


def _values(given: Any, table: tuple[Setting, ...], source: str, prefix: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"{source}: [{prefix}] must be a table")
    known = {setting.name: setting for setting in table}
    place = f"[{prefix}] " if prefix else ""
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            near = nearest(key, [*known, *_TABLES])
            hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            raise UsageError(f"{source}: {place}unknown key `{key}`; {hint}")
        try:
            values[key] = msgspec.convert(value, known[key].kind)
        except msgspec.ValidationError as error:
            raise UsageError(f"{source}: {place}{key}: {error}") from None
    return values
