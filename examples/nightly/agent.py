"""A stochastic scripted agent: a healthy version, and one that forgets what it has read.

It stands in for a sampled model, so that the example needs no API key and takes seconds.
"""

from __future__ import annotations

import os
import random
from typing import Any

from refetch import Tool, ToolTracer

FILES = {"README.md": "How to build", "build.toml": "target = 1", "main.py": "print(1)"}


def healthy(task: Any, tracer: ToolTracer) -> dict[str, Any]:
    """Reads what it needs once, sometimes one file more."""
    return _work(tracer, forgets=0.05)


def regressed(task: Any, tracer: ToolTracer) -> dict[str, Any]:
    """The same after a change of the prompt: it reads again what it has."""
    return _work(tracer, forgets=0.7)


def _work(tracer: ToolTracer, forgets: float) -> dict[str, Any]:
    seed = os.environ.get("AGENT_SEED")
    chance = random.Random(seed if seed is None else f"{seed} {tracer.run}")
    read = Tool(lambda args: FILES[args["path"]], mutates=False, resource="file:{path}")
    tools = tracer.wrap_registry({"read_file": read})
    names = ["README.md", "build.toml", *(["main.py"] if chance.random() < 0.3 else [])]
    for name in names:
        tracer.next_turn()
        tools["read_file"]({"path": name})
        while chance.random() < forgets:
            tracer.next_turn()
            tools["read_file"]({"path": name})
    return {"success": True}
