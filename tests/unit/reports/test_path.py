"""The path of a run as data."""

from __future__ import annotations

from msgspec import Raw

from refetch.api import check
from refetch.model.trace import Call, ContextLoss, ContextStart, Trace, UserMessage, Write
from refetch.reports.path import Happening, Stop, path, path_document

A = Raw(b'{"path":"a"}')
TOOLS = {"read": {"effect": "read", "resource": "file:{path}"}}
TRACE = Trace(
    "r",
    [
        UserMessage(-1),
        Call(0, 1, "read", A, ok=False, error="busy", call_id="x"),
        Call(1, 1, "read", A, ok=True, origin="harness-retry", attempt_of=0, call_id="x"),
        Write("file:b", 1, by="hook"),
        ContextStart("sub", parent_call=0),
        Call(2, 2, "read", A, ok=True),
        ContextLoss(2, lost=[1]),
        Call(3, 3, "read", A, ok=True),
    ],
    tools=TOOLS,
)


def test_everything_in_order() -> None:
    items = list(path(TRACE, check(TRACE)))
    seen = [i.call.seq if isinstance(i, Stop) else i.kind for i in items]
    assert [s for s in seen if isinstance(s, int)] == [0, 1, 2, 3]
    assert seen[0] == "user-message"
    assert {"write", "context", "context-loss"} <= {s for s in seen if isinstance(s, str)}


def test_attempts_name_their_call() -> None:
    stops = [i for i in path(TRACE, check(TRACE)) if isinstance(i, Stop)]
    assert [(s.role, s.of) for s in stops[:3]] == [("call", 0), ("attempt", 0), ("call", 2)]
    assert stops[1].verdict is None
    assert stops[2].verdict is not None


def test_what_happened_in_words() -> None:
    texts = [i.text for i in path(TRACE, check(TRACE)) if isinstance(i, Happening)]
    assert "compaction: 1 result left the context" in texts
    assert "hook writes file:b" in texts
    assert "a context begins, by #0" in texts


def test_as_data() -> None:
    rows = [row for row in path_document(TRACE, check(TRACE)) if row["kind"] == "call"]
    assert rows[1]["of"] == 0
    assert rows[2]["finding"] == {"code": "RF003", "level": "flag", "first": 0}
    assert rows[0]["raw_key"] == 'read({"path":"a"})'
    assert (rows[0]["outcome"], rows[0]["effect"], rows[0]["effect_from"]) == (
        "error",
        "read",
        "trace",
    )
