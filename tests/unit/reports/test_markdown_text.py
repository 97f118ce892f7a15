"""Rule documentation in a terminal."""

from __future__ import annotations

from refetch.reports.look import Look
from refetch.reports.markdown_text import rendered

TEXT = """A first paragraph
over two lines.

## Heading
Text `code` below.

- an item
- another item that
  goes on
"""


def test_the_parts() -> None:
    assert list(rendered(TEXT, Look())) == [
        "A first paragraph over two lines.",
        "",
        "Heading",
        "Text `code` below.",
        "",
        "  - an item",
        "  - another item that goes on",
        "",
    ]


def test_width() -> None:
    assert all(
        len(line) <= 40 for line in rendered("word " * 50 + "\n\n- " + "word " * 50, Look(40))
    )


def test_color() -> None:
    shown = "\n".join(rendered(TEXT, Look(color=True)))
    assert "\x1b[1mHeading\x1b[0m" in shown
    assert "\x1b[36m`code`\x1b[0m" in shown
