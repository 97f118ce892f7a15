"""What calls of a fixture expect of themselves, in scripts and in native traces."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from refetch.api import check
from refetch.model.errors import FixtureError, InputError, RefetchError
from refetch.model.finding import Finding
from refetch.model.trace import Trace
from refetch.replay import ReplayResult, replay_fixture
from refetch.replay.fixtures import decode_fixture

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "fixtures.md").read_text("utf-8")


def judge(trace: Trace) -> Sequence[Finding]:
    return check(trace).findings


def replayed(data: str) -> ReplayResult:
    return replay_fixture(decode_fixture(data.encode(), "f"), None, judge)


def told(result: ReplayResult) -> tuple[list[str], list[str], list[str]]:
    """Codes that are matched, new, vanished."""
    return (
        [finding.code for finding in result.matched],
        [finding.code for finding in result.new],
        [item.code for item in result.vanished],
    )


def look(path: str = "a", **fields: Any) -> dict[str, Any]:
    return {"tool": "read_file", "args": {"path": path}, **fields}


def script(*turns: list[dict[str, Any]], **fields: Any) -> str:
    steps = [*({"toolCalls": turn} for turn in turns), {"final": ""}]
    world = {"files": {"a": "1", "b": "2"}}
    return json.dumps({"name": "f", "world": world, "steps": steps, **fields})


@pytest.mark.parametrize("text", re.findall(r"```jsonl?\n(.*?)```", PAGE, re.DOTALL))
def test_the_fixtures_of_the_page(text: str) -> None:
    assert told(replayed(text)) == (["RF003"], [], [])
    without = re.sub(r', "expect": "[^"]+"', "", text)
    assert told(replayed(without)) == ([], ["RF003"], [])


@pytest.mark.parametrize("word", ["RF003", "rf003", "stale-refetch", ["RF003"]])
def test_a_repeat_that_is_expected(word: str | list[str]) -> None:
    assert replayed(script([look()], [look(expect=word)])).passed


@pytest.mark.parametrize(
    ("turns", "found"),
    [
        # another rule, another call, another number of times
        ([[look()], [look(expect="RF001")]], ([], ["RF003"], ["RF001"])),
        ([[look(expect="RF003")], [look()]], ([], ["RF003"], ["RF003"])),
        ([[look()], [look(expect=["RF003", "RF003"])]], (["RF003"], [], ["RF003"])),
        ([[look()], [look(expect="RF003")], [look()]], (["RF003"], ["RF003"], [])),
        ([[look()], [look("b", expect="RF003")]], ([], [], ["RF003"])),
        ([[look()], [look(expect=[])]], ([], ["RF003"], [])),
        ([[look(), look(expect="RF001")], [look(expect="RF003")]], (["RF001", "RF003"], [], [])),
    ],
)
def test_only_what_a_call_names(turns: Any, found: tuple[list[str], ...]) -> None:
    result = replayed(script(*turns))
    assert told(result) == found
    assert result.passed == (not found[1] and not found[2])


def test_calls_are_told_apart_from_attempts_of_the_harness() -> None:
    world = {"searches": {"x": {"results": ["a"], "failures": 1}}}
    search = {"tool": "search", "args": {"query": "x"}}
    text = script([search], [{**search, "expect": "RF003"}], world=world)
    result = replayed(text)
    assert any(call.origin == "harness-retry" for call in result.trace.calls)
    assert told(result) == (["RF003"], [], [])


def test_a_list_and_calls_together() -> None:
    listed = [{"code": "RF003", "repeat": 2}]
    turns = ([look()], [look(expect="RF003")], [look()])
    assert replayed(script(*turns, expect=listed)).passed
    assert told(replayed(script(*turns, expect=[]))) == (["RF003"], ["RF003"], [])
    other = [{"code": "RF003", "first": 0, "repeat": 2}]
    assert told(replayed(script(*turns, expect=other)))[1:] == (["RF003"], ["RF003"])


def test_an_agent_may_do_what_is_expected_and_need_not() -> None:
    fixture = decode_fixture(script([look()], [look(expect="RF003")]).encode(), "f")

    def again(task: str, tools: Any) -> None:
        tools["read_file"]({"path": "a"})
        tools["read_file"]({"path": "a"})

    def worse(task: str, tools: Any) -> None:
        tools["read_file"]({"path": "b"})
        tools["read_file"]({"path": "b"})

    assert replay_fixture(fixture, again, judge).passed
    assert replay_fixture(fixture, lambda task, tools: None, judge).passed
    assert not replay_fixture(fixture, worse, judge).passed


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("stale-refetsh", "no rule 'stale-refetsh'; did you mean stale-refetch?"),
        ("RF0", "'RF0' is no single rule about repeats, as RF003 is"),
        ("RF004", "'RF004' is no single rule"),
        ("loop", "'loop' is no single rule"),
        ("", "'' is no single rule"),
        ("RF001,RF003", "is no single rule"),
    ],
)
def test_words_that_no_repeat_can_break(word: str, message: str) -> None:
    with pytest.raises(FixtureError, match=re.escape(message)) as caught:
        replayed(script([look()], [look(expect=word)]))
    assert isinstance(caught.value, InputError)
    assert caught.value.path == "$.steps[1].toolCalls[0].expect"


def native(*calls: dict[str, Any]) -> str:
    header = {
        "refetch": 1,
        "run": "n",
        "tools": {"read": {"mutates": False, "resource": "file:{path}"}},
    }
    rows = [{"type": "call", "name": "read", "args": {"path": "a"}, "ok": True, **c} for c in calls]
    return "\n".join(json.dumps(row) for row in (header, *rows))


def test_a_native_trace_with_contexts_and_calls_of_others() -> None:
    text = native(
        {"seq": 0, "turn": 1},
        {"seq": 1, "turn": 1, "context": "sub", "expect": "RF103"},
        {"seq": 5, "turn": 2, "origin": "user"},
        {"seq": 7, "turn": 3, "expect": ["stale-refetch"]},
    )
    assert told(replayed(text)) == (["RF103", "RF003"], [], [])
    assert decode_fixture(text.encode(), "f").name == "n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (native({"seq": "x", "turn": 1}), "f:2"),
        (native({"seq": 0, "turn": 1, "expect": "RF9"}), "no rule 'RF9'"),
        (native({"seq": 0, "turn": 1, "expect": 5}), "$.steps[0].toolCalls[0].expect"),
        ('{"refetch": 99, "run": "n"}', "99"),
    ],
)
def test_native_traces_that_are_broken(text: str, words: str) -> None:
    with pytest.raises(RefetchError, match=re.escape(words)):
        replayed(text)
