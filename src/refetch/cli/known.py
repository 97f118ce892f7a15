"""Known findings: those of an old project are written down once, and only new ones fail.

The file is JSON, sorted, one entry a finding, so that a review sees what was accepted. Fingerprints
hold no numbers of calls or turns: the same waste in a later run is the same finding.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from refetch.cli.output import sources_of
from refetch.cli.writing import refuse_inputs, write_file
from refetch.model.errors import InputError, UsageError
from refetch.reports.batch import Batch, Checked
from refetch.reports.escape import escaped
from refetch.reports.fingerprints import numbered
from refetch.reports.wording import call_text

VERSION = 1


class Entry(msgspec.Struct, frozen=True):
    """One accepted finding; only `fingerprint` counts, the rest is for people."""

    fingerprint: str
    code: str = ""
    call: str = ""


class KnownFile(msgspec.Struct, frozen=True):
    """The whole file."""

    refetch_known: int
    findings: list[Entry]


def write_known(path: str, batch: Batch) -> int:
    """Write the findings of a batch as known; returns how many.

    Raises:
        UsageError: the file cannot be written, or is one of the traces.
    """
    entries = [
        {
            "fingerprint": name,
            "code": finding.code,
            "call": call_text(finding.repeat, 120) if finding.repeat is not None else "",
        }
        for name, _, finding in numbered(batch.checked)
    ]
    entries.sort(key=lambda entry: (entry["code"], entry["call"], entry["fingerprint"]))
    document: dict[str, Any] = {"refetch_known": VERSION, "findings": entries}
    refuse_inputs(path, sources_of(batch))
    write_file(path, json.dumps(document, indent=1).encode() + b"\n")
    return len(entries)


def read_known(path: str) -> KnownFile:
    """Read a file of known findings.

    Raises:
        UsageError: it cannot be read. InputError: it is no such file.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        known = msgspec.json.decode(data, type=KnownFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            path, f"no file of known findings: {error}", expected='{"refetch_known": 1, …}'
        ) from None
    if known.refetch_known != VERSION:
        raise InputError(path, f"version {known.refetch_known} of known findings is not known")
    return known


def without_known(batch: Batch, known: KnownFile) -> tuple[int, list[Entry]]:
    """Take the known findings out of a batch; returns how many, and those that vanished."""
    accepted = {entry.fingerprint for entry in known.findings}
    met: set[str] = set()
    fresh: dict[int, list[Any]] = {id(one): [] for one in batch.checked}
    for name, one, finding in numbered(batch.checked):
        if name in accepted:
            met.add(name)
        else:
            fresh[id(one)].append(finding)
    batch.checked[:] = [
        Checked(msgspec.structs.replace(one.report, findings=fresh[id(one)]), one.trace)
        for one in batch.checked
    ]
    return len(met), [entry for entry in known.findings if entry.fingerprint not in met]


def report_known(met: int, vanished: list[Entry]) -> None:
    """Say on standard error how many were met, and which are gone and can be struck out."""
    click.echo(f"{met} known findings left out", err=True)
    for entry in vanished[:20]:
        click.echo(f"no longer found: {entry.code} {escaped(entry.call)}", err=True)
    if len(vanished) > 20:
        click.echo(f"no longer found: {len(vanished) - 20} more", err=True)
