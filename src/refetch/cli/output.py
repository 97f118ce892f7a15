"""Where reports go: standard output or files, one or several formats at once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple, TextIO

import msgspec

from refetch.cli.writing import refuse_inputs, write_file
from refetch.model.errors import UsageError
from refetch.reports.batch import Batch
from refetch.reports.look import Look
from refetch.reports.registry import Format, format_named, format_names, format_of_file

_FILE_WIDTH = 120


class Target(NamedTuple):
    """One report to write; `path` None is standard output."""

    format: Format
    path: str | None


def targets(format_name: str | None, outputs: Sequence[str], usual: str = "text") -> list[Target]:
    """What `--format` and `-o` ask for.

    `NAME=FILE` adds a report beside the main one; a plain `FILE` takes the main one away from
    standard output, in the format of `--format`, else of its suffix, else the `usual` one.

    Raises:
        UsageError: two reports for one file.
    """
    standard = format_named(format_name or usual)
    main = [Target(standard, None)]
    added: list[Target] = []
    for output in outputs:
        name, equals, path = output.partition("=")
        if equals and name in format_names():
            added.append(Target(format_named(name), path))
            continue
        asked = format_named(format_name) if format_name else format_of_file(output)
        main = [] if main and main[0].path is None else main
        main.append(Target(asked or standard, output))
    files = [os.path.normcase(t.path) for t in main + added if t.path not in (None, "-")]
    for path in files:
        if files.count(path) > 1:
            raise UsageError(f"-o {path}: two reports for one file")
    return main + added


def needs_of(wanted: Sequence[Target], *, why: bool = False) -> frozenset[str]:
    """What the formats need beside the verdicts (see `Format.needs`)."""
    needs = {target.format.needs for target in wanted}
    return frozenset(needs | {"all"} if why else needs)


def write_reports(batch: Batch, wanted: Sequence[Target], look: Look) -> None:
    """Render and write every report.

    Raises:
        UsageError: a file cannot be written, or is one of the traces.
    """
    for target in wanted:
        if target.path is None or target.path == "-":
            text = target.format.render(batch, look)
            write = write_text if target.format.name == "text" else write_document
            write(sys.stdout, text)
            continue
        plain = msgspec.structs.replace(look, color=False, ascii=False, width=_FILE_WIDTH)
        text = target.format.render(batch, plain)
        refuse_inputs(target.path, sources_of(batch))
        write_file(target.path, text.encode("utf-8", "backslashreplace"))


def sources_of(batch: Batch) -> list[str]:
    """What was read, as far as it was a trace or should have been one."""
    return [one.report.source for one in batch.checked] + [error.source for error in batch.errors]


def write_document(stream: TextIO, text: str) -> None:
    """Write text for programs, which expect UTF-8 whatever the terminal speaks."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    write_text(stream, text)


def write_text(stream: TextIO, text: str) -> None:
    """Write text; what the stream's encoding lacks is written as an escape instead of failing."""
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def look_of(color: bool | None, *, why: bool = False, top: int = 20) -> Look:
    """What standard output can show. `color` None: decide by NO_COLOR, FORCE_COLOR and terminal."""
    return Look(
        width=_width(),
        color=_colored() if color is None else color,
        ascii=not _prints_marks(sys.stdout.encoding or "ascii"),
        why=why,
        top=top,
    )


def _colored() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _width() -> int:
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return _FILE_WIDTH
    import shutil

    return max(40, shutil.get_terminal_size((100, 24)).columns)


def _prints_marks(encoding: str) -> bool:
    try:
        "✗✎✓→·…".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
