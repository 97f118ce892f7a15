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

from refetch.model.errors import InputError, MissingExtraError, RefetchError
from refetch.readers.magic import BZIP2, GZIP, XZ, ZSTD

MAX_RATIO = 200
"""How many times larger than a file everything in it may be together, beyond `FREE_BYTES`."""

FREE_BYTES = 64 * 1024 * 1024
"""Content up to this size is never refused, whatever its ratio."""

MAX_MEMBERS = 10_000
"""Members of one archive and of the archives in it."""

MAX_DEPTH = 3
"""Archives within each other: an archive can hold itself."""

_CHUNK = 1 << 20
_NESTED = 2


class CutOffError(InputError):
    """A packed file that ends too early. `content` is what could be unpacked of it."""

    def __init__(self, source: str, kind: str, content: bytes) -> None:
        super().__init__(
            source,
            f"the {kind} data is cut off; what stands before that counts",
            expected=f"a complete {kind} file",
        )
        self.content = content


class Allowance:
    """What one file may still expand to: everything packed in it draws on the same one."""

    def __init__(self, data: bytes) -> None:
        self.packed = len(data)
        self.bytes_left = max(FREE_BYTES, len(data) * MAX_RATIO)
        self.members_left = MAX_MEMBERS

    def read(self, file: IO[bytes], source: str, kind: str) -> bytes:
        """Read to the end.

        Raises:
            InputError: more than is left. CutOffError: it ends too early.
        """
        chunks: list[bytes] = []
        read: Callable[[int], bytes] = file.read1  # type: ignore[attr-defined]
        while chunk := _next(read, source, kind, chunks):
            self.bytes_left -= len(chunk)
            if self.bytes_left < 0:
                raise InputError(
                    source,
                    f"{kind} data in a file of {self.packed:,} bytes expands beyond {MAX_RATIO}"
                    " times its size; unpack it first if that is right",
                    expected=f"at most {MAX_RATIO} times its size",
                    found="more",
                )
            chunks.append(chunk)
        return b"".join(chunks)


def _next(read: Callable[[int], bytes], source: str, kind: str, before: list[bytes]) -> bytes:
    # One read at a time: a longer one would lose with the error what it had unpacked.
    try:
        return read(_CHUNK)
    except EOFError:
        if not before:
            raise
        raise CutOffError(source, kind, b"".join(before)) from None


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


def decompressed(data: bytes, source: str, allowance: Allowance | None = None) -> bytes:
    """The content of a compressed file (also of one compressed twice); anything else as it is.

    Args:
        data: the file.
        source: what errors call it.
        allowance: of the archive that holds the file.

    Raises:
        InputError: damaged, or expanding beyond the limits. CutOffError: it ends too early.
        MissingExtraError: zstd without its library.
    """
    allowance = allowance or Allowance(data)
    for _ in range(_NESTED):
        stream = next((entry for entry in _STREAMS if data.startswith(entry[0])), None)
        if stream is None:
            return data
        _, kind, opener = stream
        try:
            with opener(data) as file:
                data = allowance.read(file, source, kind)
        except (InputError, MissingExtraError):
            raise
        except Exception as error:
            if not isinstance(error, _DAMAGED) and type(error).__name__ != "ZstdError":
                raise
            raise InputError(
                source, f"damaged {kind} data: {error}", expected=f"a complete {kind} file"
            ) from None
    return data


def members(
    data: bytes, source: str, allowance: Allowance | None = None
) -> Iterator[tuple[str, bytes | RefetchError]]:
    """The files in a ZIP archive: (source of the member, its content, decompressed).

    In place of the content of a member that is damaged or encrypted stands the error.

    Raises:
        InputError: the archive is damaged, or expands beyond the limits.
    """
    allowance = allowance or Allowance(data)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:  # whatever zipfile stumbles over in a directory of any bytes
        raise InputError(
            source, f"damaged ZIP archive: {error}", expected="a complete ZIP archive"
        ) from None
    with archive:
        names = [info for info in archive.infolist() if not info.is_dir()]
        allowance.members_left -= len(names)
        if allowance.members_left < 0:
            raise InputError(
                source,
                f"archive of {len(names)} files (limit {MAX_MEMBERS}); unpack it first",
                expected=f"at most {MAX_MEMBERS} files",
                found=str(MAX_MEMBERS - allowance.members_left),
            )
        for info in names:
            member = f"{source}::{info.filename}"
            yield member, _member(archive, info, member, allowance)


def _member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: str, allowance: Allowance
) -> bytes | RefetchError:
    try:
        with archive.open(info) as file:
            content = allowance.read(file, source, "ZIP")
        return decompressed(content, source, allowance)
    except RefetchError as error:
        if allowance.bytes_left < 0:
            raise
        return error
    except Exception as error:  # damaged, encrypted, packed in a way that zipfile does not know
        return InputError(source, f"cannot be unpacked: {error}")
