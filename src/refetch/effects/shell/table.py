"""The table of known programs: what each does, which options take a value, which change the effect.

The rows stand in ``commands/*.toml``. A row is named after its program, or lists ``names``;
``do`` names the function that reads the command (`refetch.effects.shell.programs`). A program
without a row is unknown, and an unknown program is opaque.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from refetch.effects.sections import Sections

_NAMES = re.compile(r'^names = "([^"]*)"$', re.M)
_PROSE = frozenset(("do", "view", "note", "names", "operands", "change", "resource", "as_program"))
_COUNTS = frozenset(
    (
        "number",
        "single",
        "free",
        "skip",
        "assignments",
        "poll",
        "recursive_default",
        "chance",
        "clock",
    )
)


class Rule(msgspec.Struct, frozen=True):
    """A sub-command: leading words, and options that must be given, that make one verdict."""

    words: tuple[str, ...]
    options: frozenset[str]
    verdict: str


class Spec(msgspec.Struct, frozen=True):
    """One row of the table.

    - ``value``, ``value2``, ``attached``, ``number``, ``single``: the option grammar (see
      `options`).
    - ``acts``: option to act; each function names the acts it knows. ``known``: harmless long
      options that
      begin like one of them.
    - ``text``: options whose value is prose, so it may hold a substitution; ``free``: all words
      are prose.
    - ``operands``: what the operands are (``files``, ``pattern files``, ``skip files`` …).
    - ``chance``: its output is random; ``clock``: its programs can ask for the time.
    - ``sub``: rules of sub-commands by their first word, ``wrap_value`` the options before a
      wrapped one.
    """

    name: str
    do: str
    value: frozenset[str] = frozenset()
    value2: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()
    recursive: frozenset[str] = frozenset()
    pattern_given: frozenset[str] = frozenset()
    wrap_value: frozenset[str] = frozenset()
    acts: dict[str, str] = {}
    modules: dict[str, str] = {}
    sub: dict[str, tuple[Rule, ...]] = {}
    number: bool = False
    single: bool = False
    free: bool = False
    assignments: bool = False
    recursive_default: bool = False
    poll: bool = False
    chance: bool = False
    clock: bool = False
    skip: int = 0
    operands: str = "files"
    change: str = "any"
    view: str = ""
    resource: str = ""
    note: str = ""


def _rules(sub: dict[str, str]) -> dict[str, tuple[Rule, ...]]:
    """Rules by first word, those with more words and options first."""
    rules: dict[str, list[Rule]] = {}
    for verdict, text in sub.items():
        for item in text.split(","):
            tokens = item.split()
            words = tuple(token for token in tokens if not token.startswith("-"))
            options = frozenset(token for token in tokens if token.startswith("-"))
            rules.setdefault(words[0] if words else "", []).append(Rule(words, options, verdict))
    return {
        first: tuple(sorted(of, key=lambda r: (-len(r.words), -len(r.options))))
        for first, of in rules.items()
    }


@cache
def _spec(name: str) -> Spec:
    sections, section = _rows()[name]
    fields: dict[str, Any] = {"name": name}
    for key, value in sections.table(section).items():
        if key == "names":
            continue
        if key == "sub":
            fields["sub"] = _rules(value)
        elif key == "acts":
            fields["acts"] = {o: act for act, options in value.items() for o in options.split()}
        elif isinstance(value, str) and key not in _PROSE:
            fields[key] = frozenset(value.split())
        else:
            fields[key] = value
    return msgspec.convert(fields, Spec, strict=False)


def spec_of(name: str) -> Spec | None:
    """The row of a program, or None for an unknown one."""
    return _spec(name) if name in _rows() else None


def known_programs() -> list[str]:
    """All names in the table, in order."""
    return sorted(_rows())


@cache
def _rows() -> dict[str, tuple[Sections, str]]:
    """Where each program's row stands; a name that stands twice is an error of this package."""
    rows: dict[str, tuple[Sections, str]] = {}
    for source in sorted((Path(__file__).parent / "commands").glob("*.toml")):
        sections = Sections(source.read_text(encoding="utf-8"))
        for section in sections:
            names = _NAMES.search(sections.text(section))
            for name in names[1].split() if names else [section]:
                if name in rows:
                    raise ValueError(f"{source.name}: {name} stands twice in the command table")
                rows[name] = (sections, section)
    return rows
