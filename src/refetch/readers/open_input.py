"""From what a person names (files, folders, globs, "-") to traces.

A path named by hand must be a trace; in a folder everything that is none is skipped and counted.
One bad file never hides the others: what cannot be read becomes a `Problem`.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from refetch.model.errors import InputError, RefetchError, UsageError
from refetch.model.trace import Problem, Trace
from refetch.readers import claude_code
from refetch.readers.claude_code_files import session_file_of, subagent_files
from refetch.readers.file_patterns import matching
from refetch.readers.magic import PACKED, STREAMS, ZIP
from refetch.readers.registry import UnknownFormatError, claim, read_bytes
from refetch.readers.snapshots import families, without_snapshots
from refetch.readers.sniff import normalized_text, sniff_bytes

if TYPE_CHECKING:
    from refetch.readers.decompress import Allowance

STDIN = "-"
_GLOB = frozenset("*?[")
_SKIPPED_FOLDERS = frozenset((".git", "node_modules", "__pycache__", ".venv", ".hg", ".svn"))
_PEEK = 1 << 16
_OPEN_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISDIR, "a folder"),
)


class Unit(msgspec.Struct, frozen=True):
    """Files that are read together: one, or a session with the files of its sub-agents.

    `named`: a person named it, so that it must be a trace. Paths are as given; "-" is standard
    input.
    """

    paths: tuple[str, ...]
    named: bool = False


class Found(msgspec.Struct, frozen=True):
    """What paths lead to: units in order, paths that lead nowhere, files skipped unopened."""

    units: list[Unit]
    problems: list[Problem]
    skipped: int = 0


class Loaded(msgspec.Struct, frozen=True):
    """What one unit held. `skipped` counts files that are no traces."""

    source: str
    traces: list[Trace]
    problems: list[Problem]
    skipped: int = 0


def find_inputs(paths: Iterable[str | os.PathLike[str]]) -> Found:
    """Expand files, folders and globs into units; opens nothing but sub-agent files of one layout.

    A path that leads to nothing becomes a problem. Each file is taken once.
    """
    units: list[Unit] = []
    problems: list[Problem] = []
    skipped = 0
    taken: set[object] = set()
    for path in _expanded(paths, problems):
        if path != STDIN and os.path.isdir(path):  # noqa: PTH112 (Path.is_dir can raise)
            walk = _Walk(problems)
            units += _grouped([file for file in walk.files(path) if _is_new(file, taken)])
            skipped += walk.skipped
        elif _is_new(path, taken):
            parts = [] if path == STDIN else _companions(path, problems)
            units.append(Unit((path, *(p for p in parts if _is_new(p, taken))), named=True))
    return Found(units, problems, skipped)


def _expanded(paths: Iterable[str | os.PathLike[str]], problems: list[Problem]) -> Iterator[str]:
    for given in paths:
        path = os.fspath(given)
        if path == STDIN or os.path.lexists(path):
            yield path
            continue
        matches = sorted(set(matching(path))) if _GLOB & set(path) else []
        if not matches:
            what = "no file matches this pattern" if _GLOB & set(path) else "no such file"
            problems.append(Problem(path, what, expected="a file or a folder", found="nothing"))
        yield from matches


def _is_new(path: str, taken: set[object]) -> bool:
    """Whether a file was not taken yet, by whatever way; it is taken now."""
    key: object = path
    if path != STDIN:
        try:
            info = os.stat(path)  # noqa: PTH116 (a Path costs more than the call)
            key = (info.st_dev, info.st_ino)
        except (OSError, ValueError):
            pass  # opening it will say why
    new = key not in taken
    taken.add(key)
    return new


def _companions(path: str, problems: list[Problem]) -> list[str]:
    try:
        return [str(part) for part in subagent_files(Path(path))]
    except OSError as error:
        problems.append(_os_problem(error.filename or path, error))
        return []


class _Walk:
    """The regular files below a folder, sorted; a folder reached twice by links is entered once."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.skipped = 0
        self._entered: set[tuple[int, int]] = set()

    def files(self, folder: str) -> Iterator[str]:
        """Every file worth opening."""
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            try:
                info = Path(here).stat()
                if (info.st_dev, info.st_ino) in self._entered:
                    continue
                self._entered.add((info.st_dev, info.st_ino))
                with os.scandir(here) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.problems.append(_os_problem(here, error))
                continue
            folders: list[str] = []
            for entry in found:
                yield from self._one(entry, folders)
            waiting += reversed(folders)

    def _one(self, entry: os.DirEntry[str], folders: list[str]) -> Iterator[str]:
        try:
            if entry.is_dir():
                if entry.name not in _SKIPPED_FOLDERS:
                    folders.append(entry.path)
            elif entry.is_file():
                yield entry.path
            else:
                # A broken link, a pipe, a socket, a device.
                self.skipped += 1
        except OSError as error:
            if error.errno == errno.ELOOP:
                self.skipped += 1
            else:
                self.problems.append(_os_problem(entry.path, error))


def _grouped(files: Sequence[str]) -> list[Unit]:
    known = set(files)
    parts: dict[str, list[str]] = {}
    for file in files:
        owner = session_file_of(Path(file))
        if owner is not None and str(owner) in known and str(owner) != file:
            parts.setdefault(str(owner), []).append(file)
    children = {file for group in parts.values() for file in group}
    return [Unit((file, *parts.get(file, ()))) for file in files if file not in children]


def load(unit: Unit, input_format: str | None = None) -> Loaded:
    """Read one unit. Never raises for what its files hold.

    Args:
        unit: from `find_inputs`.
        input_format: a reader's name; None finds it by content.

    Raises:
        UsageError: no reader has the name `input_format`.
    """
    traces: list[Trace] = []
    problems: list[Problem] = []
    skipped = 0
    contents: list[tuple[str, bytes]] = []
    for path in unit.paths:
        try:
            data = _content(path, unit.named)
        except (RefetchError, OSError) as error:
            problems.append(_problem(path, error))
            if (data := _rest(error)) is None:
                continue
        if data is None:
            skipped += 1
        else:
            contents.append((path, data))
    if len(contents) > 1 and _are_one_session(contents, input_format):
        contents = [(name, normalized_text(data)) for name, data in contents]
        _add(traces, problems, contents[0][0], lambda: claude_code.read_parts(contents))
    else:
        for source, data in contents:
            skipped += _read_into(traces, problems, source, data, input_format, unit.named)
    return Loaded(unit.paths[0], traces, problems, skipped)


def unit_families(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units that may be checkpoints of one session side by side, in order of the first of each."""
    return [[units[i] for i in family] for family in families([u.paths[0] for u in units])]


def load_family(family: Sequence[Unit], input_format: str | None = None) -> Loaded:
    """Read units that may hold one session; what another one holds completely is left out.

    Raises:
        UsageError: no reader has the name `input_format`.
    """
    loaded = [load(unit, input_format) for unit in family]
    if len(loaded) == 1:
        return loaded[0]
    traces, copies = without_snapshots(trace for one in loaded for trace in one.traces)
    return Loaded(
        loaded[0].source,
        traces,
        [problem for one in loaded for problem in one.problems],
        sum(one.skipped for one in loaded) + copies,
    )


def read_paths(
    paths: Iterable[str | os.PathLike[str]], input_format: str | None = None
) -> Iterator[Loaded]:
    """Read everything that the paths lead to, one unit after the other.

    Units that may be checkpoints of one session are loaded together; what another one holds
    completely is skipped and counted.

    Raises:
        UsageError: no reader has the name `input_format`.
    """
    found = find_inputs(paths)
    if found.problems or found.skipped:
        yield Loaded("", [], found.problems, found.skipped)
    for family in unit_families(found.units):
        yield load_family(family, input_format)


def read_path(path: str | os.PathLike[str], input_format: str | None = None) -> list[Trace]:
    """The traces in one file or folder.

    Raises:
        InputError: nothing could be read; in a folder only if no file in it could.
        UsageError: no reader has the name `input_format`.
    """
    traces: list[Trace] = []
    problems: list[Problem] = []
    for loaded in read_paths([path], input_format):
        traces += loaded.traces
        problems += loaded.problems
    if traces:
        return traces
    first = problems[0] if problems else Problem(os.fspath(path), "no traces in this folder")
    raise InputError(
        first.source,
        first.message,
        line=first.line,
        path=first.path,
        expected=first.expected,
        found=first.found,
    )


def content_of(path: str) -> bytes:
    """The decompressed bytes of a file that a person named.

    Raises:
        InputError: it cannot be decompressed. OSError: it cannot be read.
    """
    data = _content(path, named=True)
    assert data is not None
    return data


def _content(path: str, named: bool) -> bytes | None:
    """The decompressed bytes of a path, or None for a file in a folder that cannot be a trace."""
    if path == STDIN:
        return _unpacked(sys.stdin.buffer.read(), path)
    if not path.startswith(_OPEN_PIPES):
        mode = Path(path).stat().st_mode
        if not stat.S_ISREG(mode):
            kind = next((word for test, word in _KINDS if test(mode)), "no regular file")
            raise InputError(path, f"is {kind}", expected="a file or a folder", found=kind)
    with Path(path).open("rb") as file:
        if not named:
            head = file.read(_PEEK)
            if not head.startswith((*PACKED, b"SQLite format 3\x00", b"\xff\xfe")) and (
                b"{" not in head
            ):
                return None
            file.seek(0)
        return _unpacked(file.read(), path)


def _unpacked(data: bytes, source: str) -> bytes:
    if not data.startswith(STREAMS):
        return data
    from refetch.readers.decompress import decompressed

    return decompressed(data, source)


def _read_into(
    traces: list[Trace],
    problems: list[Problem],
    source: str,
    data: bytes,
    input_format: str | None,
    named: bool,
    within: Sequence[Allowance] = (),
) -> int:
    """Read one input; returns how many files of it were skipped because they are no traces.

    `within`: the one allowance, once for each archive around this input.
    """
    if data.startswith(ZIP) and input_format is None and claim(sniff_bytes(data)) is None:
        return _read_archive(traces, problems, source, data, named, within)
    try:
        traces += read_bytes(data, source, input_format)
    except UsageError:
        raise
    except UnknownFormatError as error:
        if not named:
            return 1
        problems.append(_problem(source, error))
    except RefetchError as error:
        problems.append(_problem(source, error))
    return 0


def _read_archive(
    traces: list[Trace],
    problems: list[Problem],
    source: str,
    data: bytes,
    named: bool,
    within: Sequence[Allowance],
) -> int:
    from refetch.readers.decompress import MAX_DEPTH, Allowance, members

    if len(within) >= MAX_DEPTH:
        deep = f"{MAX_DEPTH} archives around this one; unpack them first"
        problems.append(Problem(source, deep, expected=f"at most {MAX_DEPTH} within each other"))
        return 0
    within = [*within, within[0] if within else Allowance(data)]
    before, skipped = (len(traces), len(problems)), 0
    try:
        for member, content in members(data, source, within[0]):
            if isinstance(content, RefetchError):
                problems.append(_problem(member, content))
            packed = _rest(content) if isinstance(content, RefetchError) else content
            if packed is not None:
                skipped += _read_into(traces, problems, member, packed, None, False, within)
    except RefetchError as error:
        problems.append(_problem(source, error))
    else:
        if named and (len(traces), len(problems)) == before:
            problems.append(
                Problem(source, "no traces in this archive", expected="at least one trace")
            )
    return skipped


def _rest(error: Exception) -> bytes | None:
    """What could be unpacked of a file that is cut off; None of any other that cannot be read."""
    content: bytes | None = getattr(error, "content", None)
    return content


def _are_one_session(contents: list[tuple[str, bytes]], input_format: str | None) -> bool:
    if input_format is not None:
        return input_format == claude_code.NAME
    return all(
        claude_code.sniff(sniff_bytes(normalized_text(data[: 1 << 22]))) for _, data in contents
    )


def _add(
    traces: list[Trace], problems: list[Problem], source: str, read: Callable[[], list[Trace]]
) -> None:
    try:
        traces += read()
    except RefetchError as error:
        problems.append(_problem(source, error))


def _problem(source: str, error: Exception) -> Problem:
    if isinstance(error, InputError):
        return Problem(
            error.source, error.message, error.line, error.path, error.expected, error.found
        )
    if isinstance(error, OSError):
        return _os_problem(source, error)
    return Problem(source, str(error))


def _os_problem(source: str, error: OSError) -> Problem:
    return Problem(source, error.strerror or str(error))
