"""The ledger of repeats that were fine."""

from __future__ import annotations

from refetch.reports.batch import Summary, summarize
from refetch.reports.look import Look
from refetch.reports.text_ledger import ledger_lines, recognised_line


def summary(acquitted: dict[str, int], sources: dict[str, int] | None = None) -> Summary:
    sources = sources or {}
    known = sum(n for label, n in sources.items() if label not in ("name", "unknown"))
    return Summary(1, sum(sources.values()), 0, 0, 0, 0, {}, acquitted, known, sources)


def test_nothing_to_say() -> None:
    assert list(ledger_lines(summarize([]), Look())) == []


def test_reasons_in_order() -> None:
    shown = list(ledger_lines(summary({"written-since": 22, "other-region": 1}), Look()))
    assert shown == [
        "repeats that were fine: 23",
        "  written-since 22 · other-region 1     (--why lists them)",
    ]


def test_long_ledgers_are_wrapped() -> None:
    shown = list(ledger_lines(summary({f"reason-{i}": i for i in range(1, 30)}), Look(width=60)))
    assert len(shown) > 3
    assert all(len(line) <= 60 + len("     (--why lists them)") for line in shown)


def test_sources_of_knowledge() -> None:
    sources = {
        "catalogue:claude-code": 5,
        "shell": 3,
        "record": 1,
        "trace": 1,
        "name": 2,
        "unknown": 1,
    }
    assert recognised_line(summary({}, sources)) == (
        "tools recognised: 10 of 13 calls (claude-code catalogue 5, shell reader 3, "
        "declared in the trace 2); 2 guessed from the name, 1 unknown"
    )


def test_many_sources_are_summed() -> None:
    sources = {f"catalogue:mcp:s{i}": 10 - i for i in range(8)}
    line = recognised_line(summary({}, sources))
    assert line.endswith("(mcp:s0 catalogue 10, mcp:s1 catalogue 9, mcp:s2 catalogue 8, "
                         "mcp:s3 catalogue 7, others 18)")  # fmt: skip
