"""From bytes as they lie on disk to the bytes of a trace: .gz, .bz2, .xz, .zst and .zip, by magic
number.

Every expansion is limited, so that a small archive cannot fill the memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

from refetch.model.errors import InputError, MissingExtraError
from refetch.readers.magic import BZIP2, GZIP, XZ, ZSTD

MAX_RATIO = 200
"""How many times larger than the archive its content may be, beyond `FREE_BYTES`."""

FREE_BYTES = 64 * 1024 * 1024
"""Content up to this size is never refused, whatever its ratio."""

MAX_MEMBERS = 10_000
"""Members of one archive."""

_CHUNK = 1 << 20
_NESTED = 2


def _zstd_stream(data: bytes) -> IO[bytes]:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("reading .zst files", "zstd") from None
        reader: Any = zstandard.ZstdDecompressor().stream_reader(
            io.BytesIO(data), read_across_frames=True
        )
        return reader  # type: ignore[no-any-return]
    return zstd.open(io.BytesIO(data))  # type: ignore[no-any-return, unused-ignore]


def _gzip_stream(data: bytes) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=io.BytesIO(data)))


def _bzip2_stream(data: bytes) -> IO[bytes]:
    return bz2.BZ2File(io.BytesIO(data))


def _xz_stream(data: bytes) -> IO[bytes]:
    return lzma.LZMAFile(io.BytesIO(data))


_STREAMS: tuple[tuple[bytes, str, Callable[[bytes], IO[bytes]]], ...] = (
    (GZIP, "gzip", _gzip_stream),
    (BZIP2, "bzip2", _bzip2_stream),
    (XZ, "xz", _xz_stream),
    (ZSTD, "zstd", _zstd_stream),
)
_DAMAGED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def decompressed(data: bytes, source: str) -> bytes:
    """The content of a compressed file (also of one compressed twice); anything else as it is.

    Raises:
        InputError: damaged, or expanding beyond the limits.
        MissingExtraError: zstd without its library.
    """
    for _ in range(_NESTED):
        stream = next((entry for entry in _STREAMS if data.startswith(entry[0])), None)
        if stream is None:
            return data
        _, kind, opener = stream
        try:
            with opener(data) as file:
                data = _read_limited(file, len(data), _limit(data), source, kind)
        except (InputError, MissingExtraError):
            raise
        except Exception as error:
            if not isinstance(error, _DAMAGED) and type(error).__name__ != "ZstdError":
                raise
            raise InputError(
                source, f"damaged {kind} data: {error}", expected=f"a complete {kind} file"
            ) from None
    return data


def members(data: bytes, source: str) -> Iterator[tuple[str, bytes]]:
    """The files in a ZIP archive: (source of the member, its content, decompressed).

    Raises:
        InputError: damaged, encrypted, or expanding beyond the limits.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGED as error:
        raise InputError(
            source, f"damaged ZIP archive: {error}", expected="a complete ZIP archive"
        ) from None
    with archive:
        names = [info for info in archive.infolist() if not info.is_dir()]
        if len(names) > MAX_MEMBERS:
            raise InputError(
                source,
                f"archive of {len(names)} files (limit {MAX_MEMBERS}); unpack it first",
                expected=f"at most {MAX_MEMBERS} files",
                found=str(len(names)),
            )
        left = _limit(data)
        for info in names:
            member = f"{source}::{info.filename}"
            try:
                with archive.open(info) as file:
                    content = _read_limited(file, len(data), left, member, "ZIP")
                left -= len(content)
            except InputError:
                raise
            except (*_DAMAGED, RuntimeError, NotImplementedError) as error:
                raise InputError(member, f"cannot be unpacked: {error}") from None
            yield member, decompressed(content, member)


def _limit(data: bytes) -> int:
    return max(FREE_BYTES, len(data) * MAX_RATIO)


def _read_limited(file: IO[bytes], packed: int, limit: int, source: str, kind: str) -> bytes:
    """Read to the end, at most `limit` bytes (what is left for this archive)."""
    chunks: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise InputError(
                source,
                f"{kind} data of {packed:,} bytes expands beyond {MAX_RATIO} times its size;"
                " unpack it first if that is right",
                expected=f"at most {MAX_RATIO} times its size",
                found=f"more than {size - len(chunk):,} bytes",
            )
        chunks.append(chunk)
    return b"".join(chunks)
