"""One sentence for each finding, as machine formats carry it: plain text, nothing active."""

from __future__ import annotations

from refetch.judge.rule import Rule
from refetch.model.finding import CallRef, Finding
from refetch.model.trace import MAIN
from refetch.reports.escape import escaped
from refetch.reports.text_cost import finding_cost

_LONGEST = 300


def title(rule: Rule) -> str:
    """What a rule is about: the first line of its documentation."""
    return rule.doc.strip().split("\n")[0]


def call_text(ref: CallRef, longest: int = _LONGEST) -> str:
    """A call with its arguments, cut where it is long."""
    text = escaped(ref.raw_key or ref.name)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def sentence(finding: Finding) -> str:
    """Everything that matters about one finding."""
    repeat, first = finding.repeat, finding.first
    if repeat is None or first is None:
        return f"{finding.rule}: {escaped(finding.message)}"
    where = f" of {escaped(repeat.context)}" if repeat.context != MAIN else ""
    parts = [
        f"{finding.rule}: call #{repeat.seq} in turn {repeat.turn}{where}, {call_text(repeat)}, "
        f"repeats call #{first.seq} in turn {first.turn}",
        escaped(finding.message),
        finding_cost(finding),
    ]
    return "; ".join(part for part in parts if part)
