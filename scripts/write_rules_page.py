"""Writes docs/rules.md from the documentation that stands in the rules themselves."""

from __future__ import annotations

from pathlib import Path

from refetch.judge.rules.registry import RULES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules.md"


def page() -> str:
    """The whole page."""
    parts = ["# Rules\n\nA **flag** can fail a test; **advice** never does unless asked."]
    for rule in RULES:
        doc = rule.doc.strip().replace("\n## ", "\n### ")
        parts.append(f"## {rule.code} {rule.name} ({rule.level})\n\n{doc}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
