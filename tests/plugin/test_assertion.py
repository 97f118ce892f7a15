"""`assert_no_redundant_calls` inside pytest: what a person reads, and the trace that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from refetch.model.native import read_native

pytest_plugins = ["pytester"]

SLOPPY_TEST = """
    from pytest_refetch import assert_no_redundant_calls

    def test_agent(run_fixture):
        run = run_fixture("sloppy")
        assert_no_redundant_calls(run{limits})
"""

GOLDEN = """\
refetch: 3 redundant calls, 9 calls for a budget of 5, and 4 calls of read_file for a budget of 2
  exact-duplicate     turn 1: search(query="config")
                      same turn, same bytes; nothing lies between
  semantic-duplicate  turn 2: get_user(id="5")
                      turn 2: get_user(id=5), the earlier call
                      same turn; equal apart from key order, number form or blanks
  stale-refetch       turn 3: read_file(path="config.json")
                      already answered in turn 2; nothing wrote file:config.json in between; \
results equal
  calls               read_file 4 (budget 2), search 2, get_user 2, write_file 1
keep this run as a test: refetch capture .pytest_cache/d/refetch/test_agent.jsonl \
-o tests/traces/test_agent.json
"""


def failure_lines(result: pytest.RunResult) -> str:
    """The lines that pytest marks as the error."""
    return "".join(f"{line[8:]}\n" for line in result.outlines if line.startswith("E       "))


def test_failure_reads_as_in_the_golden_text(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_agent=SLOPPY_TEST.format(limits=", budget=5, per_tool={'read_file': 2}")
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert failure_lines(result) == GOLDEN
    assert "assertions.py" not in result.stdout.str()
    result.stdout.fnmatch_lines(["FAILED test_agent.py::test_agent - refetch: 3 redundant*"])


def test_kept_trace_is_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_agent=SLOPPY_TEST.format(limits=""))
    pytester.runpytest_inprocess().assert_outcomes(failed=1)
    kept = pytester.path / ".pytest_cache/d/refetch/test_agent.jsonl"
    trace = read_native(kept.read_bytes(), "kept")
    assert not trace.problems
    assert [call.name for call in trace.calls].count("read_file") == 4
    assert all(bytes(call.result) for call in trace.calls)
    assert (pytester.path / ".pytest_cache/.gitignore").is_file()


@pytest.mark.parametrize(
    "limits",
    [
        ', ignore=["RF001", "semantic-duplicate", "RF003"]',
        ', budget=9, per_tool={"read_file": 4}, ignore=["RF001", "RF002", "RF003"]',
    ],
)
def test_what_is_allowed_passes(pytester: pytest.Pytester, limits: str) -> None:
    pytester.makepyfile(test_agent=SLOPPY_TEST.format(limits=limits))
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize("fixture", ["well-behaved", "transient-retry"])
def test_good_runs_pass_even_at_advice_level(pytester: pytest.Pytester, fixture: str) -> None:
    pytester.makepyfile(f"""
        from refetch.testing import assert_no_redundant_calls

        def test_agent(run_fixture):
            assert_no_redundant_calls(run_fixture("{fixture}"), level="advice", budget=4)
    """)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    assert "refetch:" not in result.stdout.str()
    assert not (pytester.path / ".pytest_cache/d/refetch").exists()


def test_tracer_around_ones_own_tools(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        from refetch.testing import assert_no_redundant_calls

        def agent(tools, tracer):
            for _ in range(2):
                tracer.next_turn()
                tools["read"]({"path": "a"})

        def test_agent(tool_tracer):
            registry = {"read": {"run": lambda args: "text", "mutates": False,
                                 "resource": lambda args: "file:" + args["path"]}}
            agent(tool_tracer.wrap_registry(registry), tool_tracer)
            assert tool_tracer.run == "test_agent"
            assert_no_redundant_calls(tool_tracer)
    """)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert 'stale-refetch  turn 2: read(path="a")' in failure_lines(result)


def test_tracer_of_ones_own_is_kept_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        from refetch.record import ToolTracer
        from refetch.testing import assert_no_redundant_calls

        def test_agent():
            tracer = ToolTracer()
            tracer.wrap(lambda: 1, name="read")()
            assert_no_redundant_calls(tracer, budget=0)
    """)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert "refetch: 1 call for a budget of 0" in failure_lines(result)
    assert (pytester.path / ".pytest_cache/d/refetch/test_agent.jsonl").is_file()


def test_tests_of_one_name_keep_different_files(pytester: pytest.Pytester) -> None:
    body = SLOPPY_TEST.format(limits="")
    pytester.makepyfile(test_one=body, test_two=body)
    pytester.runpytest_inprocess().assert_outcomes(failed=2)
    kept = sorted(p.name for p in (pytester.path / ".pytest_cache/d/refetch").iterdir())
    assert len(kept) == 2
    assert "test_agent.jsonl" in kept


def test_parametrised_tests_keep_one_file_each(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        from refetch.testing import assert_no_redundant_calls

        @pytest.mark.parametrize("way", ["a/../b", "c d", "e"])
        def test_agent(run_fixture, way):
            assert_no_redundant_calls(run_fixture("sloppy" if way != "e" else "well-behaved"))
    """)
    pytester.runpytest_inprocess().assert_outcomes(failed=2, passed=1)
    kept = sorted(p.name for p in (pytester.path / ".pytest_cache/d/refetch").iterdir())
    assert kept == ["test_agent-a-..-b.jsonl", "test_agent-c-d.jsonl"]


def test_without_the_cache_the_failure_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_agent=SLOPPY_TEST.format(limits=""))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    assert "the run was not kept: pytest runs without its cache" in failure_lines(result)
    assert not (pytester.path / ".pytest_cache").exists()


def test_folder_that_cannot_be_written_does_not_hide_the_failure(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_agent=SLOPPY_TEST.format(limits=""))
    (pytester.path / ".pytest_cache/d/refetch/test_agent.jsonl").mkdir(parents=True)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert "refetch: 3 redundant calls" in failure_lines(result)
    assert "the run was not kept: " in failure_lines(result)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (", ignore=['stale-refech']", "no rule 'stale-refech'; did you mean stale-refetch?"),
        (", level='warning'", "level must be 'flag' or 'advice', found 'warning'"),
        (", budget='5'", "budget must be a whole number from 0 on, found '5'"),
        (", per_tool=[2]", "per_tool must map names of tools to ceilings"),
    ],
)
def test_wrong_arguments_are_told(pytester: pytest.Pytester, limits: str, told: str) -> None:
    pytester.makepyfile(test_agent=SLOPPY_TEST.format(limits=limits))
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert told in failure_lines(result)


def test_tool_tables_of_the_project_count_wherever_the_test_stands(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytester.makefile(".toml", refetch='[tools.roll]\nrepeatable = true\neffect = "read"\n')
    pytester.makefile(".ini", pytest="[pytest]\n")
    elsewhere: Path = tmp_path_factory.mktemp("elsewhere")
    pytester.makepyfile(f"""
        from refetch.testing import assert_no_redundant_calls

        def test_agent(tool_tracer, monkeypatch):
            monkeypatch.chdir({str(elsewhere)!r})
            roll = tool_tracer.wrap(lambda args: "4", name="roll")
            tool_tracer.next_turn()
            roll({{}}), roll({{}})
            assert_no_redundant_calls(tool_tracer)
    """)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    pytester.makefile(".toml", refetch='[tools.roll]\neffect = "read"\n')
    pytester.runpytest_inprocess().assert_outcomes(failed=1)
