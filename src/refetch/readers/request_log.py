"""Logs of model requests: which conversation a request goes on with, and what is new in it.

APIs without a memory are sent the whole history each time, so a log tells everything again and
again. Here each call and each result is told once, conversations are kept apart, and a result that
a request leaves out (or replaces) has left the model's context: the request is the proof.

A request goes on with a conversation if it names its last response, if it begins with all of it,
or if it holds all calls of its last response (a shortened history). What the model merely said is
not compared: programs write it differently each time. Conversations that overlap in the log are
contexts of one trace, because one may change what the other reads; those that follow one another,
or carry different run ids, are traces of their own. What a fork repeats of the conversation it
came from is told there only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw

from refetch.model.trace import MAIN, ContextStart, Trace
from refetch.readers.blocks import begins, raw_hash
from refetch.readers.json_records import BROKEN
from refetch.readers.trace_builder import OpenCall, TraceBuilder

_CACHE_MARK = re.compile(rb',?\s*"cache_control"\s*:\s*(?:\{[^{}]*\}|null)')
_any = msgspec.json.Decoder()
_sorted = msgspec.json.Encoder(order="sorted").encode

Kind = Literal["call", "result", "model", "person", "loss"]


class Item(NamedTuple):
    """One thing in a history.

    `key` is the same wherever a history repeats it (None: not compared). `id` pairs calls with
    results. `response` is the same for items of one model response.
    """

    kind: Kind
    key: Hashable
    id: str | None
    fields: dict[str, Raw]
    path: str
    line: int | None
    response: Hashable = None


class Exchange(NamedTuple):
    """One request and the response to it, each may be absent.

    `previous` and `thread`: the response or conversation that the provider remembers, where `sent`
    is only what is new. `run`: what the log calls the run. `edited`: the provider cleared results
    before this response. `responses`: model and usage of responses that stand among `sent`.
    """

    sent: list[Item]
    answered: list[Item]
    own: str | None = None
    previous: str | None = None
    thread: str | None = None
    run: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    edited: bool = False
    responses: Mapping[Hashable, tuple[str | None, dict[str, Any] | None]] = {}


class Step(NamedTuple):
    """An exchange in its conversation: what is new in it, and which results it no longer sends.

    `fresh`: the first one of its conversation.
    """

    exchange: Exchange
    thread: int
    fresh: bool
    new: list[Item]
    gone: list[Item]


def content_key(raw: Raw) -> str:
    """What tells one result or message from another; a provider's cache marks do not count."""
    if begins(raw, b'"'):
        return raw_hash(raw)
    data = bytes(raw)
    return raw_hash(_CACHE_MARK.sub(b"", data) if b'"cache_control"' in data else data)


def arguments_key(raw: Raw) -> bytes:
    """Arguments, however a program spelled the same JSON."""
    try:
        return _sorted(_any.decode(raw))
    except (*BROKEN, TypeError):
        return bytes(raw)


class _Thread:
    def __init__(self, number: int, at: int, exchange: Exchange) -> None:
        self.number = number
        self.first = self.last = at
        self.run = exchange.run
        self.name = exchange.thread
        self.head: str | None = None
        self.answered = False
        self.view: list[Hashable] = []
        self.counts: Counter[Hashable] = Counter()
        self.asked: list[Hashable] = []
        self.visible: dict[Hashable, Item] = {}

    def step(self, at: int, exchange: Exchange, fresh: bool, copied: int = 0) -> Step:
        """Take an exchange in, whose first items may be another conversation's history."""
        self.last = at
        keys = _keys(exchange.sent)
        new, gone = _without_copies(exchange.sent, copied), list[Item]()
        remembered = exchange.previous is not None or exchange.thread is not None
        if not fresh and not remembered and exchange.sent:
            new = self._new_of(exchange.sent)
            known = set(keys)
            gone = [item for key, item in self.visible.items() if key not in known]
            for item in gone:
                del self.visible[item.key]
        answers = _keys(exchange.answered)
        self.view = [*(self.view if remembered or not exchange.sent else ()), *keys, *answers]
        for key, count in Counter(self.view).items():
            self.counts[key] = max(self.counts[key], count)
        for item in (*new, *exchange.answered):
            if item.kind == "result":
                self.visible[item.key] = item
        calls = [item.key for item in exchange.answered if item.kind == "call"]
        self.asked = calls or self.asked
        self.head = exchange.own or self.head
        self.answered = bool(exchange.answered)
        return Step(exchange, self.number, fresh, new, gone)

    def _new_of(self, items: list[Item]) -> list[Item]:
        here: Counter[Hashable] = Counter()
        new = []
        for item in items:
            if item.key is not None:
                here[item.key] += 1
                if here[item.key] <= self.counts[item.key]:
                    continue
            new.append(item)
        return new


def _without_copies(items: list[Item], count: int) -> list[Item]:
    """The items without calls and results among the first `count` that are compared."""
    if not count:
        return items
    compared = [place for place, item in enumerate(items) if item.key is not None]
    end = compared[count - 1] + 1
    return [*(item for item in items[:end] if item.kind == "person"), *items[end:]]


def _keys(items: Iterable[Item]) -> list[Hashable]:
    return [item.key for item in items if item.key is not None]


def follow(exchanges: Iterable[Exchange]) -> list[list[Step]]:
    """The exchanges in order, one list for each trace."""
    threads = _Threads()
    steps: list[Step] = []
    own: set[str] = set()
    for at, exchange in enumerate(exchanges):
        if exchange.own is not None and exchange.answered:
            if exchange.own in own:
                continue
            own.add(exchange.own)
        thread = threads.of(exchange)
        fresh, copied = thread is None, 0
        if thread is None:
            thread = _Thread(len(threads.all), at, exchange)
            threads.all.append(thread)
            copied = threads.copied(exchange)
        steps.append(thread.step(at, exchange, fresh, copied))
        threads.remember(thread)
    group = _groups(threads.all)
    traces: dict[int, list[Step]] = {}
    for step in steps:
        traces.setdefault(group[step.thread], []).append(step)
    return list(traces.values())


class _Threads:
    """The conversations so far, by what a request may know of them; the latest one wins."""

    def __init__(self) -> None:
        self.all: list[_Thread] = []
        self._by_head: dict[str, _Thread] = {}
        self._by_name: dict[str, _Thread] = {}
        self._by_view: dict[Hashable, _Thread] = {}
        self._by_call: dict[Hashable, _Thread] = {}
        self._told: set[Hashable] = set()

    def remember(self, thread: _Thread) -> None:
        """Index what an exchange changed."""
        if thread.head is not None:
            self._by_head[thread.head] = thread
        if thread.name is not None:
            self._by_name[thread.name] = thread
            return
        marks = list(_prefixes(thread.run, thread.view))
        self._told.update(marks)
        for mark in marks[-1:]:
            self._by_view[mark] = thread
        for key in thread.asked:
            self._by_call[thread.run, key] = thread

    def copied(self, exchange: Exchange) -> int:
        """How much of a new conversation is the beginning of another: a fork repeats it."""
        marks = _prefixes(exchange.run, _keys(exchange.sent))
        return sum(1 for _ in takewhile(self._told.__contains__, marks))

    def of(self, exchange: Exchange) -> _Thread | None:
        """The conversation that a request goes on with, None for a new one."""
        if exchange.thread is not None:
            return self._by_name.get(exchange.thread)
        if exchange.previous is not None:
            found = self._by_head.get(exchange.previous)
            return found if found is not None and found.head == exchange.previous else None
        if not exchange.sent and self.all:
            return self.all[-1]
        keys = _keys(exchange.sent)
        return self._that_begins(exchange.run, keys) or self._that_asked(exchange.run, keys)

    def _that_begins(self, run: str | None, keys: list[Hashable]) -> _Thread | None:
        best: _Thread | None = None
        for count, mark in enumerate(_prefixes(run, keys), 1):
            thread = self._by_view.get(mark)
            if thread is None or thread.view != keys[:count]:
                continue
            if count < len(keys) or not thread.answered:  # else it was sent again
                best = thread
        return best

    def _that_asked(self, run: str | None, keys: list[Hashable]) -> _Thread | None:
        known = set(keys)
        asked = (self._by_call.get((run, key)) for key in reversed(keys))
        return next((t for t in asked if t is not None and known.issuperset(t.asked)), None)


def _prefixes(run: str | None, keys: list[Hashable]) -> Iterator[Hashable]:
    """A mark for each beginning of a history."""
    mark = hash(run)
    for key in keys:
        mark = hash((mark, key))
        yield mark


def _groups(threads: list[_Thread]) -> dict[int, int]:
    """Thread to trace: threads of one run, or of none that overlap."""
    found: dict[int, int] = {}
    runs: dict[str, int] = {}
    end, current = -1, -1
    for thread in threads:
        if thread.run is not None:
            found[thread.number] = runs.setdefault(thread.run, thread.number)
            continue
        if thread.first > end:
            current = thread.number
        end = max(end, thread.last)
        found[thread.number] = current
    return found


class Teller:
    """Tells the steps of one trace to a builder; readers say how a call and a result look."""

    def __init__(self, source: str, reader: str, run: str) -> None:
        self.build = TraceBuilder(source, reader)
        self.run = run
        self._contexts: dict[int, str] = {}
        self._inner: dict[tuple[int, str], str] = {}
        self._results: dict[tuple[int, Hashable], OpenCall] = {}
        self._programs: set[str] = set()

    def trace(self, steps: list[Step]) -> Trace:
        """Tell all steps."""
        for step in steps:
            self.build.run = self.build.run or step.exchange.run
            self._step(step)
        self.build.run = self.build.run or self.run
        return self.build.trace()

    def call(self, item: Item, context: str) -> OpenCall:
        """Tell a call."""
        raise NotImplementedError

    def answer(self, call: OpenCall, item: Item) -> None:
        """Tell a result."""
        raise NotImplementedError

    def caller(self, item: Item) -> str | None:
        """The id of the call whose program made this call: its result goes to the program."""
        return None

    def _step(self, step: Step) -> None:
        exchange, context = step.exchange, self._context(step.thread)
        self.build.model = self.build.model or exchange.model
        self._lose(step, context)
        response: Hashable = None
        for item in step.new:
            begins = item.kind == "call" or (item.kind == "model" and step.fresh)
            if begins and item.response != response:
                response = item.response
                self.build.begin_turn(context, *exchange.responses.get(response, (None, None)))
            self._tell(step, item, context)
        if exchange.answered or exchange.usage:
            self.build.begin_turn(context, exchange.model, exchange.usage)
            for item in exchange.answered:
                self._tell(step, item, context)

    def _context(self, thread: int) -> str:
        if thread not in self._contexts:
            count = len(self._contexts)
            self._contexts[thread] = MAIN if not count else f"conversation {count + 1}"
            if count:
                self.build.start_context(ContextStart(self._contexts[thread]))
        return self._contexts[thread]

    def _lose(self, step: Step, context: str) -> None:
        sent = {item.id for item in step.exchange.sent if item.kind == "result"}
        kinds: tuple[tuple[Literal["clear", "trim"], bool], ...] = (
            ("clear", True),
            ("trim", False),
        )
        for kind, replaced in kinds:
            lost = [
                self._results[step.thread, item.key].seq
                for item in step.gone
                if (item.id in sent) is replaced and (step.thread, item.key) in self._results
            ]
            if lost:
                self.build.lose(kind, context, sorted(lost))
        if step.exchange.edited:
            self.build.lose("clear", context)

    def _tell(self, step: Step, item: Item, context: str) -> None:
        place = (step.thread, item.id or "")
        if item.kind == "call":
            inner = self.caller(item)
            if inner is not None:
                context = self._program(step.thread, inner, context)
            self._inner[place] = context
            self.call(item, context)
        elif item.kind == "result":
            call = self.build.waiting(item.id, self._inner.get(place, context))
            if call is not None:
                self._results[step.thread, item.key] = call
                self.answer(call, item)
        elif item.kind == "person":
            self.build.user_message(item.fields["text"], context)
        elif item.kind == "loss":
            self.build.lose("compaction", context)

    def _program(self, thread: int, call_id: str, outer: str) -> str:
        name = f"program {call_id}" if outer == MAIN else f"program {call_id} of {outer}"
        if name not in self._programs:
            self._programs.add(name)
            parent = self.build.waiting(call_id, self._inner.get((thread, call_id), outer))
            self.build.start_context(ContextStart(name, parent.seq if parent else None))
        return name
