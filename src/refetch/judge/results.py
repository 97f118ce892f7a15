"""Comparing results: known and equal, known and different, or not known (SPEC 6f)."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Raw

from refetch.keys import UnreadableArguments, decode_json
from refetch.model.trace import Call

NOISE: dict[str, str] = {
    "duration": r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds?|m|min|minutes?|µs|us|ns)\b",
    "clock": r"\b\d{1,2}:\d{2}(?::\d{2})(?:[.,]\d+)?\b",
    "date": r"\b\d{4}-\d{2}-\d{2}\b",
    "pid": r"\bpid[ =:]*\d+\b",
    "uuid": r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
}
"""Parts of a result that change by themselves; masked only for tools that declare them."""

_NOTHING = Raw()

GROUPS = {"test-runner": ("duration", "clock", "date", "pid")}
"""Names that stand for several kinds of noise."""


class Outcome:
    """What is comparable of a call's result; nothing is computed before somebody compares.

    `recorded` is the trace's own `algo:hex`, `raw` the recorded JSON text, still in the input's
    memory (empty: not recorded, or the hash stands for it), `exit_code` as recorded.
    """

    __slots__ = ("_masked", "_noise", "exit_code", "raw", "recorded")

    def __init__(self, call: Call, noise: tuple[str, ...] = ()) -> None:
        raw = call.result
        by_hash = call.result_hash is not None and not (noise and len(raw))
        self.recorded = call.result_hash if by_hash else None
        self.raw = _NOTHING if by_hash else raw
        self.exit_code = call.exit_code
        self._noise = noise
        self._masked: str | None = None

    @property
    def known(self) -> bool:
        """Whether there is anything to compare."""
        return self.recorded is not None or len(self.raw) > 0

    def same_text(self, other: Outcome) -> bool:
        """Whether both texts are equal, apart from what the tools declare as noise."""
        if self.raw == other.raw:
            return True
        return bool(self._noise or other._noise) and self.masked() == other.masked()

    def masked(self) -> str:
        """The text without the parts that change by themselves."""
        if self._masked is None:
            text = _text(bytes(self.raw))
            self._masked = _noise_pattern(self._noise).sub("#", text) if self._noise else text
        return self._masked


@lru_cache(maxsize=64)
def _noise_pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    names = [n for kind in kinds for n in GROUPS.get(kind, (kind,))]
    return re.compile("|".join(NOISE.get(n, n) for n in names), re.IGNORECASE)


def result_text(call: Call) -> str:
    """The recorded result as text, "" where none was recorded."""
    raw = bytes(call.result)
    return _text(raw) if raw else ""


def _text(raw: bytes) -> str:
    try:
        value = decode_json(raw)
    except UnreadableArguments:
        value = None
    return value if isinstance(value, str) else raw.decode("utf-8", "replace")


def equal(a: Outcome, b: Outcome) -> bool | None:
    """True or False where both results are known and comparable, else None.

    Recorded hashes compare only within one algorithm; an exit code that differs is a different
    result.
    """
    if a.exit_code is not None and b.exit_code is not None and a.exit_code != b.exit_code:
        return False
    if len(a.raw) and len(b.raw):
        return a.same_text(b)
    if a.recorded is not None and b.recorded is not None:
        algorithm = a.recorded.partition(":")[0]
        if algorithm == b.recorded.partition(":")[0]:
            return a.recorded == b.recorded
    return None
