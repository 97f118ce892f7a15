"""Programs that print a file or part of it, filters, and listings of directories."""

from __future__ import annotations

import re

from refetch.effects.shell.call import Call, Region
from refetch.effects.shell.effect import READS, VOLATILE
from refetch.effects.shell.options import Parsed
from refetch.effects.shell.outcome import FILTERS, NARROWS, PASSES, Opaque, Outcome
from refetch.effects.shell.words import Glob, Pipe, stage_text

# ``cat -s`` leaves out lines, ``cat -A`` shows line ends, tabs and odd bytes that a plain view does
# not, ``less +/x`` starts elsewhere: no plain view of the lines any more.
_CHANGES_CONTENT = frozenset(
    """-s -A -v -E -T -e -t --squeeze-blank --show-all --show-nonprinting --show-ends
    --show-tabs""".split()
)

_SEED = frozenset(("--random-source",))
_CLOCK = re.compile(r"(?<![.\w])now\b")


def content(call: Call) -> Outcome:
    """``cat`` and its kind: whole files, whatever numbers are printed."""
    parsed = call.parse()
    outcome = Outcome(READS, stage=call.stage(parsed.operands))
    acts = call.apply_acts(parsed, outcome)
    view, region = "content", None
    if call.name == "cat" and parsed.has(_CHANGES_CONTENT):
        view = f"matches:{outcome.stage}"
    elif "lines" in acts:
        region = _line_range(parsed)
        view = "content" if region else f"matches:{outcome.stage}"
    pages = [word for word in parsed.operands if not word.startswith("+")]
    if len(pages) < len(parsed.operands):
        outcome.waits = "+F" in parsed.operands
        if outcome.waits:
            outcome.kinds.add(VOLATILE)
        view = f"matches:{outcome.stage}"
    for path in pages:
        call.add_read(outcome, path, view, region)
    if call.piped and (not pages or "-" in pages):
        outcome.intake = PASSES if view == "content" and region is None else FILTERS
    if not outcome.reads:
        outcome.kinds = {"neutral"}
    return outcome


def _line_range(parsed: Parsed) -> Region:
    """``bat --line-range 10:20``; several or relative ranges are no simple region."""
    ranges = parsed.values("-r", "--line-range")
    if len(ranges) != 1:
        return None
    low, colon, high = ranges[0].partition(":")
    if colon and (low.isdigit() or not low) and (high.isdigit() or not high):
        return ("line", int(low or 1), int(high) if high else None)
    return None


def head(call: Call) -> Outcome:
    """``head``: the first lines or bytes."""
    return _end_of_file(call, "head")


def tail(call: Call) -> Outcome:
    """``tail``: the last lines, or those from a line on; ``-f`` waits for more."""
    if call.args and call.args[0].startswith("+") and call.args[0][1:].isdigit():
        call.args = ["-n", call.args[0], *call.args[1:]]
    return _end_of_file(call, "tail")


def _end_of_file(call: Call, side: str) -> Outcome:
    parsed = call.parse()
    outcome = Outcome(READS, stage=call.stage(parsed.operands))
    call.apply_acts(parsed, outcome)
    cut, region = _amount(parsed, side)
    view = "content" if region else f"matches:{outcome.stage}"
    for path in parsed.operands:
        call.add_read(outcome, path, view, region)
    if call.piped and (not parsed.operands or "-" in parsed.operands):
        outcome.intake = NARROWS if cut else FILTERS
        outcome.cut = cut
    if not outcome.reads:
        outcome.kinds = {"neutral"}
    return outcome


def _amount(parsed: Parsed, side: str) -> tuple[tuple[str | int, ...], Region]:
    """The cut of an input and the region of a file that the options ask for."""
    unit, amount = "lines", "10"
    for name, value in parsed.options:
        if name in ("-n", "--lines", "-#"):
            unit, amount = "lines", (value or "").removesuffix("f")
        elif name in ("-c", "--bytes"):
            unit, amount = "bytes", value or ""
    sign, digits = (amount[:1], amount[1:]) if amount[:1] in "+-" else ("", amount)
    if not digits.isdigit():
        return (), None
    count = int(digits)
    if side == "head":
        if unit == "bytes":
            return (), None if sign == "-" else ("head-bytes", count)
        if sign == "-":
            return (), ("head-lines-but", count)
        return ("head", count), ("line", 1, count)
    if unit == "bytes":
        return (), ("from-byte", count) if sign == "+" else ("tail-bytes", count)
    if sign == "+":
        return ("from", max(count, 1)), ("line", max(count, 1), None)
    return ("tail", count), ("tail", count)


def filtered(call: Call) -> Outcome:
    """A program whose output is a function of its input and its options."""
    spec = call.spec
    parsed = call.parse()
    operands = parsed.operands
    pattern, paths, output = _roles(call, parsed)
    outcome = Outcome(READS, stage=call.stage(paths))
    acts = call.apply_acts(parsed, outcome)
    words = [call.name, *_option_words(call, operands), *pattern]
    if spec.view and not paths and not call.piped:
        paths = []
    view = f"{spec.view}:{_tail(words)}" if spec.view else f"matches:{stage_text(words)}"
    for path in paths:
        if "modify" in acts:
            outcome.write(call.file(path), "modify")
        elif "tree" in acts:
            outcome.read(call.file_or_tree(path), call.view(view, path))
        else:
            call.add_read(outcome, path, view)
    if output is not None:
        call.add_write(outcome, output)
    if (spec.chance and not parsed.has(_SEED)) or (spec.clock and any(map(_CLOCK.search, pattern))):
        outcome.kinds.add(VOLATILE)
    if "modify" in acts and not paths:
        raise Opaque(f"{call.name} in place without a file")
    if call.piped and (not paths or "-" in paths):
        outcome.intake = FILTERS
    if not outcome.reads:
        outcome.kinds = (outcome.kinds - {READS}) or {"neutral"}
    return outcome


def _roles(call: Call, parsed: Parsed) -> tuple[list[str], list[str], str | None]:
    """The pattern, the files and the output file among the operands."""
    operands, roles = parsed.operands, call.spec.operands
    if roles == "pattern files" and operands and not parsed.has(call.spec.pattern_given):
        skipped = 2 if operands[0] in ("eval", "e", "eval-all", "ea") and call.name == "yq" else 1
        return operands[:skipped], operands[skipped:], None
    if roles == "file output":
        if any(isinstance(word, Glob | Pipe) for word in operands):
            raise Opaque(
                f"{call.name} writes its second operand, and a pattern hides which that is"
            )
        return [], operands[:1], operands[1] if len(operands) > 1 else None
    if roles == "none":
        return operands, [], None
    return [], operands, None


def _option_words(call: Call, operands: list[str]) -> list[str]:
    """The arguments that are no operands, in their order."""
    left = list(operands)
    words: list[str] = []
    for word in reversed(call.args):
        if left and word is left[-1]:
            left.pop()
        else:
            words.append(word)
    return words[::-1]


def _tail(words: list[str]) -> str:
    return stage_text(words[1:])


def listing(call: Call) -> Outcome:
    """``ls`` and its kind: names, or names with details, of directories or files."""
    spec = call.spec
    parsed = call.parse()
    outcome = Outcome(READS)
    acts = call.apply_acts(parsed, outcome)
    base = "listing" if "details" in acts else spec.view
    options = _option_words(call, parsed.operands)
    outcome.stage = stage_text([call.name, *options])
    view = f"{base}:{outcome.stage}"
    deep = spec.recursive_default or parsed.has(spec.recursive)
    for path in parsed.operands or (["."] if spec.operands == "directories" else []):
        if isinstance(path, Pipe):
            continue
        resource = call.tree(path) if deep else call.file(path)
        outcome.read(resource, call.view(view, path))
    if not outcome.reads:
        outcome.kinds = {"neutral"}
    return outcome
