"""What names a finding from run to run: rule, call and context, not numbers, turns or times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import xxhash

from refetch.model.finding import Finding
from refetch.reports.batch import Checked


def fingerprint(finding: Finding) -> str:
    """The same for equal findings of any run: rule, tool and arguments (or ceiling), context."""
    repeat = finding.repeat
    about = repeat.raw_key or repeat.name if repeat is not None else finding.kind or ""
    text = f"{finding.code}\0{about}\0{finding.context}".encode("utf-8", "replace")
    return xxhash.xxh3_64_hexdigest(text)


def numbered(checked: Iterable[Checked]) -> Iterator[tuple[str, Checked, Finding]]:
    """Each finding with its fingerprint and how often it came before: `1f…:1`, `1f…:2`."""
    seen: Counter[str] = Counter()
    for one in checked:
        for finding in one.report.findings:
            name = fingerprint(finding)
            seen[name] += 1
            yield f"{name}:{seen[name]}", one, finding
