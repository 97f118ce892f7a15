"""What a known result says about the call itself and about what came before it (SPEC 6f)."""

from __future__ import annotations

import pytest
from msgspec import Raw

from refetch.api import check
from refetch.model.finding import RunReport
from refetch.model.trace import Call, Trace


def judged(*calls: Call) -> RunReport:
    return check(Trace("r", list(calls)))


def codes(*calls: Call) -> list[str]:
    return [finding.code for finding in judged(*calls).findings]


def call(seq: int, turn: int, name: str, result: str | None = None, **more: object) -> Call:
    return Call(
        seq=seq,
        turn=turn,
        name=name,
        args=Raw(b'{"path":"a"}'),
        outcome="ok",
        result=Raw(f'"{result}"'.encode()) if result else Raw(),
        **more,  # type: ignore[arg-type]
    )


def read(seq: int, turn: int, name: str, result: str | None = None) -> Call:
    return call(seq, turn, name, result, resource="file:a", view="content", mutates=False)


@pytest.mark.parametrize(("seen", "expected"), [("one", []), ("two", ["RF003"])])
def test_another_tools_result_of_the_same_view_contradicts(seen: str, expected: list[str]) -> None:
    calls = [read(0, 1, "read"), read(1, 2, "open", seen), read(2, 3, "read", "two")]
    assert [f.code for f in judged(*calls).findings if f.repeat and f.repeat.seq == 2] == expected


def test_a_pure_call_whose_result_changed_is_stale_before_that() -> None:
    results = ("two", "one", None)
    calls = [call(n, 1, "sum", text, effect="pure") for n, text in enumerate(results)]
    found = [(f.first.seq, f.repeat.seq) for f in judged(*calls).findings if f.first and f.repeat]
    assert found == [(1, 2)]


@pytest.mark.parametrize(
    ("results", "levels"),
    [
        # Known and equal results need no declared effect; the first call's is not known.
        ((None, "one", "one"), ["advice", "flag"]),
        ((None, None, None), ["advice", "advice"]),
        (("one", "one", "one"), ["flag", "flag"]),
    ],
)
def test_the_best_evidence_of_a_turn_decides_the_level(
    results: tuple[str | None, ...], levels: list[str]
) -> None:
    calls = [call(n, 1, "get_thing", text) for n, text in enumerate(results)]
    assert [f.level for f in judged(*calls).findings] == levels


def test_an_unknown_result_does_not_separate_equal_opaque_calls() -> None:
    calls = [call(n, 1, "anything", text, effect="opaque") for n, text in enumerate("a-a")]
    calls[1] = call(1, 1, "anything", effect="opaque")
    found = [(f.first.seq, f.repeat.seq) for f in judged(*calls).findings if f.first and f.repeat]
    assert found == [(0, 2)]


@pytest.mark.parametrize(("origin", "expected"), [("model", ["RF104"]), ("user", [])])
def test_only_the_models_own_polls_are_idle(origin: str, expected: list[str]) -> None:
    calls = [
        call(n, n, "get_user", "one", volatile=True, mutates=False, resource="user:5")
        for n in range(3)
    ]
    last = call(
        3, 3, "get_user", "one", volatile=True, mutates=False, resource="user:5", origin=origin
    )
    assert codes(*calls, last) == expected
