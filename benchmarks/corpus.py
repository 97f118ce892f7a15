"""A corpus to measure on: coding sessions and native traces, the same bytes on every machine.

    python benchmarks/corpus.py [--megabytes 100] [--folder DIR]

Most are sessions as a coding agent logs them (10-15 KB a call, results twice in the file), every
third file is a native trace. Nothing is random in a way that differs from run to run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VERSION = 2
WORDS = """return value error context handler request response config parse read write test session
buffer token index result string number list map filter update create delete branch commit merge
import export class function module package client server timeout retry cache queue worker event
""".split()
FILES = [f"src/{a}/{b}.py" for a in WORDS[:12] for b in WORDS[12:24]]


def default_folder(megabytes: int) -> Path:
    """The cache folder of a corpus of that size."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "refetch" / f"corpus-{VERSION}-{megabytes}"


class Session:
    """One session: a random walk over files with the habits of a coding agent."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.seen: list[str] = []
        self.clock = 0

    def text(self, lines: int) -> str:
        """Source text of that many lines."""
        pick = self.random.choice
        return "\n".join(
            f"{number:6d}\u2192    {pick(WORDS)}_{pick(WORDS)} = {pick(WORDS)}"
            f"({pick(WORDS)}, \"{pick(WORDS)}\")"
            for number in range(1, lines + 1)
        )  # fmt: skip

    def call(self) -> tuple[str, dict[str, Any], str]:
        """The next call: name, arguments and result."""
        kind = self.random.random()
        again = bool(self.seen) and self.random.random() < 0.25
        path = self.random.choice(self.seen if again else FILES)
        self.seen.append(path)
        if kind < 0.45:
            args: dict[str, Any] = {"file_path": f"/repo/{path}"}
            if self.random.random() < 0.3:
                args |= {"offset": self.random.randrange(1, 200), "limit": 80}
            return "Read", args, self.text(self.random.randrange(100, 240))
        if kind < 0.6:
            old, new = self.text(6), self.text(7)
            edit = {"file_path": f"/repo/{path}", "old_string": old, "new_string": new}
            return "Edit", edit, f"The file /repo/{path} has been updated.\n" + self.text(35)
        if kind < 0.75:
            return "Grep", {"pattern": self.random.choice(WORDS), "path": "/repo"}, self.text(70)
        command = self.random.choice(
            ["git status", f"cat {path}", "pytest -q", "ls -la src", f"sed -n 1,40p {path}", "make"]
        )
        return "Bash", {"command": command, "description": "look"}, self.text(80)

    def turns(self, calls: int) -> Iterator[list[tuple[str, dict[str, Any], str]]]:
        """Batches of one to three calls."""
        while calls > 0:
            size = min(calls, self.random.choice((1, 1, 1, 2, 3)))
            calls -= size
            batch = [self.call() for _ in range(size)]
            if size > 1 and self.random.random() < 0.05:
                batch[-1] = batch[0]
            yield batch

    def now(self) -> str:
        """The time of the next record."""
        self.clock += 1
        minutes, second = divmod(self.clock, 60)
        hour, minute = divmod(minutes, 60)
        return f"2026-01-{1 + hour // 24:02d}T{hour % 24:02d}:{minute:02d}:{second:02d}.000Z"


def coding_session(seed: int, calls: int) -> bytes:
    """A session as a coding agent logs it: one record a content block, results in two forms."""
    session = Session(seed)
    lines: list[bytes] = []
    parent: str | None = None

    def record(kind: str, message: dict[str, Any], **more: Any) -> None:
        nonlocal parent
        uuid = f"{seed:08x}-0000-4000-8000-{len(lines):012x}"
        row = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/repo",
            "sessionId": f"{seed:08x}-0000-4000-8000-000000000000", "version": "2.0.14",
            "gitBranch": "main", "type": kind, "message": message, "uuid": uuid,
            "timestamp": session.now(), **more,
        }  # fmt: skip
        parent = uuid
        lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())

    record("user", {"role": "user", "content": "Please mend the failing test."})
    number = 0
    for turn, batch in enumerate(session.turns(calls)):
        usage = {"input_tokens": 4, "cache_read_input_tokens": 9000 + 700 * turn,
                 "cache_creation_input_tokens": 700, "output_tokens": 120}  # fmt: skip
        answers = []
        for name, args, result in batch:
            number += 1
            use = f"toolu_{seed:08x}{number:08x}"
            block = {"type": "tool_use", "id": use, "name": name, "input": args}
            record("assistant", {
                "model": "claude-sonnet-4-5", "id": f"msg_{seed:08x}{turn:08x}", "type": "message",
                "role": "assistant", "content": [block], "stop_reason": None, "usage": usage,
            })  # fmt: skip
            answers.append((use, result))
        for use, result in answers:
            content = [{"tool_use_id": use, "type": "tool_result", "content": result}]
            record("user", {"role": "user", "content": content}, toolUseResult={"stdout": result})
    return b"\n".join(lines) + b"\n"


def native_trace(seed: int, calls: int) -> bytes:
    """A native trace with kept results."""
    session = Session(seed)
    rows: list[dict[str, Any]] = [
        {"refetch": 1, "run": f"native-{seed}", "harness": "claude-code"},
    ]
    seq = 0
    for turn, batch in enumerate(session.turns(calls), 1):
        for name, args, result in batch:
            rows.append({
                "type": "call", "seq": seq, "turn": turn, "name": name, "args": args, "ok": True,
                "call_id": f"c{seq}", "cwd": "/repo", "result": result, "started": 1.7e9 + seq,
                "ended": 1.7e9 + seq + 0.5,
            })  # fmt: skip
            seq += 1
    text = (json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in rows)
    return b"\n".join(text) + b"\n"


def build(folder: Path, megabytes: int) -> Path:
    """Write the corpus unless it is there already; gives its folder."""
    done = folder / "complete"
    if done.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    written, seed = 0, 0
    while written < megabytes * 1_000_000:
        seed += 1
        native = seed % 3 == 0
        data = native_trace(seed, 60) if native else coding_session(seed, 40 + seed * 37 % 160)
        kind = "native" if native else "session"
        (folder / f"{kind}-{seed:05d}.jsonl").write_bytes(data)
        written += len(data)
    done.write_text(f"{written}\n")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    print(build(options.folder or default_folder(options.megabytes), options.megabytes))


if __name__ == "__main__":
    main()
