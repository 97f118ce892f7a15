"""Findings in words."""

from __future__ import annotations

from refetch.judge.rules.registry import RULES
from refetch.model.finding import CallRef, Finding
from refetch.reports.look import Look
from refetch.reports.text_findings import REMEDIES, finding_lines


def ref(seq: int, turn: int, context: str = "main") -> CallRef:
    return CallRef(seq, turn, "read", raw_key='read({"path":"a"})', context=context)


def finding(code: str = "RF003", level: str = "flag", **fields: object) -> Finding:
    return Finding(code, "some-rule", level, **fields)  # type: ignore[arg-type]


def test_every_rule_says_what_to_change() -> None:
    assert set(REMEDIES) == {rule.code for rule in RULES}


def test_flags_come_first() -> None:
    found = [
        finding("RF101", "advice", first=ref(0, 1), repeat=ref(1, 2)),
        finding("RF003", "flag", first=ref(0, 1), repeat=ref(2, 3)),
        finding("RF001", "advice", first=ref(0, 1), repeat=ref(3, 4)),
    ]
    heads = [line[:5] for line in finding_lines(found, Look()) if line.startswith("RF")]
    assert heads == ["RF003", "RF001", "RF101"]


def test_contexts_blame_and_other_parts() -> None:
    one = finding(
        "RF103",
        "advice",
        first=ref(0, 4, "sub"),
        repeat=ref(7, 2),
        blame="orchestrator",
        calls=[0, 3],
        message="had it",
        resource="file:a",
    )
    shown = list(finding_lines([one], Look()))
    assert shown[1] == ("RF103 some-rule · file:a · sub turn 4 → main turn 2 · blame: orchestrator")
    assert shown[2] == '  #0 read({"path":"a"})'
    assert shown[3] == '  #7 read({"path":"a"})   had it (declared)'
    assert shown[4] == "     together with #3"


def test_the_models_own_fault_needs_no_saying() -> None:
    one = finding(first=ref(0, 1), repeat=ref(1, 2), blame="model")
    assert "blame" not in "\n".join(finding_lines([one], Look()))


def test_a_second_side_effect_is_said() -> None:
    one = finding("RF001", first=ref(0, 1), repeat=ref(1, 1), side_effect=True)
    assert "turn 1 · a second side effect" in "\n".join(finding_lines([one], Look()))


def test_findings_about_a_run() -> None:
    loop = finding("RF108", "advice", calls=list(range(20)), message="one call, 20 times over")
    shown = list(finding_lines([loop], Look()))
    assert shown[1] == "RF108 some-rule · one call, 20 times over"
    assert shown[2].endswith("#11 … 20 in all")
