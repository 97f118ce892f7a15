"""What the beginning of a result says: failed, still to come, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.api import check
from refetch.effects.answers import says_failed, says_pending
from refetch.model.trace import Call, Trace

FAILED = [
    "Error: no", "Error executing tool", "ValueError: no", "requests.exceptions.HTTPError: 404",
    "Exception: no", "Traceback (most recent call last):\n x", "An error occurred while reading",
    "Failed to fetch", "failed: x", "Request failed with status code 500",
    "Tool execution failed: x", "Tool execution was not approved", "Connection refused",
    "The user denied this operation", "HTTP 404", "HTTP/1.1 503", "404 Not Found", "Timeout",
    "Timed out after 30 s", "Permission denied", "Unauthorized", "Invalid arguments: x",
    "Unknown tool get_user", "Unable to connect", "Rate limit exceeded", "Too many requests",
    "Internal server error", "<error>no</error>", "<tool_use_error>no", "\u274c failed",
    "\u26a0\ufe0f Error: no",
]  # fmt: skip
OBJECTS_FAILED: list[dict[str, Any]] = [
    {"error": "no"}, {"errors": [{"message": "no"}]}, {"data": None, "error": {"code": 1}},
    {"success": False, "message": "no"}, {"ok": False}, {"isError": True}, {"status": "error"},
    {"type": "error"}, {"status": 500}, {"code": 404, "msg": "no"}, {"statusCode": "503"},
    {"detail": "Not authenticated"}, {"message": "Internal server error"}, {"status": "denied"},
]  # fmt: skip
FINE: list[Any] = [
    "", "null", "[]", "No results", "Not found: 0 of 3", "def error():\n", "errors = 1",
    "timeouts = 3", "failing = True", "The failed build of May", "# Error handling", "Erroneous",
    "import x", "     1\u2192x", "httpx==1", "Timer started", {"error": None, "a": 1},
    {"error": ""}, {"errors": []}, {"success": True}, {"status": "ok"}, {"status": 200},
    {"code": 4040}, {"items": [{"error": "x"}]}, {"a": 1}, {}, 5, None, True,
]  # fmt: skip


def forms(value: Any) -> list[Raw]:
    """As a value, as text, and as the text of a block of content."""
    text = value if isinstance(value, str) else json.dumps(value)
    shapes = [text, [{"type": "text", "text": text}], value]
    return [Raw(json.dumps(shape).encode()) for shape in shapes]


@pytest.mark.parametrize("value", [*FAILED, *OBJECTS_FAILED], ids=str)
def test_what_failed(value: Any) -> None:
    assert all(says_failed(raw) for raw in forms(value))
    assert all(says_failed(r, json_only=True) != isinstance(value, str) for r in forms(value))


@pytest.mark.parametrize("value", FINE, ids=str)
def test_what_only_looks_like_it(value: Any) -> None:
    assert not any(says_failed(raw) for raw in forms(value))
    assert not any(says_pending(raw) for raw in forms(value))


@pytest.mark.parametrize(
    ("value", "pending"),
    [
        ({"status": "pending"}, True), ({"id": 1, "state": "in_progress"}, True),
        ({"id": "a", "status": "QUEUED"}, True), ("still running", True),
        ("The job is not ready yet", True), ("Build in progress", True),
        ({"status": "done"}, False), ({"statuses": "pending"}, False), ("running = True", False),
        ("pending", False), ({"jobs": [{"status": "pending"}]}, False),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_still_to_come(value: Any, pending: bool) -> None:
    assert [says_pending(raw) for raw in forms(value)] == [pending] * 3


@given(st.binary(max_size=600))
def test_any_bytes_are_looked_at(data: bytes) -> None:
    says_failed(memoryview(data))
    says_pending(memoryview(data))


@pytest.mark.parametrize("pad", ["a", "1,", '"a":1,', "\\u274c", " ", "Error"])
def test_long_beginnings_are_only_begun(pad: str) -> None:
    assert not says_failed(Raw(b"{" + pad.encode() * 10_000))
    says_failed(Raw(b'"' + pad.encode() * 10_000))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"error": "rate limit"}, "earlier-failed"), ('{"success": false}', "earlier-failed"),
        ({"status": "pending"}, "volatile"), ("still processing", "volatile"),
    ],
)  # fmt: skip
def test_asking_again_after_such_an_answer_is_no_refetch(value: Any, reason: str) -> None:
    def call(seq: int) -> Call:
        return Call(
            seq=seq, turn=seq + 1, name="get_report", args=Raw(b'{"id":1}'), mutates=False,
            resource="report:1", outcome="ok", result=Raw(json.dumps(value).encode()),
        )  # fmt: skip

    report = check(Trace("r", [call(0), call(1)]))
    assert not report.findings
    assert [one.reason for one in report.acquitted] == [reason]
