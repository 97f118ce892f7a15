"""Writing small JSON Lines sessions for the readers' tests."""

from __future__ import annotations

import json
from typing import Any

from refetch.model.trace import Trace
from refetch.readers import read_bytes


def encoded(*records: Any) -> bytes:
    """One JSON object a line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def only_trace(*records: Any, source: str = "s.jsonl", reader: str | None = None) -> Trace:
    """The one trace in these records."""
    (trace,) = read_bytes(encoded(*records), source, reader)
    return trace


def events(trace: Trace, kind: type) -> list[Any]:
    """The events of one kind, in order."""
    return [event for event in trace.events if type(event) is kind]
