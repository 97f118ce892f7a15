"""The text report."""

from refetch.reports.batch import Batch
from refetch.reports.look import Look


def render(batch: Batch, look: Look) -> str:
    return "".join(f"{c.report.source}: {len(c.report.flags)}\n" for c in batch.checked)
