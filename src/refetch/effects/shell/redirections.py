"""Redirections of a command: what feeds it, what takes its output, what stands behind them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from refetch.effects.shell.call import Call, State
from refetch.effects.shell.effect import NEUTRAL, ShellRead
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.pipeline import piped
from refetch.effects.shell.table import Spec
from refetch.effects.shell.word_reader import WordReader
from refetch.effects.shell.words import Glob, Pipe, Unresolved

if TYPE_CHECKING:
    from tree_sitter import Node

_SPEC = Spec(name="redirection", do="redirection")
_TO_FILE = frozenset((">", ">>", ">|", "&>", "&>>", ">&"))


class Redirections:
    """All redirections of one command.

    ``arguments``: words that stand behind a redirection and belong to the command. ``stages`` and
    ``following``: what a here-document's first line goes on with. ``given`` is text that is fed in.
    """

    __slots__ = ("arguments", "feeds", "following", "given", "hides", "inputs", "outputs", "stages")

    def __init__(self) -> None:
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.arguments: list[str] = []
        self.stages: list[Node] = []
        self.following: list[tuple[str, Node]] = []
        self.given = ""
        self.feeds = self.hides = False

    def merge(self, other: Redirections) -> None:
        """Takes in the redirections that the grammar hung elsewhere on the same command."""
        self.inputs += other.inputs
        self.outputs += other.outputs
        self.arguments += other.arguments
        self.stages += other.stages
        self.following += other.following
        self.given += other.given
        self.feeds |= other.feeds
        self.hides |= other.hides

    def applied(self, outcome: Outcome, cwd: str | None) -> Outcome:
        """The command's outcome with what its redirections read, write and hide; paths as seen
        from cwd.
        """
        if not (self.inputs or self.outputs or self.hides or self.given):
            return outcome
        place = Call("redirection", [], _SPEC, State(cwd), False, _no_command)
        if self.inputs:
            source = Outcome(NEUTRAL, stage="cat")
            for path in self.inputs:
                place.add_read(source, path, "content")
            outcome = piped(source, outcome)
        if self.given and outcome.reads:
            mark = f" << {zlib.crc32(self.given.encode('utf-8', 'replace')):08x}"
            outcome.reads = [
                read
                if read.view == "content"
                else ShellRead(read.resource, read.view + mark, read.region)
                for read in outcome.reads
            ]
        if self.hides:
            outcome.hide()
        for path in self.outputs:
            place.add_write(outcome, path)
        return outcome


def _no_command(_: list[str]) -> Outcome:
    raise Opaque("a redirection runs nothing")


def read_redirections(nodes: list[Node], words: WordReader) -> Redirections:
    """Reads redirection nodes in order."""
    found = Redirections()
    for node in nodes:
        if node.type == "file_redirect":
            _file(node, words, found)
        elif node.type == "heredoc_redirect":
            _heredoc(node, words, found)
        elif node.type == "herestring_redirect":
            found.feeds = True
            for child in node.children:
                if child.is_named and child.type != "file_descriptor":
                    words.words(child)
                    found.given += words.raw(child)
        else:
            raise Opaque(f"shell syntax that is not followed: {node.type}")
    return found


def _file(node: Node, words: WordReader, found: Redirections) -> None:
    descriptor, operator = "", ""
    targets: list[str] = []
    for child in node.children:
        if child.type == "file_descriptor":
            descriptor = words.raw(child)
        elif not child.is_named and not operator:
            operator = child.type
        else:
            targets += words.words(child)
    if operator in ("<&-", ">&-"):
        found.arguments += targets
        return
    if not targets:
        raise Opaque("a redirection without a target")
    target = targets[0]
    # The grammar takes words behind a redirection for further targets; Bash gives them to the
    # command.
    found.arguments += targets[1:]
    if isinstance(target, Unresolved | Glob):
        raise Opaque("a redirection to what is not settled by the text")
    if operator == "<":
        found.feeds = True
        if not isinstance(target, Pipe):
            found.inputs.append(target)
    elif operator == "<&":
        found.feeds = True
    elif operator in _TO_FILE:
        _output(operator, descriptor, target, found)
    else:
        raise Opaque(f"shell syntax that is not followed: {operator}")


def _output(operator: str, descriptor: str, target: str, found: Redirections) -> None:
    if operator == ">&" and (target.rstrip("-").isdigit() or target == "-"):
        return
    if descriptor in ("", "1") and target not in ("/dev/stdout", "/dev/stderr", "/dev/tty"):
        found.hides = True
    if not isinstance(target, Pipe):
        found.outputs.append(target)


def _heredoc(node: Node, words: WordReader, found: Redirections) -> None:
    found.feeds = True
    quoted = False
    operator = ""
    for child in node.children:
        kind = child.type
        if kind == "heredoc_start":
            quoted = not {"'", '"', "\\"}.isdisjoint(words.raw(child))
        elif kind == "heredoc_body":
            found.given += words.raw(child)
            if not quoted:
                words.scan(child)
        elif kind == "file_redirect":
            _file(child, words, found)
        elif kind == "herestring_redirect":
            raise Opaque("a here-string beside a here-document")
        elif kind == "pipeline":
            found.stages += [stage for stage in child.children if stage.is_named]
        elif kind in ("&&", "||"):
            operator = kind
        elif kind in ("<<", "<<-", "heredoc_end", "file_descriptor", "\n", "comment"):
            continue
        elif operator and child.is_named:
            found.following.append((operator, child))
        elif child.is_named:
            found.arguments += words.words(child)
        else:
            raise Opaque(f"shell syntax that is not followed: {kind}")
