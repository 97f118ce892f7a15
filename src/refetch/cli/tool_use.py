"""The tools that traces use: how often, what is known of them, tables to declare the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from refetch.effects.resolve import Resolver, ToolTable, arguments
from refetch.effects.user_tables import stub_for
from refetch.model.trace import Problem, Trace
from refetch.readers.open_input import read_paths
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells, padded, shortened

GUESSES = ("name", "unknown")
"""Sources of an effect that are no declaration."""


class UsedTool:
    """A tool as traces use it: calls by effect and by its source, and example arguments."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.effects: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()
        self.args: dict[str, Any] = {}

    @property
    def declared(self) -> bool:
        """Whether every call's effect comes from something better than a guess."""
        return not any(self.sources[guess] for guess in GUESSES)

    def document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "tool": self.name,
            "calls": self.effects.total(),
            "effects": dict(self.effects.most_common()),
            "effect_from": dict(self.sources.most_common()),
            "declared": self.declared,
        }


def tool_use(
    paths: Sequence[str], user: ToolTable | None, input_format: str | None = None
) -> tuple[list[UsedTool], list[Problem]]:
    """The tools in the traces that the paths lead to, the most used first; and what went wrong.

    Raises:
        UsageError: no reader has the name `input_format`.
    """
    used: dict[str, UsedTool] = {}
    problems: list[Problem] = []
    for loaded in read_paths(paths, input_format):
        problems += loaded.problems
        for trace in loaded.traces:
            problems += trace.problems
            _count(trace, user, used)
    return sorted(used.values(), key=lambda t: (-t.effects.total(), t.name)), problems


def _count(trace: Trace, user: ToolTable | None, used: dict[str, UsedTool]) -> None:
    resolver = Resolver(trace, user)
    for call in trace.calls:
        tool = used.setdefault(call.name, UsedTool(call.name))
        resolved = resolver.resolve(call)
        tool.effects[resolved.effect] += 1
        tool.sources[resolved.sources.get("effect", "unknown")] += 1
        args = arguments(call)
        if isinstance(args, dict):
            for name, value in args.items():
                tool.args.setdefault(name, value)


def used_lines(used: Sequence[UsedTool], look: Look) -> Iterator[str]:
    """The table of tools."""
    paint = Paint(look)
    if not used:
        yield "no tool calls"
        return
    width = min(44, max(cells(escaped(tool.name)) for tool in used))
    yield paint(f"  calls  {padded('tool', width)}  effect, and who says so", "dim")
    for tool in used:
        name = padded(shortened(escaped(tool.name), width), width)
        effects = ", ".join(_counted(tool.effects))
        line = f"{tool.effects.total():>7}  {name}  {effects} · {', '.join(_counted(tool.sources))}"
        yield line if tool.declared else paint(line, "yellow")
    open_names = sum(not tool.declared for tool in used)
    if open_names:
        yield ""
        noun = "1 tool is" if open_names == 1 else f"{open_names} tools are"
        yield f"{noun} not declared; tables to fill in: refetch tools TRACE --stub >> refetch.toml"


def _counted(counts: Counter[str]) -> list[str]:
    if len(counts) == 1:
        return [escaped(next(iter(counts)))]
    return [f"{escaped(name)} {count}" for name, count in counts.most_common()]


def used_stubs(used: Sequence[UsedTool]) -> str:
    """Tables for refetch.toml about the tools that nobody declared."""
    stubs = [stub_for(tool.name, tool.args) for tool in used if not tool.declared]
    return "\n".join(stubs) if stubs else "# every tool is declared or known\n"
