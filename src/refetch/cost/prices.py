"""Prices of tokens, from the `genai-prices` package (extra `refetch[cost]`)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

MILLION = 1_000_000


class Prices(NamedTuple):
    """USD per token of a model: fresh input, input from the cache, output."""

    fresh: float
    cached: float
    output: float


@lru_cache(maxsize=256)
def prices_of(model: str | None) -> Prices | None:
    """The prices of a model by the name that a trace gives it, or None where nobody knows them.

    Long prompts cost more with some models; these are the prices of short ones, so that a figure is
    rather too small.
    """
    if not model:
        return None
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    sample = 1000  # below every threshold of a tier
    for name in dict.fromkeys((model, model.rsplit("/", 1)[-1], model.rsplit(":", 1)[0])):
        try:
            fresh = calc_price(Usage(input_tokens=sample), model_ref=name)
            cached = calc_price(
                Usage(input_tokens=sample, cache_read_tokens=sample), model_ref=name
            )
            output = calc_price(Usage(output_tokens=sample), model_ref=name)
        except (LookupError, ValueError):
            continue
        return Prices(*(float(p.total_price) / sample for p in (fresh, cached, output)))
    return None


def price_source() -> str | None:
    """The package that gives the prices, with its version, which dates them."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"genai-prices {version('genai-prices')}"
    except PackageNotFoundError:
        return None
