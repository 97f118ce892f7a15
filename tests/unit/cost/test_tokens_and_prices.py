"""Counting without a network, and prices from the package."""

from __future__ import annotations

import sys
import warnings

import pytest

from refetch.cost import prices, tokens
from refetch.cost.prices import prices_of
from refetch.cost.tokens import tokens_of, worst


@pytest.fixture(autouse=True)
def fresh() -> None:
    tokens._counter.cache_clear()
    prices_of.cache_clear()


def test_a_text_is_counted() -> None:
    pytest.importorskip("bpe_openai")
    found = tokens_of("The quick brown fox jumps over the lazy dog.")
    assert (found.number, found.source) == (10, "counted")
    assert tokens_of("<|endoftext|> is only a text here").number > 3
    assert tokens_of("half a character: \ud800").source == "counted"


def test_the_compiled_part_counts_what_its_package_counts() -> None:
    package = pytest.importorskip("bpe_openai")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it opens its data in a way that Python deprecates
        encoding = package.get_encoding("o200k_base")
    for text in (
        "",
        "a" * 5000,
        "日本語 é \x1b[0m",
        "<|im_start|>",
        " \n\t" * 40,
        '{"k": [1, 2.50]}',
    ):
        assert tokens_of(text).number == len(encoding.encode_ordinary(text))


def test_without_the_extra_it_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    assert tokens_of("x" * 40) == (10, "estimated")


def test_long_texts_are_counted_by_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bpe_openai")
    text = "word and " * 1000
    whole = tokens_of(text)
    monkeypatch.setattr(tokens, "LONGEST_COUNTED", 900)
    assert tokens_of(text).number == pytest.approx(whole.number, rel=0.02)


def test_an_empty_text_has_no_tokens() -> None:
    assert tokens_of("").number == 0


def test_the_worst_source_counts() -> None:
    assert worst("measured", "counted") == "counted"
    assert worst("estimated", "measured") == "estimated"


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "claude-sonnet-4-5"])
def test_prices_of_known_models(name: str) -> None:
    pytest.importorskip("genai_prices")
    found = prices_of(name)
    assert found is not None
    assert 0 < found.cached < found.fresh < found.output


@pytest.mark.parametrize("name", [None, "", "a model that nobody sells"])
def test_unknown_models_have_no_price(name: str | None) -> None:
    assert prices_of(name) is None


def test_without_the_package_there_are_no_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert prices_of("gpt-4o") is None


def test_the_source_of_prices_is_dated_by_its_version() -> None:
    pytest.importorskip("genai_prices")
    assert (prices.price_source() or "").startswith("genai-prices ")
