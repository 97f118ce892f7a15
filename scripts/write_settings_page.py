"""Writes docs/settings.md from the table of options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from refetch.cli.flags import spellings
from refetch.options import OPTIONS, Option, choices_of, keys_of, of_pytest

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
HEAD = """# Settings

`[tool.refetch]` in pyproject.toml, or the same keys at the top of refetch.toml; the nearest file at
or above the folder counts. Flags on the command line come first. An unknown key is an error that
names the nearest one. A file named here is seen from the folder of the settings.

## In the file
"""
TASKS = """
### Of single tasks

`[tool.refetch.tasks."GLOB"]` sets ceilings for the tasks (or run ids) that the pattern fits; the
longest pattern counts.

"""
PATHS = """
### Of single paths

`[tool.refetch.paths."GLOB"]` sets rules and ceilings for the traces below a path, seen from the
folder of the file (`*` also fits `/`); the longest pattern counts. What a task sets goes before.

```toml
[tool.refetch.paths."traces/legacy/*"]
ignore = ["RF1"]
budget = 200
```

"""
TOOLS = """
### Of single tools

`[tool.refetch.tools."GLOB"]` declares what a tool does (`refetch tools --stub` writes tables to
fill in), and may set rules for the repeats of that tool and a ceiling on its calls. A `per-tool`
ceiling goes before.

```toml
[tool.refetch.tools.get_quote]
mutates = false
ttl = 5
budget = 10
ignore = ["RF003"]
```

"""
FLAGS = """
## On the command line

"""
PYTEST = """
## In pytest

Tests follow the settings of the file: budgets, limits, rules. What a test states itself (the marker
`call_budget`, arguments of `assert_no_redundant_calls`) comes first. These stand in pytest's own
configuration, or are flags of `pytest`.

"""
KINDS = {
    int: "number",
    float: "number",
    bool: "true or false",
    bool | None: "true or false",
    str: "text",
    list[str]: "list of texts",
    dict[str, int]: "table of numbers",
}


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("| --- ", "|---")


def _keys(place: str) -> str:
    rows = (
        (f"`{option.name}`", KINDS[option.kind], _meaning(option), _default(option))
        for option in keys_of(place).values()
    )
    return _table(("key", "value", "meaning", "default"), rows)


def _flags() -> str:
    rows = []
    for option in OPTIONS:
        if option.commands:
            written = ", ".join(spellings(option))
            value = f" {option.metavar}" if option.metavar else ""
            flag = f"`{written}{value}`".replace("|", "\\|")
            rows.append((flag, ", ".join(option.commands), _meaning(option), _default(option)))
    return _table(("flag", "of", "meaning", "default"), rows)


def _pytest() -> str:
    rows = []
    for option in {**dict.fromkeys(of_pytest("ini")), **dict.fromkeys(of_pytest("flag"))}:
        key = f"`refetch_{option.parameter}`" if "ini" in option.pytest else ""
        flag = f"`--refetch-{option.name}`" if "flag" in option.pytest else ""
        rows.append((key, flag, _meaning(option), _default(option)))
    return _table(("key", "flag", "meaning", "default"), rows)


def _meaning(option: Option) -> str:
    if not option.choices or option.open:
        return option.help
    return f"{option.help} One of {', '.join(f'`{name}`' for name in choices_of(option))}.".strip()


def _default(option: Option) -> str:
    if not option.default:
        return ""
    return f"`{str(option.default).lower() if option.default is True else option.default}`"


def page() -> str:
    """The whole page."""
    file = f"\n{_keys('top')}{TASKS}{_keys('tasks')}{PATHS}{_keys('paths')}{TOOLS}{_keys('tools')}"
    return f"{HEAD}{file}{FLAGS}{_flags()}{PYTEST}{_pytest()}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
