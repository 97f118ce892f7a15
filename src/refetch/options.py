"""The one table of everything that people can set. The configuration file, the flags of the command
line, the options of pytest, completion and docs/settings.md are made from it.

pytest imports this module in every run: it imports nothing heavy itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Option(NamedTuple):
    """One option, and everywhere it can be set.

    `kind` is the type: bool, int, float, str, list[str], dict[str, int], or `bool | None` for a
    switch with a negative. `choices` are values, or `module:function` that names them; with `open`
    they are only proposed. `commands` take it as a flag, `places` of the file as a key: "top",
    "tasks", "paths", "tools". `field` is the judge's name for it. `pytest` says "flag", "ini" or
    both.
    """

    name: str
    kind: Any
    help: str
    commands: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    field: str | None = None
    default: Any = None
    spelled: tuple[str, ...] = ()
    metavar: str | None = None
    choices: tuple[str, ...] | str = ()
    open: bool = False
    least: float | None = None
    most: float | None = None
    required: bool = False
    pytest: tuple[str, ...] = ()

    @property
    def parameter(self) -> str:
        """Its name as an identifier."""
        return self.name.replace("-", "_")


CHECK = ("check",)
SHOWING = ("check", "show", "report")
JUDGING = (*SHOWING, "capture")
"""Commands that judge traces."""
READING = (*JUDGING, "tools")
CONFIGURED = (*READING, "replay")
COLORED = ("check", "show", "tools", "explain", "demo", "replay")
BASELINES = tuple(f"baseline {name}" for name in ("record", "list", "show", "approve", "prune"))

TOP = ("top",)
BUDGET_PLACES = ("top", "tasks", "paths")
RULES = "refetch.judge.selecting:rule_words"
TEXT_OR_JSON = ("text", "json")

# fmt: off
OPTIONS: tuple[Option, ...] = (
    # what is judged, and how
    Option("budget", int, "Most calls of a trace.", CHECK,
           (*BUDGET_PLACES, "tools"), "budget", metavar="N", least=0),
    Option("per-tool", dict[str, int], "Most calls of a tool, by its name.", CHECK,
           BUDGET_PLACES, "per_tool", metavar="NAME=N", least=0),
    Option("per-turn", int, "Most calls of a turn.", CHECK,
           BUDGET_PLACES, "per_turn", metavar="N", least=0),
    Option("tokens", int, "Most tokens of all requests together.", CHECK,
           BUDGET_PLACES, "token_budget", metavar="N", least=0),
    Option("dollars", float, "Most money, at the prices of genai-prices.", CHECK,
           BUDGET_PLACES, "cost_budget_usd", metavar="X", least=0),
    Option("select", list[str], "Only these rules: RF003, RF1, loop.", SHOWING,
           ("top", "paths", "tools"), metavar="CODE", choices=RULES, open=True),
    Option("ignore", list[str], "All but these rules.", SHOWING,
           ("top", "paths", "tools"), metavar="CODE", choices=RULES, open=True),
    Option("fail-on", str, "Which findings make the exit code 1.", CHECK, TOP,
           default="flag", choices=("flag", "advice", "never")),
    Option("known", str, "File of known findings, which do not fail.", CHECK, TOP, metavar="FILE"),
    Option("write-known", str, "Write the findings as known and pass.", CHECK, metavar="FILE"),
    Option("poll-limit", int, "The k-th unchanged poll is reported.", CHECK, TOP,
           "poll_limit", 4, metavar="K", least=2),
    Option("failure-limit", int, "The N-th equal failure is reported.", CHECK, TOP,
           "failure_limit", 3, metavar="N", least=2),
    Option("user-message-is-barrier", bool | None,
           "Whether a repeat behind a user message is advice, or as any other repeat.", CHECK, TOP,
           "user_message_is_barrier", True),
    Option("mcp-tools", list[str],
           "A saved tools/list answer of an MCP server: its annotations are hints.",
           READING, TOP, default=(), metavar="FILE"),
    Option("config", str,
           "Settings and tool tables; without it the nearest refetch.toml or pyproject.toml.",
           CONFIGURED, metavar="FILE"),
    Option("input-format", str, "Read every input as this format instead of looking.",
           (*READING, "convert"), metavar="NAME",
           choices="refetch.readers.registry:format_names", open=True),
    Option("run", str, "Only the trace whose run has this id or beginning.",
           ("show", "capture"), metavar="ID"),
    Option("jobs", int, "Processes at most; 0: one a processor for many files.", CHECK, TOP,
           default=0, metavar="N", least=0),

    # what is told, and where
    Option("format", str, "The report's format.", CHECK, TOP, default="text",
           choices="refetch.reports.registry:format_names"),
    Option("format", str, "", ("show", "capture", "replay", "explain", "demo"),
           default="text", choices=TEXT_OR_JSON),
    Option("format", str, "", ("tools",), default="text", choices=(*TEXT_OR_JSON, "jsonl")),
    Option("format", str, "", ("compare",), default="text", choices=(*TEXT_OR_JSON, "markdown")),
    Option("output", list[str],
           "Write the report to FILE; NAME=FILE (json=report.json) writes one more.", CHECK, TOP,
           default=(), spelled=("-o",), metavar="[NAME=]FILE"),
    Option("output", str, "The page.", ("report",), default="report.html", spelled=("-o",),
           metavar="FILE"),
    Option("output", str, "The fixture; without it standard output.", ("capture",),
           spelled=("-o",), metavar="FILE"),
    Option("output", str, 'A file, a folder (for several runs) or "-" for standard output.',
           ("convert",), spelled=("-o",), metavar="OUT", required=True),
    Option("output", str, "Where the runs are kept.", ("run",), default="runs", spelled=("-o",),
           metavar="DIR"),
    Option("why", bool, "List every repeat that was fine, with the evidence.",
           ("check", "show"), TOP),
    Option("top", int, "Traces in a table and findings of a rule that text shows; 0: all.",
           CHECK, TOP, default=20, metavar="N", least=0),
    Option("no-ledger", bool, "Leave out the repeats that were fine; faster.", CHECK, TOP),
    Option("no-cost", bool, "Leave out what findings cost.", CHECK, TOP),
    Option("color", bool | None, "Colours; without it on terminals (NO_COLOR, FORCE_COLOR).",
           COLORED),

    # single commands
    Option("to", str, "Default: what OUT is called (x.atif.json, x.otlp.json), else native.",
           ("convert",), choices="refetch.writers.registry:writer_names"),
    Option("force", bool, "Replace files that exist.", ("convert", "capture")),
    Option("name", str, "The fixture's name; without it the run's.", ("capture",), metavar="NAME"),
    Option("no-redact", bool, "Keep secrets in arguments and results.", ("capture",)),
    Option("redact", list[str], "Replace only secrets of this kind.", ("capture",),
           metavar="PATTERN", choices="refetch.replay.redaction:pattern_names", open=True),
    Option("agent", str, "Run this agent with the recorded tools instead of the recording.",
           ("replay",), metavar="MODULE:CALLABLE"),
    Option("commands", str, 'Judge the commands of lines {"command", "cwd"?}.', ("tools",),
           metavar="FILE"),
    Option("command", str, "Judge one shell command.", ("tools",), metavar="TEXT"),
    Option("cwd", str, "With --command: the folder it runs in.", ("tools",), metavar="DIR"),
    Option("stub", bool, "Print tables for refetch.toml: tools nobody declared.", ("tools",),
           spelled=("--stubs",)),

    # many runs
    Option("task", str, "A name, or a file with the task.", ("run",), metavar="NAME|FILE",
           required=True),
    Option("runs", int, "How many runs.", ("run",), default=10, metavar="N", least=1),
    Option("parallel", int, "How many at once.", ("run",), default=1, metavar="N", least=1),
    Option("timeout", float, "Seconds that a run may take.", ("run",), default=600.0, metavar="S",
           least=0.1),
    Option("resume", bool, "Keep the runs that are there and finished.", ("run",)),
    Option("baseline", str, "The baseline's name.", ("compare",), default="main", metavar="NAME"),
    Option("name", str, "The baseline's name.",
           ("baseline record", "baseline approve", "baseline prune"), default="main",
           metavar="NAME"),
    Option("alpha", float, "The chance of a false alarm, for each metric and task.", ("compare",),
           default=0.05, metavar="P", least=0.0001, most=0.5),
    Option("family-alpha", bool, "Holm over all gated metrics and tasks instead of alpha for each.",
           ("compare",)),
    Option("metric", list[str], "A metric that gates.", ("compare",), metavar="NAME"),
    Option("practical", str, "The rise that would matter.", ("compare",), default="10%",
           metavar="P%"),
    Option("strict", bool, "Inconclusive fails as well.", ("compare",)),
    Option("force", bool, "Compare runs of different models.", ("compare",)),
    Option("force", bool, "Mix models, or replace a baseline of another one.",
           ("baseline record",)),
    Option("all", bool, "Show every metric.", ("compare",)),
    Option("html", str, "Write a page with strips of both samples.", ("compare",), metavar="FILE"),
    Option("root", str, "Where the baselines are.", ("compare", *BASELINES),
           default=".refetch/baselines", metavar="DIR"),

    # pytest
    Option("fixtures", list[str],
           "folders or globs of fixtures (JSON, or native traces) to replay as tests",
           default=(), metavar="PATH", pytest=("ini", "flag")),
    Option("keep-results", bool, "tool_tracer keeps results, so that a kept run can be replayed",
           default=True, pytest=("ini",)),
    Option("runs", bool, "run the tests marked agent_runs, and compare them with their baselines",
           pytest=("flag",)),
    Option("record", bool, "record the runs of tests marked agent_runs as (candidate) baselines",
           pytest=("flag",)),
    Option("approve", bool, "put recorded candidates in the place of the baselines",
           pytest=("flag",)),
)
# fmt: on


def flags_of(command: str) -> list[Option]:
    """What a command takes."""
    return [option for option in OPTIONS if command in option.commands]


def keys_of(place: str) -> dict[str, Option]:
    """What a table of the file may hold."""
    return {option.name: option for option in OPTIONS if place in option.places}


def choices_of(option: Option) -> tuple[str, ...]:
    """The values that an option accepts, or proposes."""
    if not isinstance(option.choices, str):
        return option.choices
    module, _, function = option.choices.partition(":")
    return tuple(getattr(import_module(module), function)())


def of_pytest(how: str) -> list[Option]:
    """What pytest takes as a "flag" or an "ini" key."""
    return [option for option in OPTIONS if how in option.pytest]
