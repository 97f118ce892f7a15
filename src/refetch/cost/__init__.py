"""What redundant calls cost: carried tokens and a range of money (SPEC 10)."""

from refetch.cost.charging import costed
from refetch.cost.totals import Total, total_of

__all__ = ["Total", "costed", "total_of"]
