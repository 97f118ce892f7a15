"""Turns, contexts, origins and events: what an agent's loop tells the tracer besides calls."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from refetch.model.trace import ContextLoss, Request, UserMessage, Write
from refetch.record.journal import Journal
from refetch.record.rows import OpenCall, Scope

LossKind = Literal["compaction", "clear", "trim", "eviction", "truncation"]


class Narration(Journal):
    """The part of `ToolTracer` that a loop or harness talks to."""

    def next_turn(self) -> int:
        """A model response arrived in the current context: later calls there belong to its turn."""
        context = self.context_here()
        with self._lock:
            context.turn += 1
            self._release()
            return context.turn

    @contextlib.contextmanager
    def context(
        self,
        name: str,
        *,
        inherits: bool = False,
        background: bool = False,
        model: str | None = None,
        resume: bool = False,
    ) -> Iterator[str]:
        """A sub-agent's history begins: calls inside belong to it. Gives the context's name.

        A name used again is a new history (`name#2`), unless `resume` says that it goes on.
        `inherits`: it begins with its parent's messages; `background`: its parent does not wait.
        """
        outer = self.here.get()
        call = outer if isinstance(outer, OpenCall) else outer.call
        with self._lock:
            state = self._contexts.get(name) if resume else None
            if state is None:
                state = self._start(self._unused(name), call, inherits, background, model)
        token = self.here.set(Scope(state, call, outer.ambient))
        try:
            yield state.name
        finally:
            self.here.reset(token)

    def origin(self, origin: str, *, attempt_of: int | None = None) -> Entered:
        """Calls made inside come from `origin`: "harness-retry", "harness", "user" or "model"."""
        return self._scope(origin, attempt_of, attempts=False)

    def attempts(self) -> Entered:
        """Calls of one tool with the same arguments inside are attempts of one logical call.

        The first keeps its origin, the others are tagged harness-retry.
        """
        return self._scope(None, None, attempts=True)

    def _scope(self, origin: str | None, attempt_of: int | None, *, attempts: bool) -> Entered:
        outer = self.here.get()
        call = outer if isinstance(outer, OpenCall) else outer.call
        ambient = outer.ambient if origin is None else origin
        return Entered(self.here, Scope(self.context_here(), call, ambient, attempt_of, attempts))

    # events

    def user_message(self, *, context: str | None = None) -> None:
        """A person said something."""
        self._event(UserMessage(self._last(), self._named(context)))

    def context_loss(
        self,
        kind: LossKind = "compaction",
        lost: Iterable[int | OpenCall] | None = None,
        *,
        context: str | None = None,
    ) -> None:
        """Results left the history: those of the calls `lost`, or all delivered so far."""
        seqs = None
        if lost is not None:
            seqs = [item.seq if isinstance(item, OpenCall) else item for item in lost]
        self._event(ContextLoss(self._last(), kind, self._named(context), seqs))

    def write(self, scope: str, by: str = "external") -> None:
        """Something other than a recorded call wrote the resource `scope`."""
        self._event(Write(scope, self._last(), by))

    def request(
        self,
        usage: dict[str, Any] | None = None,
        *,
        model: str | None = None,
        context: str | None = None,
        turn: int | None = None,
    ) -> None:
        """One model request and the token usage that its provider reported."""
        state = self._contexts.get(self._named(context), self._main)
        turn = state.turn if turn is None else turn
        self._event(Request(turn, state.name, model, usage))

    def _named(self, context: str | None) -> str:
        return self.context_here().name if context is None else context


class Entered:
    """A scope that can be entered with `with`."""

    __slots__ = ("_here", "_scope", "_token")

    def __init__(self, here: contextvars.ContextVar[OpenCall | Scope], scope: Scope) -> None:
        self._here, self._scope = here, scope

    def __enter__(self) -> None:
        self._token = self._here.set(self._scope)

    def __exit__(self, *_: object) -> None:
        self._here.reset(self._token)
