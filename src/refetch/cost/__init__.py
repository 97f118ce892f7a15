"""What redundant calls cost: carried tokens and a range of money (SPEC 10)."""

from refetch.cost.charging import costed
from refetch.cost.spending import Spending, spending_of
from refetch.cost.totals import Total, total_of

__all__ = ["Spending", "Total", "costed", "spending_of", "total_of"]
