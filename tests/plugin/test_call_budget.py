"""The marker `call_budget`: it fails tests that passed and made too many calls, and no others."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def run(pytester: pytest.Pytester, body: str, *args: str) -> pytest.RunResult:
    pytester.makepyfile(body)
    return pytester.runpytest_inprocess("--strict-markers", *args)


@pytest.mark.parametrize("marker", ["total=9", "read_file=4", "total=9, read_file=4", "total=40"])
def test_within_the_budget(pytester: pytest.Pytester, marker: str) -> None:
    run(
        pytester,
        f"""
        import pytest

        @pytest.mark.call_budget({marker})
        def test_agent(run_fixture):
            run_fixture("sloppy")
        """,
    ).assert_outcomes(passed=1)


def test_over_the_budget(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.call_budget(total=5, read_file=2)
        def test_agent(run_fixture):
            run_fixture("sloppy")
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "refetch: 9 calls for a budget of 5, and 4 calls of read_file for a budget of 2",
            "  calls  read_file 4 (budget 2), search 2, get_user 2, write_file 1",
            "keep this run as a test: refetch capture *test_agent.jsonl -o tests/traces/*.json",
        ]
    )
    assert "pytest_refetch.py" not in result.stdout.str()


def test_retries_of_the_harness_are_free(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import pytest

        @pytest.mark.call_budget(total=1)
        def test_agent(run_fixture):
            run_fixture("transient-retry")
        """,
    ).assert_outcomes(passed=1)


def test_marker_on_a_class_and_nearer_ones(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.call_budget(total=5, read_file=9)
        class TestAgent:
            def test_over(self, run_fixture):
                run_fixture("sloppy")

            @pytest.mark.call_budget(total=9)
            def test_nearer_total(self, run_fixture):
                run_fixture("sloppy")

            @pytest.mark.call_budget(total=9, read_file=1)
            def test_nearer_tool(self, run_fixture):
                run_fixture("sloppy")

            def test_of_something_else(self):
                pass
        """,
        "-v",
    )
    result.assert_outcomes(failed=2, passed=2)
    result.stdout.fnmatch_lines(["*test_over FAILED*", "*test_nearer_tool FAILED*"])


def test_marker_on_a_parameter(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import pytest

        @pytest.mark.parametrize("name", [
            pytest.param("sloppy", marks=pytest.mark.call_budget(total=5)),
            pytest.param("well-behaved", marks=pytest.mark.call_budget(total=5)),
        ])
        def test_agent(run_fixture, name):
            run_fixture(name)
        """,
    ).assert_outcomes(failed=1, passed=1)


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ("5", "call_budget: 5 has no name; write call_budget(total=5, read_file=2)*"),
        ("", "call_budget: no ceiling; write call_budget(total=5, read_file=2)*"),
        ("total='5'", "call_budget: total must be a whole number from 0 on, found '5'"),
        ("total=-1", "call_budget: total must be a whole number from 0 on, found -1"),
        ("read_file=True", "call_budget: read_file must be a whole number from 0 on, found True"),
        ("per_tool=3", "per_tool must map names of tools to ceilings, found 3"),
    ],
)
def test_wrong_arguments_are_usage_errors(
    pytester: pytest.Pytester, marker: str, told: str
) -> None:
    result = run(
        pytester,
        f"""
        import pytest

        @pytest.mark.call_budget({marker})
        def test_agent(tool_tracer):
            pass
        """,
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"usage error: {told}"])
    assert "Traceback" not in result.stdout.str()


def test_names_that_are_no_keywords(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import pytest

        def use(tracer, name, times):
            for _ in range(times):
                tracer.wrap(lambda: 1, name=name)()

        @pytest.mark.call_budget(per_tool={"total": 1})
        def test_total(tool_tracer):
            use(tool_tracer, "total", 2)

        @pytest.mark.call_budget(**{"mcp.read": 1})
        def test_dotted(tool_tracer):
            use(tool_tracer, "mcp.read", 2)

        @pytest.mark.call_budget(per_tool={"total": 1})
        def test_other(tool_tracer):
            use(tool_tracer, "total", 1)
            use(tool_tracer, "read", 4)
        """,
    ).assert_outcomes(failed=2, passed=1)


def test_marker_that_nothing_can_exceed(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.call_budget(total=5)
        def test_agent():
            pass
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["call_budget counts the calls of tool_tracer and run_fixture*"])


OVER = """
    import unittest
    import pytest

    pytestmark = pytest.mark.call_budget(total=5)

    def test_own_failure(run_fixture):
        run_fixture("sloppy")
        assert 1 == 2, "the failure of the test"

    def test_skipped(run_fixture):
        run_fixture("sloppy")
        pytest.skip("not today")

    @pytest.mark.xfail(strict=True, reason="known")
    def test_expected_failure(run_fixture):
        run_fixture("sloppy")
        raise ValueError("known")

    def test_exit_of_a_tool(run_fixture):
        run_fixture("sloppy")
        raise SystemExit(3)

    class TestUnittest(unittest.TestCase):
        @pytest.fixture(autouse=True)
        def _traced(self, run_fixture):
            self.play = run_fixture

        def test_own_failure_of_a_case(self):
            self.play("sloppy")
            self.assertEqual(3, 4, "the failure of the case")
"""


def test_no_other_result_is_replaced(pytester: pytest.Pytester) -> None:
    result = run(pytester, OVER)
    result.assert_outcomes(failed=3, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "E * AssertionError: the failure of the test",
            "E * SystemExit: 3",
            "E * AssertionError: 3 != 4 : the failure of the case",
        ]
    )
    assert "Failed: refetch" not in result.stdout.str()


@pytest.mark.parametrize("total", [5, 9])
def test_errors_of_setup_and_teardown_stay(pytester: pytest.Pytester, total: int) -> None:
    result = run(
        pytester,
        f"""
        import pytest

        pytestmark = pytest.mark.call_budget(total={total})

        @pytest.fixture
        def broken_end():
            yield
            raise RuntimeError("end")

        @pytest.fixture
        def broken_start():
            raise RuntimeError("start")

        def test_end(broken_end, run_fixture):
            run_fixture("sloppy")

        def test_start(tool_tracer, broken_start):
            pass
        """,
    )
    over = int(total < 9)
    result.assert_outcomes(errors=2, failed=over, passed=1 - over)
    result.stdout.fnmatch_lines(["E * RuntimeError: end", "E * RuntimeError: start"])


def test_broken_tool_tables_do_not_turn_a_budget_green(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", refetch="[tools.x]\neffect = 5\n")
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.call_budget(total=50)
        def test_budget(run_fixture):
            run_fixture("sloppy")

        def test_plain(run_fixture):
            run_fixture("sloppy")

        def test_failing(run_fixture):
            run_fixture("sloppy")
            assert False, "its own"
        """,
        "--rootdir=.",
    )
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["refetch cannot judge this run: *refetch.toml*", "*its own*"])
