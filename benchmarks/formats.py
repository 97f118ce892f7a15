"""Traces of every format as its program writes them, the same bytes on every machine.

python benchmarks/formats.py [--megabytes 100] [FORMAT…]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import corpus
import messages
import sessions
from story import Story, story

VERSION = 2
CALLS = 500
"""Calls of one file: a few megabytes."""
STEPS = 80
"""Calls of one file that repeats its history at each step."""

WRITERS: dict[str, Callable[[Story], bytes]] = {
    writer.__name__.replace("_", "-"): writer
    for writer in (
        # JSON Lines
        sessions.claude_code, sessions.codex_cli, sessions.codex_exec, sessions.pi,
        sessions.native, sessions.goose, messages.otel_genai, messages.google_adk,
        messages.langsmith, messages.mcp_log,
        # Documents
        sessions.atif, sessions.gemini_cli, sessions.mini_swe_agent, sessions.swe_agent,
        sessions.cline, sessions.opencode, sessions.openhands, messages.tau_bench,
        messages.tau2_bench, messages.inspect_ai, messages.langfuse, messages.openai_chat,
        messages.openai_responses, messages.anthropic_messages, messages.vercel_ai,
        messages.pydantic_ai, messages.langchain,
    )
}  # fmt: skip
_REPEATS = "swe-agent"


def build(name: str, megabytes: int, *, whole: bool = False) -> list[Path]:
    """Write the files of a format unless they are there; `whole` puts all into one file."""
    kind = "whole" if whole else "files"
    folder = corpus.default_folder(megabytes).with_name(f"{name}-{VERSION}-{megabytes}-{kind}")
    done = folder / "complete"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write, calls = WRITERS[name], STEPS if name == _REPEATS else CALLS
        times = megabytes * 1e6 / len(write(story(1, calls)))
        if whole:
            calls = int(calls * times ** (0.5 if name == _REPEATS else 1))
        for seed in range(1, 2 if whole else max(1, round(times)) + 1):
            (folder / f"{seed:04d}.json").write_bytes(write(story(seed, calls)))
        done.touch()
    return sorted(folder.glob("*.json"))


def main() -> None:
    """Write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    for name in options.formats or WRITERS:
        print(build(name, options.megabytes)[0].parent)


if __name__ == "__main__":
    main()
