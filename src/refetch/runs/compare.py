"""Runs against a baseline: three answers, never two.

- regressed: the one-sided test, in the direction of waste, rejects at alpha; or a run has an exact
  duplicate within a turn that no run of the baseline had, which one run is enough to show.
- no regression: the interval (one-sided, at the same alpha) excludes a rise of the practical size.
- inconclusive: neither; with an estimate of the runs that would decide it.

The gate is two metrics, each at alpha: an unchanged agent trips it in at most twice alpha of
comparisons. All other metrics are reported. With a family alpha Holm's procedure covers every
gated metric of every task instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import NormalDist, median

import msgspec

from refetch.model.errors import UsageError
from refetch.runs.baseline import Baseline, check_mix, values
from refetch.runs.metrics import GATED, is_share
from refetch.runs.store import Run
from refetch.stats.families import holm
from refetch.stats.rank_sum import hodges_lehmann, rank_sum, stratified_rank_sum
from refetch.stats.rates import boschloo, newcombe, stratified_exact

REGRESSED, UNHARMED, INCONCLUSIVE = "regressed", "no regression", "inconclusive"
RISE = "rise"
"""What a metric that gates nothing is called where it would have regressed."""
MOST_RUNS = 1000


class Compared(msgspec.Struct):
    """One metric of one task (or of all together, `task` "")."""

    task: str
    metric: str
    kind: str
    before: list[float]
    after: list[float]
    estimate: float
    low: float
    high: float
    p_greater: float
    p_two_sided: float
    margin: float
    gated: bool
    verdict: str = ""
    adjusted: float | None = None
    runs_needed: int | None = None

    @property
    def middle_before(self) -> float:
        """The median, or the share."""
        return _middle(self.kind, self.before)

    @property
    def middle_after(self) -> float:
        """The median, or the share."""
        return _middle(self.kind, self.after)


class Comparison(msgspec.Struct):
    """Everything that `refetch compare` says."""

    baseline: str
    alpha: float
    practical: float
    verdict: str
    metrics: list[Compared]
    hard: list[str]
    warnings: list[str]
    family: bool = False


def compare(
    baselines: dict[str, Baseline],
    runs: dict[str, list[Run]],
    *,
    alpha: float = 0.05,
    practical: float = 0.10,
    gated: Sequence[str] = GATED,
    family: bool = False,
    force: bool = False,
) -> Comparison:
    """Compare runs with a baseline, task by task and together.

    Args:
        practical: the rise that would matter: a share of the baseline's median for counts, an
            absolute one for shares.

    Raises:
        UsageError: no task in common, fewer than two runs of one, other models, unknown metrics.
    """
    tasks = sorted(set(baselines) & set(runs))
    if not tasks:
        raise UsageError(
            f"no task in common: the baseline has {_listed(baselines)}, the runs {_listed(runs)}"
        )
    warnings = [f"task {t!r} has no runs" for t in sorted(set(baselines) - set(runs))]
    warnings += [f"task {t!r} has no baseline" for t in sorted(set(runs) - set(baselines))]
    found: list[Compared] = []
    hard: list[str] = []
    for task in tasks:
        baseline, mine = baselines[task], runs[task]
        if len(mine) < 2:
            raise UsageError(f"task {task!r}: {len(mine)} run; a comparison needs two or more")
        if not force:
            check_mix(baseline, mine)
        if baseline.age_days > 90:
            warnings.append(f"task {task!r}: the baseline is {baseline.age_days:.0f} days old")
        hard += _hard(task, baseline, mine)
        found += _task(task, baseline, mine, alpha, practical, gated)
    together = _together(found, tasks, alpha, practical) if len(tasks) > 1 else []
    gates = [one for one in (found if family or not together else together) if one.gated]
    _judge(found, together, gates, alpha, family=family)
    verdicts = [one.verdict for one in gates]
    verdict = INCONCLUSIVE if INCONCLUSIVE in verdicts else UNHARMED
    if hard or REGRESSED in verdicts:
        verdict = REGRESSED
    return Comparison(
        next(iter(baselines.values())).name,
        alpha, practical, verdict, [*together, *found], hard, warnings, family,
    )  # fmt: skip


def _listed(tasks: dict[str, object] | dict[str, Baseline] | dict[str, list[Run]]) -> str:
    return ", ".join(sorted(tasks)[:5]) or "none"


def _hard(task: str, baseline: Baseline, runs: list[Run]) -> list[str]:
    if any(baseline.metrics.get("exact_duplicate", ())):
        return []
    bad = [run.source for run in runs if run.metrics.get("exact_duplicate")]
    return [f"{task}: an exact duplicate within a turn in {source}" for source in bad]


def _task(
    task: str,
    baseline: Baseline,
    runs: list[Run],
    alpha: float,
    practical: float,
    gated: Sequence[str],
) -> list[Compared]:
    known = sorted({*baseline.metrics, *(name for run in runs for name in run.metrics)})
    missing = [name for name in gated if name not in known]
    if missing:
        raise UsageError(f"task {task!r}: no metric {missing[0]!r}; known: {', '.join(known)}")
    found = []
    for metric in known:
        before = baseline.metrics.get(metric, [])
        if not before and metric.startswith(("rule.", "tool.")):
            before = [0.0] * baseline.runs
        after = values(runs, metric)
        if len(before) < 2 or len(after) < 2:
            if metric in gated:
                raise UsageError(f"task {task!r}: {metric} is known of fewer than two runs")
            continue
        found.append(_compared(task, metric, before, after, alpha, practical, metric in gated))
    return found


def _compared(
    task: str,
    metric: str,
    before: list[float],
    after: list[float],
    alpha: float,
    practical: float,
    gated: bool,
) -> Compared:
    if is_share(metric):
        counts = (round(sum(before)), len(before), round(sum(after)), len(after))
        # Success is the one share of which more is better.
        turned = (counts[1] - counts[0], counts[1], counts[3] - counts[2], counts[3])
        tested = boschloo(*(turned if metric == "success" else counts))
        z = NormalDist().inv_cdf(1 - alpha)
        interval = newcombe(*(turned if metric == "success" else counts), z=z)
        margin, kind = practical, "share"
        estimate, low, high = interval
    else:
        tested = rank_sum(before, after)
        shift = hodges_lehmann(before, after, confidence=1 - 2 * alpha)
        margin, kind = practical * abs(median(before)), "count"
        estimate, low, high = shift
    return Compared(
        task, metric, kind, before, after, estimate, low, high,
        tested.greater, tested.two_sided, margin, gated,
    )  # fmt: skip


def _together(
    found: list[Compared], tasks: list[str], alpha: float, practical: float
) -> list[Compared]:
    """Each metric over all tasks that have it: stratified tests, effects averaged by runs."""
    by_metric: dict[str, list[Compared]] = {}
    for one in found:
        by_metric.setdefault(one.metric, []).append(one)
    rows = []
    for metric, parts in by_metric.items():
        if len(parts) < len(tasks):
            continue
        if parts[0].kind == "share":
            strata = [
                (round(sum(p.before)), len(p.before), round(sum(p.after)), len(p.after))
                for p in parts
            ]
            tested = stratified_exact(strata)
        else:
            tested = stratified_rank_sum([(p.before, p.after) for p in parts])
        weights = [len(p.before) * len(p.after) / (len(p.before) + len(p.after)) for p in parts]
        total = sum(weights)

        spread = (
            sum((w * (p.high - p.estimate)) ** 2 for w, p in zip(weights, parts, strict=True))
            ** 0.5
            / total
        )
        estimate = _mean([p.estimate for p in parts], weights)
        margin = _mean([p.margin for p in parts], weights)
        rows.append(
            Compared(
                "", metric, parts[0].kind,
                [v for p in parts for v in p.before], [v for p in parts for v in p.after],
                estimate, estimate - spread, estimate + spread,
                tested.greater, tested.two_sided, margin, parts[0].gated,
            )
        )  # fmt: skip
    return rows


def _mean(numbers: list[float], weights: list[float]) -> float:
    return sum(w * v for w, v in zip(weights, numbers, strict=True)) / sum(weights)


def _judge(
    found: list[Compared],
    together: list[Compared],
    gates: list[Compared],
    alpha: float,
    *,
    family: bool,
) -> None:
    """Give every row its verdict; where several tasks or a family are asked for, by Holm."""
    groups = [gates] if family else [[one for one in gates if one is row] for row in gates]
    inside = {id(one) for one in gates}
    by_metric: dict[str, list[Compared]] = {}
    for one in found:
        if id(one) not in inside:
            by_metric.setdefault(one.metric, []).append(one)
    groups += list(by_metric.values())
    groups += [[one] for one in together if id(one) not in inside]
    for group in groups:
        for one, adjusted in zip(group, holm([one.p_greater for one in group]), strict=True):
            one.adjusted = adjusted
            one.verdict, one.runs_needed = _verdict(one, adjusted, alpha)


def _verdict(one: Compared, p_value: float, alpha: float) -> tuple[str, int | None]:
    if p_value <= alpha:
        return (REGRESSED if one.gated else RISE), None
    if one.high <= one.margin:
        return UNHARMED, None
    runs = min(len(one.before), len(one.after))
    if one.estimate < one.margin:
        ratio = (one.high - one.estimate) / max(1e-9, one.margin - one.estimate)
    else:
        needed = NormalDist().inv_cdf(1 - alpha)
        reached = NormalDist().inv_cdf(1 - min(max(one.p_greater, 1e-12), 0.499))
        ratio = needed / max(reached, 1e-9)
    return INCONCLUSIVE, min(MOST_RUNS, max(runs + 1, ceil(runs * ratio**2)))


def _middle(kind: str, sample: list[float]) -> float:
    return sum(sample) / len(sample) if kind == "share" else median(sample)
