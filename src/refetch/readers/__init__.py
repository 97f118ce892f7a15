"""Readers: from what people have (files of many agents and frameworks) to traces."""

from refetch.readers.registry import (
    READERS,
    Reader,
    UnknownFormatError,
    format_names,
    read_bytes,
)
from refetch.readers.sniff import Sniffed, sniff_bytes

__all__ = [
    "READERS",
    "Reader",
    "Sniffed",
    "UnknownFormatError",
    "format_names",
    "read_bytes",
    "sniff_bytes",
]
