"""From nodes of the syntax tree to words, with what runs inside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.words import (
    GLOB_CHARS,
    Glob,
    Pipe,
    QuotedUnresolved,
    Unresolved,
    braces,
    double_quoted,
    has_glob,
    unescaped,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
_EXPANSIONS = frozenset(
    ("simple_expansion", "expansion", "arithmetic_expansion", "command_substitution")
)
_SPECIAL = frozenset("\\*?[{`")
_ANSI = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "e": "\x1b",
    "0": "\0",
}


class WordReader:
    """Turns nodes into words and gathers the effects of the substitutions on the way."""

    def __init__(self, source: bytes, substitution: Callable[[Node], Outcome]) -> None:
        self.source = source
        self.substitution = substitution
        self.gathered = Outcome()

    def taken(self) -> Outcome:
        """The effects gathered since the last time, which are then forgotten here."""
        gathered = self.gathered
        if gathered.kinds or gathered.note:
            self.gathered = Outcome()
        return gathered

    def raw(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def word(self, node: Node) -> list[str]:
        """A plain word: nothing in it is expanded but patterns."""
        text = self.raw(node)
        if _SPECIAL.isdisjoint(text):
            return [text]
        if "`" in text.replace("\\`", ""):
            raise Opaque("backquotes that the grammar did not follow")
        if has_glob(text):
            return [Glob(text)]
        return [unescaped(text)] if "\\" in text else [text]

    def words(self, node: Node) -> list[str]:
        """The words that a node stands for: one, unless braces make more."""
        kind = node.type
        if kind in ("word", "number", "variable_name", "file_descriptor", "test_operator", "regex"):
            return self.word(node)
        if kind == "raw_string":
            return [self.raw(node)[1:-1]]
        if kind == "string":
            return [self.string(node)]
        if kind == "concatenation":
            return self.concatenation(node)
        if kind == "process_substitution":
            self.run(node)
            return [Pipe(self.raw(node))]
        if kind == "ansi_c_string":
            return [self.ansi(node)]
        if kind == "extglob_pattern":
            return [Glob(self.raw(node))]
        if kind == "brace_expression":
            return [Glob(self.raw(node))]
        self.scan(node)
        return [Unresolved(self.raw(node))]

    def string(self, node: Node) -> str:
        """A word in double quotes; the grammar drops blanks between parts, so the source is
        sliced.
        """
        text = self.raw(node)
        unknown = False
        for child in node.children:
            if child.type in _EXPANSIONS or (child.is_named and child.type != "string_content"):
                unknown = True
                self.scan(child)
        if not unknown:
            self.refuse_hidden(node, text)
            return double_quoted(text[1:-1])
        self.refuse_hidden(node, text)
        return QuotedUnresolved(text[1:-1])

    def refuse_hidden(self, node: Node, text: str) -> None:
        """Raises where a substitution stands in the text that the grammar has not seen."""
        if "`" not in text and "$(" not in text:
            return
        start = node.start_byte
        rest = self.source[start : node.end_byte]
        for child in reversed(node.children):
            if child.type in _EXPANSIONS:
                rest = rest[: child.start_byte - start] + b" " + rest[child.end_byte - start :]
        visible = rest.replace(b"\\\\", b"").replace(b"\\`", b"").replace(b"\\$", b"")
        if b"`" in visible or b"$(" in visible:
            raise Opaque("a substitution that the grammar did not follow")

    def concatenation(self, node: Node) -> list[str]:
        """Parts written without a blank between: joined, then braces and patterns are looked
        for.
        """
        parts: list[str] = []
        pattern = unknown = has_braces = False
        for child in node.children:
            kind = child.type
            if kind in ("word", "number") or not child.is_named:
                text = self.raw(child)
                pattern = pattern or has_glob(text)
                has_braces = has_braces or "{" in text
                parts.append(unescaped(text))
                continue
            for word in self.words(child):
                pattern = pattern or isinstance(word, Glob)
                unknown = unknown or isinstance(word, Unresolved | Pipe)
                parts.append(word)
        joined = "".join(parts)
        if unknown:
            return [Unresolved(joined)]
        if has_braces and "{" in joined:
            expanded = braces(joined)
            if pattern or any("{" in word for word in expanded):
                return [Glob(word) for word in expanded]
            return expanded
        if pattern or (has_braces and not GLOB_CHARS.isdisjoint(joined)):
            return [Glob(joined)]
        return [joined]

    def ansi(self, node: Node) -> str:
        """``$'…'`` with its escapes; rare ones leave the word unknown."""
        text = self.raw(node)[2:-1]
        out: list[str] = []
        at = 0
        while at < len(text):
            if text[at] == "\\":
                at += 1
                letter = text[at : at + 1]
                if letter not in _ANSI or letter == "0":
                    return Unresolved(text)
                out.append(_ANSI[letter])
            else:
                out.append(text[at])
            at += 1
        return "".join(out)

    def scan(self, node: Node) -> None:
        """Runs every substitution below a node."""
        pending = [node]
        while pending:
            current = pending.pop()
            if current.type in _SUBSTITUTIONS:
                self.run(current)
            elif current.type in ("string", "heredoc_body"):
                self.refuse_hidden(current, self.raw(current))
                pending += reversed(current.children)
            else:
                pending += reversed(current.children)

    def run(self, node: Node) -> None:
        """Adds the effects of one substitution."""
        self.gathered.add(self.substitution(node))
