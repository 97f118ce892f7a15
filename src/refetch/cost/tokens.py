"""How many tokens a text has: counted where the extra is installed, else estimated.

The counter is OpenAI's o200k encoding, which needs no network; for the models of others it is off
by some percent (docs/cost.md says by how much on real files).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, NamedTuple

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
        bindings = _bindings()
        counter: Callable[[str], int] = bindings.tokenizer_for_encoding("o200k_base").count
        return counter
    except Exception:
        return None  # an estimate is better than no report


def _bindings() -> Any:
    """The compiled part of bpe-openai alone: its package reads every vocabulary at import, a second
    long, though the compiled part carries its own.

    Raises:
        ImportError: it is not installed.
    """
    package = find_spec("bpe_openai")
    folders = package.submodule_search_locations if package else None
    compiled = PathFinder.find_spec("bpe_openai._bindings", folders) if folders else None
    if compiled is None or compiled.loader is None:
        raise ImportError("bpe_openai")
    module = module_from_spec(compiled)
    compiled.loader.exec_module(module)
    return module


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
