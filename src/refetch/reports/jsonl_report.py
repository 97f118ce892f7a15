"""JSON Lines: the entries of `traces` of the JSON report, one a line; then one line of the rest."""

from __future__ import annotations

from refetch.reports.batch import Batch
from refetch.reports.json_report import document, encode
from refetch.reports.look import Look


def render(batch: Batch, look: Look) -> str:
    """A line for each trace, and a last line with version, summary, skipped and errors."""
    whole = document(batch)
    lines = [encode(trace) for trace in whole.pop("traces")]
    return "\n".join([*lines, encode(whole)]) + "\n"
