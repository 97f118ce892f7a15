"""refetch's own trace format (SPEC 11): JSON Lines, a header and then one event a line.

Sniff: one of the first lines is an object with the key `refetch`. The format holds everything a
trace can hold, so this reader only hands the input on.
"""

from __future__ import annotations

from refetch.model.native import read_native
from refetch.model.trace import Trace
from refetch.readers.sniff import Sniffed

NAME = "native"


def sniff(sniffed: Sniffed) -> bool:
    """True for JSON Lines whose first record is the header `{"refetch": …}`."""
    return bool(sniffed.rows) and "refetch" in sniffed.rows[0] and "run" in sniffed.rows[0]


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in the input.

    Raises:
        InputError: no readable header, or an unknown version.
    """
    return [read_native(data, source)]
