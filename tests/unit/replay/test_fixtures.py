"""Fixtures: what ships with the package, and what a broken file is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refetch import api
from refetch.keys import raw_key
from refetch.model import FixtureError, InputError, Trace
from refetch.replay import load_fixture, packaged_fixtures, run_fixture
from refetch.replay.fixtures import decode_fixture


def found(trace: Trace, code: str) -> list[tuple[Any, ...]]:
    return [
        (f.first.seq, f.repeat.seq, f.first.turn, f.repeat.turn)
        for f in api.check(trace).findings
        if f.code == code and f.first is not None and f.repeat is not None
    ]


def test_three_fixtures_ship_with_the_package() -> None:
    assert packaged_fixtures() == ["sloppy", "transient-retry", "well-behaved"]


def test_well_behaved() -> None:
    run = run_fixture("well-behaved")
    report = api.check(run.trace)
    assert (report.calls, report.attempts, report.findings) == (4, 4, [])
    assert run.answer == "The timeout is now 60 seconds."


def test_sloppy() -> None:
    trace = run_fixture("sloppy").trace
    report = api.check(trace)
    assert (report.calls, len(report.findings)) == (9, 3)
    assert found(trace, "RF001") == [(0, 1, 1, 1)]
    assert found(trace, "RF002") == [(3, 4, 2, 2)]
    assert found(trace, "RF003") == [(2, 5, 2, 3)]
    keys = [(call.name, bytes(call.args).decode()) for call in trace.calls[3:5]]
    assert keys == [("get_user", '{"id":5}'), ("get_user", '{"id":"5"}')]
    assert (
        raw_key("get_user", None, json.loads(bytes(trace.calls[4].args))) == 'get_user({"id":"5"})'
    )
    assert [c.turn for c in trace.calls] == [1, 1, 2, 2, 2, 3, 4, 5, 6]
    assert [c.resource for c in trace.calls][:4] == [
        "search:config",
        "search:config",
        "file:config.json",
        "user:5",
    ]


def test_transient_retry() -> None:
    run = run_fixture("transient-retry")
    report = api.check(run.trace)
    assert (report.calls, report.attempts, report.findings) == (1, 2, [])
    assert [(c.status, c.origin) for c in run.trace.calls] == [
        ("error", "model"),
        ("ok", "harness-retry"),
    ]


def test_a_fixture_gives_the_same_run_every_time() -> None:
    first, second = run_fixture("sloppy").trace, run_fixture("sloppy").trace
    plain = [(c.seq, c.turn, bytes(c.args), c.result_hash) for c in first.calls]
    assert plain == [(c.seq, c.turn, bytes(c.args), c.result_hash) for c in second.calls]


def test_the_world_is_all_there_is(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    secret = tmp_path / "outside.txt"
    secret.write_text("secret")
    calls = [
        {"tool": "read_file", "args": {"path": str(secret)}},
        {"tool": "write_file", "args": {"path": str(tmp_path / "new"), "content": "x"}},
        {"tool": "read_file", "args": {"path": str(tmp_path / "new")}},
        {"tool": "get_user", "args": {"id": 9}},
        {"tool": "search", "args": {"query": "none"}},
        {"tool": "read_file", "args": {}},
    ]
    path.write_text(json.dumps({"name": "w", "steps": [{"toolCalls": calls}, {"final": 1}]}))
    run = run_fixture(path)
    assert [c.status for c in run.trace.calls] == ["error", "ok", "ok", "error", "ok", "error"]
    assert not (tmp_path / "new").exists()
    assert run.answer == 1


def test_tools_of_a_fixture_declare_metadata(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    steps = [{"toolCalls": [{"tool": "search", "args": {"query": "a"}}]}, {"final": ""}]
    tools = {"search": {"volatile": True, "resource": "index:{query}"}, "other": {"mutates": True}}
    path.write_text(json.dumps({"name": "t", "steps": steps, "tools": tools}))
    run = run_fixture(path)
    assert run.trace.tools["search"] == {
        "mutates": False,
        "volatile": True,
        "resource": "index:{query}",
    }


def test_a_script_without_an_end_is_a_fixture_error(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text('{"name": "endless", "steps": [{"toolCalls": []}]}')
    with pytest.raises(FixtureError, match="endless: the model was asked for step 2"):
        run_fixture(path)


@pytest.mark.parametrize(
    ("text", "path", "expected", "found"),
    [
        ('{"name": 5, "steps": []}', "$.name", "str", "int"),
        ('{"name": "a"}', None, None, None),
        ('{"name": "a", "steps": {}}', "$.steps", "array", "object"),
        (
            '{"name": "a", "steps": [{"toolCalls": [{"tool": 1}]}]}',
            "$.steps[0].toolCalls[0].tool",
            "str",
            "int",
        ),
        ('{"name": "a", "steps": [{}]}', "$.steps[0]", "`toolCalls` or `final`", "neither"),
        (
            '{"name": "a", "steps": [{"toolCalls": [], "final": 1}]}',
            "$.steps[0]",
            "`toolCalls` or `final`",
            "both",
        ),
        (
            '{"name": "a", "steps": [], "world": {"files": {"a": 1}}}',
            "$.world.files[...]",
            "str",
            "int",
        ),
        ('{"name": "a", "steps": [], "world": {"file": {}}}', "$.world", None, None),
        ('{"name": "a", "steps": [], "tools": {"t": {"mutate": 1}}}', "$.tools['t']", None, None),
        ('{"name": "a", "steps": [], "expect": [{}]}', "$.expect[0]", None, None),
        (
            '{"name": "a", "steps": [], "recorded": {"contexts": {"s": [{}]}}}',
            "$.recorded.contexts['s'][0]",
            "`toolCalls` or `final`",
            "neither",
        ),
        ("[", "$", "object", "array"),
        ("", None, "a JSON fixture", None),
    ],
)
def test_a_broken_fixture_says_where_and_what(
    text: str, path: str | None, expected: str | None, found: str | None
) -> None:
    with pytest.raises(FixtureError) as caught:
        decode_fixture(text.encode(), "f.json")
    error = caught.value
    assert isinstance(error, InputError)
    assert str(error).startswith("f.json: ")
    if path is not None:
        assert error.path == path
        assert path in str(error)
    if expected is not None:
        assert error.expected == expected
    if found is not None:
        assert error.found == found


def test_an_absent_fixture_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="packaged ones: sloppy, transient-retry, well-behaved"):
        load_fixture("slopy")
    with pytest.raises(FixtureError, match="no such fixture"):
        load_fixture(tmp_path)


def test_unknown_fields_are_ignored() -> None:
    fixture = decode_fixture(b'{"name": "a", "steps": [], "later": 1}', "f.json")
    assert fixture.name == "a"
