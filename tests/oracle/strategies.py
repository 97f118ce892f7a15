"""Small random traces with a good chance of repeats, from a seed or drawn by Hypothesis.

One builder serves both: it only asks a source to pick from a list, so that a plain seeded generator
is fast and Hypothesis can shrink.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from refetch.model import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Trace,
    UserMessage,
    Write,
)
from refetch.model.native import encode_native

T = TypeVar("T")
Pick = Callable[[Sequence[Any]], Any]

FILES = ("src/a.py", "src/b.py", "SRC/a.py", "docs/c.md", "a.py")
SPELLINGS = ("{}", "{}", "{}", "./{}")
USERS = (5, "5", 7, " 7")
RANGES = (None, None, None, (1, 10), (11, 20), (1, 20), (5, 8), (15, 30))
OUTCOMES = (
    "ok " * 60 + "error error error timeout unknown missing rejected not-executed cancelled"
).split()
MARKS: tuple[dict[str, Any], ...] = (*[{}] * 14, {"volatile": True}, {"ttl": 15.0}, {"ttl": 60.0})
LOSSES = ("compaction", "clear", "trim", "eviction", "truncation")


class Builder:
    """Builds one trace out of picks."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.contexts = pick((("main",), ("main",), ("main", "sub1"), ("main", "sub1", "sub2")))
        self.views = pick((True, False, False))
        self.times = pick((True, False, False, False))
        self.rare = pick((True, False, False))
        self.turns = dict.fromkeys(self.contexts, 1)
        self.tools: dict[str, Any] = {}
        self.latest: dict[str, Call] = {}
        self.marks = {name: pick(MARKS) for name in ("read_file", "open_file", "get_user")}

    def chance(self, out_of: int) -> bool:
        return bool(self.pick((False,) * (out_of - 1) + (True,)))

    def trace(self) -> Trace:
        """A trace of 2 to 14 calls, with what happens between them."""
        size = self.pick(range(2, 15))
        events: list[Event] = []
        made: list[Call] = []
        for seq in range(size):
            again = made and self.chance(3)
            call = self.again(seq, self.pick(made)) if again else self.call(seq)
            made.append(call)
            self.latest[call.context] = call
            events.append(call)
            events += self.event(seq)
        events += self.starts(made)
        order = "recorded"
        turns = self.pick(("recorded",) * 9 + ("inferred",))
        return Trace("random", events, tools=self.tools, turns=turns, order=order)

    def starts(self, made: list[Call]) -> list[Event]:
        """Each further context was started by a call of the main one before its own first call."""
        events: list[Event] = []
        for context in self.contexts[1:]:
            own = [call.seq for call in made if call.context == context]
            parents = [c.seq for c in made if c.context == "main" and own and c.seq < own[0]]
            if parents:
                inherits = self.rare and self.chance(2)
                parent = self.pick(parents)
                events.append(ContextStart(context, parent_call=parent, inherits=inherits))
        return events

    def place(self, seq: int) -> dict[str, Any]:
        context = self.pick(self.contexts)
        self.turns[context] += self.pick((0, 0, 1))
        fields = {"seq": seq, "turn": self.turns[context], "context": context}
        if self.times:
            start = seq * 10.0
            fields["started"] = start
            fields["ended"] = start + self.pick((1.0, 5.0, 12.0, 25.0))
        return fields

    def outcome(self) -> dict[str, Any]:
        status = self.pick(OUTCOMES)
        fields: dict[str, Any] = {} if status == "missing" else {"outcome": status}
        if status == "ok" and not self.chance(4):
            fields["result"] = _raw(self.pick(("one", "one", "one", "one", "two")))
        if status not in ("ok", "missing"):
            fields["error"] = self.pick(("no such file", "no such file", "denied", "HTTP 503"))
        if self.chance(6):
            fields["call_id"] = self.pick(("c1", "c2"))
        return fields

    def again(self, seq: int, call: Call) -> Call:
        """An earlier call once more, at another place, with an outcome of its own."""
        last = self.latest.get(call.context) is call
        if last and call.status in ("error", "timeout") and self.chance(2):
            fields = {"seq": seq, "origin": "harness-retry"}
            if self.times:
                fields.update(started=seq * 10.0, ended=seq * 10.0 + 5.0)
            changed = {**fields, "outcome": "ok", "error": None, "result": _raw("one")}
            return msgspec.structs.replace(call, **changed)
        same = {f: v for f, v in msgspec.structs.asdict(call).items() if f in DECLARED and v}
        if not bytes(call.args):
            same.pop("args", None)
        fields = {**same, "mutates": call.mutates, **self.place(seq), **self.outcome()}
        return Call(**self.marked(fields))

    def call(self, seq: int) -> Call:
        kind = self.pick(KINDS)
        fields = kind(self)
        return Call(**self.marked({**fields, **self.place(seq), **self.outcome()}))

    def marked(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Rare marks of the record, and what belongs to the tool in this trace."""
        if fields.get("mutates") is False:
            fields.update(self.marks.get(fields["name"], {}))
            fields["origin"] = self.pick(("model",) * 24 + ("harness", "user"))
        if fields["name"] == "think":
            fields.pop("result", None)
        if fields.get("outcome") == "ok" and fields.get("mutates") is False:
            if self.chance(14):
                fields["truncated"] = True
                if "result" in fields:
                    fields["result"] = _raw(self.pick(("cut", "cut", "cut short")))
                if fields["name"] in ("read_file", "open_file") and _from_first(fields):
                    fields["delivered"] = {"unit": "line", "from": 1, "to": self.pick((5, 8))}
            elif self.chance(16):
                fields["unchanged"] = True
        return fields

    def event(self, seq: int) -> list[Event]:
        if not self.chance(6):
            return []
        context = self.pick(self.contexts)
        kind = self.pick(("loss", "user", "write"))
        if kind != "write":
            # Neither a loss nor a message can come between the calls of one response.
            self.turns[context] += 1
        if kind == "user":
            return [UserMessage(after=seq, context=context)]
        if kind == "write":
            scope = self.pick(("file:src/**", "file:docs/c.md", "user:5", "file:SRC/A.py"))
            return [Write(scope=scope, after=seq, by=self.pick(("user", "hook", "external")))]
        lost = self.pick((None, None, [seq], [seq - 1, seq], [0]))
        return [ContextLoss(after=seq, kind=self.pick(LOSSES), context=context, lost=lost)]

    # -- kinds of calls ------------------------------------------------------------------------

    def read_file(self) -> dict[str, Any]:
        path = self.pick(FILES)
        args: dict[str, Any] = {"path": self.pick(SPELLINGS).format(path)}
        name = self.pick(("read_file", "read_file", "open_file"))
        fields: dict[str, Any] = {"name": name, "mutates": False, "resource": f"file:{path}"}
        lines = self.pick(RANGES)
        if lines and self.chance(2):
            args.update(start_line=lines[0], end_line=lines[1])
        elif lines:
            fields["region"] = {"unit": "line", "from": lines[0], "to": lines[1]}
            args.update(start_line=lines[0], end_line=lines[1])
        if self.chance(8):
            args["explanation"] = self.pick(("first look", "to be sure"))
        if self.views:
            fields["view"] = "content"
        return {**fields, "args": _raw(args)}

    def edit_file(self) -> dict[str, Any]:
        path = self.pick(FILES)
        args = {"path": path, "old": self.pick(("x", "y")), "new": self.pick(("x", "y"))}
        resource = f"file:{path}"
        return {"name": "edit_file", "mutates": True, "resource": resource, "args": _raw(args)}

    def list_dir(self) -> dict[str, Any]:
        path = self.pick(("src", "docs"))
        return {
            "name": "list_dir",
            "mutates": False,
            "resource": f"file:{path}/**",
            "args": _raw({"path": path}),
        }

    def get_user(self) -> dict[str, Any]:
        user = self.pick(USERS)
        resource = f"user:{str(user).strip()}"
        args = {"id": user}
        return {"name": "get_user", "mutates": False, "resource": resource, "args": _raw(args)}

    def edit_user(self) -> dict[str, Any]:
        user = self.pick(USERS)
        resource = f"user:{str(user).strip()}"
        args = {"id": user, "value": self.pick((1, 1.0, 2))}
        return {"name": "edit_user", "mutates": True, "resource": resource, "args": _raw(args)}

    def run_tests(self) -> dict[str, Any]:
        return {
            "name": "run_tests",
            "mutates": False,
            "resource": "tests",
            "depends_on": "*",
            "args": _raw({}),
        }

    def pure(self) -> dict[str, Any]:
        args = {"a": self.pick((1, 1.0, "1")), "b": self.pick((2, 3))}
        return {"name": "sum_up", "effect": "pure", "args": _raw(args)}

    def think(self) -> dict[str, Any]:
        return {"name": "think", "effect": "none", "args": _raw({"thought": self.pick("ab")})}

    def undeclared(self) -> dict[str, Any]:
        names = ("get_thing", "get_thing", "update_thing", "frobnicate", "get_queue_length")
        name = self.pick(names)
        return {"name": name, "args": _raw({"id": self.pick((1, "1", 2))})}

    def odd(self) -> dict[str, Any]:
        """Arguments not recorded, several resources, an opaque call that says so, a gesture."""
        which = self.pick(range(4))
        if which == 0:
            return {"name": "read_file", "mutates": False, "resource": "file:src/a.py"}
        if which == 1:
            both = ["file:src/a.py", "user:5"]
            args = _raw({"which": "both"})
            return {"name": "read_both", "mutates": False, "resource": both, "args": args}
        if which == 2:
            return {"name": "anything", "effect": "opaque", "args": _raw({"x": self.pick((1, 2))})}
        return {"name": "click", "args": _raw({"x": 1})}


KINDS: tuple[Callable[[Builder], dict[str, Any]], ...] = (
    Builder.read_file,
    Builder.read_file,
    Builder.read_file,
    Builder.read_file,
    Builder.edit_file,
    Builder.get_user,
    Builder.get_user,
    Builder.edit_user,
    Builder.list_dir,
    Builder.run_tests,
    Builder.pure,
    Builder.think,
    Builder.undeclared,
    Builder.odd,
)

DECLARED = ("name", "args", "resource", "region", "view", "effect", "depends_on")
"""What a repeat takes over from the call it repeats."""


def _from_first(fields: dict[str, Any]) -> bool:
    args = json.loads(bytes(fields["args"])) if "args" in fields else {}
    return bool(args.get("start_line", 1) == 1 and args.get("end_line", 20) >= 10)


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def random_trace(seed: int) -> Trace:
    """The trace of one seed, the same on every machine."""
    return Builder(random.Random(seed).choice).trace()  # noqa: S311 - reproducible, nothing secret


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Traces that Hypothesis can shrink."""
    return Builder(lambda options: draw(st.sampled_from(options))).trace()


def shrink(trace: Trace, fails: Callable[[Trace], bool]) -> Trace:
    """Drop events one by one as long as the trace still fails."""
    events = list(trace.events)
    at = 0
    while at < len(events):
        fewer = msgspec.structs.replace(trace, events=events[:at] + events[at + 1 :])
        if fails(fewer):
            events = list(fewer.events)
        else:
            at += 1
    return msgspec.structs.replace(trace, events=events)


def as_native(trace: Trace) -> str:
    """The trace as one would save it."""
    return encode_native(trace).decode()
