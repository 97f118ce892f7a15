"""OpenTelemetry spans as OTLP protobuf: what an exporter sends over HTTP or writes to a file.

Sniff: a message whose first field holds a resource or scoped spans. Needs the extra
`refetch[otlp]`. Everything else is as in OTLP JSON, which this becomes first.

What the format cannot tell: see `otel_genai`; ids are written in base64.
"""

from __future__ import annotations

import msgspec

from refetch.model.errors import InputError, MissingExtraError
from refetch.model.trace import Trace
from refetch.readers import otel_genai
from refetch.readers.sniff import Sniffed

NAME = "otlp-protobuf"
_FIRST_FIELD = 0x0A
_INNER_FIELDS = (0x0A, 0x12)


def sniff(sniffed: Sniffed) -> bool:
    """True for bytes that are no text and begin like an export of spans."""
    head = sniffed.head
    if sniffed.shape != "other" or len(head) < 6 or head[0] != _FIRST_FIELD:
        return False
    outer = _varint(head, 1)
    if outer is None or outer[1] + 1 >= len(head) or head[outer[1]] not in _INNER_FIELDS:
        return False
    inner = _varint(head, outer[1] + 1)
    return inner is not None and 0 < inner[0] < outer[0] and any(byte < 9 for byte in head)


def _varint(data: bytes, at: int) -> tuple[int, int] | None:
    """(value, where it ends) of a number of the wire format, or None where it breaks off."""
    value = shift = 0
    while at < len(data) and shift < 35:
        value |= (data[at] & 0x7F) << shift
        if data[at] < 0x80:
            return value, at + 1
        at, shift = at + 1, shift + 7
    return None


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each conversation or trace id.

    Raises:
        InputError: the bytes are no export of spans. MissingExtraError: the extra is not installed.
    """
    try:
        from google.protobuf.json_format import MessageToJson
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )
    except ImportError:
        raise MissingExtraError("reading OTLP protobuf", "otlp") from None
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
        text = MessageToJson(request, indent=None)
    except (DecodeError, ValueError, RecursionError) as error:
        raise InputError(
            source,
            f"no OTLP protobuf: {error}",
            expected="an ExportTraceServiceRequest",
            found="other bytes",
        ) from None
    traces = otel_genai.read(text.encode(), source)
    return [msgspec.structs.replace(trace, format=NAME) for trace in traces]
