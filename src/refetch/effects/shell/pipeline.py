"""What a pipeline still shows of the files its first program reads."""

from __future__ import annotations

from refetch.effects.shell.effect import ShellRead
from refetch.effects.shell.outcome import FILTERS, IGNORES, NARROWS, PASSES, Cut, Outcome

_KEPT_BASES = ("names", "listing", "tests")


def piped(left: Outcome, right: Outcome) -> Outcome:
    """Joins two stages: lines of one file may be narrowed to fewer; any other filter makes a
    view of its own.
    """
    if right.intake == PASSES:
        pass
    elif right.intake == NARROWS and (kept := _narrowed(left.reads, right.cut)):
        left.reads = kept
    elif right.intake in (FILTERS, NARROWS):
        text = f"{left.stage} | {right.stage}"
        left.reads = [_through(read, text) for read in left.reads]
        left.stage = text
    elif right.intake == IGNORES:
        left.hide()
        left.stage = right.stage
    return left.add(right)


def _through(read: ShellRead, text: str) -> ShellRead:
    base = read.view.partition(":")[0]
    if base in ("input", "maybe"):
        return read
    place = read.view.rpartition(": in ")[2] if ": in " in read.view else ""
    where = f" in {place}" if place else ""
    return ShellRead(
        read.resource, f"{base if base in _KEPT_BASES else 'matches'}:{text}{where}", read.region
    )


def _narrowed(reads: list[ShellRead], cut: Cut) -> list[ShellRead]:
    """The reads of the lines that are left; nothing where that is no region of one file."""
    if len(reads) != 1 or reads[0].view != "content":
        return []
    read = reads[0]
    region = read.region
    if region is None:
        region = ("line", 1, None)
    if region[0] == "tail" and len(region) == 2 and cut[0] == "head":
        return [
            ShellRead(
                read.resource, "content", ("tail", region[1], min(int(region[1] or 0), int(cut[1])))
            )
        ]
    if region[0] != "line":
        return []
    low = int(region[1] or 1)
    high = None if region[2] is None else int(region[2])
    return [
        ShellRead(read.resource, "content", None if kept == ("line", 1, None) else kept)
        for kept in _lines(low, high, cut)
    ]


def _lines(low: int, high: int | None, cut: Cut) -> list[tuple[str | int | None, ...]]:
    kind = cut[0]
    if kind == "head":
        end = low + int(cut[1]) - 1
        return [("line", low, end if high is None else min(high, end))]
    if kind == "from":
        return [("line", low + int(cut[1]) - 1, high)]
    if kind == "tail":
        if high is None:
            return [("tail", int(cut[1]))] if low == 1 else []
        return [("line", max(low, high - int(cut[1]) + 1), high)]
    kept: list[tuple[str | int | None, ...]] = []
    for first, last in zip(cut[1::2], cut[2::2], strict=True):
        if first == 0:
            return [("tail", 1)] if low == 1 and high is None else []
        asked: int | None = low + int(last) - 1 if last else None
        if asked is None or (high is not None and high < asked):
            asked = high
        kept.append(("line", low + int(first) - 1, asked))
    return kept
