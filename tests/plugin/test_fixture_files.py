"""Fixture files as tests: which are collected, when they pass, what they say when they do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refetch.api import check
from refetch.replay import capture, run_fixture

pytest_plugins = ["pytester"]

Write = Callable[..., Path]

EXPECT: list[dict[str, Any]] = [
    {"code": "RF001", "first": 0, "repeat": 1},
    {"code": "RF003", "first": 2, "repeat": 3},
]
INI_OPTIONS = '[tool.pytest.ini_options]\nrefetch_fixtures = ["traces"]\n'
NATIVE = '[tool.pytest]\nrefetch_fixtures = ["traces"]\n'
INI = "[pytest]\nrefetch_fixtures = traces\n"

needs_native = pytest.mark.skipif(
    pytest.version_tuple < (9,), reason="[tool.pytest] is read from pytest 9 on"
)


@pytest.fixture
def configured(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose folder `traces` holds fixtures."""
    pytester.makeini(INI)
    return pytester


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", INI_OPTIONS),
        pytest.param("pyproject.toml", NATIVE, marks=needs_native),
        pytest.param("pytest.toml", NATIVE.replace("tool.", ""), marks=needs_native),
        ("pytest.ini", INI),
    ],
)
def test_every_way_to_configure(
    pytester: pytest.Pytester, write_fixture: Write, name: str, text: str
) -> None:
    (pytester.path / name).write_text(text)
    write_fixture("traces/agent.json", expect=EXPECT)
    write_fixture("elsewhere/other.json", expect=[])
    result = pytester.runpytest_inprocess("-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["traces/agent.json::agent PASSED*"])


def test_native_traces_are_fixtures_and_other_lines_are_not(configured: pytest.Pytester) -> None:
    rows: list[dict[str, Any]] = [
        {"refetch": 1, "run": "n", "tools": {"read": {"mutates": False, "resource": "x:1"}}},
        {"type": "call", "seq": 0, "turn": 1, "name": "read", "ok": True, "args": {}},
        {"type": "call", "seq": 1, "turn": 2, "name": "read", "ok": True, "args": {}},
    ]
    folder = configured.mkdir("traces")
    (folder / "flagged.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rows[2]["expect"] = "stale-refetch"
    (folder / "expected.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "data.jsonl").write_text('{"a": 1}\n{"b": 2}\n')
    (folder / "empty.jsonl").write_text("")
    result = configured.runpytest_inprocess("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["traces/expected.jsonl::n PASSED*"])
    result.stdout.fnmatch_lines(["traces/flagged.jsonl: 1 finding new"])


def test_a_call_that_is_meant_to_be_redundant(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    twice: dict[str, Any] = {"tool": "search", "args": {"query": "config"}}
    steps = [{"toolCalls": [twice, {**twice, "expect": "RF001"}]}, {"final": "done"}]
    write_fixture("traces/agent.json", steps=steps)
    configured.runpytest_inprocess().assert_outcomes(passed=1)


@needs_native
def test_wrong_type_in_the_native_table_is_told(
    pytester: pytest.Pytester, write_fixture: Write
) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\nrefetch_fixtures = "traces"\n')
    write_fixture("traces/agent.json", expect=EXPECT)
    result = pytester.runpytest_subprocess()
    assert result.ret != 0
    assert "refetch_fixtures" in result.stderr.str() + result.stdout.str()


def test_option_on_the_command_line(pytester: pytest.Pytester, write_fixture: Write) -> None:
    write_fixture("traces/agent.json", expect=EXPECT)
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    pytester.runpytest_inprocess("--refetch-fixtures=traces").assert_outcomes(passed=2)
    named = pytester.runpytest_inprocess(
        "--refetch-fixtures=traces", "test_option_on_the_command_line.py"
    )
    named.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("traces", ["a", "b"]),
        ("traces/*.json", ["a"]),
        ("**/good", ["b"]),
        ("tra*", ["a", "b"]),
        ("traces/a.json", ["a"]),
        ("traces/a.json traces/good", ["a", "b"]),
    ],
)
def test_folders_and_globs(
    pytester: pytest.Pytester, write_fixture: Write, pattern: str, names: list[str]
) -> None:
    pytester.makeini(f"[pytest]\nrefetch_fixtures = {pattern}\n")
    write_fixture("traces/a.json", expect=EXPECT)
    write_fixture("traces/good/b.json", expect=EXPECT)
    (pytester.path / "traces/notes.txt").write_text("no fixture")
    items, _ = pytester.inline_genitems()
    assert [item.name for item in items] == names


def test_folder_outside_of_testpaths_belongs_to_a_run_without_paths(
    pytester: pytest.Pytester, write_fixture: Write
) -> None:
    pytester.makeini("[pytest]\ntestpaths = tests\nrefetch_fixtures = traces tests/traces\n")
    write_fixture("traces/a.json", expect=EXPECT)
    write_fixture("tests/traces/b.json", expect=EXPECT)
    (pytester.path / "tests/test_it.py").write_text("def test_it(): pass\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=3)
    pytester.runpytest_inprocess("tests").assert_outcomes(passed=2)
    pytester.runpytest_subprocess("-n", "2").assert_outcomes(passed=3)


def test_missing_folder_is_a_warning(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrefetch_fixtures = tracse\n")
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*refetch_fixtures: nothing at *tracse"])


def test_impossible_pattern_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrefetch_fixtures = **traces/**b\n")
    result = pytester.runpytest_inprocess()
    if result.ret == pytest.ExitCode.USAGE_ERROR:  # newer Pythons know what to do with it
        result.stderr.fnmatch_lines(["ERROR: refetch_fixtures: *"])
    else:
        result.stdout.fnmatch_lines(["*refetch_fixtures: nothing at *"])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a run", "a run"), ("a::b", "a:b"), ("\x1b[31mred", "\\x1b[31mred"), ("", "file")],
)
def test_item_has_the_fixtures_own_name(
    configured: pytest.Pytester, write_fixture: Write, name: str, shown: str
) -> None:
    write_fixture("traces/file.json", name=name, expect=EXPECT)
    items, _ = configured.inline_genitems()
    assert [item.nodeid for item in items] == [f"traces/file.json::{shown}"]


def test_one_item_can_be_chosen(configured: pytest.Pytester, write_fixture: Write) -> None:
    write_fixture("traces/a.json", name="first", expect=EXPECT)
    write_fixture("traces/b.json", name="second", expect=EXPECT)
    configured.runpytest_inprocess("traces/b.json::second").assert_outcomes(passed=1)
    configured.runpytest_inprocess("-k", "first").assert_outcomes(passed=1, deselected=1)


def test_new_and_vanished_findings_are_told(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    gone = {"code": "RF002", "rule": "semantic-duplicate", "first": 2, "repeat": 3}
    write_fixture("traces/agent.json", expect=[EXPECT[0], gone])
    result = configured.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    at = result.outlines.index("traces/agent.json: 1 finding new, 1 finding vanished")
    assert result.outlines[at : at + 5] == [
        "traces/agent.json: 1 finding new, 1 finding vanished",
        '  new       RF003 stale-refetch, turn 3: read_file(path="config.json")',
        "            already answered in turn 2; nothing wrote file:config.json in between; "
        "results equal",
        "  vanished  RF002 semantic-duplicate, calls #2 and #3",
        "look closer: refetch replay traces/agent.json",
    ]


def test_without_expectations_nothing_may_be_flagged(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    write_fixture("traces/bad.json")
    write_fixture("traces/good.json", steps=[{"final": "at once"}])
    configured.runpytest_inprocess().assert_outcomes(passed=1, failed=1)


def test_captured_run_passes_and_turns_red_with_its_expectations(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    trace = run_fixture("sloppy").trace
    captured = capture(trace, check(trace).findings)
    write_fixture("traces/sloppy.json", **captured)
    configured.runpytest_inprocess().assert_outcomes(passed=1)
    del captured["expect"][1]
    write_fixture("traces/sloppy.json", **captured)
    result = configured.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*RF002 semantic-duplicate, turn 2: get_user(id="5")'])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "traces/broken.json: *"),
        (
            '{"name": "a", "steps": [{"final": 1}, {"toolCalls": 5}]}',
            "*: $.steps[[]1].toolCalls: *",
        ),
        ('{"name": "a"}', "traces/broken.json: *steps*"),
        ("[]", "traces/broken.json: $: expected *"),
        ("", "traces/broken.json: *"),
        ("\udcff", "traces/broken.json: *"),
        ("[" * 100_000, "traces/broken.json: *"),
    ],
)
def test_unreadable_file_is_a_collection_error(
    configured: pytest.Pytester, write_fixture: Write, text: str, told: str
) -> None:
    write_fixture("traces/good.json", expect=EXPECT)
    broken = write_fixture("traces/broken.json")
    broken.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = configured.runpytest_inprocess("--continue-on-collection-errors")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR collecting traces/broken.json*", told])
    assert "Traceback" not in result.stdout.str()
    assert "pytest_refetch.py" not in result.stdout.str()


def test_script_that_runs_out_is_told_without_a_traceback(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    write_fixture("traces/short.json", steps=[{"toolCalls": []}, {"toolCalls": []}])
    result = configured.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert "pytest_refetch.py" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*short*step*"])


def test_files_that_nobody_named_stay_untouched(
    pytester: pytest.Pytester, write_fixture: Write
) -> None:
    write_fixture("traces/agent.json")
    (pytester.path / "data.json").write_text("{")
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_properties_and_no_summary(
    configured: pytest.Pytester,
    write_fixture: Write,
    properties: Callable[[pytest.HookRecorder], dict[str, list[Any]]],
) -> None:
    write_fixture("traces/agent.json", expect=EXPECT)
    found = properties(configured.inline_run())
    assert (found["refetch_new"], found["refetch_vanished"]) == ([0], [0])
    assert [line.split()[0] for line in found["refetch_finding"]] == ["RF001", "RF003"]
    assert "with redundant calls" not in configured.runpytest_inprocess().stdout.str()


def test_under_xdist_and_in_junit_xml(configured: pytest.Pytester, write_fixture: Write) -> None:
    for number in range(4):
        write_fixture(f"traces/t{number}.json", expect=EXPECT if number else [])
    result = configured.runpytest_subprocess("-n", "2", "--junitxml=out.xml")
    result.assert_outcomes(passed=3, failed=1)
    xml = (configured.path / "out.xml").read_text()
    assert 'name="t0"' in xml
    assert "2 findings new" in xml


def test_captured_fixtures_go_to_the_configured_folder(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    write_fixture("traces/agent.json", expect=EXPECT)
    configured.makepyfile("""
        from refetch.testing import assert_no_redundant_calls

        def test_agent(run_fixture):
            assert_no_redundant_calls(run_fixture("sloppy"))
    """)
    result = configured.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*refetch capture * -o traces/test_agent.json"])


def test_kept_trace_of_a_failure_becomes_a_passing_fixture(
    configured: pytest.Pytester, write_fixture: Write
) -> None:
    from refetch.model.native import read_native

    write_fixture("traces/agent.json", expect=EXPECT)
    configured.makepyfile("""
        from refetch.testing import assert_no_redundant_calls

        def test_agent(run_fixture):
            assert_no_redundant_calls(run_fixture("sloppy"))
    """)
    configured.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
    kept = configured.path / ".pytest_cache/d/refetch/test_agent.jsonl"
    trace = read_native(kept.read_bytes(), "kept")
    (configured.path / "traces/test_agent.json").write_text(
        json.dumps(capture(trace, check(trace).findings))
    )
    configured.runpytest_inprocess("traces").assert_outcomes(passed=2)
