"""Rules chosen by code, beginning of a code, or name."""

from __future__ import annotations

from collections.abc import Iterable

from refetch.judge.rules.registry import RULES
from refetch.model.errors import UsageError, nearest


def rule_words() -> list[str]:
    """Every code and every name."""
    return [word for rule in RULES for word in (rule.code, rule.name)]


def codes_of(words: Iterable[str]) -> frozenset[str]:
    """The codes that some words choose; a word may hold several, split by commas.

    Raises:
        UsageError: a word that fits no rule; says the nearest.
    """
    parts = [part.strip() for word in words for part in word.split(",") if part.strip()]
    return frozenset(code for part in parts for code in _matching(part))


def _matching(word: str) -> list[str]:
    found = [r.code for r in RULES if r.code.startswith(word.upper()) or r.name == word.lower()]
    if found:
        return found
    near = nearest(word, rule_words())
    hint = f"did you mean {near}?" if near else f"known: {', '.join(r.code for r in RULES)}"
    raise UsageError(f"no rule {word!r}; {hint}")
