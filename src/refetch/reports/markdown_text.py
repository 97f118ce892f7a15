"""Markdown of the rules' documentation, lightly rendered for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from refetch.reports.look import Look
from refetch.reports.paint import Paint

_CODE = re.compile(r"`([^`]+)`")
_MARGIN = "  "


def rendered(markdown: str, look: Look) -> Iterator[str]:
    """Headings in bold, lists and paragraphs wrapped to the width, code in colour."""
    paint = Paint(look)
    width = min(look.width, 100)
    for block in re.split(r"\n\s*\n", markdown.strip()):
        yield from _block(block, width, paint)
        yield ""


def _block(block: str, width: int, paint: Paint) -> Iterator[str]:
    head, _, rest = block.partition("\n")
    if head.startswith("#"):
        yield paint(head.lstrip("# "), "bold")
        if rest:
            yield from _block(rest, width, paint)
        return
    if not block.startswith("- "):
        for line in textwrap.wrap(" ".join(block.split()), width, break_on_hyphens=False):
            yield _code(line, paint)
        return
    for item in re.split(r"\n(?=- )", block):
        text = " ".join(item[2:].split())
        lines = textwrap.wrap(text, width - 4, break_on_hyphens=False) or [""]
        yield f"{_MARGIN}- {_code(lines[0], paint)}"
        for line in lines[1:]:
            yield f"{_MARGIN}  {_code(line, paint)}"


def _code(line: str, paint: Paint) -> str:
    # A span that a line break cuts in two is left as it is.
    return _CODE.sub(lambda m: paint(m[0], "cyan"), line)
