"""`--select` and `--ignore`: findings chosen by code, prefix of a code, or name of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from refetch.judge.rules.registry import RULES
from refetch.model.errors import UsageError, nearest
from refetch.model.finding import Finding
from refetch.reports.batch import Batch, Checked


def selection(select: Iterable[str], ignore: Iterable[str]) -> Callable[[Finding], bool] | None:
    """A test for findings that are wanted, or None where all are.

    Args:
        select, ignore: codes, prefixes of codes ("RF1") or names; a word may hold several, split by
            commas.

    Raises:
        UsageError: a word that fits no rule.
    """
    wanted, unwanted = _codes(select), _codes(ignore)
    if wanted is None and unwanted is None:
        return None
    return lambda f: (wanted is None or f.code in wanted) and f.code not in (unwanted or ())


def apply_selection(batch: Batch, keep: Callable[[Finding], bool] | None) -> None:
    """Drop the findings that are not wanted from a batch."""
    if keep is None:
        return
    batch.checked[:] = [
        Checked(
            msgspec.structs.replace(
                one.report, findings=[f for f in one.report.findings if keep(f)]
            ),
            one.trace,
        )
        for one in batch.checked
    ]


def _codes(words: Iterable[str]) -> set[str] | None:
    parts = [part.strip() for word in words for part in word.split(",") if part.strip()]
    return {code for part in parts for code in _matching(part)} if parts else None


def _matching(word: str) -> list[str]:
    found = [r.code for r in RULES if r.code.startswith(word.upper()) or r.name == word.lower()]
    if found:
        return found
    known = [name for rule in RULES for name in (rule.code, rule.name)]
    near = nearest(word, known)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(r.code for r in RULES)}"
    raise UsageError(f"no rule {word!r}; {hint}")
