"""`refetch convert`: a trace in another format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from refetch.cli import choices
from refetch.cli.errors import report_problems
from refetch.cli.flags import flags
from refetch.cli.writing import make_folder_of, put_file
from refetch.model.errors import UsageError
from refetch.model.trace import Trace
from refetch.readers.open_input import STDIN, content_of, read_paths
from refetch.reports.batch import Batch
from refetch.writers import Writer, Written, writer_for, writer_named

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@click.command("convert")
@choices.PATHS
@flags("convert")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    output: str,
    to: str | None,
    force: bool,
    input_format: str | None,
) -> None:
    """Write traces as native JSON Lines, ATIF 1.8 or OTLP JSON with the GenAI conventions.

    What the target has no place for is kept in its extension fields, which reading it back
    understands, and told. Exit code: 0 converted, 2 something could not be read or written.
    """
    writer = writer_named(to) if to is not None else writer_for(output)
    batch = Batch()
    traces: list[Trace] = []
    for loaded in read_paths(paths, input_format):
        batch.skipped += loaded.skipped
        batch.errors += loaded.problems
        for trace in loaded.traces:
            batch.errors += trace.problems
            traces.append(trace)
    report_problems(batch)
    if not traces:
        if not batch.errors:
            click.echo("no traces found", err=True)
        ctx.exit(2)
    losses: Counter[str] = Counter()
    for path, written in _files(traces, writer, output, paths):
        make_folder_of(path)
        put_file(path, written.data, force=force)
        losses += written.losses
    for loss, count in losses.most_common():
        click.echo(f"{count} x {loss}", err=True)
    ctx.exit(2 if batch.errors else 0)


def _files(
    traces: Sequence[Trace], writer: Writer, output: str, paths: Sequence[str]
) -> Iterator[tuple[str, Written]]:
    if len(traces) == 1 or writer.many:
        target = output
        if output != STDIN and Path(output).is_dir():
            target = str(Path(output) / _name(traces[0], writer, set()))
        yield target, _same(traces, writer, paths) or writer.write(traces)
        return
    if output == STDIN or (Path(output).suffix and not Path(output).is_dir()):
        raise UsageError(
            f"{len(traces)} runs, and a file of format {writer.name} holds one: name a folder"
        )
    taken: set[str] = set()
    for trace in traces:
        yield str(Path(output) / _name(trace, writer, taken)), writer.write([trace])


def _same(traces: Sequence[Trace], writer: Writer, paths: Sequence[str]) -> Written | None:
    """A native trace as a native trace stays what it is, fields of other releases included."""
    native = len(traces) == len(paths) == 1 and traces[0].format == writer.name
    if not native or paths[0] == STDIN or paths[0] != traces[0].source:
        return None
    return Written(content_of(paths[0]))


def _name(trace: Trace, writer: Writer, taken: set[str]) -> str:
    """A file name from the id of the run, which may hold anything."""
    stem = _UNSAFE.sub("_", trace.run).strip("._")[:80] or "run"
    name, count = f"{stem}{writer.suffix}", 1
    while name in taken:
        count += 1
        name = f"{stem}-{count}{writer.suffix}"
    taken.add(name)
    return name
