"""The data-driven cases of the project, and the suite that scores them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.oracle.test_oracle_alone import detect as oracle

from refetch.api import check
from refetch.model import Call, CallRef, ContextLoss, ContextStart, Finding, InputError, Trace
from refetch.testing.cases import main, read_cases, score, translate
from refetch.testing.founding import detect as founding

OWN = Path(__file__).with_name("cases.jsonl")
CASES = read_cases(OWN)
Detect = Callable[[Trace], Any]


@pytest.mark.parametrize("detector", [check, oracle], ids=["judge", "oracle"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_each_own_case_is_right(case: dict[str, Any], detector: Detect) -> None:
    result = score([case], detector)
    assert not result.misses, f"{case['title']}\n{result.to_text()}"


def test_the_public_cases_are_right(shared_dir: Path) -> None:
    result = score(read_cases(shared_dir / "cases" / "cases.jsonl"))
    assert result.cases == 81
    assert (result.precision, result.recall, result.first) == (1, 1, 1), result.to_text()
    assert result.perfect, result.to_text()


def test_the_founding_detectors_find_everything_and_accuse_too_much(shared_dir: Path) -> None:
    result = score(read_cases(shared_dir / "cases" / "cases.jsonl"), founding)
    assert result.recall == 1
    assert 0.45 < result.precision < 0.5
    assert result.right < 60


# -- the score ---------------------------------------------------------------------------------


def read(turn: int, **more: Any) -> dict[str, Any]:
    row = {"turn": turn, "tool": "read_doc", "args": {"path": "a"}, "mutates": False, "ok": True}
    return {**row, "resource": "doc:a", **more}


def case(*expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "X", "trace": [read(1), read(2), read(3)], "expect": list(expect), **more}


def label(repeat: int, first: int, **more: Any) -> dict[str, Any]:
    return {"repeat": repeat, "first": first, "kind": "stale_refetch", **more}


def says(*found: tuple[str, int, int], level: str = "flag") -> Detect:
    """A detector that says the same of every trace: (code, first, repeat)."""
    return lambda trace: [
        Finding(code, code, level, first=CallRef(a, 1, "x"), repeat=CallRef(b, 2, "x"))
        for code, a, b in found
    ]


def test_a_hit_with_the_right_first_is_perfect() -> None:
    result = score([case(label(1, 0))], says(("RF003", 0, 1)))
    assert result.perfect
    assert (result.expected, result.hits, result.first_right, result.right) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("given", "detector", "what"),
    [
        (case(label(1, 0)), says(), "missed"),
        (case(label(1, 0)), says(("RF003", 0, 1), level="advice"), "missed"),
        (case(label(2, 1)), says(("RF003", 0, 2)), "wrong-first"),
        (case(label(1, 0), label(2, 1)), says(("RF003", 0, 1)), "missed"),
        (case(), says(("RF003", 0, 1)), "false-alarm"),
        (case(label(1, 0, severity="advise")), says(("RF003", 0, 1)), "false-alarm"),
        (case(label(1, 0)), says(("RF003", 0, 1), ("RF001", 0, 1)), "false-alarm"),
        (case(label(1, 0, kind="exact")), says(("RF003", 0, 1)), "wrong-kind"),
        (case(normalise=[{"drop": 0}]), says(("RF003", 0, 1)), "dropped-record"),
    ],
)
def test_each_way_to_be_wrong_has_a_name(
    given: dict[str, Any], detector: Detect, what: str
) -> None:
    result = score([given], detector)
    assert what in [miss.what for miss in result.misses]
    assert not result.perfect
    assert result.right == 0


@pytest.mark.parametrize("found", [(), (("RF003", 0, 1),), (("RF003", 1, 2),)])
def test_both_answers_count_in_a_debatable_case(found: tuple[tuple[str, int, int], ...]) -> None:
    assert score([case(label(1, 0), debatable="either")], says(*found)).perfect


def test_what_must_not_be_flagged_is_an_alarm_in_a_debatable_case_too() -> None:
    forbidden = case(debatable="either", must_not=[{"repeat": 1, "first": 0, "why": "no"}])
    result = score([forbidden], says(("RF003", 0, 1)))
    assert [(m.what, m.reason) for m in result.misses] == [("false-alarm", "no")]


def test_accept_kinds_widens_a_label() -> None:
    wide = case(label(1, 0, kind="exact", accept_kinds=["stale_refetch"]))
    assert score([wide], says(("RF003", 0, 1))).perfect


def test_a_detector_that_raises_fails_one_case() -> None:
    def fragile(trace: Trace) -> list[Finding]:
        if trace.run == "X":
            raise RuntimeError("broken")
        return []

    result = score([case(label(1, 0)), {**case(), "id": "Y"}], fragile)
    assert [(m.case, m.what) for m in result.misses] == [("X", "crash")]
    assert (result.cases, result.right, result.recall) == (2, 1, 0)


# -- the translation -----------------------------------------------------------------------------


def first_call(**more: Any) -> Call:
    return translate({"id": "X", "trace": [read(1, **more)]}).calls[0]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "ok"),
        ({"ok": False}, "error"),
        ({"ok": None}, "missing"),
        ({"ok": False, "denied": True}, "rejected"),
        ({"ok": None, "executed": False}, "not-executed"),
        ({"ok": None, "outcome": "timeout"}, "timeout"),
    ],
)
def test_outcomes(fields: dict[str, Any], status: str) -> None:
    assert first_call(**fields).status == status


def test_a_mutation_that_is_not_known_is_absent() -> None:
    assert first_call(mutates=None).mutates is None
    assert first_call(mutates=True).mutates is True


@pytest.mark.parametrize(
    ("fields", "args", "raw"),
    [
        ({"args": None, "args_form": "not_recorded"}, b"", None),
        ({"args": None, "args_form": "absent"}, b"null", None),
        ({"args": None, "args_form": "null"}, b"null", None),
        ({"args": {"a": 5.0}}, b'{"a": 5.0}', None),
        ({"args": '{"a":1}', "args_form": "string"}, b'{"a": 1}', '{"a":1}'),
    ],
)
def test_forms_of_arguments(fields: dict[str, Any], args: bytes, raw: str | None) -> None:
    call = first_call(**fields)
    assert (bytes(call.args), call.raw_args) == (args, raw)
    assert call.has_args is bool(args)


def test_names_that_differ_from_the_native_ones() -> None:
    call = first_call(agent="sub", ttl_s=5, ts=7, aliases=["file:x"], content_returned=False)
    assert (call.context, call.ttl, call.started, call.ended) == ("sub", 5, 7, 7)
    assert call.resource == ["doc:a", "file:x"]
    assert call.unchanged


def test_an_answer_from_a_cache_is_no_known_result() -> None:
    assert not bytes(first_call(result="v1", cached=True).result)
    assert bytes(first_call(result="v1").result) == b'"v1"'


def test_events_and_children() -> None:
    happened = [
        {"after": 0, "type": "eviction", "dropped": [0]},
        {"after": 0, "type": "nudge"},
    ]
    trace = translate({"id": "X", "trace": [read(1, child="sub")], "events": happened})
    assert ContextStart("sub", parent_call=0) in trace.events
    assert ContextLoss(after=0, kind="eviction", lost=[0]) in trace.events
    assert len(trace.events) == 3


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "X", "trace": [{"turn": 1}]},
        {"id": "X", "trace": ["read"]},
        {"id": "X", "trace": [{"tool": "a", "turn": "first"}]},
        {"id": "X", "trace": [], "events": [{"type": "compaction"}]},
        {"id": "X", "trace": [], "events": ["compaction"]},
        {"id": "X", "trace": [], "events": [{"type": "eviction", "after": 0, "dropped": "0"}]},
    ],
)
def test_broken_cases_say_where(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"X: \$\."):
        translate(broken)


# -- the command line ----------------------------------------------------------------------------


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text(json.dumps(case(label(1, 0), label(2, 1))) + "\n\n", encoding="utf-8")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(case()) + "\n", encoding="utf-8")
    detector = ["--detector", "refetch.testing.founding:detect"]
    assert main([str(good), *detector]) == 0
    assert "precision 1.000" in capsys.readouterr().out
    assert main([str(bad), *detector]) == 1
    assert "false-alarm" in capsys.readouterr().out


BROKEN = ["", "not json\n", "[]\n", '{"id": "X"}\n', '{"trace": []}\n']


@pytest.mark.parametrize("text", BROKEN)
def test_bad_input_is_2(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(text, encoding="utf-8")
    assert main([str(file)]) == 2
    assert str(file) in capsys.readouterr().err


@pytest.mark.parametrize("spec", ["nowhere:x", "json:nothing", "json", ":x", "json:__name__"])
def test_a_detector_that_is_not_there_is_2(spec: str) -> None:
    assert main([str(OWN), "--detector", spec]) == 2
