"""Writes docs/formats.md: what each reader says of itself, and what it found in the samples.

The tables need the samples that stand beside the project (`../shared/traces`); without them the
page is left as it is.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from importlib import import_module
from pathlib import Path

from refetch.hygiene import FAILED, prepare
from refetch.model.trace import Call, ContextLoss, Trace
from refetch.readers import READERS, read_path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "formats.md"
SHARED = Path(os.environ.get("REFETCH_SHARED", ROOT.parent / "shared")) / "traces"
KEPT = ROOT / "tests" / "data" / "traces"
COLUMNS = "samples traces contexts turns calls attempts failures losses results".split()
EXPLAINED = {
    "claude-code": "commands that the user ran are calls here (origin user), not in the manifest",
    "langfuse": "one call recorded in several phases, or as a span of another type, is one call",
    "mini-swe-agent": "the manifest counts fences in messages, here only commands that were run",
    "tau2-bench": "the manifest gives no number",
}
INTRO = """# Formats

A file is recognised by what is in it, never by its name; `--input-format NAME` forces one. Other
packages add formats through the entry point group `refetch.readers` (an example stands in
`examples/reader-plugin`).
"""


def counted(traces: list[Trace]) -> Counter[str]:
    """The numbers of some traces."""
    found: Counter[str] = Counter()
    for trace in traces:
        steps = [s for s in prepare(trace) if type(s.event) is Call]
        calls = [s for s in steps if s.role in ("call", "double")]
        found["traces"] += 1
        found["contexts"] += len({call.context for call in trace.calls})
        found["turns"] += len({(call.context, call.turn) for call in trace.calls})
        found["calls"] += len(calls)
        found["attempts"] += sum(s.role != "artefact" for s in steps)
        found["failures"] += sum(call.status in FAILED for call in trace.calls)
        found["losses"] += sum(type(event) is ContextLoss for event in trace.events)
        found["results"] += sum(bool(bytes(call.result)) for call in trace.calls)
    return found


def rows(paths: list[Path]) -> dict[str, Counter[str]]:
    """Numbers by format."""
    found: dict[str, Counter[str]] = {}
    for path in paths:
        traces = read_path(path)
        row = found.setdefault(traces[0].format, Counter())
        row["samples"] += 1
        row.update(counted(traces))
    return found


def table(found: dict[str, Counter[str]]) -> str:
    """The numbers as a table."""
    head = f"| format | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}\n"
    return head + "".join(
        f"| {name} | {' | '.join(f'{row[column]:,}' for column in COLUMNS)} |\n"
        for name, row in sorted(found.items())
    )


def page() -> str:
    """The whole page."""
    manifest = (SHARED / "MANIFEST.tsv").read_text("utf-8").splitlines()[1:]
    real = [SHARED / line.split("\t")[0] for line in manifest]
    kept = sorted(path for path in KEPT.glob("*/*") if path.is_file())
    parts = [
        INTRO,
        "## Found in real files\n\nFiles of other people; `losses` are context losses, `results` "
        "calls with a recorded result.\n",
        table(rows(real)),
        "Where the number of calls differs from the one that the files' manifest gives:\n",
        "\n".join(f"- {name}: {why}." for name, why in EXPLAINED.items()) + "\n",
        "## Found in the samples of this repository\n\nMade with the frameworks themselves where "
        "they run without a model, else written from their types.\n",
        table(rows(kept)),
    ]
    for reader in READERS:
        doc = inspect.getdoc(import_module(reader.module)) or ""
        parts.append(f"## {reader.name}\n\n{reader.title}. {doc}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if SHARED.is_dir():
        PAGE.write_text(page(), encoding="utf-8")
