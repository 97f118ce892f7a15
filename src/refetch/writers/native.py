"""The native format (SPEC 11): holds everything."""

from __future__ import annotations

from collections.abc import Sequence

from refetch.model.native import encode_native
from refetch.model.trace import Trace
from refetch.writers.written import Written


def write(traces: Sequence[Trace]) -> Written:
    """One run as JSON Lines."""
    (trace,) = traces
    return Written(encode_native(trace))
