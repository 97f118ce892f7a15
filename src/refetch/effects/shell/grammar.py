"""The Bash grammar, loaded on first use so that importing the package stays light."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from refetch.compiled import compiled_part

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@cache
def _parser() -> Parser | None:
    try:
        import tree_sitter

        language = compiled_part("tree_sitter_bash", "_binding").language
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(language()))


def available() -> bool:
    """Whether the grammar is installed."""
    return _parser() is not None


def parse(source: bytes) -> Node | None:
    """The syntax tree of a script; None where it does not parse cleanly or the grammar is
    missing.
    """
    parser = _parser()
    if parser is None:
        return None
    root = parser.parse(source).root_node
    return None if root.has_error else root
