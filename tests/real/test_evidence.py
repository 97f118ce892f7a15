"""docs/evidence.md lists what the program finds on the handed traces, no more and no less."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.real.listing import listing

from refetch.model import RunReport, Trace

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"
Judged = list[tuple[Trace, RunReport]]
lists = listing()


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("level", ["flag", "advice"])
def test_the_page_lists_every_finding_and_no_other(level: str, judged: Judged, page: str) -> None:
    found = Counter(row for row in lists.facts_of(judged) if row.level == level)
    named = Counter(row for row in lists.rows_of(page) if row.level == level)
    assert found, "nothing was found at all"
    assert named - found == Counter(), "rows of the page that are no longer found"
    assert found - named == Counter(), "findings without a row: run scripts/list_findings.py"


def test_every_row_has_a_verdict_and_a_reason(page: str) -> None:
    for row, (verdict, why) in lists.verdicts(page).items():
        assert verdict in {"right", "doubtful", "wrong"}, row
        assert len(why) > 5, row


def test_no_flag_is_wrong(page: str) -> None:
    wrong = [r for r, (v, _) in lists.verdicts(page).items() if r.level == "flag" and v != "right"]
    assert wrong == []


def test_the_numbers_of_the_page(judged: Judged, page: str) -> None:
    findings = [finding for _, report in judged for finding in report.findings]
    flags = sum(finding.level == "flag" for finding in findings)
    again = sum(finding.code == "RF005" for finding in findings)
    calls = sum(report.calls for _, report in judged)
    verdicts = Counter(v for r, (v, _) in lists.verdicts(page).items() if r.level == "advice")
    text = " ".join(page.split())
    for claim in (
        f"{flags} flags in {len(judged)} traces with {calls:,} calls; none of them is wrong.",
        f"{len(findings) - flags} findings are advice, in {verdicts.total()} rows: "
        f"{verdicts['right']} right, {verdicts['doubtful']} doubtful, {verdicts['wrong']} wrong.",
        f"**RF005** ({again} findings)",
    ):
        assert claim in text


def test_nothing_of_the_traces_but_names_is_on_the_page(page: str) -> None:
    for trace_of_a_machine in ("/Users/", "/home/", "/testbed", "C:\\"):
        assert trace_of_a_machine not in page
