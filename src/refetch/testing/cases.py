"""Labelled cases: read them, translate them to traces, score a detector, print the score.

`python -m refetch.testing.cases FILE [--detector module:callable]` exits 0 when precision, recall
and `first` are all 1, 1 when they are not, 2 when the file or the detector cannot be used.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from refetch.model import Finding, InputError, RefetchError, Trace, UsageError
from refetch.testing.translate import translate

__all__ = ["Miss", "Score", "main", "read_cases", "score", "translate"]

Detector = Callable[[Trace], Any]
"""Takes a trace, returns findings (or anything that has them as `.findings`)."""

CODES = {
    "exact": "RF001",
    "semantic": "RF002",
    "stale_refetch": "RF003",
    "duplicate_mutation": "RF005",
    "cross_tool": "RF102",
    "cross_agent": "RF103",
    "poll_no_progress": "RF104",
    "repeated_failure": "RF105",
    "harness_duplicate": "RF109",
    "harness_double_execution": "RF109",
    "harness_forced": "RF109",
}
"""The rule that each kind of label stands for."""

FLAG_KINDS = frozenset(("exact", "semantic", "stale_refetch"))


class Miss(msgspec.Struct, frozen=True):
    """One answer that is not the label's.

    `what` is "missed", "false-alarm", "wrong-first", "wrong-kind", "dropped-record" (a flag stands
    on a record that hygiene drops) or "crash".
    """

    case: str
    what: str
    repeat: int | None
    first: int | None
    reason: str


class Score(msgspec.Struct, frozen=True):
    """How a detector did at flag level.

    `expected` counts the labels that had to be flagged, `hits` those that were, `alarms` the flags
    no label allows, `first_right` the hits that also name the right earlier call, `right` the cases
    without any miss.
    """

    cases: int
    right: int
    expected: int
    hits: int
    alarms: int
    first_right: int
    misses: list[Miss]

    @property
    def precision(self) -> float:
        """Share of the flags that a label asks for; 1 where nothing was flagged."""
        flagged = self.hits + self.alarms
        return self.hits / flagged if flagged else 1.0

    @property
    def recall(self) -> float:
        """Share of the labels that were flagged; 1 where there are none."""
        return self.hits / self.expected if self.expected else 1.0

    @property
    def first(self) -> float:
        """Share of the hits whose earlier call is the label's; 1 where there are none."""
        return self.first_right / self.hits if self.hits else 1.0

    @property
    def perfect(self) -> bool:
        """Whether precision, recall and first are all 1, and no case failed in another way."""
        return not self.misses

    def to_text(self) -> str:
        """The figures, then one line for each miss."""
        lines = [
            f"cases {self.right}/{self.cases} right",
            f"precision {self.precision:.3f}  ({self.hits} of {self.hits + self.alarms} flags)",
            f"recall    {self.recall:.3f}  ({self.hits} of {self.expected} labels)",
            f"first     {self.first:.3f}  ({self.first_right} of {self.hits} hits)",
        ]
        lines += [
            f"{m.case}: {m.what} repeat={m.repeat} first={m.first}: {m.reason}" for m in self.misses
        ]
        return "\n".join(lines)


def read_cases(path: str | Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file of cases.

    Raises:
        InputError: the file cannot be read, a line is no JSON object, or a case lacks `id` or
            `trace`.
    """
    source = str(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(source, f"cannot be read ({error.__class__.__name__})") from None
    cases = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            cases.append(_read_case(source, number, line))
    if not cases:
        raise InputError(source, "no case in this file", expected="one JSON object a line")
    return cases


def _read_case(source: str, number: int, line: str) -> dict[str, Any]:
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(source, f"not JSON ({error})", line=number) from None
    shape: dict[str, type] = {"id": str, "trace": list}
    if not isinstance(case, dict):
        found = type(case).__name__
        raise InputError(
            source, "a case is an object", line=number, path="$", expected="object", found=found
        )
    for field, kind in shape.items():
        if not isinstance(case.get(field), kind):
            raise InputError(
                source,
                f"a case needs {field}",
                line=number,
                path=f"$.{field}",
                expected=kind.__name__,
                found=type(case.get(field)).__name__,
            )
    return case


def score(cases: Iterable[dict[str, Any]], detect: Detector | None = None) -> Score:
    """Run a detector over cases and compare its flags with the labels.

    A flag is right when a label asks for its `repeat` at flag level with its kind (or one of
    `accept_kinds`). In a `debatable` case a label that was not flagged, and a flag that is neither
    asked for nor forbidden, count for nothing. A detector that raises fails that case and no other.

    Args:
        cases: as `read_cases` returns them.
        detect: any detector; the judge of this package by default.

    Raises:
        InputError: a case that cannot be translated.
    """
    run = detect or default_detector()
    total = right = expected = hits = alarms = first_right = 0
    misses: list[Miss] = []
    for case in cases:
        total += 1
        trace = translate(case)
        try:
            found = flags_of(run(trace))
        except Exception as error:  # noqa: BLE001, RUF100 - a detector is foreign code
            expected += len(_labels(case))
            misses.append(Miss(case["id"], "crash", None, None, f"{type(error).__name__}: {error}"))
            continue
        result = _compare(case, found)
        expected += result.expected
        hits += result.hits
        alarms += result.alarms
        first_right += result.first_right
        right += not result.misses
        misses += result.misses
    return Score(total, right, expected, hits, alarms, first_right, misses)


def flags_of(answer: Any) -> list[Finding]:
    """The call-level findings at flag level in whatever a detector returned."""
    findings = getattr(answer, "findings", answer)
    return [
        finding
        for finding in findings
        if finding.level == "flag" and finding.first is not None and finding.repeat is not None
    ]


def _labels(case: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {
        entry["repeat"]: entry
        for entry in case.get("expect") or []
        if entry.get("severity", "flag") == "flag" and entry.get("kind") in FLAG_KINDS
    }


def _accepted(case: dict[str, Any], label: dict[str, Any]) -> set[str]:
    kinds = [label["kind"], *(label.get("accept_kinds") or []), *(case.get("accept_kinds") or [])]
    return {CODES[kind] for kind in kinds if kind in CODES}


def _compare(case: dict[str, Any], found: list[Finding]) -> Score:
    name, labels, lenient = case["id"], _labels(case), bool(case.get("debatable"))
    forbidden = {(p["repeat"], p["first"]): p.get("why", "") for p in case.get("must_not") or []}
    dropped = {entry["drop"] for entry in case.get("normalise") or []}
    misses: list[Miss] = []
    met: set[int] = set()
    alarms = first_right = tolerated = 0
    for finding in found:
        assert finding.first is not None
        assert finding.repeat is not None
        repeat, first = finding.repeat.seq, finding.first.seq
        label = labels.get(repeat)
        if {repeat, first} & dropped:
            alarms += 1
            misses.append(Miss(name, "dropped-record", repeat, first, "hygiene drops this record"))
        elif label is None or repeat in met:
            if lenient and (repeat, first) not in forbidden:
                continue
            alarms += 1
            why = forbidden.get((repeat, first), "no label asks for this flag")
            misses.append(Miss(name, "false-alarm", repeat, first, why))
        elif finding.code not in _accepted(case, label):
            alarms += 1
            asked = "/".join(sorted(_accepted(case, label)))
            misses.append(Miss(name, "wrong-kind", repeat, first, f"{finding.code}, not {asked}"))
        else:
            met.add(repeat)
            first_right += label["first"] == first
            if label["first"] != first:
                misses.append(Miss(name, "wrong-first", repeat, first, f"not {label['first']}"))
    for repeat, label in labels.items():
        if repeat in met:
            continue
        if lenient:
            tolerated += 1
        else:
            why = f"{label['kind']} not flagged"
            misses.append(Miss(name, "missed", repeat, label["first"], why))
    return Score(1, 0, len(labels) - tolerated, len(met), alarms, first_right, misses)


def default_detector() -> Detector:
    """The judge of this package. Imported late, so that the suite also runs without it."""
    check: Detector = importlib.import_module("refetch.api").check
    return check


def load_detector(spec: str) -> Detector:
    """Import `module:callable`.

    Raises:
        UsageError: there is no such module or no such callable in it.
    """
    module, _, name = spec.partition(":")
    try:
        found = getattr(importlib.import_module(module), name) if name else None
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise UsageError(f"--detector {spec}: no such callable (expected module:callable)")
    detector: Detector = found
    return detector


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m refetch.testing.cases", description="Score a detector on labelled cases."
    )
    parser.add_argument("file", help="JSON Lines, one case a line")
    parser.add_argument("--detector", help="module:callable taking a trace, returning findings")
    options = parser.parse_args(argv)
    try:
        detect = load_detector(options.detector) if options.detector else default_detector()
        result = score(read_cases(options.file), detect)
    except (RefetchError, ImportError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(result.to_text() + "\n")
    return 0 if result.perfect else 1


if __name__ == "__main__":
    sys.exit(main())
