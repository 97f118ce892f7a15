"""awk: a filter, unless its program runs commands or prints to files."""

from __future__ import annotations

import re

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import READS, VOLATILE
from refetch.effects.shell.outcome import FILTERS, Opaque, Outcome
from refetch.effects.shell.words import is_device

_RUNS = re.compile(r"\bsystem\b|\bgetline\b|(?<!\|)\|(?!\|)|@")
_CHANGES = re.compile(r"\b(?:rand|systime|strftime)\s*\(")
_STATEMENT = re.compile(r"[;{}\n]")
_PRINT = re.compile(r"\bprintf?\b")
_REGEX_MAY_FOLLOW = frozenset("(,{;!~&|=<>+-*%?:\n^")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def awk(call: Call) -> Outcome:
    """Reads its files; ``print > "f"`` writes f, and what can run a command is opaque."""
    parsed = call.parse()
    for name, value in parsed.options:
        if name in ("-i", "--include") and value == "inplace":
            raise Opaque("awk -i inplace")
        if name not in (
            "-F",
            "-v",
            "--field-separator",
            "--assign",
            "--posix",
            "-n",
            "-S",
            "--re-interval",
        ):
            raise Opaque(f"awk {name}")
    if not parsed.operands:
        raise Opaque("awk without a program")
    program, paths = (
        parsed.operands[0],
        [p for p in parsed.operands[1:] if not _ASSIGNMENT.match(p)],
    )
    outcome = Outcome(READS, stage=call.stage(paths))
    for target in redirections(program):
        if not is_device(target):
            call.add_write(outcome, target)
    view = f"awk:{outcome.stage}"
    for path in paths:
        call.add_read(outcome, path, view)
    if _CHANGES.search(program):
        outcome.kinds.add(VOLATILE)
    if call.piped and (not paths or "-" in paths):
        outcome.intake = FILTERS
    if not outcome.reads:
        outcome.kinds = (outcome.kinds - {READS}) or {"neutral"}
    return outcome


def redirections(program: str) -> list[str]:
    """The files that an awk program prints to; raises `Opaque` where it runs or reads anything
    else.
    """
    code, strings = _without_literals(program)
    if _RUNS.search(code):
        raise Opaque("an awk program that runs commands or reads by itself")
    targets: list[str] = []
    for statement in _STATEMENT.split(code):
        printed = _PRINT.search(statement)
        if printed is None:
            continue
        depth = 0
        for at in range(printed.end(), len(statement)):
            char = statement[at]
            depth += (char == "(") - (char == ")")
            if char == ">" and depth <= 0:
                target = statement[at:].lstrip(">").strip()
                if not (target[:1] == "\x00" and target[1:].isdigit()):
                    raise Opaque("an awk program that prints to a file it computes")
                targets.append(strings[int(target[1:])])
                break
    return targets


def _without_literals(program: str) -> tuple[str, list[str]]:
    """The program with strings as ``\\0<number>`` and without comments and regular expressions."""
    out: list[str] = []
    strings: list[str] = []
    at = 0
    significant = "\n"
    word = ""
    while at < len(program):
        char = program[at]
        if char == '"' or (
            char == "/" and (significant in _REGEX_MAY_FOLLOW or word in ("return", "in"))
        ):
            end = _end_of_literal(program, at, char)
            if char == '"':
                out.append(f"\x00{len(strings)}")
                strings.append(program[at + 1 : end])
            significant, word = "0", ""
            at = end + 1
            continue
        if char == "#":
            while at < len(program) and program[at] != "\n":
                at += 1
            continue
        if not char.isspace() or char == "\n":
            word = word + char if char.isalnum() and significant.isalnum() else char
            significant = char
        if char != "\x00":
            out.append(char)
        at += 1
    return "".join(out), strings


def _end_of_literal(program: str, start: int, delimiter: str) -> int:
    at = start + 1
    in_class = False
    while at < len(program):
        char = program[at]
        if char == "\\":
            at += 1
        elif char == "\n":
            break
        elif delimiter == "/" and char == "[":
            in_class = True
        elif delimiter == "/" and char == "]":
            in_class = False
        elif char == delimiter and not in_class:
            return at
        at += 1
    raise Opaque("an awk program that is not understood")
