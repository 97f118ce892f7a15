"""refetch: which tool calls of an agent run were redundant, which only look it, and why.

The public names are imported when they are first used, so that `import refetch` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

# Type checkers take the name for typing.TYPE_CHECKING; typing itself would double the start-up.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from refetch.api import (
        call_counts,
        check,
        find_exact_duplicates,
        find_semantic_duplicates,
        find_stale_refetches,
    )
    from refetch.judge import Judge, Options
    from refetch.keys import normalize_args
    from refetch.model.errors import FixtureError, InputError, RefetchError, UsageError
    from refetch.model.finding import Acquittal, CallRef, Finding, RunReport
    from refetch.model.trace import Call, Trace
    from refetch.readers.open_input import read_path as load
    from refetch.record import Tool, ToolTracer
    from refetch.replay.fixtures import run_fixture
    from refetch.replay.harness import AgentRun, TransientError, arun_agent, run_agent
    from refetch.replay.scripted import scripted_model

__version__ = "0.1.0"

_HOMES: dict[str, tuple[str, ...]] = {
    "refetch.api": (
        "call_counts",
        "check",
        "find_exact_duplicates",
        "find_semantic_duplicates",
        "find_stale_refetches",
    ),
    "refetch.judge": ("Judge", "Options"),
    "refetch.keys": ("normalize_args",),
    "refetch.model.errors": ("FixtureError", "InputError", "RefetchError", "UsageError"),
    "refetch.model.finding": ("Acquittal", "CallRef", "Finding", "RunReport"),
    "refetch.model.trace": ("Call", "Trace"),
    "refetch.readers.open_input": ("load",),
    "refetch.record": ("Tool", "ToolTracer"),
    "refetch.replay.fixtures": ("run_fixture",),
    "refetch.replay.harness": ("AgentRun", "TransientError", "arun_agent", "run_agent"),
    "refetch.replay.scripted": ("scripted_model",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_OWN_NAME = {"load": "read_path"}
"""Public names that are called otherwise where they live."""

__all__ = [
    "Acquittal",
    "AgentRun",
    "Call",
    "CallRef",
    "Finding",
    "FixtureError",
    "InputError",
    "Judge",
    "Options",
    "RefetchError",
    "RunReport",
    "Tool",
    "ToolTracer",
    "Trace",
    "TransientError",
    "UsageError",
    "__version__",
    "arun_agent",
    "call_counts",
    "check",
    "find_exact_duplicates",
    "find_semantic_duplicates",
    "find_stale_refetches",
    "load",
    "normalize_args",
    "run_agent",
    "run_fixture",
    "scripted_model",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), _OWN_NAME.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
