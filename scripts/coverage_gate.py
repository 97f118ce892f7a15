"""Fails when a package that decides verdicts is tested too thinly.

Reads the report of ``coverage json`` and asks for 95 % of the lines and, separately, 95 % of the
branches of each package named below. A package that was not measured fails as well: a renamed
folder must not slip out of the gate.

Usage: ``python scripts/coverage_gate.py coverage.json``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

GATED = ("model", "keys", "hygiene", "judge")
REQUIRED_PERCENT = 95.0


def belongs(path: str, package: str) -> bool:
    """Whether a measured file is the module ``refetch/<package>.py`` or lies in that package."""
    inside = path.replace("\\", "/").rpartition("refetch/" + package)[2]
    return inside != path.replace("\\", "/") and (inside == ".py" or inside.startswith("/"))


def percent(covered: int, total: int) -> float:
    """Share in percent; nothing to cover is covered whole."""
    return 100.0 * covered / total if total else 100.0


def shortfalls(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> list[str]:
    """Prints one line a package and returns the reasons to fail."""
    reasons = []
    for package in GATED:
        sums = [file["summary"] for path, file in report["files"].items() if belongs(path, package)]
        if not sums:
            reasons.append(f"refetch.{package}: not measured")
            continue
        for kind, covered, total in (
            ("lines", "covered_lines", "num_statements"),
            ("branches", "covered_branches", "num_branches"),
        ):
            share = percent(sum(s[covered] for s in sums), sum(s[total] for s in sums))
            print(f"refetch.{package}: {share:.1f} % of {kind}")
            if share < REQUIRED_PERCENT:
                reasons.append(f"refetch.{package}: {share:.1f} % of {kind} < {REQUIRED_PERCENT} %")
    return reasons


def main() -> int:
    """Exit 0 when every gated package is covered well enough, 1 otherwise."""
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    reasons = shortfalls(report)
    for reason in reasons:
        print("coverage gate:", reason, file=sys.stderr)
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
