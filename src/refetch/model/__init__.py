"""What a trace is made of: calls, events, tool metadata, findings, errors.

Every structure here is frozen data (msgspec structs). Nothing in this package judges anything; it
is the one vocabulary that readers write and the judge reads.
"""

from refetch.model.errors import (
    FixtureError,
    InputError,
    MissingExtraError,
    RefetchError,
    UsageError,
)
from refetch.model.finding import Acquittal, CallRef, Finding, Location, RunReport
from refetch.model.region import RegionSpec
from refetch.model.tool import ToolMeta
from refetch.model.trace import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Problem,
    Request,
    Result,
    Trace,
    UserMessage,
    Write,
    seconds,
)

__all__ = [
    "Acquittal",
    "Call",
    "CallRef",
    "ContextLoss",
    "ContextStart",
    "Event",
    "Finding",
    "FixtureError",
    "InputError",
    "Location",
    "MissingExtraError",
    "Problem",
    "RefetchError",
    "RegionSpec",
    "Request",
    "Result",
    "RunReport",
    "ToolMeta",
    "Trace",
    "UsageError",
    "UserMessage",
    "Write",
    "seconds",
]
