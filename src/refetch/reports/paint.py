"""Colours, widths and shortening: how a line of text is made to fit a terminal."""

from __future__ import annotations

import unicodedata

from refetch.reports.look import Look

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_PLAIN = str.maketrans({
    "✗": "x", "✎": "w", "✓": "+", "→": "->", "·": "-", "…": "...", "↻": "@", "─": "-",
})  # fmt: skip


class Paint:
    """Colours where the look allows them."""

    def __init__(self, look: Look) -> None:
        self._on = look.color

    def __call__(self, text: str, *styles: str) -> str:
        """The text in the given styles: bold, dim, red, green, yellow, cyan."""
        if not self._on or not text or not styles:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


def plain_marks(text: str, look: Look) -> str:
    """The text with ASCII signs instead of ✗ ✎ ✓ where the encoding lacks them."""
    return text.translate(_PLAIN) if look.ascii else text


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def _cell(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, width: int) -> str:
    """The text filled up with spaces to `width` columns."""
    return text + " " * max(0, width - cells(text))


def shortened(text: str, width: int, *, keep: int | None = None) -> str:
    """The text in at most `width` columns, the middle given up for an ellipsis.

    Args:
        keep: a place in the text that has to stay visible, such as the first difference.
    """
    if cells(text) <= width:
        return text
    if width < 8:
        return _head(text, width - 1) + "…"
    if keep is None or keep < width // 2:
        tail = width // 3 if keep is None else max(4, width - 6 - keep - width // 4)
        tail = min(tail, width // 3)
        return _head(text, width - 1 - tail) + "…" + _tail(text, tail)
    head = width // 3
    rest = text[max(head, keep - width // 6) :]
    return _head(text, head) + "…" + shortened(rest, width - 1 - head)


def shortened_pair(one: str, other: str, width: int) -> tuple[str, str]:
    """Two texts in at most `width` columns each, the first difference between them visible."""
    if one == other:
        return shortened(one, width), shortened(other, width)
    pairs = enumerate(zip(one, other, strict=False))
    place = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    return shortened(one, width, keep=place), shortened(other, width, keep=place)


def _head(text: str, width: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += _cell(char)
        if taken > width:
            return text[:index]
    return text


def _tail(text: str, width: int) -> str:
    taken = 0
    for index in range(len(text) - 1, -1, -1):
        taken += _cell(text[index])
        if taken > width:
            return text[index + 1 :]
    return text
