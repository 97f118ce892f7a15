"""A comparison as people read it, as Markdown, as JSON, and as a page."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from refetch.reports.escape import escaped
from refetch.reports.json_report import encode
from refetch.reports.markdown import code
from refetch.runs.compare import INCONCLUSIVE, REGRESSED, RISE, Compared, Comparison

_STRIP = " ▁▂▃▄▅▆▇█"


def text(found: Comparison, *, everything: bool = False) -> str:
    """The verdict first, then the gated metrics, then the others (all of them if asked)."""
    lines = [sentence(found), ""]
    lines += [f"hard failure: {escaped(reason)}" for reason in found.hard]
    lines += [f"warning: {escaped(warning)}" for warning in found.warnings]
    rows = [one for one in found.metrics if one.gated]
    rows += [one for one in found.metrics if not one.gated and (everything or _notable(one))]
    width = max((len(_name(one)) for one in rows), default=10)
    for one in rows:
        mark = "gate " if one.gated else "     "
        lines.append(f"{mark}{_name(one):{width}}  {effect(one)}")
        lines.append(f"     {'':{width}}  {strip(one)}  {one.verdict}{needed(one)}")
    left = len(found.metrics) - len(rows)
    if left:
        lines.append(f"     {left} more metrics without a rise (--all shows them)")
    return "\n".join(lines) + "\n"


def sentence(found: Comparison) -> str:
    """The answer in words."""
    if found.verdict == REGRESSED:
        bad = [_name(one) for one in found.metrics if one.gated and one.verdict == REGRESSED]
        return f"regressed: {', '.join(bad) or 'an exact duplicate within a turn'}"
    if found.verdict == INCONCLUSIVE:
        most = max((one.runs_needed or 0 for one in found.metrics if one.gated), default=0)
        more = f"; about {most} runs of each would decide it" if most else ""
        return f"inconclusive: neither a rise nor its absence is shown{more}"
    return f"no regression: a rise of {found.practical:.0%} is excluded"


def effect(one: Compared) -> str:
    """What changed by how much, and how sure that is."""
    before, after = _number(one, one.middle_before), _number(one, one.middle_after)
    interval = f"{_number(one, one.low)} to {_number(one, one.high)}"
    return (
        f"{before} -> {after}, shift {_number(one, one.estimate)} ({interval}), "
        f"p = {one.p_greater:.3g} one-sided, {one.p_two_sided:.3g} two-sided"
    )


def needed(one: Compared) -> str:
    """How many runs would decide an open question."""
    return f", about {one.runs_needed} runs would decide" if one.runs_needed else ""


def strip(one: Compared) -> str:
    """Both samples as bars over one scale: before | after."""
    low, high = min(one.before + one.after), max(one.before + one.after)
    return f"{_bars(one.before, low, high)} | {_bars(one.after, low, high)}"


def _bars(sample: list[float], low: float, high: float, bins: int = 12) -> str:
    if high <= low:
        return _STRIP[-1]
    counts = [0] * bins
    for value in sample:
        counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    top = max(counts)
    return "".join(_STRIP[-(-count * 8 // top)] for count in counts)


def _notable(one: Compared) -> bool:
    return one.verdict in (REGRESSED, RISE) or one.p_two_sided <= 0.05


def _name(one: Compared) -> str:
    task = f"{one.task}: " if one.task else ""
    return escaped(f"{task}{one.metric}")


def _number(one: Compared, value: float) -> str:
    return f"{value:.0%}" if one.kind == "share" else f"{value:.4g}"


def markdown(found: Comparison) -> str:
    """A comment on a pull request."""
    lines = [f"### refetch compare: {found.verdict}", "", escape(sentence(found)), ""]
    lines += [f"- **hard failure:** {code(reason)}" for reason in found.hard]
    lines += [f"- {code(warning)}" for warning in found.warnings]
    lines += ["", "| metric | before | after | shift | p (one-sided) | verdict |"]
    lines.append("|---|---:|---:|---:|---:|---|")
    for one in found.metrics:
        if one.gated or _notable(one):
            cells = [
                code(_name(one)), _number(one, one.middle_before), _number(one, one.middle_after),
                f"{_number(one, one.estimate)} ({_number(one, one.low)} to "
                f"{_number(one, one.high)})", f"{one.p_greater:.3g}",
                f"{one.verdict}{needed(one)}",
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def document(found: Comparison) -> str:
    """For machines."""
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return encode(plain, indent=1) + "\n"


_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:1rem;max-width:60rem;color:#1b1f24;
background:#fff}h2{font-size:1rem;margin:1.2rem 0 .2rem;overflow-wrap:anywhere}
p{margin:.2rem 0}svg{width:100%;height:5rem}
@media(prefers-color-scheme:dark){body{background:#11161c;color:#e6edf3}text{fill:#e6edf3}}"""


def page(found: Comparison) -> str:
    """A page that opens from disk: each metric as strips of both samples, medians and interval."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width">',
        f"<title>refetch compare</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_html(sentence(found))}</h1>",
    ]
    parts += [f"<p>{_html(line)}</p>" for line in (*found.hard, *found.warnings)]
    for one in found.metrics:
        gate = " (gate)" if one.gated else ""
        parts.append(f"<h2>{_html(_name(one))}{gate}: {_html(one.verdict + needed(one))}</h2>")
        parts.append(f"<p>{_html(effect(one))}</p>{_svg(one)}")
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _html(text_: str) -> str:
    return escape(escaped(text_))


def _svg(one: Compared) -> str:
    low, high = min(one.before + one.after), max(one.before + one.after)
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return round(80 + (value - low) / span * 500, 1)

    marks = []
    for y, label, sample, middle in (
        (20, "before", one.before, one.middle_before),
        (50, "after", one.after, one.middle_after),
    ):
        marks.append(f'<text x="4" y="{y + 4}" font-size="12">{label}</text>')
        marks += [
            f'<circle cx="{x(value)}" cy="{y + (index % 3 - 1) * 3}" r="4" fill="#3b82c4" '
            'fill-opacity=".45"/>'
            for index, value in enumerate(sample)
        ]
        marks.append(
            f'<rect x="{x(middle) - 1.5}" y="{y - 11}" width="3" height="22" fill="#c62828"/>'
        )
    label = _html(f"{_name(one)}: {effect(one)}")
    return f'<svg viewBox="0 0 600 70" role="img" aria-label="{label}">{"".join(marks)}</svg>'
