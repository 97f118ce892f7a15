"""OTLP protobuf tells what OTLP JSON tells."""

from __future__ import annotations

import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.samples import SMALL

from refetch.model.errors import InputError, MissingExtraError
from refetch.readers import otlp_protobuf, read_bytes
from refetch.readers.sniff import sniff_bytes
from refetch.writers import writer_named

pytest.importorskip("opentelemetry.proto", reason="needs refetch[otlp]")


def as_json() -> bytes:
    native = next(sample for sample in SMALL if sample.format == "claude-code")
    return writer_named("otlp").write(read_bytes(native.read())).data


def as_protobuf(text: bytes) -> bytes:
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
    )

    data: bytes = Parse(text, ExportTraceServiceRequest()).SerializeToString()
    return data


def test_it_tells_what_the_json_tells() -> None:
    (expected,) = read_bytes(as_json())
    (found,) = read_bytes(as_protobuf(as_json()))
    assert found.format == "otlp-protobuf"
    assert msgspec.structs.replace(found, format="otel-genai") == expected


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\n\n\n\n\n\n\n\n", b"\n\x05hello", b"\n\n{\n}\n", b"\x00\x00", b"\n\xff\xff"],
)
def test_other_bytes_are_not_claimed(data: bytes) -> None:
    assert not otlp_protobuf.sniff(sniff_bytes(data))


def test_bytes_that_break_off_are_named() -> None:
    with pytest.raises(InputError, match=r"^f: no OTLP protobuf"):
        read_bytes(as_protobuf(as_json())[:-3], "f", "otlp-protobuf")


@given(st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_changed_bytes_never_crash_it(at: int, change: bytes) -> None:
    data = as_protobuf(as_json())
    try:
        read_bytes(data[:at] + change + data[at + len(change) :], "f", "otlp-protobuf")
    except InputError as error:
        assert "reader failed" not in str(error)  # noqa: PT017


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_protobuf(as_json())
    monkeypatch.setitem(sys.modules, "google.protobuf.json_format", None)
    with pytest.raises(MissingExtraError, match=r"refetch\[otlp\]"):
        read_bytes(data)
