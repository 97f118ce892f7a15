"""The statistical test inside pytest: skipped, recorded, passed, failed, approved."""

from __future__ import annotations

import re

import pytest

pytest_plugins = ["pytester"]
pytest.importorskip("scipy", reason="needs refetch[stats]")

AGENT = """
import random
import pytest

chance = random.Random(7)

def read(args):
    return args["p"]

@pytest.mark.agent_runs(n=12, baseline="main")
def test_agent(tool_tracer):
    about = {"run": read, "mutates": False, "resource": "x:{p}"}
    tools = tool_tracer.wrap_registry({"read": about})
    for name in "abcd":
        tool_tracer.next_turn()
        tools["read"]({"p": name})
        while chance.random() < FORGETS:
            tool_tracer.next_turn()
            tools["read"]({"p": name})
"""


def write(pytester: pytest.Pytester, forgets: float, text: str = AGENT) -> None:
    pytester.makepyfile(test_it=text.replace("FORGETS", str(forgets)))


def test_it_is_skipped_with_its_reason(pytester: pytest.Pytester) -> None:
    write(pytester, 0)
    result = pytester.runpytest_subprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines("*--refetch-runs runs it*")


def test_without_a_baseline_it_says_how_to_record_one(pytester: pytest.Pytester) -> None:
    write(pytester, 0)
    result = pytester.runpytest_subprocess("--refetch-runs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines("*no baseline 'main'*")


def test_recorded_then_passed_then_regressed_then_approved(pytester: pytest.Pytester) -> None:
    write(pytester, 0.05)
    pytester.runpytest_subprocess("--refetch-record").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--refetch-runs").assert_outcomes(passed=1)
    write(pytester, 0.7)
    failed = pytester.runpytest_subprocess("--refetch-runs")
    failed.assert_outcomes(failed=1)
    text = failed.stdout.str()
    assert "refetch: regressed: " in text
    command = re.search(r"refetch capture (\S+) -o tests/traces/", text)
    assert command is not None
    assert pytester.path.joinpath(command[1]).is_file()
    pytester.runpytest_subprocess("--refetch-record").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--refetch-runs").assert_outcomes(failed=1)
    pytester.runpytest_subprocess("--refetch-approve").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--refetch-runs").assert_outcomes(passed=1)


def test_a_coroutine_is_awaited(pytester: pytest.Pytester) -> None:
    write(pytester, 0, AGENT.replace("def test_agent", "async def test_agent"))
    pytester.runpytest_subprocess("--refetch-record").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("n=12", "n=1"), "n must be 2 or more"),
        (("n=12", "times=3"), "no argument 'times'"),
        (("n=12", "n='x'"), "Expected `int`"),
        (('n=12, baseline="main"', "5"), "takes named arguments"),
    ],
)
def test_mistakes_are_named(pytester: pytest.Pytester, change: tuple[str, str], words: str) -> None:
    write(pytester, 0, AGENT.replace(*change))
    result = pytester.runpytest_subprocess("--refetch-runs")
    result.assert_outcomes(failed=1)
    assert words in result.stdout.str()


def test_a_test_without_a_tracer_is_wrong_use(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.agent_runs(n=2)\ndef test_x(): pass\n")
    result = pytester.runpytest_subprocess("--refetch-runs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines("*does not use tool_tracer*")


def test_other_tests_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(tool_tracer): tool_tracer.next_turn()\n")
    pytester.runpytest_subprocess("--refetch-runs").assert_outcomes(passed=1)
