"""The story that every generated trace tells: a coding agent's calls, results of 1 to 10 KB."""

from __future__ import annotations

import functools
import json
import random
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import corpus

DIGITS = 24


class Asked(NamedTuple):
    """One call and its result."""

    id: str
    name: str
    args: dict[str, Any]
    result: str


class Turn(NamedTuple):
    """One model response: what it says, thinks and asks for, and when."""

    at: int
    words: str
    thought: str
    sealed: str
    calls: list[Asked]

    @property
    def time(self) -> str:
        """As most programs write it."""
        minutes, second = divmod(7 * self.at, 60)
        hour, minute = divmod(minutes, 60)
        return f"2026-01-{1 + hour // 24:02d}T{hour % 24:02d}:{minute:02d}:{second:02d}.250Z"


Story = list[Turn]
GO = "Please mend the failing test, then look for others of its kind."


@functools.cache
def texts() -> list[str]:
    """Results: source text, listings, output of commands."""
    session = corpus.Session(1)
    return [session.text(20 + 9 * n % 190).replace("\u2192", ":") for n in range(300)]


def story(seed: int, calls: int) -> Story:
    """The turns of one run."""
    draw = random.Random(seed)
    turns: Story = []
    count = 0
    while count < calls:
        batch: list[Asked] = []
        for _ in range(min(calls - count, draw.choice((1, 1, 1, 2, 3)))):
            path = f"/repo/{draw.choice(corpus.FILES)}"
            name, args = draw.choice(
                [
                    ("read_file", {"path": path, "offset": draw.randrange(9) * 80, "limit": 80}),
                    ("grep", {"pattern": draw.choice(corpus.WORDS), "path": "/repo/src"}),
                    ("shell", {"command": f"sed -n 1,80p {path} && git log -3 -- {path}"}),
                    ("edit", {"path": path, "old": "return", "new": draw.choice(texts())[:400]}),
                ]
            )  # fmt: skip
            batch.append(Asked(f"call_{draw.getrandbits(96):0{DIGITS}x}", name, args,
                               draw.choice(texts())))  # fmt: skip
            count += 1
        words = " ".join(draw.choices(corpus.WORDS, k=30)).capitalize() + "."
        thought = " ".join(draw.choices(corpus.WORDS, k=60))
        sealed = b64encode(draw.randbytes(900)).decode()
        turns.append(Turn(len(turns), words, thought, sealed, batch))
    return turns


def compact(value: Any) -> str:
    """As JavaScript and Rust write JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(rows: Iterable[Any], write: Callable[[Any], str] = compact) -> bytes:
    """JSON Lines."""
    return "".join(write(row) + "\n" for row in rows).encode()


def document(value: Any, indent: int | None = 2) -> bytes:
    """One indented document."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


def usage(turn: Turn, *names: str) -> dict[str, int]:
    """Token counts under a format's own names."""
    return {name: 900 + 70 * turn.at + at for at, name in enumerate(names)}
