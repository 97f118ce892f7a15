"""The usage figures of a model request, whatever names its provider gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_PROMPT = ("input_tokens", "prompt_tokens", "input", "promptTokenCount", "inputTokens", "tokensIn")
_OUTPUT = (
    "output_tokens", "completion_tokens", "output", "candidatesTokenCount", "outputTokens",
    "tokensOut",
)  # fmt: skip
_CACHED_APART = ("cache_read_input_tokens", "cacheRead", "cacheReads")
_WRITTEN_APART = ("cache_creation_input_tokens", "cacheWrite", "cacheWrites")
_CACHED_WITHIN = (
    "cached_tokens", "cached_input_tokens", "cached", "cachedContentTokenCount",
    "input_tokens_cache_read", "input_cache_read", "prompt_details.cache_read",
)  # fmt: skip
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")


class Usage(NamedTuple):
    """Tokens of one request: the whole prompt, what of it came from the cache (None: not said), and
    the answer.
    """

    prompt: int
    cached: int | None
    output: int


def usage_of(raw: Mapping[str, Any] | None) -> Usage | None:
    """The figures, or None where the prompt's size is not told.

    Anthropic and pi count what the cache served beside the input, OpenAI and Google within it.
    """
    if not raw:
        return None
    prompt = _first(raw, _PROMPT)
    if prompt is None:
        return None
    apart, written = _first(raw, _CACHED_APART), _first(raw, _WRITTEN_APART)
    output = _first(raw, _OUTPUT) or 0
    if apart is not None or written is not None:
        return Usage(prompt + (apart or 0) + (written or 0), apart or 0, output)
    cached = _first(raw, _CACHED_WITHIN)
    for name in _DETAILS:
        inner = raw.get(name)
        if cached is None and isinstance(inner, Mapping):
            cached = _first(inner, (*_CACHED_WITHIN, "cache_read"))
    return Usage(prompt, None if cached is None else min(cached, prompt), output)


def _first(raw: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = raw.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
