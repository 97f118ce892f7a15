"""Every repeat of a real trace ends in one finding or stands in the ledger with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.real.listing import listing

from refetch.effects.resolve import Resolver, arguments
from refetch.keys import UnreadableArguments, decode_json, normalized_key
from refetch.model import RunReport, Trace
from refetch.model.trace import Call

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"
Judged = list[tuple[Trace, RunReport]]
lists = listing()


def ends_of(report: RunReport) -> Counter[int]:
    """How many call-level verdicts each repeat has, by seq; one is right."""
    ends = Counter(f.repeat.seq for f in report.findings if f.repeat is not None)
    ends.update(a.repeat.seq for a in report.acquitted)
    return ends


def key_of(call: Call) -> str | None:
    """The normalized key, or None for arguments that were not recorded or are no JSON."""
    if not call.has_args:
        return None
    try:
        sent = call.raw_args.encode() if call.raw_args is not None else bytes(call.args)
        return normalized_key(call.name, decode_json(sent) if sent.strip() else None)
    except UnreadableArguments:
        return None


def rereads(judged: Judged) -> Iterator[tuple[Trace, RunReport, int]]:
    for trace, report in judged:
        if trace.format == "claude-code":
            for seq in lists.rereads(trace):
                yield trace, report, seq


def test_a_repeat_by_normalized_key_has_exactly_one_verdict(judged: Judged) -> None:
    repeats = 0
    for trace, report in judged:
        ends, seen = ends_of(report), set[str]()
        for call in trace.calls:
            key = key_of(call)
            if key in seen:
                repeats += 1
                assert ends[call.seq] == 1, (trace.source, trace.run, call.seq, ends[call.seq])
            if key is not None:
                seen.add(key)
    assert repeats > 500


def test_a_second_read_of_a_resource_has_exactly_one_verdict(judged: Judged) -> None:
    again = 0
    for trace, report in judged:
        ends, resolver, seen = ends_of(report), Resolver(trace), set[str]()
        for call in trace.calls:
            read = {access.resource for access in resolver.resolve(call).reads}
            if read & seen:
                again += 1
                assert ends[call.seq] == 1, (trace.source, trace.run, call.seq, ends[call.seq])
            seen |= read
    assert again > 1000


def test_no_call_has_two_verdicts(judged: Judged) -> None:
    for trace, report in judged:
        assert [s for s, n in ends_of(report).items() if n > 1] == [], (trace.source, trace.run)


def test_a_verdict_names_two_calls_of_the_trace(judged: Judged) -> None:
    for trace, report in judged:
        known = {call.seq for call in trace.calls}
        pairs = [(a.first, a.repeat) for a in report.acquitted]
        pairs += [(f.first, f.repeat) for f in report.findings if f.first and f.repeat]
        for first, repeat in pairs:
            assert {first.seq, repeat.seq} <= known
            assert first.seq != repeat.seq


def test_each_reread_by_path_is_a_finding_or_in_the_ledger(judged: Judged) -> None:
    counted = 0
    for trace, report, seq in rereads(judged):
        counted += 1
        assert ends_of(report)[seq] == 1, (trace.source, seq)
    assert counted > 200


def test_a_reread_in_the_ledger_has_a_reason(judged: Judged) -> None:
    for trace, report, seq in rereads(judged):
        for acquittal in report.acquitted:
            if acquittal.repeat.seq == seq:
                assert acquittal.reasons, (trace.source, seq)
                assert acquittal.reason == acquittal.reasons[0]


def test_a_reread_after_an_edit_of_its_path_is_never_flagged(judged: Judged) -> None:
    """The judge's own words are not asked: the calls between the two reads are."""
    for trace, report in judged:
        if trace.format != "claude-code":
            continue
        place = {call.seq: index for index, call in enumerate(trace.calls)}
        for flag in report.flags:
            if flag.first is None or flag.repeat is None or flag.repeat.name != "Read":
                continue
            first, repeat = place[flag.first.seq], place[flag.repeat.seq]
            path = arguments(trace.calls[repeat])["file_path"]
            for call in trace.calls[first + 1 : repeat]:
                if call.name in {"Edit", "Write", "MultiEdit"} and call.status == "ok":
                    assert arguments(call)["file_path"] != path, (trace.source, call.seq)


def test_the_page_counts_the_rereads_of_each_session(judged: Judged) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = list(lists.reread_rows(judged))
    assert [line for line in page.splitlines() if line in set(rows)] == rows
    total = sum(1 for _ in rereads(judged))
    found = sum(
        any(f.repeat is not None and f.repeat.seq == seq for f in report.findings)
        for _, report, seq in rereads(judged)
    )
    claim = f"There are {total}: {found} are findings, {total - found} stand in the ledger"
    assert claim in " ".join(page.split())
