"""Wrappers around tools, by calling style and kind of function; the plain ones cut for speed."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Coroutine
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from refetch.record.encoding import encode as encode_fast
from refetch.record.fields import Probe, probe_of
from refetch.record.parameters import Parameters, parameters_of
from refetch.record.relay import relayed, relayed_async
from refetch.record.rows import OpenCall
from refetch.record.tool import Tool

if TYPE_CHECKING:
    from refetch.record.journal import Journal

RESERVED = ("_origin", "_attempt_of", "_call_id")
"""Keywords of a wrapped call that are the recorder's; the tool never sees them."""

Wrapped = Callable[..., Any]
Begin = Callable[[Any, dict[str, Any]], OpenCall]


def wrap_entry(tracer: Journal, name: str, tool: Tool) -> Wrapped:
    """A registry's tool as a callable that takes one dictionary of arguments."""
    run, probe = tool.run, probe_of(name, tool, tracer.problem)
    begin = _beginner(tracer, name, probe)

    def start(args: tuple[Any, ...], reserved: dict[str, Any]) -> tuple[OpenCall, Any]:
        (sent,) = args or ({},)
        return begin(sent, reserved), run(sent)

    def entered(args: Any = None, /, **reserved: Any) -> Any:
        args = {} if args is None else args
        row = begin(args, reserved)
        row.outcome = "cancelled"  # stands unless the coroutine begins
        return _begun(tracer, row, run, args)

    kind = _kind(run)
    if kind == "coroutine":
        _mark_coroutine(entered)
        return _dressed(entered, run, tracer)
    if kind == "plain":
        return _dressed(_plain_entry(tracer, name, run, probe), run, tracer)
    relay = relayed if kind == "generator" else relayed_async
    return _dressed(relay(tracer, start), run, tracer)


def wrap_callable(
    tracer: Journal,
    name: str,
    tool: Tool,
    skip: tuple[str, ...],
    declare: Callable[[str, Tool], None],
) -> Wrapped:
    """A callable that keeps its signature; its arguments are recorded by parameter name."""
    run, kind = tool.run, _kind(tool.run)
    parameters = parameters_of(run, skip)
    declare(name, parameters.with_defaults(tool))
    begin = _beginner(tracer, name, probe_of(name, tool, tracer.problem))

    def start(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[OpenCall, Any]:
        reserved = _reserved(kwargs)
        return begin(parameters.named(args, kwargs), reserved), run(*args, **kwargs)

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        row, coroutine = start(args, kwargs)
        return await _driven(tracer, row, coroutine)

    if kind == "coroutine":
        wrapped = _dressed(awaited, run, tracer)
    elif kind == "plain":
        wrapped = _dressed(_plain_callable(tracer, run, parameters, begin), run, tracer)
    else:
        relay = relayed if kind == "generator" else relayed_async
        wrapped = _dressed(relay(tracer, start), run, tracer)
    wrapped.__refetch_own_signature__ = True  # type: ignore[attr-defined]
    return wrapped


def _plain_entry(tracer: Journal, name: str, run: Wrapped, probe: Probe | None) -> Wrapped:
    here, log, next_seq = tracer.here, tracer.log, tracer.next_seq
    get, enter, leave = here.get, here.set, here.reset
    encode, clock, append = encode_fast, time.perf_counter, log.append
    streaming, implicit = tracer.streaming, tracer.implicit

    def wrapped(
        args: Any = None,
        /,
        *,
        _origin: str | None = None,
        _attempt_of: int | None = None,
        _call_id: str | None = None,
    ) -> Any:
        if args is None:
            args = {}
        within = get()
        context = within.inner or implicit(within)
        try:
            raw = encode(args)
        except Exception:
            raw = tracer.encode(args)
        row = OpenCall(
            next_seq(), context.turn, name, raw, context, within, within.ambient, clock()
        )
        if _origin is not None:
            row.origin = _origin
        if _attempt_of is not None:
            row.attempt_of = _attempt_of
        if _call_id is not None:
            row.call_id = _call_id
        append(row)
        if probe is not None:
            row.fields = probe(args)
        token = enter(row)
        try:
            result = run(args)
        except BaseException as error:
            leave(token)
            _refused(tracer, row, error, run)
            raise
        leave(token)
        if type(result) is str and not streaming:
            row.result = result
            row.ended = clock()
            return result
        return _returned(tracer, row, result)

    return wrapped


def _plain_callable(tracer: Journal, run: Wrapped, parameters: Parameters, begin: Begin) -> Wrapped:
    named, here = parameters.named, tracer.here
    enter, leave, clock = here.set, here.reset, time.perf_counter
    streaming = tracer.streaming

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        reserved = _reserved(kwargs) if kwargs else kwargs
        row = begin(named(args, kwargs), reserved)
        token = enter(row)
        try:
            result = run(*args, **kwargs)
        except BaseException as error:
            leave(token)
            _refused(tracer, row, error, run)
            raise
        leave(token)
        if type(result) is str and not streaming:
            row.result = result
            row.ended = clock()
            return result
        return _returned(tracer, row, result)

    return wrapped


def _beginner(tracer: Journal, name: str, probe: Probe | None) -> Begin:
    """A function that records the start of a call from its arguments and the reserved keywords."""
    get, append, next_seq = tracer.here.get, tracer.log.append, tracer.next_seq
    encode, clock, implicit = encode_fast, time.perf_counter, tracer.implicit

    def begin(args: Any, reserved: dict[str, Any]) -> OpenCall:
        within = get()
        context = within.inner or implicit(within)
        try:
            raw = encode(args)
        except Exception:
            raw = tracer.encode(args)
        row = OpenCall(
            next_seq(), context.turn, name, raw, context, within, within.ambient, clock()
        )
        if reserved:
            row.origin = reserved.pop("_origin", None) or row.origin
            row.attempt_of = reserved.pop("_attempt_of", None)
            row.call_id = reserved.pop("_call_id", None)
            if reserved:
                raise TypeError(f"{name}() got unexpected keywords {', '.join(sorted(reserved))}")
        append(row)
        if probe is not None:
            row.fields = probe(args)
        return row

    return begin


def _reserved(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Take the recorder's keywords out of a call's."""
    return {key: kwargs.pop(key) for key in RESERVED if key in kwargs}


def _returned(tracer: Journal, row: OpenCall, result: Any) -> Any:
    """What the agent gets: the result itself, or a coroutine that still has to run, recorded."""
    # The type is asked, not the object: an object can answer with an exception.
    if issubclass(type(result), CoroutineType):
        return _driven(tracer, row, result)
    if issubclass(type(result), (GeneratorType, AsyncGeneratorType)):
        tracer.returned(row, UNSET)
        return result
    if (watch := _watch_of(result)) is not None:
        watch(lambda done: _settled(tracer, row, done))
        return result
    tracer.returned(row, result)
    return result


def _watch_of(result: Any) -> Callable[[Callable[[Any], None]], Any] | None:
    """How a future is watched; None for any other object, whatever it does when it is looked at."""
    try:
        watch = getattr(result, "add_done_callback", None)
        future = callable(watch) and callable(getattr(result, "cancelled", None))
    except Exception:
        return None
    return watch if future else None


def _settled(tracer: Journal, row: OpenCall, done: Any) -> None:
    """A future came to its end."""
    try:
        tracer.returned(row, done.result())
    except BaseException as error:
        tracer.failed(row, error)


def _refused(tracer: Journal, row: OpenCall, error: BaseException, run: Wrapped) -> None:
    """A call raised. Arguments that do not fit a Python function never entered it."""
    trace = error.__traceback__
    unfit = isinstance(error, TypeError) and isinstance(run, FunctionType)
    never = unfit and trace is not None and trace.tb_next is None
    tracer.failed(row, error, "not-executed" if never else None)


async def _begun(tracer: Journal, row: OpenCall, run: Wrapped, args: Any) -> Any:
    row.outcome, row.started = None, time.perf_counter()
    return await _driven(tracer, row, run(args))


async def _driven(tracer: Journal, row: OpenCall, awaitable: Coroutine[Any, Any, Any]) -> Any:
    """Await a tool inside its call; cancellation and every exception go on as they came."""
    token = tracer.here.set(row)
    try:
        result = await awaitable
    except BaseException as error:
        tracer.failed(row, error)
        raise
    finally:
        tracer.here.reset(token)
    tracer.returned(row, result)
    return result


_CHECKS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("coroutine", inspect.iscoroutinefunction),
    ("generator", inspect.isgeneratorfunction),
    ("async generator", inspect.isasyncgenfunction),
)


def _kind(run: Any) -> str:
    """What calling it gives: looked up once, through partials and callable objects."""
    for name, check in _CHECKS:
        if check(run) or (not isinstance(run, FunctionType) and check(type(run).__call__)):
            return name
    return "plain"


def _mark_coroutine(wrapped: Wrapped) -> None:
    """Say that a plain function gives a coroutine, as far as this Python can say so."""
    mark = getattr(inspect, "markcoroutinefunction", None)
    if mark is not None:
        mark(wrapped)


def _dressed(wrapped: Wrapped, run: Any, tracer: Journal) -> Wrapped:
    """Name, documentation and signature of the wrapped tool, and the tracer that records it."""
    functools.update_wrapper(wrapped, run)
    wrapped.__refetch_tracer__ = tracer  # type: ignore[attr-defined]
    return wrapped
