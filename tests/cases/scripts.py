"""Small traces in a short notation, so that a case fits on a few lines and can be read.

A line is `TURN [@CONTEXT] TOOL NAME=VALUE… [=> RESULT] [| FIELD=VALUE…]`, or an event: `!user`,
`!write file:a`, `!compact [@C]`, `!lose 0,1`, `!agent child 3`. The number of a call is its place
among the calls. A call without a result has none recorded, `?` stands for unknown arguments. What
a tool does stands in `TOOLS`.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Trace,
    UserMessage,
    Write,
)

TOOLS: dict[str, dict[str, Any]] = {
    "read": {"effect": "read", "resource": "file:{p}", "view": "content"},
    "cat": {"effect": "read", "resource": "file:{p}", "view": "content"},
    "hex": {"effect": "read", "resource": "file:{p}"},
    "ls": {"effect": "read", "resource": "file:{p}", "view": "names"},
    "grep": {"effect": "read", "depends_on": "file:**"},
    "save": {"effect": "write", "resource": "file:{p}"},
    "edit": {"effect": "write", "resource": "file:{p}", "change": "modify"},
    "row": {"effect": "read", "resource": "row:{t}/{id}"},
    "rows": {"effect": "read", "resource": "row:{t}"},
    "setrow": {"effect": "write", "resource": "row:{t}/{id}"},
    "calc": {"effect": "pure"},
    "now": {"effect": "read", "volatile": True},
    "job": {"effect": "read", "poll": True},
    "fetch": {"effect": "read", "resource": "url:{u}", "url_args": ["u"], "ttl": 60},
    "send": {"effect": "write"},
    "bump": {"effect": "write", "repeatable": True},
    "roll": {"effect": "none", "repeatable": True},
    "find": {"effect": "read", "resource": "list:all", "ignore_args": ["why"]},
    "do": {"effect": "opaque"},
    "sh": {"shell": "command"},
}


def trace_of(text: str, tools: dict[str, dict[str, Any]] | None = None) -> Trace:
    """The trace that some lines describe; `tools` add to `TOOLS` or replace them."""
    events: list[Event] = []
    seq = 0
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("!"):
            events.append(_event(line[1:].split(), seq - 1))
        else:
            events.append(_call(line, seq))
            seq += 1
    return Trace("case", events, tools={**TOOLS, **(tools or {})})


def _call(line: str, seq: int) -> Call:
    request, _, fields = line.partition(" | ")
    request, arrow, result = request.partition(" =>")
    turn, *words = shlex.split(request)
    context = words.pop(0)[1:] if words[0].startswith("@") else "main"
    name, *pairs = words
    args = None if pairs == ["?"] else dict(map(_pair, pairs))
    more = dict(map(_pair, shlex.split(fields)))
    if arrow:
        more.setdefault("result", Raw(msgspec.json.encode(result.strip())))
        more.setdefault("outcome", "ok")
    sent = Raw() if args is None else Raw(json.dumps(args).encode())
    return Call(seq, int(turn), name, sent, context=context, **more)


def _pair(word: str) -> tuple[str, Any]:
    name, _, value = word.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _event(words: list[str], after: int) -> Event:
    kind, *rest = words
    context = next((word[1:] for word in rest if word.startswith("@")), "main")
    if kind == "user":
        return UserMessage(after)
    if kind == "write":
        return Write(rest[0], after)
    if kind == "compact":
        return ContextLoss(after, "compaction", context)
    if kind == "lose":
        return ContextLoss(after, "eviction", context, [int(n) for n in rest[0].split(",")])
    if kind == "agent":
        return ContextStart(rest[0], int(rest[1]) if len(rest) > 1 else None)
    raise ValueError(f"unknown event {kind!r}")


def read_scripts(path: Path) -> list[dict[str, Any]]:
    """The cases of a file, with the file's section as their `group`."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        {"group": group, "id": f"{group}: {case['title']}", **case}
        for group, cases in document.items()
        for case in cases
    ]
