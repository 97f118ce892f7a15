"""Readers: from what people have (files of many agents and frameworks) to traces."""

from refetch.readers.open_input import (
    Found,
    Loaded,
    Unit,
    find_inputs,
    load,
    read_path,
    read_paths,
)
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
    "Found",
    "Loaded",
    "Reader",
    "Sniffed",
    "Unit",
    "UnknownFormatError",
    "find_inputs",
    "format_names",
    "load",
    "read_bytes",
    "read_path",
    "read_paths",
    "sniff_bytes",
]
