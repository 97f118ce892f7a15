"""Walks the syntax tree of a command line and joins the effects of its parts.

Every kind of node has a method of its own; a kind without one is syntax that is not followed, and
makes the whole opaque. Node kinds are those of tree-sitter-bash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refetch.effects.shell.call import State
from refetch.effects.shell.effect import NEUTRAL
from refetch.effects.shell.outcome import Opaque, Outcome, opaque, shell_state
from refetch.effects.shell.pipeline import piped
from refetch.effects.shell.programs import run
from refetch.effects.shell.redirections import Redirections, read_redirections
from refetch.effects.shell.session import check_assignment, read_status
from refetch.effects.shell.word_reader import WordReader

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 60
_FILE_TESTS = frozenset("-a -b -c -d -e -f -g -h -k -L -N -O -G -p -r -s -S -u -w -x".split())


class Walker:
    """Reads one command line; ``state`` moves with every ``cd`` on the way."""

    def __init__(self, source: bytes, state: State) -> None:
        self.source = source
        self.state = state
        self.depth = 0
        self.words = WordReader(source, self.substitution)

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def statement(self, node: Node, feed: bool = False) -> Outcome:
        """The effect of any statement; ``feed``: something feeds its standard input."""
        method = _STATEMENTS.get(node.type)
        if method is None:
            raise Opaque(f"shell syntax that is not followed: {node.type}")
        if self.depth > _MAX_DEPTH:
            raise Opaque("nested too deep")
        self.depth += 1
        try:
            return method(self, node, feed)
        except Opaque as verdict:
            # The other statements still say what they write by name.
            return opaque(str(verdict))
        finally:
            self.depth -= 1

    # Sequences -------------------------------------------------------------------------------

    def sequence(self, nodes: Sequence[Node], feed: bool = False) -> Outcome:
        """Statements one after the other; a ``&`` behind one leaves it running."""
        total = Outcome()
        parts = 0
        for index, node in enumerate(nodes):
            if not node.is_named or node.type == "comment":
                if node.type == "&" and parts:
                    total.background = True
                elif not node.is_named and node.type not in _PUNCTUATION:
                    raise Opaque(f"shell syntax that is not followed: {node.type}")
                continue
            followed = index + 1 < len(nodes) and nodes[index + 1].type == "&"
            part = self.in_subshell(node, feed) if followed else self.statement(node, feed)
            if total.exit_matters:
                # Later statements set the exit code, so it no longer tells what ran before.
                total.doubt().exit_matters = False
            parts += 1
            if parts == 1:
                total = part
            else:
                sure = total.sure and part.sure
                total.add(part)
                total.sure = sure
                total.stage = ""
        if parts > 1:
            total.intake = 0
        if not parts:
            total.kinds.add(NEUTRAL)
        return total

    def children(self, node: Node, feed: bool = False) -> Outcome:
        """All statements of a node, in order."""
        return self.sequence(node.children, feed)

    def in_subshell(self, node: Node, feed: bool = False) -> Outcome:
        """A statement whose changes of the shell are lost."""
        return self.apart(lambda: self.statement(node, feed))

    def subshell(self, node: Node, feed: bool) -> Outcome:
        return self.apart(lambda: self.sequence(node.children[1:-1], feed))

    def apart(self, read: Callable[[], Outcome]) -> Outcome:
        """Reads something whose changes of the shell are lost."""
        before = self.state.cwd
        self.state.local += 1
        try:
            return read()
        finally:
            self.state.local -= 1
            self.state.cwd = before

    def group(self, node: Node, feed: bool) -> Outcome:
        if node.children and node.children[0].type == "((":
            return self.arithmetic(node, feed)
        return self.sequence(node.children[1:-1], feed)

    def arithmetic(self, node: Node, feed: bool) -> Outcome:
        self.words.scan(node)
        return shell_state(self.state.keeps_changes).add(self.words.taken())

    def and_or(self, node: Node, feed: bool) -> Outcome:
        left_node, operator, right_node = self.two_sides(node)
        left = self.statement(left_node, feed)
        before = self.state.cwd
        right = self.statement(right_node, feed)
        return self.joined(left, operator, right, before)

    def two_sides(self, node: Node) -> tuple[Node, str, Node]:
        children = [child for child in node.children if child.type != "comment"]
        if len(children) != 3 or children[1].type not in ("&&", "||"):
            raise Opaque("shell syntax that is not followed: list")
        return children[0], children[1].type, children[2]

    def joined(self, left: Outcome, operator: str, right: Outcome, before: str | None) -> Outcome:
        if operator == "||":
            right.doubt()
            if self.state.cwd != before:
                self.state.cwd = None
            # Whether the left side ran to its end is no longer told by the exit code.
            if left.exit_matters:
                left.doubt().exit_matters = False
            if NEUTRAL not in left.kinds and "true" not in right.programs:
                right.exit_matters = False
        elif not left.sure and right.reads:
            right.exit_matters = True
        sure = left.sure and right.sure
        left.add(right)
        left.sure = sure
        left.stage, left.intake = "", 0
        return left

    def negated(self, node: Node, feed: bool) -> Outcome:
        return self.statement(node.children[-1], feed)

    # Branches and loops ----------------------------------------------------------------------

    def branches(self, node: Node, feed: bool) -> Outcome:
        """if, case and loops: every part may run, none must."""
        before = self.state.cwd
        total = Outcome(NEUTRAL)
        for child in node.children:
            if not child.is_named or child.type == "comment":
                continue
            if child.type in _STATEMENTS:
                total.add(self.statement(child, feed))
            elif child.type in _PARTS:
                total.add(self.branches(child, feed))
            else:
                self.words.scan(child)
                total.add(self.words.taken())
        total.doubt()
        if self.state.cwd != before:
            if node.type in _LOOPS:
                raise Opaque("a loop that changes the directory")
            self.state.cwd = None
        return total

    # Pipelines -------------------------------------------------------------------------------

    def pipeline(self, node: Node, feed: bool) -> Outcome:
        stages = [c for c in node.children if c.is_named and c.type != "comment"]
        if any(not c.is_named and c.type not in ("|", "|&", "\n") for c in node.children):
            raise Opaque("shell syntax that is not followed: pipeline")
        total = self.in_subshell(stages[0], feed)
        for stage in stages[1:]:
            total = piped(total, self.in_subshell(stage, True))
        return total

    # Redirections ----------------------------------------------------------------------------

    def redirected(self, node: Node, feed: bool) -> Outcome:
        body = node.child_by_field_name("body")
        redirects = [c for c in node.children if c.is_named and (body is None or c.id != body.id)]
        return self.with_redirects(body, redirects, feed)

    def with_redirects(self, body: Node | None, redirects: list[Node], feed: bool) -> Outcome:
        """Applies redirections to the last simple command of the body, as Bash does.

        The grammar hangs ``a && b > f`` and ``a | b > f`` around the whole; only a group, a
        sub-shell or a
        compound command takes them as one.
        """
        if body is not None and body.type == "list":
            left_node, operator, right_node = self.two_sides(body)
            left = self.statement(left_node, feed)
            before = self.state.cwd
            right = self.with_redirects(right_node, redirects, feed)
            return self.joined(left, operator, right, before)
        if body is not None and body.type == "pipeline":
            return self.redirected_pipeline(body, redirects, feed)
        if body is not None and body.type == "redirected_statement":
            inner = body.child_by_field_name("body")
            own = [c for c in body.children if c.is_named and (inner is None or c.id != inner.id)]
            return self.with_redirects(inner, own + redirects, feed)
        found = read_redirections(redirects, self.words)
        if body is not None and body.type == "command":
            return self.command(body, feed, found)
        if found.arguments:
            raise Opaque("words behind the redirection of a compound command")
        taken = self.words.taken()
        place = self.state.cwd
        outcome = Outcome(NEUTRAL) if body is None else self.statement(body, feed or found.feeds)
        return self.continued(found.applied(outcome, place).add(taken), found)

    def redirected_pipeline(self, body: Node, redirects: list[Node], feed: bool) -> Outcome:
        stages = [c for c in body.children if c.is_named and c.type != "comment"]
        total = self.in_subshell(stages[0], feed)
        for stage in stages[1:-1]:
            total = piped(total, self.in_subshell(stage, True))
        last = stages[-1]
        return piped(total, self.apart(lambda: self.with_redirects(last, redirects, True)))

    def continued(self, outcome: Outcome, found: Redirections) -> Outcome:
        """What stands behind a here-document's mark on its line: more stages, or ``&&`` and a
        command.
        """
        for stage in found.stages:
            outcome = piped(outcome, self.in_subshell(stage, True))
        for operator, node in found.following:
            before = self.state.cwd
            outcome = self.joined(outcome, operator, self.statement(node), before)
        return outcome

    # Simple commands -------------------------------------------------------------------------

    def command(self, node: Node, feed: bool, found: Redirections | None = None) -> Outcome:
        argv: list[str] = []
        inner: list[Node] = []
        words = self.words
        for child in node.children:
            kind = child.type
            if kind == "word" or kind == "number":
                argv += words.word(child)
            elif kind == "command_name":
                argv += words.words(child.children[0])
            elif kind == "variable_assignment":
                self.assign(child)
            elif kind in _REDIRECTS:
                inner.append(child)
            elif child.is_named:
                argv += words.words(child)
            elif kind not in ("$", "\n") and kind not in _BARE_TOKENS:
                raise Opaque(f"shell syntax that is not followed: {kind}")
            elif kind in _BARE_TOKENS:
                argv.append(kind)
        if inner:
            found = found or Redirections()
            found.merge(read_redirections(inner, words))
        own = words.taken()
        if found is None:
            outcome = run(argv, self.state, feed)
            return outcome.add(own) if own.kinds else outcome
        place = self.state.cwd
        try:
            outcome = run(argv + found.arguments, self.state, feed or found.feeds)
        except Opaque as verdict:
            outcome = opaque(str(verdict))
        return self.continued(found.applied(outcome, place).add(own), found)

    def assign(self, node: Node) -> None:
        """An assignment: its value may run a substitution, its name may change what programs do."""
        name, _, value = self.text(node).partition("=")
        self.words.scan(node)
        check_assignment(name.rstrip("+"), value.strip("'\""))

    def assignments(self, node: Node, feed: bool) -> Outcome:
        nodes = [node] if node.type == "variable_assignment" else node.children
        for child in nodes:
            if child.type == "variable_assignment":
                self.assign(child)
        outcome = shell_state(self.state.keeps_changes).add(self.words.taken())
        outcome.sure = len(outcome.kinds) == 1
        return outcome

    def declaration(self, node: Node, feed: bool) -> Outcome:
        for child in node.children:
            if child.type == "variable_assignment":
                self.assign(child)
            elif child.is_named:
                if self.text(child) in ("-f", "-F", "-xf", "-fx"):
                    raise Opaque("functions of the shell")
                self.words.scan(child)
        outcome = shell_state(self.state.keeps_changes).add(self.words.taken())
        outcome.sure = len(outcome.kinds) == 1
        return outcome

    def test_command(self, node: Node, feed: bool) -> Outcome:
        outcome = Outcome(NEUTRAL)
        self.words.scan(node)
        outcome.add(self.words.taken())
        self.file_tests(node, outcome)
        return outcome

    def file_tests(self, node: Node, outcome: Outcome, depth: int = 0) -> None:
        if depth > _MAX_DEPTH:
            raise Opaque("nested too deep")
        children = node.children
        for index, child in enumerate(children):
            operator = self.text(child)
            if child.type == "test_operator" or operator in ("-nt", "-ot", "-ef"):
                around = []
                if operator in _FILE_TESTS and index + 1 < len(children):
                    around = [children[index + 1]]
                elif operator in ("-nt", "-ot", "-ef") and 0 < index < len(children) - 1:
                    around = [children[index - 1], children[index + 1]]
                for operand in around:
                    for word in self.words.words(operand):
                        read_status(outcome, self.state.cwd, word)
            elif child.is_named:
                self.file_tests(child, outcome, depth + 1)

    def substitution(self, node: Node) -> Outcome:
        """What runs inside ``$(…)``, backquotes or ``<(…)``: none of it is printed as it is."""
        saved, self.words = self.words, WordReader(self.source, self.substitution)
        if self.depth > _MAX_DEPTH:
            raise Opaque("nested too deep")
        self.depth += 1
        try:
            return self.apart(lambda: self.sequence(node.children[1:-1])).hide()
        finally:
            self.depth -= 1
            self.words = saved

    def function(self, node: Node, feed: bool) -> Outcome:
        return opaque("a function of the shell")


_PUNCTUATION = frozenset(
    (";", ";;", "\n", "&", "do", "done", "then", "{", "}", "(", ")", ";&", ";;&")
)
_REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
_BARE_TOKENS = frozenset(("=", "==", "=~", "-", "+"))
_PARTS = frozenset(("do_group", "else_clause", "elif_clause", "case_item"))
_LOOPS = frozenset(("for_statement", "c_style_for_statement", "while_statement"))

_STATEMENTS: dict[str, Callable[[Walker, Node, bool], Outcome]] = {
    "c_style_for_statement": Walker.branches,
    "case_statement": Walker.branches,
    "command": Walker.command,
    "compound_statement": Walker.group,
    "declaration_command": Walker.declaration,
    "for_statement": Walker.branches,
    "function_definition": Walker.function,
    "if_statement": Walker.branches,
    "list": Walker.and_or,
    "negated_command": Walker.negated,
    "pipeline": Walker.pipeline,
    "program": Walker.children,
    "redirected_statement": Walker.redirected,
    "subshell": Walker.subshell,
    "test_command": Walker.test_command,
    "unset_command": Walker.declaration,
    "variable_assignment": Walker.assignments,
    "variable_assignments": Walker.assignments,
    "while_statement": Walker.branches,
}
