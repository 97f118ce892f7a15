"""Prints the tables of docs/evidence.md: what was found, beside the verdict that a reader gave it.

The verdicts and reasons are written by hand in the page and kept; a finding that the page does not
know gets a question mark. The traces stand beside the project (`../shared/traces`).

    python scripts/list_findings.py
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from refetch.api import check
from refetch.effects.resolve import arguments
from refetch.model import Finding, RunReport, Trace
from refetch.readers.open_input import read_paths

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence.md"
SHARED = Path(os.environ.get("REFETCH_SHARED", ROOT.parent / "shared")) / "traces"
HEAD = (
    "| file | calls | turns | rule | level | verdict | why |",
    "|---|---|---|---|---|---|---|",
)
Judged = list[tuple[Trace, RunReport]]


class Facts(NamedTuple):
    """The columns of a row that the program says; the verdict and the reason come after them."""

    file: str
    calls: str
    turns: str
    rule: str
    level: str


def facts_of(judged: Judged) -> list[Facts]:
    """One row for each finding; the changes one run makes again and again share a row."""
    rows: list[Facts] = []
    for (trace, report), file in zip(judged, names(judged), strict=True):
        loops: dict[tuple[str, str], list[Finding]] = {}
        for finding in report.findings:
            if finding.code == "RF005" and finding.repeat is not None:
                loops.setdefault((finding.context, finding.repeat.name), []).append(finding)
            else:
                rows.append(Facts(file, *_one(finding, trace), finding.code, finding.level))
        rows += [Facts(file, *_many(found), "RF005", "advice") for found in loops.values()]
    return sorted(rows, key=lambda row: (row.file.split("/")[1], row.level == "advice"))


def names(judged: Judged) -> list[str]:
    """`traces/FORMAT/NAME` of each trace, with the number of the run where a file holds several."""
    paths = [f"traces/{Path(t.source).parent.name}/{Path(t.source).name}" for t, _ in judged]
    runs, seen = Counter(paths), Counter[str]()
    out = []
    for path in paths:
        out.append(f"{path} [{seen[path]}]" if runs[path] > 1 else path)
        seen[path] += 1
    return out


def _one(finding: Finding, trace: Trace) -> tuple[str, str]:
    if finding.first is not None and finding.repeat is not None:
        first, repeat = finding.first, finding.repeat
        return f"{first.seq} → {repeat.seq}", f"{first.turn} → {repeat.turn}"
    turns = {call.seq: call.turn for call in trace.calls}
    calls = finding.calls or []
    return (
        f"{calls[0]} … {calls[-1]}, {len(calls)} calls",
        f"{turns[calls[0]]} … {turns[calls[-1]]}",
    )


def _many(found: list[Finding]) -> tuple[str, str]:
    first, repeat = found[0].first, found[-1].repeat
    assert first is not None
    assert repeat is not None
    if len(found) == 1:
        return f"{first.seq} → {repeat.seq}", f"{first.turn} → {repeat.turn}"
    return f"{first.seq} … {repeat.seq}, {len(found)} repeats", f"{first.turn} … {repeat.turn}"


def rereads(trace: Trace) -> list[int]:
    """The calls of `Read` whose path an earlier call of the same file had named, by seq."""
    seen: set[str] = set()
    found = []
    for call in trace.calls:
        args = arguments(call) if call.name == "Read" else None
        path = args.get("file_path") if isinstance(args, dict) else None
        if isinstance(path, str):
            if path in seen:
                found.append(call.seq)
            seen.add(path)
    return found


def reread_rows(judged: Judged) -> Iterable[str]:
    """One row for each Claude Code session that reads a path again: how many, and what became."""
    for (trace, report), file in zip(judged, names(judged), strict=True):
        again = set(rereads(trace)) if trace.format == "claude-code" else set()
        if not again:
            continue
        codes = Counter(f.code for f in report.findings if f.repeat and f.repeat.seq in again)
        reasons = Counter(a.reason for a in report.acquitted if a.repeat.seq in again)
        cells = [", ".join(f"{k} {n}" for k, n in sorted(c.items())) for c in (codes, reasons)]
        yield f"| `{file}` | {len(again)} | {cells[0] or '-'} | {cells[1] or '-'} |"


def judged_traces(folder: Path) -> Judged:
    """Every trace of a folder with its report, in the order of the file names."""
    return [(t, check(t)) for loaded in read_paths([str(folder)]) for t in loaded.traces]


def _cells(page: str) -> Iterable[list[str]]:
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 7 and cells[0].startswith("`traces/"):
            yield [cells[0].strip("`"), *cells[1:]]


def rows_of(page: str) -> list[Facts]:
    """What the rows of a page say was found, one for each row."""
    return [Facts(*cells[:5]) for cells in _cells(page)]


def verdicts(page: str) -> dict[Facts, tuple[str, str]]:
    """The verdict and the reason of each row of a page."""
    return {Facts(*cells[:5]): (cells[5], cells[6]) for cells in _cells(page)}


def main() -> None:
    """Print every table, a heading before each."""
    judged = judged_traces(SHARED)
    known = verdicts(PAGE.read_text(encoding="utf-8"))
    group = None
    for row in facts_of(judged):
        heading = f"{row.file.split('/')[1]}, {row.level}"
        if heading != group:
            print("", f"## {heading}", "", *HEAD, sep="\n")
            group = heading
        file, *rest = row
        print(f"| `{file}` | {' | '.join(rest)} | {' | '.join(known.get(row, ('?', '?')))} |")
    print("", *reread_rows(judged), sep="\n")


if __name__ == "__main__":
    main()
