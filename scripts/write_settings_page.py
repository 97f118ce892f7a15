"""Writes docs/settings.md from the table of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from refetch.cli.settings import BUDGETS, OF_PATHS, SETTINGS, Setting

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
HEAD = """# Settings

`[tool.refetch]` in pyproject.toml, or the same keys at the top of refetch.toml; the nearest file at
or above the folder counts. Flags on the command line come first. An unknown key is an error that
names the nearest one. Tools are declared under `tools` (see `refetch tools --stub`).
"""
TASKS = """
## Of single tasks

`[tool.refetch.tasks."GLOB"]` sets ceilings for the tasks (or run ids) that the pattern fits; the
longest pattern counts.
"""
PATHS = """
## Of single paths

`[tool.refetch.paths."GLOB"]` sets rules and ceilings for the traces below a path, seen from the
folder of the file (`*` also fits `/`); the longest pattern counts. What a task sets goes before.

```toml
[tool.refetch.paths."traces/legacy/*"]
ignore = ["RF1"]
budget = 200
```
"""


def _kind(kind: Any) -> str:
    plain = {int: "number", float: "number", bool: "true or false", str: "text"}
    return plain.get(kind) or ("list of texts" if kind == list[str] else "table of numbers")


def _table(settings: tuple[Setting, ...]) -> str:
    rows = "".join(f"| `{s.name}` | {_kind(s.kind)} | {s.help} |\n" for s in settings)
    return f"| key | value | meaning |\n|---|---|---|\n{rows}"


def page() -> str:
    """The whole page."""
    return f"{HEAD}\n{_table(SETTINGS)}{TASKS}\n{_table(BUDGETS)}{PATHS}\n{_table(OF_PATHS)}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
