"""Searching for a pattern: grep and the recursive searchers."""

from __future__ import annotations

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import READS
from refetch.effects.shell.outcome import FILTERS, Outcome
from refetch.effects.shell.words import Pipe


def grep(call: Call) -> Outcome:
    """The pattern first (unless an option gave it), then files; no file: the input, or the tree."""
    spec = call.spec
    parsed = call.parse()
    outcome = Outcome(READS)
    acts = call.apply_acts(parsed, outcome)
    operands = parsed.operands
    paths = operands if parsed.has(spec.pattern_given) else operands[1:]
    outcome.stage = call.stage(paths)
    view = f"{'names' if 'names' in acts else 'matches'}:{outcome.stage}"
    deep = spec.recursive_default or parsed.has(spec.recursive) or call.name == "rgrep"
    if paths:
        for path in paths:
            if path == "-":
                outcome.intake = FILTERS
            elif deep and not isinstance(path, Pipe):
                outcome.read(call.file_or_tree(path), call.view(view, path))
            else:
                call.add_read(outcome, path, view)
    elif call.piped and (spec.recursive_default or not deep):
        outcome.intake = FILTERS
    elif deep:
        outcome.read(call.tree("."), view)
    if not outcome.reads and outcome.intake != FILTERS:
        outcome.kinds = {"neutral"}
    elif not outcome.reads:
        outcome.kinds = set()
    return outcome
