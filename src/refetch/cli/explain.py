"""`refetch explain`: what a rule or an acquittal means."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from refetch.cli.flags import flags
from refetch.cli.output import look_of, write_document, write_text
from refetch.judge.reasons import ACQUITTAL_REASONS, Reason
from refetch.judge.rule import Rule
from refetch.judge.rules.registry import RULES
from refetch.model.errors import UsageError, nearest
from refetch.reports.json_report import encode
from refetch.reports.look import Look
from refetch.reports.markdown_text import rendered
from refetch.reports.paint import Paint
from refetch.reports.text import joined


@click.command("explain")
@click.argument("topic", required=False, metavar="[CODE|NAME|REASON]")
@flags("explain")
def command(topic: str | None, **given: Any) -> None:
    """Say what a rule (RF003, stale-refetch) or the reason of an acquittal (written-since) means.

    Without a topic: the list of all rules and reasons.
    """
    look = look_of(given["color"])
    if topic is None:
        lines = _list(look)
        data: Any = _all()
    else:
        found = _named(topic)
        lines = _rule(found, look) if isinstance(found, Rule) else _reason(found, look)
        data = _data(found)
    if given["format"] == "json":
        write_document(sys.stdout, encode(data, indent=2) + "\n")
    else:
        write_text(sys.stdout, joined(lines, look))


def _named(topic: str) -> Rule | Reason:
    word = topic.strip().lower()
    for rule in RULES:
        if word in (rule.code.lower(), rule.name):
            return rule
    if word in ACQUITTAL_REASONS:
        return ACQUITTAL_REASONS[word]
    known = [name for rule in RULES for name in (rule.code.lower(), rule.name)]
    near = nearest(word, [*known, *ACQUITTAL_REASONS])
    near = near.upper() if near and near.startswith("rf") else near
    hint = f"did you mean {near}?" if near else "refetch explain lists them all"
    raise UsageError(f"no rule or reason {topic!r}; {hint}")


def _list(look: Look) -> Iterator[str]:
    paint = Paint(look)
    yield paint("rules", "bold")
    for rule in RULES:
        yield f"  {rule.code}  {rule.name:<27} {rule.level:<6}  {rule.summary}"
    yield ""
    yield paint("why a repeat is fine, in the order in which the reasons are asked", "bold")
    for reason in ACQUITTAL_REASONS.values():
        yield f"  {reason.name:<20} {reason.short}"


def _rule(rule: Rule, look: Look) -> Iterator[str]:
    yield Paint(look)(f"{rule.code} {rule.name}", "bold") + f" · {rule.level}"
    yield ""
    yield from rendered(rule.doc, look)


def _reason(reason: Reason, look: Look) -> Iterator[str]:
    yield Paint(look)(reason.name, "bold") + f" · acquits: {reason.condition}"
    yield ""
    yield from rendered(f"A repeat is fine where {reason.short}.\n\n{reason.doc}", look)


def _data(found: Rule | Reason) -> dict[str, Any]:
    if isinstance(found, Rule):
        return {
            "kind": "rule",
            "code": found.code,
            "name": found.name,
            "level": found.level,
            "summary": found.summary,
            "doc": found.doc,
        }
    return {
        "kind": "reason",
        "name": found.name,
        "condition": found.condition,
        "summary": found.short,
        "doc": found.doc,
    }


def _all() -> list[dict[str, Any]]:
    return [*map(_data, RULES), *map(_data, ACQUITTAL_REASONS.values())]
