"""docs/evidence.md says what the program says, and re-reads by path are all accounted for."""

from __future__ import annotations

import re
from pathlib import Path

from refetch.effects.resolve import arguments
from refetch.model import RunReport, Trace

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"
Judged = list[tuple[Trace, RunReport]]
ROW = re.compile(
    r"\| `(?P<file>[^` ]+)(?: \[\d+\])?` \| (?P<first>\d+) → (?P<repeat>\d+)"
    r" \| [^|]+ \| (?P<code>RF\d+) \|"
)
Row = tuple[str, int, int, str]


def listed() -> list[Row]:
    rows = ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return sorted((r["file"], int(r["first"]), int(r["repeat"]), r["code"]) for r in rows)


def test_the_page_lists_every_flag_and_no_other(judged: Judged) -> None:
    found = sorted(
        (Path(trace.source).name, f.first.seq, f.repeat.seq, f.code)
        for trace, report in judged
        for f in report.flags
        if f.first is not None and f.repeat is not None
    )
    assert listed() == found


def test_the_numbers_of_the_page(judged: Judged) -> None:
    calls = sum(report.calls for _, report in judged)
    text = f"{len(listed())} flags in {len(judged)} traces with {calls:,} calls"
    assert text in PAGE.read_text(encoding="utf-8")


def test_every_kind_of_advice_is_counted(judged: Judged) -> None:
    page = PAGE.read_text(encoding="utf-8")
    counts: dict[tuple[str, str], int] = {}
    for trace, report in judged:
        for finding in report.findings:
            if finding.level == "advice":
                key = (Path(trace.source).parent.name, finding.code)
                counts[key] = counts.get(key, 0) + 1
    for (folder, code), count in counts.items():
        assert f"| {folder} | {code} | {count} |" in page


def test_each_reread_of_claude_code_is_a_finding_or_in_the_ledger(judged: Judged) -> None:
    rereads = 0
    for trace, report in judged:
        if trace.format != "claude-code":
            continue
        accounted = {a.repeat.seq for a in report.acquitted}
        accounted |= {f.repeat.seq for f in report.findings if f.repeat is not None}
        seen: set[str] = set()
        for call in trace.calls:
            args = arguments(call) if call.name == "Read" else None
            path = args.get("file_path") if isinstance(args, dict) else None
            if not isinstance(path, str):
                continue
            if path in seen:
                rereads += 1
                assert call.seq in accounted, (trace.source, call.seq, path)
            seen.add(path)
    assert rereads > 200
