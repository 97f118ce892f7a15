"""Comparing results: known and equal, known and different, or not known (SPEC 6f)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import xxhash

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

GROUPS = {"test-runner": ("duration", "clock", "date", "pid")}
"""Names that stand for several kinds of noise."""


class ResultHash(NamedTuple):
    """`recorded` is the trace's own `algo:hex`, `raw` a hash of the recorded text, `exit_code`
    as recorded.
    """

    recorded: str | None
    raw: str | None
    exit_code: int | None

    @property
    def known(self) -> bool:
        """Whether there is anything to compare."""
        return self.recorded is not None or self.raw is not None


UNKNOWN = ResultHash(None, None, None)


@lru_cache(maxsize=64)
def _noise_pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    names = [n for kind in kinds for n in GROUPS.get(kind, (kind,))]
    return re.compile("|".join(NOISE.get(n, n) for n in names), re.IGNORECASE)


def result_hash_of(call: Call, noise: tuple[str, ...] = ()) -> ResultHash:
    """The comparable form of a call's result."""
    raw = bytes(call.result)
    if not raw or (call.result_hash is not None and not noise):
        return ResultHash(call.result_hash, None, call.exit_code)
    if noise:
        raw = _noise_pattern(noise).sub("#", _text(raw)).encode("utf-8", "surrogatepass")
    return ResultHash(None, xxhash.xxh3_128_hexdigest(raw), call.exit_code)


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


def equal(a: ResultHash, b: ResultHash) -> bool | None:
    """True or False where both results are known and comparable, else None.

    Recorded hashes compare only within one algorithm; an exit code that differs is a different
    result.
    """
    if a.exit_code is not None and b.exit_code is not None and a.exit_code != b.exit_code:
        return False
    if a.raw is not None and b.raw is not None:
        return a.raw == b.raw
    if a.recorded is not None and b.recorded is not None:
        algorithm = a.recorded.partition(":")[0]
        if algorithm == b.recorded.partition(":")[0]:
            return a.recorded == b.recorded
    return None
