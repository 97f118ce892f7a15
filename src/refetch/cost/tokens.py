"""How many tokens a text has: counted where the extra is installed, else estimated.

The counter is OpenAI's o200k encoding, which needs no network; for the models of others it is off
by some percent (docs/cost.md says by how much on real files).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from refetch.compiled import compiled_part

CHARS_PER_TOKEN = 4
"""Where nothing can count (SPEC 10)."""
LONGEST_COUNTED = 2_000_000  # characters; what is longer is estimated from its beginning
SOURCES = ("measured", "counted", "estimated")
"""From the best to the worst."""


class Tokens(NamedTuple):
    """A number of tokens, and where it comes from: one of `SOURCES`."""

    number: float
    source: str


@lru_cache(maxsize=1)
def _counter() -> Callable[[str], int] | None:
    """Counts the tokens of a text; None where nothing can."""
    try:
        bindings = compiled_part("bpe_openai", "_bindings")
        counter: Callable[[str], int] = bindings.tokenizer_for_encoding("o200k_base").count
        return counter
    except Exception:
        return None  # an estimate is better than no report


def tokens_of(text: str) -> Tokens:
    """The tokens of a text."""
    count = _counter()
    if count is None or not text:
        return Tokens(len(text) / CHARS_PER_TOKEN, "estimated")
    counted = text[:LONGEST_COUNTED].encode("utf-8", "replace").decode()
    return Tokens(count(counted) * len(text) / len(counted), "counted")


def worst(*sources: str) -> str:
    """The least reliable of some sources."""
    return max(sources, key=SOURCES.index)
