"""Widths, shortening, colours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refetch.reports.look import Look
from refetch.reports.paint import Paint, cells, padded, plain_marks, shortened, shortened_pair


def test_cells() -> None:
    assert cells("abc") == 3
    assert cells("配置") == 4
    assert cells("e\u0301") == 1


def test_padded() -> None:
    assert padded("配", 4) == "配  "
    assert padded("long", 2) == "long"


def test_the_middle_is_given_up() -> None:
    text = "/home/dev/work/project/src/module/file.py"
    assert shortened(text, len(text)) == text
    short = shortened(text, 20)
    assert len(short) == 20
    assert short.startswith("/home/dev")
    assert short.endswith("le.py")
    assert "…" in short


@given(st.text(min_size=1), st.integers(1, 60))
def test_it_always_fits(text: str, width: int) -> None:
    assert cells(shortened(text, width)) <= width


@given(st.text(min_size=1), st.text(min_size=1), st.integers(8, 60))
def test_pairs_always_fit(one: str, other: str, width: int) -> None:
    assert all(cells(text) <= width for text in shortened_pair(one, other, width))


@given(st.integers(0, 300))
def test_the_difference_of_a_pair_stays_visible(place: int) -> None:
    text = "abcdefghij" * 31
    other = text[:place] + "X" + text[place + 1 :]
    one, two = shortened_pair(text, other, 60)
    assert one != two
    assert "X" in two


def test_equal_texts_are_shortened_alike() -> None:
    one, two = shortened_pair("x" * 200, "x" * 200, 40)
    assert one == two


def test_colors() -> None:
    assert Paint(Look(color=True))("a", "bold", "red") == "\x1b[1;31ma\x1b[0m"
    assert Paint(Look(color=True))("a") == "a"
    assert Paint(Look(color=True))("", "red") == ""
    assert Paint(Look())("a", "red") == "a"


def test_plain_marks() -> None:
    text = "✗ ✎ ✓ → · … ↻ ──"
    assert plain_marks(text, Look()) == text
    assert plain_marks(text, Look(ascii=True)).isascii()
