"""Rules of the Inspect AI reader."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from tests.unit.readers.jsonl_records import events

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Request, Trace, UserMessage
from refetch.readers import read_bytes

EVAL = {"task": "t", "model": "openai/m-1"}


def asked(key: str, *calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"id": i, "function": n, "arguments": a} for i, n, a in calls]
    return {"id": key, "role": "assistant", "content": "", "model": "m-1", "tool_calls": listed}


def told(key: str, content: Any = "x", error: str | None = None) -> dict[str, Any]:
    message = {"role": "tool", "tool_call_id": key, "content": content}
    return message | ({"error": {"type": error, "message": "why"}} if error else {})


def sample(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "a1", "epoch": 2, "messages": list(messages)} | more


def document(*samples: dict[str, Any]) -> bytes:
    return json.dumps({"status": "success", "eval": EVAL, "samples": list(samples)}).encode()


def read(*messages: dict[str, Any], **more: Any) -> Trace:
    (trace,) = read_bytes(document(sample(*messages, **more)), "log.json")
    return trace


def archive(*samples: dict[str, Any], damaged: bool = False) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_journal/start.json", json.dumps({"eval": EVAL}))
        for index, each in enumerate(samples):
            file.writestr(f"samples/{index}_epoch_1.json", json.dumps(each))
    data = buffer.getvalue()
    return data[: len(data) // 2] if damaged else data


def test_each_sample_and_epoch_is_a_trace() -> None:
    one, two = read_bytes(document(sample(), sample(epoch=3)), "log.json")
    assert (one.run, two.run) == ("a1|epoch=2", "a1|epoch=3")
    assert (one.format, one.harness, one.model) == ("inspect-ai", None, "openai/m-1")


def test_calls_and_results() -> None:
    trace = read(
        {"role": "user", "content": "go"},
        asked("m1", ("a", "f", {"n": 1}), ("b", "f", {"n": 2})),
        told("b", "B"),
        told("a", "A"),
        asked("m2", ("c", "f", {"n": 1})),
    )
    assert [(c.call_id, c.turn, c.status) for c in trace.calls] == [
        ("a", 1, "ok"),
        ("b", 1, "ok"),
        ("c", 2, "missing"),
    ]
    assert bytes(trace.calls[1].result) == b'"B"'
    assert events(trace, UserMessage) == [UserMessage(-1)]
    assert events(trace, ContextLoss) == []


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "ok"),
        ("timeout", "timeout"),
        ("parsing", "not-executed"),
        ("approval", "rejected"),
        ("permission", "error"),
        ("file_not_found", "error"),
    ],
)
def test_outcomes(error: str | None, outcome: str) -> None:
    assert read(asked("m", ("a", "f", {})), told("a", "x", error)).calls[0].status == outcome


def test_times_and_usage_come_from_the_events() -> None:
    output = {"choices": [{"message": {"id": "m"}}], "usage": {"input_tokens": 4}}
    trace = read(
        asked("m", ("a", "f", {})),
        told("a"),
        events=[
            {"event": "model", "output": output},
            {"event": "tool", "id": "a", "timestamp": "2025-01-01T00:00:01Z", "completed": "t2"},
        ],
    )
    assert (trace.calls[0].started, trace.calls[0].ended) == ("2025-01-01T00:00:01Z", "t2")
    assert Request(1, "main", "m-1", {"input_tokens": 4}) in trace.events


def test_an_attachment_is_put_back() -> None:
    trace = read(
        asked("m", ("a", "f", {}), ("b", "f", {})),
        told("a", "attachment://k1"),
        told("b", "long text"),
        attachments={"k1": "long text"},
    )
    assert trace.calls[0].result_hash == trace.calls[1].result_hash
    assert bytes(trace.calls[0].result) == b'"long text"'


def test_an_archive() -> None:
    (trace,) = read_bytes(archive(sample(asked("m", ("a", "f", {})), told("a"))), "log.eval")
    assert (trace.model, len(trace.calls)) == ("openai/m-1", 1)


def test_a_damaged_archive_is_an_error() -> None:
    with pytest.raises(InputError, match="damaged"):
        read_bytes(archive(sample(), damaged=True), "log.eval")


def test_a_log_without_samples_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b'{"status": "started", "eval": {"task": "t"}}')
