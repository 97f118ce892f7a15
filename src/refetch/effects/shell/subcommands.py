"""Programs whose first words say what they do: npm, cargo, docker, kubectl, gh, the cloud tools."""

from __future__ import annotations

import msgspec

from refetch.effects.shell.call import Call, neutral
from refetch.effects.shell.checks import refuse_writing_options, test_outcome
from refetch.effects.shell.effect import READS, VOLATILE
from refetch.effects.shell.options import Parsed, parse_options
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.table import Rule, Spec
from refetch.effects.shell.wrappers import run_tool


def subcommands(call: Call) -> Outcome:
    """The verdict of the most specific rule; a sub-command without one is opaque."""
    if call.args[:1] and call.args[0].startswith("+") and call.name == "cargo":
        call.args = call.args[1:]
    parsed = call.parse()
    rule = _rule(call, parsed)
    if rule is None or rule.verdict == "opaque":
        raise Opaque(f"{call.name} {' '.join(parsed.operands[:2])}".rstrip())
    if rule.verdict in ("wrap", "runner"):
        return _wrapped(call, rule)
    outcome = _outcome(call, rule)
    met = call.apply_acts(parsed, outcome)
    if rule.verdict == "tests":
        refuse_writing_options([word for word in call.args if word.startswith("--")])
    if "wait" in met:
        outcome.waits = True
    outcome.programs.append(" ".join([call.name, *rule.words]))
    return outcome


def _rule(call: Call, parsed: Parsed) -> Rule | None:
    operands = parsed.operands
    given = {name for name, _ in parsed.options}
    chosen: Rule | None = None
    for rule in (
        *call.spec.sub.get(operands[0] if operands else "", ()),
        *call.spec.sub.get("", ()),
    ):
        words = rule.words
        exact = words[-1:] == (".",)
        if exact:
            words = words[:-1]
        if tuple(operands[: len(words)]) != words or not rule.options <= given:
            continue
        if exact and len(operands) > len(words):
            continue
        if rule.verdict == "opaque" and rule.options:
            return rule
        if chosen is None:
            chosen = rule
    return chosen


def _outcome(call: Call, rule: Rule) -> Outcome:
    stage = call.stage()
    if rule.verdict == "tests":
        return test_outcome(stage)
    if rule.verdict == "neutral":
        return neutral()
    if rule.verdict == "reads":
        outcome = Outcome(READS, stage=stage)
        place = call.spec.resource or "file:**"
        outcome.read(place, call.here(f"matches:{stage}"))
        return outcome
    outcome = Outcome(VOLATILE, stage=stage)
    outcome.poll = rule.verdict in ("poll", "wait")
    outcome.waits = rule.verdict == "wait"
    return outcome


def _wrapped(call: Call, rule: Rule) -> Outcome:
    """``uv run pytest``, ``npm exec jest``: the words behind the sub-command and its options."""
    args = call.args
    if list(args[: len(rule.words)]) != list(rule.words):
        raise Opaque(f"{call.name} with options before {' '.join(rule.words)}")
    if rule.verdict == "runner":
        if call.name == "yarn" and rule.words != ("exec",):
            return run_tool(call, args)
        rest = args[len(rule.words) :]
        while rest and rest[0].startswith("-") and rest[0] != "--":
            if rest[0] not in ("-y", "--yes", "--no-install", "--no", "-s", "--silent"):
                raise Opaque(f"{call.name} {rest[0]}")
            rest = rest[1:]
        return run_tool(call, rest)
    rest = args[len(rule.words) :]
    if call.name == "coverage":
        return _measured(call, rest)
    leading = parse_options(rest, _wrap_grammar(call), leading=True)
    call.apply_acts(leading, Outcome())
    rest = rest[leading.end :]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if not rest:
        raise Opaque(f"{call.name} {' '.join(rule.words)} without a command")
    return call.run(rest)


def _wrap_grammar(call: Call) -> Spec:
    return msgspec.structs.replace(call.spec, value=call.spec.wrap_value)


def _measured(call: Call, words: list[str]) -> Outcome:
    """``coverage run -m pytest``: Python with a module, and its data file."""
    if "-m" not in words:
        raise Opaque("coverage run FILE runs unknown code")
    outcome = call.run(["python", *words[words.index("-m") :]])
    outcome.write(call.file(".coverage"))
    return outcome


def gh(call: Call) -> Outcome:
    """``gh``: ``api`` is a look only as a GET without fields."""
    parsed = call.parse()
    if parsed.operands[:1] == ["api"]:
        method = (parsed.values("-X", "--method") or ["GET"])[-1].upper()
        sends = parsed.has(frozenset(("-f", "--raw-field", "-F", "--field", "--input")))
        explicit = bool(parsed.values("-X", "--method"))
        if method not in ("GET", "HEAD") or (sends and not explicit):
            raise Opaque("gh api that sends")
        if parsed.operands[1:2] == ["graphql"]:
            raise Opaque("gh api graphql")
    return subcommands(call)


_CLOUD_LOOKS = (
    "describe",
    "list",
    "get",
    "ls",
    "show",
    "head",
    "lookup",
    "search",
    "version",
    "info",
    "status",
)
_CLOUD_LOOK_PREFIXES = (
    "describe-",
    "list-",
    "get-",
    "head-",
    "lookup-",
    "search-",
    "show-",
    "batch-get-",
)
_CLOUD_WRITES = frozenset(
    "get-object get-credentials get-job-output get-export get-archive get-sdk get-template-file".split()
)


def cloud(call: Call) -> Outcome:
    """``aws``, ``gcloud``, ``az`` and others: the verb decides; what is no look is opaque."""
    parsed = call.parse()
    words = parsed.operands[:5]
    verb = next(
        (w for w in words[1:4] if w in _CLOUD_LOOKS or w.startswith(_CLOUD_LOOK_PREFIXES)), None
    )
    waits = call.name == "aws" and words[1:2] == ["wait"]
    if words[:1] in (["version"], ["info"], ["ls"]):
        verb = words[0]
    if waits:
        verb = "wait"
    if verb is None or _CLOUD_WRITES & set(words) or not _verb_is_sure(call.name, words, verb):
        raise Opaque(f"{call.name} {' '.join(words[:3])}")
    outcome = Outcome(VOLATILE, stage=call.stage())
    outcome.poll = True
    outcome.waits = waits
    return outcome


def _verb_is_sure(program: str, words: list[str], verb: str) -> bool:
    """Whether the verb stands where this tool has its verb, and is no name of a resource before
    it.
    """
    at = words.index(verb)
    if program == "aws":
        return at == 1
    others = (
        "create",
        "delete",
        "update",
        "set",
        "add",
        "remove",
        "start",
        "stop",
        "run",
        "deploy",
    )
    return not any(word.startswith(others) for word in words[:at]) and at <= 3


def service(call: Call) -> Outcome:
    """``service NAME status`` looks; anything else acts."""
    if call.args[1:2] == ["status"] or call.args == ["--status-all"]:
        outcome = Outcome(VOLATILE, stage=call.stage())
        outcome.poll = True
        return outcome
    raise Opaque("service that acts")
