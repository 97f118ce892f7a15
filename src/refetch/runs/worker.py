"""One run in a process of its own: `python -m refetch.runs.worker AGENT FOLDER NUMBER`.

The task is JSON on standard input. The agent is called as `agent(task, tracer)`; it may be a
coroutine function. What it returns may say whether it succeeded: True or False, or a mapping or
object with `success`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from refetch import __version__
from refetch.cost import spending_of
from refetch.record import ToolTracer
from refetch.replay.replaying import imported_agent
from refetch.runs.baseline import commit
from refetch.runs.store import RUN_FILE, TRACE_FILE, VERSION, RunInfo, write_json


def run_once(agent: str, task: Any, folder: Path, number: int) -> RunInfo:
    """Call the agent and write what became of it. Never raises for what the agent does."""
    name = task if isinstance(task, str) else str(task.get("name", "task"))
    tracer = ToolTracer(run=f"{name}-{number}", task=name, stream=folder / TRACE_FILE)
    info = RunInfo(
        VERSION, name, number, "finished", seed=number, commit=commit(),
        versions={"python": platform.python_version(), "refetch": __version__},
    )  # fmt: skip
    started = time.monotonic()
    try:
        answer = imported_agent(agent)(task, tracer)
        if inspect.isawaitable(answer):
            answer = asyncio.run(_awaited(answer))
        info.success = success_of(answer)
    except Exception as error:
        info.outcome, info.error = "failed", f"{type(error).__name__}: {error}"[:500]
    info.duration = time.monotonic() - started
    trace = tracer.finish()
    info.model, spent = trace.model, spending_of(trace)
    if spent is not None:
        info.tokens, info.cost = spent
    write_json(folder / RUN_FILE, msgspec.to_builtins(info))
    return info


async def _awaited(answer: Any) -> Any:
    return await answer


def success_of(answer: Any) -> bool | None:
    """What an agent's answer says of its success; None where it says nothing."""
    if isinstance(answer, bool):
        return answer
    said = answer.get("success") if isinstance(answer, dict) else getattr(answer, "success", None)
    return said if isinstance(said, bool) else None


if __name__ == "__main__":
    sys.path.insert(0, "")
    _, agent_name, folder_name, run_number = sys.argv
    done = run_once(agent_name, json.load(sys.stdin.buffer), Path(folder_name), int(run_number))
    sys.exit(0 if done.outcome == "finished" else 1)
