"""What tests report: sections, properties, JUnit XML, xdist, coverage, the summary."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

pytest_plugins = ["pytester"]

MODULE = """
    import pytest
    from refetch.testing import assert_no_redundant_calls

    def test_passes(run_fixture):
        run_fixture("sloppy")

    def test_fails(run_fixture):
        assert_no_redundant_calls(run_fixture("sloppy"))

    @pytest.mark.call_budget(total=5)
    def test_over(run_fixture):
        run_fixture("sloppy")

    def test_good(run_fixture):
        run_fixture("well-behaved")

    def test_else():
        pass
"""


def junit(pytester: pytest.Pytester) -> dict[str, list[tuple[str, str]]]:
    """The properties of each test, by its name."""
    root = ET.parse(pytester.path / "out.xml").getroot()  # noqa: S314 - written a moment ago
    return {
        case.attrib["name"]: [(p.attrib["name"], p.attrib["value"]) for p in case.iter("property")]
        for case in root.iter("testcase")
    }


def assert_junit(found: dict[str, list[tuple[str, str]]]) -> None:
    assert found["test_else"] == []
    assert dict(found["test_good"])["refetch_redundant"] == "0"
    for name in ("test_passes", "test_fails", "test_over"):
        told = dict(found[name])
        assert (told["refetch_calls"], told["refetch_redundant"]) == ("9", "3")
        assert told["refetch_by_tool"] == "read_file 4, search 2, get_user 2, write_file 1"
        codes = [value.split()[0] for key, value in found[name] if key == "refetch_finding"]
        assert codes == ["RF001", "RF002", "RF003"] + ["RF004"] * (name == "test_over")


def test_properties(
    pytester: pytest.Pytester,
    properties: Callable[[pytest.HookRecorder], dict[str, list[Any]]],
) -> None:
    pytester.makepyfile(MODULE)
    recorder = pytester.inline_run("-k", "test_passes")
    found = properties(recorder)
    assert found["refetch_calls"] == [9]
    assert found["refetch_redundant"] == [3]
    assert found["refetch_finding"][0] == (
        'RF001 exact-duplicate: turn 1: search(query="config"); '
        "same turn, same bytes; nothing lies between"
    )


def test_junit_xml(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE)
    pytester.runpytest_inprocess("--junitxml=out.xml").assert_outcomes(passed=3, failed=2)
    assert_junit(junit(pytester))


def test_xdist(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE)
    result = pytester.runpytest_subprocess("-n", "2", "--junitxml=out.xml")
    result.assert_outcomes(passed=3, failed=2)
    assert_junit(junit(pytester))
    kept = pytester.path / ".pytest_cache/d/refetch"
    assert sorted(path.name for path in kept.glob("gw*/*")) == [
        "test_fails.jsonl",
        "test_over.jsonl",
    ]
    assert [path.name for path in kept.iterdir() if path.is_file()] == []
    text = result.stdout.str()
    assert text.count("refetch: tests that passed with redundant calls") == 1
    result.stdout.fnmatch_lines(["*refetch capture .pytest_cache/d/refetch/gw?/test_*.jsonl*"])


def test_half_a_surrogate_pair_reaches_the_controller(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(r"""
        from refetch.testing import assert_no_redundant_calls

        def test_agent(tool_tracer):
            tool_tracer.next_turn()
            read = tool_tracer.wrap(lambda args: "x", name="read_\ud800\x1b[31m")
            read({"path": "\ud800\x00"}), read({"path": "\ud800\x00"})
            assert_no_redundant_calls(tool_tracer, budget=1)
    """)
    result = pytester.runpytest_subprocess("-n", "1", "--junitxml=out.xml")
    result.assert_outcomes(failed=1)
    assert dict(junit(pytester)["test_agent"])["refetch_calls"] == "2"
    result.stdout.fnmatch_lines([r"*2 calls for a budget of 1*"])
    assert "\x1b[31m" not in "\n".join(
        line for line in result.outlines if line.startswith("E  ") and "read_" in line
    )


def test_section_explains_any_failure(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_agent(run_fixture):
            assert run_fixture("sloppy").answer == "something else"
    """)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*Captured refetch call*",
            "3 redundant calls",
            '  exact-duplicate * turn 1: search(query="config")',
            "keep this run as a test: refetch capture *test_agent.jsonl *",
        ]
    )


def test_every_run_of_a_test_is_looked_at(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.call_budget(total=5)
        def test_agent(run_fixture):
            run_fixture("well-behaved")
            run_fixture("sloppy")
    """)
    result = pytester.runpytest_inprocess("--junitxml=out.xml")
    result.assert_outcomes(failed=1)
    assert dict(junit(pytester)["test_agent"])["refetch_calls"] == "13"
    kept = sorted(p.name for p in (pytester.path / ".pytest_cache/d/refetch").iterdir())
    assert kept == ["test_agent-2.jsonl", "test_agent.jsonl"]


def test_run_of_a_fixture_on_the_tracer_counts_once(
    pytester: pytest.Pytester,
    properties: Callable[[pytest.HookRecorder], dict[str, list[Any]]],
) -> None:
    pytester.makepyfile("""
        def test_agent(tool_tracer, run_fixture):
            run_fixture("sloppy", tracer=tool_tracer)
    """)
    assert properties(pytester.inline_run())["refetch_calls"] == [9]


def test_results_are_left_out_on_request(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrefetch_keep_results = false\n")
    pytester.makepyfile("""
        def test_agent(tool_tracer):
            tool_tracer.wrap(lambda: "a secret", name="read")()
            assert False
    """)
    pytester.runpytest_inprocess().assert_outcomes(failed=1)
    kept = (pytester.path / ".pytest_cache/d/refetch/test_agent.jsonl").read_text()
    assert "a secret" not in kept
    assert "result_hash" in kept


def test_summary_names_tests_that_passed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=MODULE)
    result = pytester.runpytest_inprocess()
    at = next(i for i, line in enumerate(result.outlines) if "tests that passed with" in line)
    assert result.outlines[at + 1] == "test_it.py::test_passes: 3 of 9 calls redundant"
    assert result.outlines[at + 2].startswith("===")


def test_long_summary_is_cut(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("n", range(23))
        def test_agent(run_fixture, n):
            run_fixture("sloppy")
    """)
    result = pytester.runpytest_inprocess()
    assert sum("calls redundant" in line for line in result.outlines) == 20
    result.stdout.fnmatch_lines(["and 3 more"])


def test_with_coverage(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE)
    result = pytester.runpytest_subprocess("--cov=.", "-n", "2")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["TOTAL*"])


def test_marker_and_options_are_documented(pytester: pytest.Pytester) -> None:
    pytester.runpytest_inprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.call_budget(*"])
    shown = pytester.runpytest_inprocess("--help").stdout
    shown.fnmatch_lines(["*--refetch-fixtures=PATH*"])
    shown.fnmatch_lines(["*refetch_fixtures (paths):*", "*refetch_keep_results (bool):*"])


def test_import_of_the_plugin_brings_nothing_else() -> None:
    program = (
        "import pytest, sys; before = set(sys.modules); import pytest_refetch; "
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "['pytest_refetch']"


def test_run_without_use_imports_the_table_of_options_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_agent():
            ours = [name for name in sys.modules if name.split(".")[0] == "refetch"]
            assert sorted(ours) == ["refetch", "refetch.options"]
            assert not {"click", "msgspec", "rich", "xxhash"} & set(sys.modules)
    """)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_unknown_names_of_the_plugin_are_none() -> None:
    import pytest_refetch
    from refetch.testing import assert_no_redundant_calls

    assert pytest_refetch.assert_no_redundant_calls is assert_no_redundant_calls
    with pytest.raises(AttributeError, match="no attribute 'assert_nothing'"):
        _ = pytest_refetch.assert_nothing
