"""What the oracle knows of each logical call: attempts folded, metadata found, results known."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.oracle import plain
from tests.oracle.plain import ALL, COMMENTARY, VERBATIM, Region

from refetch.model import Call, Trace, seconds

READ_VERBS = frozenset(
    "get list read search find check fetch view show describe count can is".split()
)
PURE_VERBS = frozenset(("calculate", "convert"))
WRITE_VERBS = frozenset(
    """create update modify delete cancel book return exchange toggle reset set add remove send run
    transfer""".split()
)
GESTURES = frozenset(
    """press type click scroll wait undo redo next back step roll generate sample spawn task
    agent""".split()
)
WAITING = frozenset(
    """status state progress wait poll check health ready queue inbox log latest current now
    time""".split()
)
REGION_ARGS = frozenset(
    """offset limit page per_page perPage cursor page_token pageToken skip take start end start_line
    startLine end_line endLine view_range viewRange head tail lines before after""".split()
)


@dataclass(eq=False)
class Logical:
    """A call that was asked for once, with every execution of it."""

    attempts: list[Call]
    double_of: Logical | None = None
    effect: str = "opaque"
    inferred: bool = False
    declared: bool = False
    volatile: bool = False
    repeatable: bool = False
    resources: frozenset[str] = frozenset()
    depends_on: tuple[str, ...] = ()
    raw: str | None = None
    key: Any = None
    view: Any = None
    view_declared: bool = False
    region: Region = ALL
    ttl: float | None = None
    partial: bool = False
    independent: frozenset[str] = frozenset()
    domain: str = "*"
    waits: bool = False
    effect_elsewhere: bool = False
    schemes: frozenset[str] = field(default_factory=frozenset)

    @property
    def head(self) -> Call:
        return self.attempts[0]

    @property
    def last(self) -> Call:
        return self.attempts[-1]

    @property
    def seq(self) -> int:
        return self.head.seq

    @property
    def end(self) -> int:
        return self.last.seq

    @property
    def status(self) -> str:
        return self.last.status

    @property
    def cwd(self) -> str | None:
        return self.head.cwd

    def coverage(self) -> Region | None:
        """The region that this call put into the context, or None where it delivered nothing."""
        if self.status != "ok" or self.last.unchanged:
            return None
        delivered = self.last.delivered
        if self.last.truncated:
            return None if delivered is None else plain.region_of(delivered)
        return self.region

    def also_delivered(self) -> Region | None:
        """Recorded line numbers beyond the region asked."""
        if self.coverage() is None or self.last.delivered is None:
            return None
        return plain.region_of(self.last.delivered)


def raw_key(call: Call) -> str | None:
    """Name and arguments as sent; None where they were not recorded."""
    if not call.has_args:
        return None
    if call.raw_args is not None:
        return f"{call.name}({call.raw_args})"
    return f"{call.name}({plain.stringify(json.loads(bytes(call.args)))})"


def arguments(call: Call) -> Any:
    text = bytes(call.args) or (call.raw_args or "").encode()
    try:
        return json.loads(text)
    except ValueError:
        return call.raw_args


def hygiene(trace: Trace) -> tuple[list[Logical], list[tuple[str, int, int]]]:
    """Logical calls in order, and (reason, first, repeat) for each record that is no call."""
    calls: dict[int, Call] = {}
    for call in trace.calls:
        calls.setdefault(call.seq, call)
    found: list[Logical] = []
    aside: list[tuple[str, int, int]] = []
    for seq in sorted(calls):
        call = calls[seq]
        twin = _same_id(found, call)
        if twin is not None and call.status in ("missing", "not-executed"):
            aside.append(("recorder-artefact", twin.seq, seq))
            continue
        if twin is not None and twin.status == "ok":
            found.append(Logical([call], double_of=twin))
            continue
        target = twin or _retried(found, call)
        if target is not None and target.status != "ok":
            target.attempts.append(call)
            aside.append(("harness-retry", target.seq, seq))
        else:
            found.append(Logical([call]))
    for one in found:
        describe(one, trace.tools.get(one.head.name) or {})
    return found, aside


def _same_id(found: list[Logical], call: Call) -> Logical | None:
    if call.call_id is None or raw_key(call) is None:
        return None
    for one in reversed(found):
        head = one.head
        same = (head.context, head.turn, head.call_id) == (call.context, call.turn, call.call_id)
        if same and raw_key(head) == raw_key(call):
            return one
    return None


def _retried(found: list[Logical], call: Call) -> Logical | None:
    for one in reversed(found):
        if call.attempt_of is not None:
            if any(attempt.seq == call.attempt_of for attempt in one.attempts):
                return one
        elif call.origin == "harness-retry":
            same = one.head.context == call.context and raw_key(one.head) == raw_key(call)
            if same and raw_key(call) is not None:
                return one
    return None


def describe(one: Logical, meta: dict[str, Any]) -> None:
    """Fill in what the record declares, then what the tool declares, then what the name says."""
    head = one.head
    args = arguments(head)
    table = args if isinstance(args, dict) else {}
    words = [w.lower() for w in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", head.name)]
    _effect(one, meta, table, words)
    undeclared = not one.declared
    action = str(table.get("action", "")).lower()
    waiting = undeclared and bool(WAITING & {*words, *re.findall(r"[a-z]+", action)})
    one.volatile = bool(_first(head.volatile, meta.get("volatile"))) or waiting
    gesture = undeclared and bool(words) and words[0] in GESTURES
    one.repeatable = bool(_first(meta.get("repeatable"), gesture))
    one.waits = undeclared and bool(words) and words[0] in ("wait", "sleep")
    one.partial = bool(meta.get("partial"))
    one.independent = frozenset(meta.get("independent") or ())
    one.domain = meta.get("domain") or "*"
    one.ttl = _first(head.ttl, meta.get("ttl"))
    one.resources = frozenset(plain.plain_resource(r, head.cwd) for r in _many(head.resource))
    one.depends_on = tuple(_many(_first(head.depends_on, meta.get("depends_on"))))
    one.schemes = frozenset(plain.scheme_of(r) for r in (*one.resources, *one.depends_on))
    one.raw = raw_key(head)
    _key_and_view(one, meta, args)


def _effect(one: Logical, meta: dict[str, Any], args: dict[str, Any], words: list[str]) -> None:
    effect = _first(one.head.effect, meta.get("effect"))
    if isinstance(effect, dict):
        effect = effect.get(str(args.get(effect.get("by", ""))), effect.get("*"))
    mutates = _first(one.head.mutates, meta.get("mutates"))
    if effect is None and mutates is not None:
        effect = "write" if mutates else "read"
    one.declared = effect is not None
    if effect is None and words:
        verbs = (("read", READ_VERBS), ("pure", PURE_VERBS), ("write", WRITE_VERBS))
        effect = next((name for name, verb in verbs if words[0] in verb), None)
        one.inferred = effect is not None
    one.effect = effect or "opaque"


def _key_and_view(one: Logical, meta: dict[str, Any], args: Any) -> None:
    if one.raw is None:
        one.region = plain.region_of(one.head.region)
        one.view = ("unknown", one.seq) if one.head.view is None else one.head.view
        one.view_declared = one.head.view is not None
        return
    if not isinstance(args, dict):
        args = {} if args is None else {"": args}
    args = {**(meta.get("defaults") or {}), **args}
    ignored = frozenset(meta.get("ignore_args") or ()) | (
        COMMENTARY if one.effect in ("read", "pure") else frozenset()
    )
    kept = {k: _argument(one, meta, k, v) for k, v in args.items() if k not in ignored}
    one.key = (one.head.name, tuple(sorted(kept.items(), key=repr)))
    view = _first(one.head.view, meta.get("view"))
    one.view_declared = view is not None
    rest = {k: v for k, v in kept.items() if k not in REGION_ARGS and not _spells(one, args[k])}
    one.view = view or (one.head.name, tuple(sorted(rest.items(), key=repr)))
    asked = {k: v for k, v in args.items() if k in REGION_ARGS}
    one.region = plain.region_of(one.head.region)
    if one.head.region is None and asked:
        one.region = _default_region(asked)


def _argument(one: Logical, meta: dict[str, Any], name: str, value: Any) -> Any:
    verbatim = VERBATIM if meta.get("verbatim") is None else frozenset(meta["verbatim"])
    if name in verbatim:
        return ("verbatim", plain.stringify(value))
    if isinstance(value, str):
        if "file:" + plain.lexical(value, one.cwd) in one.resources:
            return ("text", plain.lexical(value, one.cwd))
        if "url:" + plain.plain_url(value) in one.resources:
            return ("text", plain.plain_url(value))
    return plain.normal(value)


def _spells(one: Logical, value: Any) -> bool:
    """Whether an argument says nothing but which resource is meant."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    text = value.strip(plain.WHITE) if isinstance(value, str) else plain.number_text(value)
    forms = {text, plain.lexical(text, one.cwd), plain.plain_url(text)}
    return any(forms & {r, plain.path_of(r)} for r in one.resources)


def _default_region(asked: dict[str, Any]) -> Region:
    def number(*names: str) -> int | None:
        for name in names:
            if isinstance(asked.get(name), int):
                return int(asked[name])
        return None

    names = set(asked)
    if names <= {"start_line", "startLine", "start", "end_line", "endLine", "end"}:
        first = number("start_line", "startLine", "start")
        if first is not None:
            return ("line", plain.span(first, number("end_line", "endLine", "end")))
    if names <= {"offset", "limit", "skip", "take"}:
        first, count = number("offset", "skip"), number("limit", "take")
        if first is not None:
            return ("line", plain.span(first, None if count is None else first + count - 1))
    if names <= {"page", "per_page", "perPage"} and number("page") is not None:
        size = number("per_page", "perPage")
        return (f"page of {size}", frozenset([number("page")]))
    return ("opaque", frozenset([repr(sorted((k, plain.normal(v)) for k, v in asked.items()))]))


def results_equal(a: Logical, b: Logical) -> bool | None:
    """True or False where both results are known, None where they cannot be compared."""
    if b.last.unchanged:
        return True
    one, two = a.last, b.last
    if one.result_hash and two.result_hash:
        if _algorithm(one.result_hash) != _algorithm(two.result_hash):
            return None
        return one.result_hash == two.result_hash
    if bytes(one.result) and bytes(two.result):
        return plain.stringify(json.loads(bytes(one.result))) == plain.stringify(
            json.loads(bytes(two.result))
        )
    return None


def _algorithm(digest: str) -> str:
    return digest.partition(":")[0] if ":" in digest else ""


def known(one: Logical) -> bool:
    """Whether a result that can be compared was recorded."""
    return one.status == "ok" and bool(one.last.result_hash or bytes(one.last.result))


def when(call: Call) -> tuple[float, float] | None:
    """Start and end in seconds, where both were recorded."""
    start, stop = seconds(call.started), seconds(call.ended)
    return None if start is None or stop is None else (start, stop)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _many(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])
