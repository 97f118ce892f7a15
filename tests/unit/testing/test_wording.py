"""Texts about tool calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.model.finding import CallRef, Finding, RunReport
from refetch.testing.wording import (
    call_text,
    counts_text,
    failure_text,
    finding_line,
    headline,
    pair_lines,
)


def ref(raw_key: str, name: str = "read", turn: int = 1, **more: Any) -> CallRef:
    return CallRef(seq=0, turn=turn, name=name, raw_key=raw_key, **more)


def pair(first: CallRef, repeat: CallRef, level: str = "flag") -> Finding:
    return Finding("RF003", "stale-refetch", level, first=first, repeat=repeat, message="why")


def report(**by_tool: int) -> RunReport:
    calls = sum(by_tool.values())
    return RunReport("r", "-", "native", "recorded", "recorded", calls, calls, by_tool, [], [])


@pytest.mark.parametrize(
    ("raw_key", "text"),
    [
        ('read({"path":"a.py"})', 'read(path="a.py")'),
        ('read({"path":"a.py","lines":[1, 2],"n":5.0})', 'read(path="a.py", lines=[1, 2], n=5.0)'),
        ("read({})", "read()"),
        ('read({"n":12345678901234567890})', "read(n=12345678901234567890)"),
        ('read({"n":5e0})', "read(n=5e0)"),
        ("read(null)", "read(null)"),
        ("read(not json)", "read(not json)"),
        ("read([1,2])", "read([1,2])"),
        ('read({"a":"\\u001b[31m"})', 'read(a="\\u001b[31m")'),
        ('read({"a":"\x1b"})', 'read({"a":"\\x1b"})'),
        ("read(\ud800)", "read(\\ud800)"),
        ("", "read()"),
    ],
)
def test_call_text(raw_key: str, text: str) -> None:
    assert call_text(ref(raw_key)) == text


def test_long_argument_is_cut() -> None:
    shown = call_text(ref('read({"a":"' + "x" * 500 + '"})'))
    assert shown.endswith("x…)")
    assert len(shown) < 80


@given(st.text(), st.text())
def test_call_text_is_one_printable_line(name: str, sent: str) -> None:
    text = call_text(ref(f"{name}({sent})", name))
    assert "\n" not in text
    assert text.encode("utf-8")


def test_calls_that_read_alike_are_shown_once() -> None:
    assert pair_lines(pair(ref("read({})", turn=1), ref("read({})", turn=4))) == [
        "turn 4: read()",
        "why",
    ]


def test_calls_of_two_agents_are_shown_both() -> None:
    lines = pair_lines(pair(ref("read({})"), ref("read({})", context="helper")))
    assert lines == ["turn 1 of helper: read()", "turn 1: read(), the earlier call", "why"]


def test_difference_behind_the_cut_is_shown() -> None:
    same = "x" * 100
    lines = pair_lines(pair(ref(f'read({{"a":"{same}1"}})'), ref(f'read({{"a":"{same}2"}})')))
    assert '2")' in lines[0]
    assert '1"), the earlier call' in lines[1]


@pytest.mark.parametrize(
    ("findings", "text"),
    [
        ([], "nothing redundant"),
        ([pair(ref(""), ref(""))], "1 redundant call"),
        ([pair(ref(""), ref(""))] * 2, "2 redundant calls"),
        ([pair(ref(""), ref(""), "advice")], "1 finding at advice level"),
        ([Finding("RF004", "call-budget", "flag", limit=5, actual=9)], "9 calls for a budget of 5"),
        (
            [
                pair(ref(""), ref("")),
                Finding("RF004", "call-budget", "flag", limit=0, actual=1),
                Finding("RF004", "call-budget", "flag", kind="read", limit=1, actual=2),
            ],
            "1 redundant call, 1 call for a budget of 0, and 2 calls of read for a budget of 1",
        ),
    ],
)
def test_headline(findings: list[Finding], text: str) -> None:
    assert headline(findings) == text


def test_many_findings_and_tools_are_counted() -> None:
    findings = [pair(ref("read({})"), ref("read({})"))] * 25
    text = failure_text(report(**{f"tool{n}": 1 for n in range(30)}), findings)
    assert text.count("stale-refetch") == 20
    assert "and 5 more" in text
    assert text.endswith("tool19 1, and 10 tools more")


def test_advice_says_so() -> None:
    advice = pair(ref("read({})"), ref("read({})"), "advice")
    assert "stale-refetch (advice)  turn 1: read()" in failure_text(report(read=2), [advice])
    assert finding_line(advice) == "RF003 stale-refetch (advice): turn 1: read(); why"


def test_counts() -> None:
    assert counts_text({"search": 2, "read": 4}, {"read": 2}) == "search 2, read 4 (budget 2)"
    assert counts_text({}) == ""
