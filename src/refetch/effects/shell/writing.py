"""Programs that create, change, copy, move and remove files: they write what they name."""

from __future__ import annotations

import posixpath

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import WORK_TREE, WRITES
from refetch.effects.shell.options import Parsed
from refetch.effects.shell.outcome import PASSES, Opaque, Outcome
from refetch.effects.shell.words import Glob


def write(call: Call) -> Outcome:
    """Every operand is written; with a recursive option everything below it."""
    spec = call.spec
    parsed = call.parse()
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(parsed, outcome)
    paths = parsed.operands
    if spec.operands == "skip out" and not parsed.has(spec.pattern_given):
        paths = paths[1:]
    deep = parsed.has(spec.recursive)
    for path in paths:
        outcome.write(call.file_or_tree(path) if deep else call.file(path), spec.change)
    return _named(outcome, call)


def _named(outcome: Outcome, call: Call) -> Outcome:
    if not outcome.writes:
        raise Opaque(f"{call.name} without a file that is named")
    return outcome


def fixed(call: Call) -> Outcome:
    """A program that writes one place whatever its words are: ``resource`` of its row."""
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(call.parse(), outcome)
    place = call.spec.resource
    if place == "cwd":
        outcome.write(call.tree("."), "create")
    else:
        outcome.write(WORK_TREE if place == "work tree" else place, call.spec.change)
    if call.name == "mktemp" and call.args:
        outcome.write(call.tree("."), "create")
    return outcome


def _targets(call: Call, parsed: Parsed) -> tuple[list[str], list[str]]:
    """Sources and the places they arrive at."""
    operands = parsed.operands
    folder = next(iter(parsed.values("-t", "--target-directory")), None)
    if folder is None:
        if len(operands) < 2:
            raise Opaque(f"{call.name} without a target")
        *sources, folder = operands
        if isinstance(folder, Glob):
            raise Opaque(f"{call.name} to a target that a pattern hides")
        is_folder = (
            len(sources) > 1 or folder.endswith(("/", "/.", "/..")) or folder in (".", "..", "~")
        )
        if not is_folder:
            return sources, [Glob(folder + "/*") if isinstance(sources[0], Glob) else folder]
    else:
        sources = operands
    return sources, [_inside(folder, source) for source in sources]


def _inside(folder: str, source: str) -> str:
    name = posixpath.basename(source.rstrip("/"))
    if isinstance(source, Glob) or name in ("", ".", ".."):
        return Glob(posixpath.join(folder, "*"))
    return posixpath.join(folder, name)


def copy(call: Call) -> Outcome:
    """``cp SOURCE… TARGET``: reads the sources (without printing them), writes the target."""
    parsed = call.parse()
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(parsed, outcome)
    if call.name == "install" and parsed.has(frozenset(("-d", "--directory"))):
        for path in parsed.operands:
            outcome.write(call.file(path), "create")
        return _named(outcome, call)
    sources, targets = _targets(call, parsed)
    deep = parsed.has(call.spec.recursive)
    for source in sources:
        resource = call.file_or_tree(source) if deep else call.file(source)
        outcome.read(resource, call.view("input:copy", source))
    for target in targets:
        outcome.write(call.file_or_tree(target) if deep else call.file(target))
    return outcome


def move(call: Call) -> Outcome:
    """``mv SOURCE… TARGET`` writes both: the source is gone, the target is new."""
    parsed = call.parse()
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(parsed, outcome)
    sources, targets = _targets(call, parsed)
    for index, source in enumerate(sources):
        outcome.write(call.file(source), "remove")
        if index < len(targets):
            outcome.write(call.file(targets[index]))
    return outcome


def link(call: Call) -> Outcome:
    """``ln`` writes the link only; what it points to is a name."""
    parsed = call.parse()
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(parsed, outcome)
    if len(parsed.operands) == 1 and not parsed.values("-t", "--target-directory"):
        parsed.operands.append(".")
    _, targets = _targets(call, parsed)
    for target in targets:
        outcome.write(call.file(target))
    return outcome


def rsync(call: Call) -> Outcome:
    """``rsync SOURCE… TARGET``: a tree is written, unless it is a dry run; another host is
    unknown.
    """
    parsed = call.parse()
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(parsed, outcome)
    operands = parsed.operands
    if len(operands) < 2 or any(":" in word for word in operands):
        raise Opaque("rsync with another host, or without a target")
    for source in operands[:-1]:
        outcome.read(call.file_or_tree(source), call.view("input:copy", source))
    if parsed.has(frozenset(("-n", "--dry-run"))):
        outcome.kinds.discard(WRITES)
        return outcome
    outcome.write(call.tree(operands[-1]))
    return outcome


def tee(call: Call) -> Outcome:
    """``tee`` passes its input on and writes it to what it names."""
    parsed = call.parse()
    outcome = Outcome(stage=call.stage(), intake=PASSES)
    for path in parsed.operands:
        call.add_write(outcome, path)
    if not outcome.writes:
        outcome.kinds.add("neutral")
    return outcome


def dd(call: Call) -> Outcome:
    """``dd if=SOURCE of=TARGET``: without a target it prints."""
    outcome = Outcome(stage=call.stage())
    for word in call.args:
        name, _, value = word.partition("=")
        if name == "if" and value:
            call.add_read(outcome, value, f"input:{outcome.stage}")
        elif name == "of" and value:
            call.add_write(outcome, value)
        elif name not in (
            "bs",
            "ibs",
            "obs",
            "cbs",
            "count",
            "skip",
            "seek",
            "conv",
            "iflag",
            "oflag",
            "status",
        ):
            raise Opaque(f"dd {word}")
    if not outcome.kinds:
        outcome.kinds.add("neutral")
    return outcome
