"""Test runners, linters and type checkers: they read everything and, by themselves, write only
caches.
"""

from __future__ import annotations

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import EVERYTHING, TESTS
from refetch.effects.shell.options import Parsed, acts
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.words import stage_text

# A long option with one of these words rewrites sources or expectations, whatever the tool.
_WRITING_WORDS = frozenset(
    """fix write update overwrite accept bless regenerate regen generate record rewrite inplace
    autofix autocorrect
    correct apply save install init export dump create edit format-code approve""".split()
)
# Options in which such a word means something else, or nothing is written.
_HARMLESS = frozenset(
    """--fix-dry-run --format --init-hook --init-file --no-fix --exit-non-zero-on-fix --show-fixes
    --fixable --unfixable
    --fixtures --fixtures-per-test --no-write --write-caches --no-update --create-db
    --generate-members
    --fix-type --exit-zero --record-mode-none --no-install --export-traces-off
    --init_hook""".split()
)
_OUTPUT_OPTIONS = frozenset(
    """--output-file --outputfile --outputFile --output_file --junit-xml --junitxml --junit-file
    --report-file
    --xunit-file --out-file --outfile --json-file --log-output --output-path --result-file
    --results-file
    --test-results-output""".split()
)


def test_outcome(stage: str) -> Outcome:
    """What any test runner does."""
    outcome = Outcome(TESTS, stage=stage)
    outcome.read(EVERYTHING, f"tests:{stage}")
    return outcome


def refuse_writing_options(words: list[str]) -> None:
    """Raises where an option says that sources or expected results are rewritten."""
    for word in words:
        if not word.startswith("--") or len(word) == 2:
            continue
        name, equals, value = word.partition("=")
        if name in _HARMLESS or name.startswith("--no-") or value in ("false", "none", "off", "0"):
            continue
        parts = name[2:].replace("_", "-").lower().split("-")
        if not _WRITING_WORDS.isdisjoint(parts) or _camel_writes(name):
            raise Opaque(f"{name} rewrites files")
        if name in _OUTPUT_OPTIONS and not equals:
            # Its file is the next word; tools that declare the option have taken it before.
            raise Opaque(f"{name} writes a file that the table does not know")


def _camel_writes(name: str) -> bool:
    return any(w in name for w in ("updateSnapshot", "writeBaseline", "fixTypes", "updateBaseline"))


def tests(call: Call) -> Outcome:
    """A runner or linter of the table; some are harmless only with a checking option."""
    spec = call.spec
    parsed = call.parse()
    outcome = test_outcome(call.stage())
    met = call.apply_acts(parsed, outcome)
    if "report" in met:
        _coverage_report(call, parsed, outcome)
    if "coverage" in met:
        outcome.write(call.tree("coverage"), "any")
    if "needs" in spec.acts.values() and "needs" not in met:
        raise Opaque(f"{call.name} without a checking option rewrites files")
    if "wait" in spec.acts.values() and parsed.operands[:1] in (["watch"], ["dev"]):
        outcome.waits = True
    elif call.name == "vitest" and parsed.operands[:1] not in (
        ["run"],
        ["related"],
        ["list"],
        ["bench"],
    ):
        outcome.waits = outcome.waits or not parsed.has(frozenset(("--run",)))
    declared = {name for act, name, _ in acts(parsed, spec) if act in ("write", "tree")}
    refuse_writing_options(
        [
            name if value is None else f"{name}={value}"
            for name, value in parsed.options
            if name not in declared
        ]
    )
    return outcome


def _coverage_report(call: Call, parsed: Parsed, outcome: Outcome) -> None:
    """``--cov-report html:dir``: the kinds other than term write a file or a folder."""
    for value in parsed.values("--cov-report"):
        kind, _, place = value.partition(":")
        if kind in ("html", "annotate"):
            outcome.write(call.tree(place or "htmlcov"))
        elif kind in ("xml", "json", "lcov"):
            outcome.write(call.file(place or f"coverage.{kind}"))
        elif kind not in ("term", "term-missing", ""):
            raise Opaque("--cov-report of a kind that the table does not know")


def test_script(script: str, args: list[str]) -> Outcome:
    """A script of the project whose name says that it runs the tests."""
    refuse_writing_options(args)
    for word in args:
        if word in ("-u", "-w", "-i"):
            raise Opaque(f"{script} {word}")
    return test_outcome(stage_text([script, *args]))


def goals(call: Call) -> Outcome:
    """Maven and Gradle: tests if every goal is one that tests or checks."""
    known = frozenset(call.spec.view.split())
    parsed = call.parse()
    outcome = test_outcome(call.stage())
    call.apply_acts(parsed, outcome)
    wanted = [
        word.rsplit(":", 1)[-1] if word.startswith(":") or call.name.startswith("gradle") else word
        for word in parsed.operands
    ]
    if not wanted or any(word not in known for word in wanted):
        raise Opaque("a build may write anything")
    refuse_writing_options([name for name, _ in parsed.options])
    return outcome
