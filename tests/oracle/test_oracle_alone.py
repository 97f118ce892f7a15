"""The oracle itself, against the labelled cases and the founding fixtures."""

from __future__ import annotations

from pathlib import Path

from tests.oracle.facts import raw_key
from tests.oracle.oracle import judge

from refetch.model import CallRef, Finding, Trace
from refetch.testing.cases import read_cases, score


def detect(trace: Trace) -> list[Finding]:
    """The oracle in the shape of a detector."""
    calls = {call.seq: call for call in trace.calls}

    def ref(seq: int) -> CallRef:
        call = calls[seq]
        return CallRef(seq, call.turn, call.name, raw_key=raw_key(call) or "", context=call.context)

    return [
        Finding(v.code, v.code, v.level, first=ref(v.first), repeat=ref(v.repeat))
        for v in judge(trace).values()
        if v.level
    ]


def test_every_labelled_case_is_right_at_flag_level(shared_dir: Path) -> None:
    result = score(read_cases(shared_dir / "cases" / "cases.jsonl"), detect)
    assert result.cases == 81
    assert not result.misses, result.to_text()
