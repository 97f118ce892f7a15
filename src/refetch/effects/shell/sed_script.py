"""sed: which lines a script prints, and whether it writes, reads or runs anything else."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import READS
from refetch.effects.shell.options import Parsed
from refetch.effects.shell.outcome import FILTERS, NARROWS, Cut, Opaque, Outcome
from refetch.effects.shell.words import quoted

_KNOWN = frozenset(
    """-n --quiet --silent -e --expression -f --file -E -r --regexp-extended -s --separate -u
    --unbuffered -z --null-data -l --line-length -i --in-place --posix --debug --sandbox -b
    --binary -a
    --follow-symlinks""".split()
)
_QUIET = frozenset(("-n", "--quiet", "--silent"))
_IN_PLACE = frozenset(("-i", "--in-place"))
_PLAIN = frozenset("=dDgGhHnNpPxzF")
_NUMBERED = frozenset("lqQL")
_LABELLED = frozenset("btT")


class Step(NamedTuple):
    """One sed command: its addresses as text ("" where absent), its letter, the file it names."""

    first: str
    last: str
    negated: bool
    letter: str
    file: str


def sed(call: Call) -> Outcome:
    """``sed`` prints a function of its input; ``-i`` and ``w`` write, ``e`` runs commands."""
    parsed = call.parse()
    unknown = [name for name, _ in parsed.options if name not in _KNOWN]
    if unknown or parsed.has(frozenset(("-f", "--file"))):
        raise Opaque(f"sed {unknown[0] if unknown else '-f'}")
    script, paths = _script(parsed)
    steps = steps_of(script)
    outcome = Outcome(READS, stage=call.stage(paths))
    for step in steps:
        if step.letter in "wW" and step.file:
            call.add_write(outcome, step.file)
        elif step.letter in "rR":
            call.add_read(outcome, step.file, "input:sed")
    if parsed.has(_IN_PLACE):
        return _in_place(call, outcome, parsed, paths)
    cut = _printed(steps, quiet=parsed.has(_QUIET))
    view = _view(parsed, script)
    for path in paths:
        if cut:
            for low, high in zip(cut[1::2], cut[2::2], strict=True):
                region = ("tail", 1) if low == 0 else ("line", low, high or None)
                call.add_read(outcome, path, "content", region)
        else:
            call.add_read(outcome, path, view)
    if call.piped and (not paths or "-" in paths):
        outcome.intake = NARROWS if cut else FILTERS
        outcome.cut = cut
    if not outcome.reads:
        outcome.kinds.discard(READS)
        outcome.kinds.add("neutral")
    return outcome


def _in_place(call: Call, outcome: Outcome, parsed: Parsed, paths: list[str]) -> Outcome:
    suffix = next((value for name, value in parsed.options if name in _IN_PLACE), None) or ""
    # BSD sed takes the suffix as the next word (``sed -i '' s/a/b/ f``): an empty script, then the
    # true one.
    outcome.kinds.discard(READS)
    for path in paths:
        outcome.write(call.file(path), "modify")
        if suffix and "*" not in suffix:
            outcome.write(call.file(path + suffix), "any")
    if not paths or "*" in suffix:
        raise Opaque("sed -i without a file that is named")
    return outcome


def _script(parsed: Parsed) -> tuple[str, list[str]]:
    scripts = parsed.values("-e", "--expression")
    if scripts:
        return "\n".join(scripts), parsed.operands
    if not parsed.operands:
        raise Opaque("sed without a script")
    if parsed.operands[0] == "" and len(parsed.operands) > 1:
        return parsed.operands[1], parsed.operands[2:]
    return parsed.operands[0], parsed.operands[1:]


def _view(parsed: Parsed, script: str) -> str:
    others = [
        name + (value or "")
        for name, value in parsed.options
        if name not in _QUIET and name not in ("-e", "--expression")
    ]
    if not parsed.has(_QUIET):
        others.insert(0, "(all lines)")
    return f"sed:{script}{' ' if others else ''}{' '.join(quoted(o) for o in others)}"


def _printed(steps: tuple[Step, ...], *, quiet: bool) -> Cut:
    """("lines", a, b, …) where the script prints just these lines; b 0 is the end, a 0 the last line."""
    if not quiet:
        if (
            len(steps) == 1
            and steps[0].letter == "q"
            and _number(steps[0].first)
            and not steps[0].last
        ):
            return ("lines", 1, int(steps[0].first))
        return ()
    cut: list[str | int] = ["lines"]
    stop = 0
    for step in steps:
        if step.negated:
            return ()
        if step.letter in "qQ" and _number(step.first) and not step.last:
            stop = int(step.first) - (step.letter == "Q")
        elif step.letter == "p":
            bounds = _bounds(step)
            if bounds is None or stop:
                return ()
            cut += bounds
        else:
            return ()
    if len(cut) < 3 or (stop and any(int(high) > stop or high == 0 for high in cut[2::2])):
        return ()
    if any(int(low) <= int(high) for low, high in zip(cut[3::2], cut[2:-2:2], strict=False)):
        return ()
    return tuple(cut)


def _bounds(step: Step) -> tuple[int, int] | None:
    if step.first == "$" and not step.last:
        return 0, 1
    if not _number(step.first):
        return None
    low = int(step.first)
    if step.last == "$":
        return low, 0
    if not step.last:
        return low, low
    if step.last.startswith("+") and _number(step.last[1:]):
        return low, low + int(step.last[1:])
    return (low, max(low, int(step.last))) if _number(step.last) else None


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and text.strip("0") != ""


@lru_cache(maxsize=2048)
def steps_of(script: str) -> tuple[Step, ...]:
    """The commands of a script; raises `Opaque` for ``e`` and for what does not read as sed."""
    return tuple(_Scanner(script).steps())


class _Scanner:
    """Reads a sed script from left to right, as the GNU manual ("sed scripts") describes it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def steps(self) -> list[Step]:
        found: list[Step] = []
        while True:
            self.skip(" \t\n;")
            if not self.peek():
                return found
            step = self.step()
            if step is not None:
                found.append(step)

    def skip(self, chars: str) -> None:
        while self.peek() and self.peek() in chars:
            self.at += 1

    def step(self) -> Step | None:
        first = self.address()
        last = ""
        self.skip(" \t")
        if first and self.peek() == ",":
            self.at += 1
            self.skip(" \t")
            last = self.address()
            if not last:
                raise Opaque("a sed script that is not understood")
        self.skip(" \t")
        negated = self.peek() == "!"
        self.skip("! \t")
        letter = self.peek()
        self.at += 1
        file = self.rest_of(letter)
        if letter in "#}:":
            return None
        if letter == "{":
            # What follows runs only for these lines, so no simple range may be taken from it.
            return Step(first, last, negated, "{", "")
        return Step(first, last, negated, "w" if letter in "sy" and file else letter, file)

    def address(self) -> str:
        start = self.at
        char = self.peek()
        if char and char in "0123456789+~$":
            self.at += 1
            if char != "$":
                self.skip("0123456789~")
        elif char == "/":
            self.at += 1
            self.delimited("/")
            self.skip("IM")
        elif char == "\\":
            self.at += 2
            self.delimited(self.text[self.at - 1 : self.at])
            self.skip("IM")
        return self.text[start : self.at]

    def delimited(self, delimiter: str) -> None:
        """Moves behind the next delimiter that no backslash hides."""
        while (char := self.peek()) != delimiter:
            if not char:
                raise Opaque("a sed script that is not understood")
            self.at += 2 if char == "\\" else 1
        self.at += 1

    def rest_of(self, letter: str) -> str:
        """Reads what belongs to a command letter and returns the file it names."""
        if letter in ("s", "y"):
            delimiter = self.peek()
            if delimiter in ("", "\\", "\n"):
                raise Opaque("a sed script that is not understood")
            self.at += 1
            self.delimited(delimiter)
            self.delimited(delimiter)
            return self.flags() if letter == "s" else ""
        if letter in ("a", "i", "c"):
            self.prose()
        elif letter in ("r", "R", "w", "W"):
            self.skip(" \t")
            return self.line().strip() or self.unreadable()
        elif letter in ("#",):
            self.line()
        elif letter in (":", *_LABELLED):
            while self.peek() and self.peek() not in ";\n}":
                self.at += 1
        elif letter in _NUMBERED:
            self.skip(" \t0123456789")
        elif letter not in _PLAIN and letter not in ("{", "}"):
            self.unreadable()
        return ""

    def unreadable(self) -> str:
        raise Opaque("a sed script that is not understood, or runs commands")

    def flags(self) -> str:
        while (char := self.peek()) and char not in ";\n} \t#":
            self.at += 1
            if char == "w":
                self.skip(" \t")
                return self.line().strip() or self.unreadable()
            if char not in "0123456789gpiImM":
                self.unreadable()
        return ""

    def line(self) -> str:
        start = self.at
        while self.peek() not in ("", "\n"):
            self.at += 1
        return self.text[start : self.at]

    def prose(self) -> None:
        """The text of a, i and c: to the end of a line that no backslash continues."""
        while (char := self.peek()) not in ("", "\n"):
            self.at += 2 if char == "\\" else 1
