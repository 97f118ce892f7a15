"""Generators as tools: every item passes through, and the call ends when the items do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from refetch.record.encoding import encode
from refetch.record.rows import OpenCall

if TYPE_CHECKING:
    from refetch.record.journal import Journal


class _Items:
    """The items so far: texts as they are, the others encoded at once (they may change later)."""

    __slots__ = ("_others", "_seen", "_tracer")

    def __init__(self, tracer: Journal) -> None:
        self._tracer = tracer
        self._seen: list[str | Raw] = []
        self._others = False

    def add(self, item: Any) -> None:
        if issubclass(type(item), str):
            self._seen.append(item)
            return
        self._others = True
        self._seen.append(Raw(self._tracer.encode(item) or b"null"))

    def result(self) -> Any:
        """One text where all items were texts, else the list of items."""
        if not self._others:
            return "".join(str(item) for item in self._seen)
        return [item if isinstance(item, Raw) else Raw(encode(item)) for item in self._seen]


def relayed(tracer: Journal, start: Callable[..., tuple[OpenCall, Any]]) -> Callable[..., Any]:
    """A generator function that runs the generator which `start` gives inside the call it gives.

    It goes step by step; send, throw, close and the return value pass through.
    """
    here = tracer.here

    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        row, items = start(args, kwargs)
        seen = _Items(tracer)
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            token = here.set(row)
            try:
                item = items.send(sent) if thrown is None else items.throw(thrown)
            except StopIteration as stop:
                tracer.returned(row, seen.result())
                return stop.value
            except BaseException as error:
                tracer.failed(row, error)
                raise
            finally:
                here.reset(token)
            seen.add(item)
            sent = thrown = None
            try:
                sent = yield item
            except GeneratorExit:
                _stopped(tracer, row, seen)
                items.close()
                raise
            except BaseException as error:
                thrown = error

    return wrapped


def relayed_async(
    tracer: Journal, start: Callable[..., tuple[OpenCall, Any]]
) -> Callable[..., Any]:
    """The same for an asynchronous generator."""
    here = tracer.here

    async def wrapped(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        row, items = start(args, kwargs)
        seen = _Items(tracer)
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            token = here.set(row)
            try:
                item = await (items.asend(sent) if thrown is None else items.athrow(thrown))
            except StopAsyncIteration:
                tracer.returned(row, seen.result())
                return
            except BaseException as error:
                tracer.failed(row, error)
                raise
            finally:
                here.reset(token)
            seen.add(item)
            sent = thrown = None
            try:
                sent = yield item
            except GeneratorExit:
                _stopped(tracer, row, seen)
                await items.aclose()
                raise
            except BaseException as error:
                thrown = error

    return wrapped


def _stopped(tracer: Journal, row: OpenCall, seen: _Items) -> None:
    """The reader had enough: what it got was delivered, and it was not the whole."""
    row.note(truncated=True)
    tracer.returned(row, seen.result())
