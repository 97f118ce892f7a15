"""Programs that run the rest of their words: timeout, sudo, env, nohup, npx."""

from __future__ import annotations

import re

from refetch.effects.shell.call import Call, neutral
from refetch.effects.shell.effect import TESTS, VOLATILE
from refetch.effects.shell.options import parse_options
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.session import check_assignment
from refetch.effects.shell.words import Unresolved

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def wrapper(call: Call) -> Outcome:
    """The wrapped command, with what the wrapper's own options add."""
    spec = call.spec
    parsed = parse_options(call.args, spec, leading=True)
    outer = Outcome()
    met = call.apply_acts(parsed, outer)
    if "neutral" in met:
        return neutral()
    rest = call.args[parsed.end :]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if spec.assignments:
        while rest and _ASSIGNMENT.match(rest[0]):
            name, _, value = rest[0].partition("=")
            check_assignment(name, value)
            rest = rest[1:]
    rest = rest[spec.skip :]
    if not rest:
        return outer if outer.writes else neutral()
    outcome = call.run(rest).add(outer)
    if "background" in spec.acts.values():
        outcome.background = True
    if call.name in ("watch", "gwatch"):
        outcome.waits = True
        outcome.kinds.add(VOLATILE)
    return outcome


def runner(call: Call) -> Outcome:
    """``npx TOOL``: followed only for test runners and linters, since anything else gets
    installed.
    """
    parsed = parse_options(call.args, call.spec, leading=True)
    call.apply_acts(parsed, Outcome())
    return run_tool(call, call.args[parsed.end :])


def run_tool(call: Call, words: list[str]) -> Outcome:
    """A tool of the project's packages; ``tool@version`` is the tool."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words or isinstance(words[0], Unresolved):
        raise Opaque(f"{call.name} without a tool that is named")
    name = words[0]
    if "@" in name[1:] and not name.startswith("@"):
        name = name.partition("@")[0]
    outcome = call.run([name, *words[1:]])
    if TESTS not in outcome.kinds and "neutral" not in outcome.kinds:
        raise Opaque(f"{call.name} {name}")
    return outcome
