"""Writes docs/cost.md: how costs are computed, and how far estimates are off on real files.

The table needs the samples that stand beside the project (`../shared/traces`) and the extra `cost`.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path

from refetch.cost.timeline import Timeline
from refetch.cost.tokens import CHARS_PER_TOKEN, tokens_of
from refetch.judge.results import result_text
from refetch.readers import read_path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cost.md"
SHARED = Path(os.environ.get("REFETCH_SHARED", ROOT.parent / "shared")) / "traces"
FORMATS = ("claude-code", "codex-cli", "mini-swe-agent", "pi", "tau2-bench")
LEAST = 200  # tokens of a batch; below it the frame around a message is most of the growth
TEXT = """# What waste costs

Each finding that repeats a call says what the repeat cost:

- **Carried tokens**: the tokens of its result, once for each later model request of its context
  until the result leaves it (compaction, clearing, eviction), plus the tokens that the model wrote
  to ask for it.
- **Money** (`pip install 'refetch[cost]'`): a range. The low end takes every later request from the
  prompt cache, the high end none; one figure where the trace records what the cache served. Prices
  come from the package `genai-prices`; its version dates them. They are those of short prompts.
- A whole **model request** is charged only where every call of its turn was redundant.
- Hazards (RF005), loops (RF108) and budgets (RF004) add nothing, so that sums count nothing twice.

Each figure says where its tokens come from:

| source | meaning |
|---|---|
| measured | recorded with the call, or the growth of the prompt, shared by length (see below) |
| counted | counted with OpenAI's o200k encoding, without a network (extra `cost`) |
| estimated | four characters a token |

The growth of a prompt is what a request has more than the one before, less what the model wrote; it
is shared among the results of the turn. Where a log counts too little of what the model wrote, as
Claude Code's do, the rest of it is taken for results: such a figure is an upper bound.

## How far the other two are off

Batches of results on real files whose growth is recorded (at least 200 tokens each): the ratio of
the counted and of the estimated figure to the measured one.
"""


def ratios(folder: Path) -> tuple[list[float], list[float]]:
    """(counted / measured, estimated / measured) of every batch that can be measured."""
    counted: list[float] = []
    estimated: list[float] = []
    for path in sorted(folder.glob("*")):
        for trace in read_path(path):
            timeline = Timeline(trace)
            for calls in timeline.calls.values():
                asked, following = timeline.asking(calls[0])
                if not asked or not following or not asked.clean:
                    continue
                if asked.usage is None or following.usage is None:
                    continue
                growth = following.usage.prompt - asked.usage.prompt - asked.usage.output
                if growth < LEAST:
                    continue
                texts = [result_text(call) for call in calls]
                counted.append(sum(tokens_of(text).number for text in texts) / growth)
                estimated.append(sum(map(len, texts)) / CHARS_PER_TOKEN / growth)
    return counted, estimated


def row(name: str, counted: list[float], estimated: list[float]) -> str:
    """One line of the table: medians and the middle four fifths."""
    cells = [f"{len(counted):,}"]
    for found in (counted, estimated):
        tenths = statistics.quantiles(found, n=10)
        cells.append(f"{statistics.median(found):.2f} ({tenths[0]:.2f}-{tenths[8]:.2f})")
    return f"| {name} | {' | '.join(cells)} |\n"


def page() -> str:
    """The whole page."""
    head = "| format | batches | counted (8 in 10) | estimated (8 in 10) |\n|---|---:|---:|---:|\n"
    rows = "".join(row(name, *ratios(SHARED / name)) for name in FORMATS)
    return f"{TEXT}\n{head}{rows}"


if __name__ == "__main__":
    if SHARED.is_dir():
        PAGE.write_text(page(), encoding="utf-8")
