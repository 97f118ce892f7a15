"""The cost of each finding (SPEC 10).

Carried tokens are the repeat's result, once for each later model request of its context until the
result leaves it, plus the tokens that the model wrote to ask for it. Money is a range: all of that
from the prompt cache, or none of it; one figure where the trace records what the cache served. A
whole request is charged only where every call of its turn was redundant. Hazards (RF005), loops
(RF108) and budgets (RF004) cost nothing of their own, so that the sum over findings counts nothing
twice.
"""

from __future__ import annotations

from typing import Any

import msgspec

from refetch.cost.prices import Prices, prices_of
from refetch.cost.timeline import Asked, Carried, Timeline, cached_share
from refetch.cost.tokens import Tokens, tokens_of, worst
from refetch.judge.results import result_text
from refetch.model.finding import Finding, RunReport
from refetch.model.trace import Call, Trace

FREE = frozenset(("RF004", "RF005", "RF108"))
"""Rules whose findings add nothing to the cost."""


def costed(report: RunReport, trace: Trace) -> RunReport:
    """The report with `cost` in every finding that costs anything."""
    if not any(_charged(finding) for finding in report.findings):
        return report
    charging = _Charging(trace, report)
    return msgspec.structs.replace(
        report, findings=[charging.finding(finding) for finding in report.findings]
    )


def _charged(finding: Finding) -> bool:
    return finding.code not in FREE and finding.repeat is not None


class _Charging:
    def __init__(self, trace: Trace, report: RunReport) -> None:
        self.timeline = Timeline(trace)
        self.calls: dict[int, Call] = {}
        for call in trace.calls:
            self.calls.setdefault(call.seq, call)
        self.lengths: dict[tuple[str, int], int] = {}
        self.prices = prices_of(report.model or trace.model)
        repeats = {f.repeat.seq for f in report.flags if _charged(f) and f.repeat is not None}
        self.wasted = {
            calls[-1].seq
            for calls in self.timeline.calls.values()
            if all(call.seq in repeats for call in calls)
        }

    def finding(self, finding: Finding) -> Finding:
        """The finding with its cost."""
        call = self.calls.get(finding.repeat.seq) if finding.repeat is not None else None
        if call is None or not _charged(finding):
            return finding
        return msgspec.structs.replace(finding, cost=self._cost(call))

    def _cost(self, call: Call) -> dict[str, Any]:
        result = self._result(call)
        written = tokens_of(call.name + bytes(call.args).decode("utf-8", "replace"))
        carriers = self.timeline.carriers(call)
        carried = round(result.number) * carriers.requests + round(written.number)
        source = worst(result.source, written.source) if not carriers.requests else result.source
        cost: dict[str, Any] = {
            "carried_tokens": carried,
            "result_tokens": round(result.number),
            "output_tokens": round(written.number),
            "later_requests": carriers.requests,
            "source": source,
        }
        if call.seq in self.wasted and (asked := self.timeline.asking(call)[0]) is not None:
            if asked.usage is not None:
                cost["request_tokens"] = asked.usage.prompt + asked.usage.output
            self._money(cost, round(result.number), round(written.number), carriers, asked)
        else:
            self._money(cost, round(result.number), round(written.number), carriers, None)
        return cost

    def _result(self, call: Call) -> Tokens:
        """The tokens of a result: its share of what the prompt grew by, where that is recorded."""
        if call.result_tokens is not None:
            return Tokens(call.result_tokens, "measured")
        text = result_text(call)
        counted = tokens_of(text)
        if not text and call.result_chars:
            counted = Tokens(call.result_chars / 4, "estimated")
        asked, following = self.timeline.asking(call)
        if asked is None or following is None or not asked.clean:
            return counted
        if asked.usage is None or following.usage is None:
            return counted
        growth = following.usage.prompt - asked.usage.prompt - asked.usage.output
        turn = (call.context, call.turn)
        if turn not in self.lengths:
            self.lengths[turn] = sum(map(_length, self.timeline.calls.get(turn, [call])))
        length = self.lengths[turn]
        if growth <= 0 or length <= 0:
            return counted
        return Tokens(growth * _length(call) / length, "measured")

    def _money(
        self,
        cost: dict[str, Any],
        result: int,
        written: int,
        carriers: Carried,
        request: Asked | None,
    ) -> None:
        prices = self.prices
        if prices is None:
            return
        low = high = exact = written * prices.output
        known = carriers.known
        low += result * prices.cached * carriers.requests
        high += result * prices.fresh * carriers.requests
        fresh = carriers.requests - carriers.cached
        exact += result * (prices.cached * carriers.cached + prices.fresh * fresh)
        if request is not None and request.usage is not None:
            usage = request.usage
            output = max(0, usage.output - written) * prices.output
            low += usage.prompt * prices.cached + output
            high += usage.prompt * prices.fresh + output
            share = cached_share(request.usage)
            known = known and share is not None
            exact += usage.prompt * _blend(prices, share or 0.0) + output
        cost["usd_low"], cost["usd_high"] = (exact, exact) if known else (low, high)
        cost["exact"] = known


def _blend(prices: Prices, cached: float) -> float:
    return prices.cached * cached + prices.fresh * (1 - cached)


def _length(call: Call) -> int:
    return call.result_chars or len(bytes(call.result))
