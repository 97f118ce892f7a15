"""The first bytes by which packed files are known; unpacking them (`decompress`) loads far more."""

from __future__ import annotations

GZIP = b"\x1f\x8b"
BZIP2 = b"BZh"
XZ = b"\xfd7zXZ\x00"
ZSTD = b"\x28\xb5\x2f\xfd"
ZIP = b"PK\x03\x04"

STREAMS = (GZIP, BZIP2, XZ, ZSTD)
"""Formats that hold one file."""

PACKED = (*STREAMS, ZIP)
"""Everything that `decompress` opens."""
