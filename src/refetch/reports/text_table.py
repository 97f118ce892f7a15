"""Many traces: one line each, worst first."""

from __future__ import annotations

from collections.abc import Iterator

from refetch.model.finding import RunReport
from refetch.reports.batch import Batch, Checked, redundant_calls
from refetch.reports.escape import escaped
from refetch.reports.look import Look
from refetch.reports.paint import Paint, shortened

_NUMBERS = 44


def table_lines(batch: Batch, look: Look) -> Iterator[str]:
    """The traces with findings; those with none are summed up in a last line."""
    paint = Paint(look)
    worst = sorted((one for one in batch.checked if one.report.findings), key=_badness)
    shown = worst[: look.top] if look.top else worst
    if shown:
        yield paint(" redundant  share   advice   calls   trace", "dim")
    several = _sources_with_several(batch)
    for one in shown:
        yield _line(one.report, look, paint, named=one.report.source in several)
    hidden = worst[len(shown) :]
    if hidden:
        yield paint(f" … and {len(hidden)} more with findings (--top 0 shows all)", "dim")
    clean = len(batch.checked) - len(worst)
    if clean and worst:
        yield paint(f" {clean} {'trace has' if clean == 1 else 'traces have'} no findings", "dim")


def _badness(one: Checked) -> tuple[int, int, int, str]:
    report = one.report
    flags = len(report.flags)
    return (-redundant_calls(report), -flags, flags - len(report.findings), report.source)


def _sources_with_several(batch: Batch) -> set[str]:
    seen: set[str] = set()
    several: set[str] = set()
    for one in batch.checked:
        (several if one.report.source in seen else seen).add(one.report.source)
    return several


def _line(report: RunReport, look: Look, paint: Paint, *, named: bool) -> str:
    redundant, flags = redundant_calls(report), len(report.flags)
    budget = " over budget" if flags > redundant else ""
    advice = len(report.findings) - flags
    share = f"{100 * redundant / report.calls:.1f} %" if report.calls else ""
    name = f"{report.source} [{report.run}]" if named else report.source
    name = shortened(escaped(name), max(20, look.width - _NUMBERS)) + paint(budget, "red")
    number = paint(f"{redundant:>10}", "red") if redundant else f"{redundant:>10}"
    return f"{number}  {share:>6}  {advice or '':>6}  {report.calls:>6}   {name}"
