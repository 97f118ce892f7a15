"""Files that commands write: whole or not at all, and never in place of what was read."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from refetch.model.errors import UsageError
from refetch.reports.escape import escaped

_PINNED = (errno.EBUSY, errno.EPERM, errno.EACCES, errno.EXDEV)
"""Why a file cannot be replaced though it can be written: a mounted file, one held open."""


def write_file(path: str, data: bytes) -> None:
    """Write a file in one step: who looks, and who is interrupted, finds the old file or the new.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        _write(Path(path), data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be written: {reason}") from None


def make_folder_of(path: str) -> None:
    """Make the folder that a file will stand in.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{escaped(path)}: cannot be written: {error.strerror}") from None


def put_file(path: str, data: bytes, *, force: bool) -> None:
    """Write what somebody may have changed since: a file that exists is replaced only by `force`.

    Args:
        path: the file, or "-" for standard output.
        data: its content.
        force: whether it may exist.

    Raises:
        UsageError: it exists, or cannot be written.
    """
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        if force:
            write_file(path, data)
            return
        with target.open("xb") as file:
            try:
                file.write(data)
                file.flush()
            except BaseException:
                target.unlink()
                raise
    except FileExistsError:
        raise UsageError(f"{escaped(path)}: exists already (--force replaces it)") from None
    except OSError as error:
        raise UsageError(f"{escaped(path)}: cannot be written: {error.strerror}") from None


def refuse_inputs(output: str, inputs: Iterable[str]) -> None:
    """See that an output is none of the inputs.

    Args:
        output: the file to write.
        inputs: what was read, as errors and traces call it (a member of an archive is the archive).

    Raises:
        UsageError: it is one, which would be lost.
    """
    try:
        if not Path(output).is_file():
            return
        for source in {name.partition("::")[0] for name in inputs} | set(inputs):
            if os.path.exists(source) and os.path.samefile(source, output):  # noqa: PTH110, PTH121
                raise UsageError(f"{output}: is an input; writing it would lose what was read")
    except (OSError, ValueError):
        return  # writing it will say why


def _write(target: Path, data: bytes) -> None:
    old = target.stat() if os.path.lexists(target) and target.exists() else None
    own = old is None or (
        stat.S_ISREG(old.st_mode) and old.st_nlink == 1 and old.st_uid == _user(old)
    )
    real = target.resolve()
    part = real.with_name(f".{real.name}.{os.getpid()}.part")
    if own:
        try:
            file = part.open("xb")
        except OSError:
            own = False  # a folder that takes no new file; a name too long for a suffix
    if not own:
        target.write_bytes(data)
        return
    try:
        with file:
            file.write(data)
        if old is not None:
            part.chmod(stat.S_IMODE(old.st_mode))
        part.replace(real)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.errno not in _PINNED:
            raise
        target.write_bytes(data)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _user(info: os.stat_result) -> int:
    """The user whom a new file would belong to."""
    return os.geteuid() if hasattr(os, "geteuid") else info.st_uid
