"""Options of a simple command, split as getopt does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refetch.effects.shell.table import Spec


class Parsed:
    """Options as (name, value) in order, and the operands; ``end`` is where a leading parse
    stopped.
    """

    __slots__ = ("end", "operands", "options")

    def __init__(self) -> None:
        self.options: list[tuple[str, str | None]] = []
        self.operands: list[str] = []
        self.end = 0

    def has(self, names: frozenset[str]) -> bool:
        """Whether one of the options was given."""
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        """The values of the options of these names."""
        return [value for name, value in self.options if name in names and value is not None]


def parse_options(args: list[str], spec: Spec, *, leading: bool = False) -> Parsed:
    """Splits arguments into options and operands.

    ``spec.value`` names the options that take the next word, ``spec.attached`` those that take
    only the
    rest of their own word; with ``spec.single`` a dash begins one long name (``-out=x``); with
    ``spec.number`` ``-20`` is the option ``-#``. ``leading`` stops at the first operand.
    """
    parsed = Parsed()
    position = 0
    count = len(args)
    while position < count:
        word = args[position]
        position += 1
        if len(word) < 2 or word[0] != "-":
            if leading:
                position -= 1
                break
            parsed.operands.append(word)
            continue
        if word == "--":
            if not leading:
                parsed.operands += args[position:]
                position = count
            break
        if word[1] == "-" or spec.single:
            position = _long(word, args, position, spec, parsed)
        elif spec.number and word[1].isdigit():
            parsed.options.append(("-#", word[1:]))
        else:
            position = _cluster(word, args, position, spec, parsed)
    parsed.end = position
    return parsed


def _long(word: str, args: list[str], position: int, spec: Spec, parsed: Parsed) -> int:
    name, equals, value = word.partition("=")
    if equals:
        parsed.options.append((name, value))
    elif name in spec.value and position < len(args):
        parsed.options.append((name, args[position]))
        position += 1
        if name in spec.value2 and position < len(args):
            position += 1
    else:
        parsed.options.append((name, None))
    return position


def _cluster(word: str, args: list[str], position: int, spec: Spec, parsed: Parsed) -> int:
    for index in range(1, len(word)):
        name = "-" + word[index]
        rest = word[index + 1 :]
        if name in spec.attached:
            parsed.options.append((name, rest))
            return position
        if name in spec.value:
            if rest:
                parsed.options.append((name, rest))
            elif position < len(args):
                parsed.options.append((name, args[position]))
                position += 1
            else:
                parsed.options.append((name, None))
            return position
        parsed.options.append((name, None))
    return position


def acts(parsed: Parsed, spec: Spec) -> Iterator[tuple[str, str, str | None]]:
    """The options with a meaning of their own, as (act, name, value).

    GNU tools accept any unambiguous beginning of a long option, so ``--outp`` means ``--output``.
    """
    if not spec.acts:
        return
    for name, value in parsed.options:
        act = spec.acts.get(name)
        if act is None and name.startswith("--") and len(name) > 3 and name not in spec.known:
            act = next((a for full, a in spec.acts.items() if full.startswith(name)), None)
        if act is not None:
            yield act, name, value
