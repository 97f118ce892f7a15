"""Wrapping tools: nothing changes for the agent, everything is in the trace."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from refetch.api import check
from refetch.model import Call, Trace, UsageError
from refetch.model.native import encode_native, read_native
from refetch.record import Tool, ToolTracer


def args_of(call: Call) -> Any:
    return msgspec.json.decode(call.args)


def read_file(args: dict[str, Any]) -> str:
    return f"text of {args['path']}"


def test_registry_entries_of_every_shape() -> None:
    class Entry:
        mutates = True

        def run(self, args: dict[str, Any]) -> str:
            return "object"

    tracer = ToolTracer(run="r")
    tools = tracer.wrap_registry(
        {
            "tool": Tool(read_file, mutates=False, resource="file:{path}"),
            "mapping": {"run": read_file, "mutates": False, "resource": lambda a: "x:" + a["path"]},
            "plain": read_file,
            "object": Entry(),
        }
    )
    assert [tools[name]({"path": "a"}) for name in tools] == ["text of a"] * 3 + ["object"]
    calls = tracer.trace().calls
    assert [call.name for call in calls] == ["tool", "mapping", "plain", "object"]
    assert [call.seq for call in calls] == [0, 1, 2, 3]
    assert calls[1].resource == "x:a"
    assert calls[0].resource is None
    assert tracer.trace().tools == {
        "tool": {"mutates": False, "resource": "file:{path}"},
        "mapping": {"mutates": False},
        "object": {"mutates": True},
    }
    assert not tracer.problems


def test_unknown_keys_of_a_mapping_are_told_and_descriptive_ones_are_not() -> None:
    tracer = ToolTracer()
    tracer.wrap_registry({"t": {"run": read_file, "mutate": True, "description": "reads"}})
    assert [problem.message for problem in tracer.problems] == [
        "tool 't': unknown key 'mutate' is ignored"
    ]


@pytest.mark.parametrize("entry", [{}, {"run": "x"}, 5, None])
def test_an_entry_with_nothing_to_run_is_a_usage_error(entry: object) -> None:
    with pytest.raises(UsageError, match="tool 't'"):
        ToolTracer().wrap_registry({"t": entry})


def test_metadata_of_a_wrong_type_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="metadata"):
        ToolTracer().wrap_registry({"t": {"run": read_file, "ttl": "soon"}})


def test_decorator_keeps_name_signature_and_wrapped() -> None:
    tracer = ToolTracer()

    def plain(path: str, limit: int = 10, *rest: int, flag: bool = False, **more: int) -> str:
        """Reads."""
        return f"{path}{limit}{rest}{flag}{more}"

    wrapped = tracer.tool(mutates=False, resource=lambda a: f"file:{a['path']}")(plain)
    assert wrapped.__name__ == "plain"
    assert wrapped.__doc__ == "Reads."
    assert inspect.signature(wrapped) == inspect.signature(plain)
    assert inspect.unwrap(wrapped) is plain
    assert wrapped("a", 3, 4, 5, flag=True, x=1) == plain("a", 3, 4, 5, flag=True, x=1)
    assert wrapped("b") == plain("b")
    first, second = tracer.trace().calls
    assert args_of(first) == {"path": "a", "limit": 3, "rest": [4, 5], "flag": True, "x": 1}
    assert args_of(second) == {"path": "b"}
    assert second.resource == "file:b"
    assert tracer.trace().tools["plain"] == {
        "mutates": False,
        "defaults": {"limit": 10, "flag": False},
    }


def test_bare_decorator_methods_and_skipped_parameters() -> None:
    tracer = ToolTracer()

    class Service:
        @tracer.tool
        def get(self, key: str) -> str:
            return key

        @tracer.tool
        @staticmethod
        def fixed(key: str) -> str:
            return key

        @tracer.tool
        @classmethod
        def of(cls, key: str) -> str:
            return cls.__name__ + key

    def with_context(ctx: object, key: str) -> str:
        return key

    service = Service()
    assert service.get("k") == "k"
    assert service.fixed("f") == "f"
    assert Service.of("c") == "Servicec"
    assert tracer.wrap(with_context, skip=("ctx",))(object(), key="z") == "z"
    assert [args_of(call) for call in tracer.trace().calls] == [
        {"key": "k"},
        {"key": "f"},
        {"key": "c"},
        {"key": "z"},
    ]


def test_callables_without_a_signature_and_partials_and_objects() -> None:
    tracer = ToolTracer()

    class Adder:
        def __call__(self, a: int) -> int:
            return a

    assert tracer.wrap(max, name="max")(3, 4) == 4
    assert tracer.wrap(functools.partial(pow, 2), name="pow")(5) == 32
    assert tracer.wrap(Adder())(7) == 7
    names = [call.name for call in tracer.trace().calls]
    assert names == ["max", "pow", "Adder"]


def test_wrap_takes_a_registry_a_tool_and_a_mapping() -> None:
    tracer = ToolTracer()
    assert tracer.wrap({"a": read_file})["a"]({"path": "x"}) == "text of x"
    assert tracer.wrap(Tool(read_file), name="b")({"path": "y"}) == "text of y"
    assert tracer.wrap({"run": read_file})({"path": "z"}) == "text of z"
    assert [call.name for call in tracer.trace().calls] == ["a", "b", "read_file"]


def test_the_same_exception_object_goes_on() -> None:
    tracer = ToolTracer()
    error = ValueError("no such file")

    def broken(args: dict[str, Any]) -> str:
        raise error

    with pytest.raises(ValueError, match="no such file") as caught:
        tracer.wrap_registry({"t": broken})["t"]({})
    assert caught.value is error
    (call,) = tracer.trace().calls
    assert (call.status, call.error) == ("error", "ValueError: no such file")
    assert call.result_hash is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TimeoutError("slow"), "timeout"),
        (KeyboardInterrupt(), "unknown"),
        (SystemExit(2), "unknown"),
        (OSError(5, "io"), "error"),
    ],
)
def test_outcome_of_an_exception(error: BaseException, status: str) -> None:
    tracer = ToolTracer()

    def broken() -> None:
        raise error

    with pytest.raises(type(error)):
        tracer.wrap(broken)()
    assert tracer.trace().calls[0].status == status


def test_an_exception_that_cannot_print_itself_is_recorded() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    tracer = ToolTracer()

    def broken() -> None:
        raise Mute

    with pytest.raises(Mute):
        tracer.wrap(broken)()
    assert tracer.trace().calls[0].error == "Mute (which cannot be printed)"


def test_arguments_that_do_not_fit_were_not_executed() -> None:
    tracer = ToolTracer()

    def strict(a: int) -> int:
        return a + len(3)  # type: ignore[arg-type]

    wrapped: Any = tracer.wrap(strict)
    with pytest.raises(TypeError):
        wrapped(b=1)
    with pytest.raises(TypeError):
        wrapped(1)
    assert [call.status for call in tracer.trace().calls] == ["not-executed", "error"]


def test_arguments_are_those_at_call_time() -> None:
    tracer = ToolTracer()

    def spoil(args: dict[str, Any]) -> str:
        args["path"] = "other"
        args["list"].append(2)
        return "done"

    sent: dict[str, Any] = {"path": "a", "list": [1]}
    tracer.wrap_registry({"t": spoil})["t"](sent)
    sent["list"].append(3)
    assert args_of(tracer.trace().calls[0]) == {"path": "a", "list": [1]}


def test_results_are_those_at_return_time() -> None:
    tracer = ToolTracer()
    shared: dict[str, int] = {"n": 1}
    tool = tracer.wrap_registry({"t": lambda args: shared})["t"]
    assert tool({}) is shared
    tool({})
    shared["n"] = 2
    tool({})
    hashes = [call.result_hash for call in tracer.trace().calls]
    assert hashes[0] == hashes[1] != hashes[2]


def test_results_are_hashed_and_only_kept_when_asked() -> None:
    for keep in (False, True):
        tracer = ToolTracer(keep_results=keep)
        tools = tracer.wrap_registry({"s": lambda a: "héllo", "d": lambda a: {"k": [1]}})
        tools["s"]({})
        tools["d"]({})
        text, data = tracer.trace().calls
        assert (text.result_chars, data.result_chars) == (5, 9)
        assert str(text.result_hash).startswith("xxh3_128:")
        kept = (bytes(text.result), bytes(data.result))
        assert kept == (('"héllo"'.encode(), b'{"k":[1]}') if keep else (b"", b""))


def test_what_has_no_json_text_never_equals_anything_and_never_raises() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "odd"

    tracer = ToolTracer()
    tool = tracer.wrap_registry({"t": lambda a: Odd()})["t"]
    tool({"x": Odd(), "y": 1})
    tool({"x": Odd(), "y": 1})
    first, second = tracer.trace().calls
    assert first.args != second.args
    assert args_of(first)["y"] == 1
    assert first.result_hash is None
    assert [p.message for p in tracer.problems] == [
        "tool 't': result not hashed: TypeError: cannot encode Odd"
    ]


def test_difficult_arguments_have_a_readable_text() -> None:
    tracer = ToolTracer()
    tool = tracer.wrap_registry({"t": lambda a: None})["t"]
    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    for args in (
        {"big": 2**70, "inf": float("inf"), "bytes": b"x", "set": {1}, "big2": (2**70, None)},
        {"lone": "a\ud800b", "big": 2**80},
        cyclic,
        {3: "x"},
    ):
        tool(args)
    calls = read_native(encode_native(tracer.trace())).calls
    assert args_of(calls[0])["inf"] is None
    assert str(2**70).encode() in bytes(calls[0].args)
    assert args_of(calls[1])["lone"] == "a\\ud800b"
    assert not calls[2].has_args
    assert args_of(calls[3]) == {"3": "x"}


def test_functions_of_the_arguments_fill_the_record() -> None:
    tracer = ToolTracer()
    tool = Tool(
        read_file,
        mutates=lambda a: a["path"] == "w",
        resource=lambda a: [f"file:{a['path']}"],
        region=lambda a: (1, 20),
        view=lambda a: "content",
        effect=lambda a: "read",
        ttl=lambda a: 3.5,
        depends_on=lambda a: ["b:1", "a:1"],
        volatile=lambda a: False,
        cwd="/srv",
    )
    tracer.wrap_registry({"t": tool})["t"]({"path": "a"})
    (call,) = read_native(encode_native(tracer.trace())).calls
    assert call.resource == ["file:a"]
    assert call.region == {"unit": "line", "from": 1, "to": 20}
    assert (call.view, call.effect, call.ttl, call.cwd) == ("content", "read", 3.5, "/srv")
    assert call.depends_on == ["b:1", "a:1"]
    assert call.mutates is False


@pytest.mark.parametrize(
    ("field", "function"),
    [
        ("resource", lambda a: a["nope"]),
        ("resource", lambda a: 5),
        ("resource", lambda a: [5]),
        ("region", lambda a: {"unit": 5}),
        ("region", lambda a: 1 / 0),
        ("effect", lambda a: "reads"),
        ("mutates", lambda a: "yes"),
        ("ttl", lambda a: True),
        ("view", lambda a: 1),
    ],
)
def test_a_function_that_fails_never_reaches_the_agent(field: str, function: Any) -> None:
    tracer = ToolTracer()
    tool = tracer.wrap_registry({"t": {"run": read_file, field: function}})["t"]
    assert tool({"path": "a"}) == "text of a"
    (call,) = tracer.trace().calls
    assert getattr(call, field) is None
    assert f"tool 't': {field}(args) failed" in tracer.problems[0].message


def test_problems_are_noted_once_and_not_without_end() -> None:
    tracer = ToolTracer()
    count = iter(range(1000))
    tool = tracer.wrap_registry({"t": {"run": read_file, "resource": lambda a: [next(count), 1]}})
    for _ in range(5):
        tool["t"]({"path": "a"})
    assert len(tracer.problems) == 1
    for number in range(500):
        tracer.problem(f"problem {number}")
    assert len(tracer.problems) == 100


def test_turns_and_times() -> None:
    tracer = ToolTracer()
    tool = tracer.wrap_registry({"t": read_file})["t"]
    assert tracer.next_turn() == 1
    tool({"path": "a"})
    assert tracer.next_turn() == 2
    tool({"path": "a"})
    first, second = tracer.trace().calls
    assert (first.turn, second.turn) == (1, 2)
    assert isinstance(first.started, float)
    assert isinstance(first.ended, float)
    assert isinstance(second.started, float)
    assert 1.6e9 < first.started <= first.ended <= second.started
    assert tracer.trace().turns == "recorded"


def test_a_run_whose_turns_nobody_named_says_so() -> None:
    tracer = ToolTracer()
    tracer.wrap_registry({"t": read_file})["t"]({"path": "a"})
    assert tracer.trace().turns == "inferred"
    assert ToolTracer().trace().turns == "recorded"


def test_origin_by_keyword_and_by_scope() -> None:
    tracer = ToolTracer()
    entry = tracer.wrap_registry({"t": read_file})["t"]
    own = tracer.wrap(lambda path: path, name="own")
    tracer.next_turn()
    entry({"path": "a"})
    entry({"path": "a"}, _origin="harness-retry", _attempt_of=0, _call_id="c1")
    own("a", _origin="user")
    with tracer.origin("harness"):
        own("b")
        with tracer.origin("model"):
            own("c")
    own("d")
    assert [(c.origin, c.attempt_of, c.call_id) for c in tracer.trace().calls] == [
        ("model", None, None),
        ("harness-retry", 0, "c1"),
        ("user", None, None),
        ("harness", None, None),
        ("model", None, None),
        ("model", None, None),
    ]
    assert args_of(tracer.trace().calls[2]) == {"path": "a"}
    with pytest.raises(TypeError, match="unexpected"):
        entry({"path": "a"}, flavour=1)


def test_attempts_of_one_logical_call() -> None:
    tracer = ToolTracer()
    tools = tracer.wrap_registry({"t": read_file, "u": read_file})
    tracer.next_turn()
    with tracer.attempts():
        tools["t"]({"path": "a"})
        tools["t"]({"path": "a"})
        tools["t"]({"path": "a"})
        tools["u"]({"path": "a"})
    tools["t"]({"path": "a"})
    assert [(c.origin, c.attempt_of) for c in tracer.trace().calls] == [
        ("model", None),
        ("harness-retry", 0),
        ("harness-retry", 0),
        ("model", None),
        ("model", None),
    ]
    assert tracer.trace() == tracer.trace()


def test_nested_contexts_have_their_own_turns_and_their_parent() -> None:
    tracer = ToolTracer()
    tools: dict[str, Any] = {}

    def research(args: dict[str, Any]) -> str:
        with tracer.context("sub1", inherits=True, model="small") as name:
            assert name == "sub1"
            assert tracer.next_turn() == 1
            return str(tools["read"]({"path": "a"}))

    tools = tracer.wrap_registry({"read": read_file, "research": research})
    tracer.next_turn()
    tracer.next_turn()
    tools["research"]({})
    tools["read"]({"path": "a"})
    trace = tracer.trace()
    outer, inner, after = trace.calls
    assert (outer.context, outer.turn, outer.parent) == ("main", 2, None)
    assert (inner.context, inner.turn, inner.parent) == ("sub1", 1, 0)
    assert (after.context, after.turn, after.parent) == ("main", 2, None)
    (start,) = [e for e in trace.events if type(e).__name__ == "ContextStart"]
    assert msgspec.to_builtins(start) == {
        "type": "context",
        "context": "sub1",
        "parent_call": 0,
        "inherits": True,
        "model": "small",
    }


def test_a_context_name_used_again_is_a_new_history_unless_resumed() -> None:
    tracer = ToolTracer()
    names, turns = [], []
    for resume in (False, False, True):
        with tracer.context("worker", resume=resume) as name:
            names.append(name)
            turns.append(tracer.next_turn())
    assert names == ["worker", "worker#2", "worker"]
    assert turns == [1, 1, 2]


def test_a_tool_that_calls_tools_is_not_the_model() -> None:
    tracer = ToolTracer()
    inner = tracer.wrap(lambda path: path, name="inner")

    def outer(path: str) -> str:
        return str(inner(path)) + str(inner(path))

    def agent(path: str) -> str:
        tracer.next_turn()
        return str(inner(path))

    tracer.next_turn()
    tracer.wrap(outer)("a")
    tracer.wrap(agent)("a")
    found = [(c.name, c.context, c.turn, c.origin, c.parent) for c in tracer.trace().calls]
    assert found == [
        ("outer", "main", 1, "model", None),
        ("inner", "call:0", 0, "harness", 0),
        ("inner", "call:0", 0, "harness", 0),
        ("agent", "main", 1, "model", None),
        ("inner", "call:3", 1, "model", 3),
    ]


def test_threads_record_every_call_once() -> None:
    tracer = ToolTracer()
    tool = tracer.wrap_registry({"t": lambda a: str(a["n"])})["t"]
    tracer.next_turn()
    gate = threading.Barrier(8)

    def work(worker: int) -> None:
        gate.wait()
        with tracer.context(f"w{worker}"):
            tracer.next_turn()
            for n in range(200):
                assert tool({"n": worker * 1000 + n}) == str(worker * 1000 + n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    calls = tracer.trace().calls
    assert [call.seq for call in calls] == list(range(1600))
    for worker in range(8):
        own = [args_of(c)["n"] for c in calls if c.context == f"w{worker}"]
        assert own == [worker * 1000 + n for n in range(200)]


def test_results_of_long_runs_are_let_go_in_batches() -> None:
    tracer = ToolTracer()
    tool = tracer.wrap_registry({"t": lambda a: "x" * a["n"]})["t"]
    for n in range(700):
        tool({"n": n})
    assert any(isinstance(getattr(row, "result", None), str) for row in tracer.log)
    tracer.next_turn()
    assert not any(isinstance(getattr(row, "result", None), str) for row in tracer.log)
    assert [call.result_chars for call in tracer.trace().calls] == list(range(700))


def test_coroutine_functions() -> None:
    tracer = ToolTracer()

    @tracer.tool(mutates=False)
    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return url

    async def entry(args: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return args

    async def broken(args: dict[str, Any]) -> None:
        raise KeyError("k")

    tools = tracer.wrap_registry({"entry": entry, "broken": broken, "late": lambda a: entry(a)})
    assert inspect.iscoroutinefunction(fetch)

    async def main() -> None:
        tracer.next_turn()
        assert await fetch("u") == "u"
        sent = {"a": 1}
        assert await tools["entry"](sent) is sent
        assert await tools["late"](sent) is sent
        with pytest.raises(KeyError):
            await tools["broken"]({})

    asyncio.run(main())
    calls = tracer.trace().calls
    assert [(c.name, c.status) for c in calls] == [
        ("fetch", "ok"),
        ("entry", "ok"),
        ("late", "ok"),
        ("broken", "error"),
    ]
    assert calls[1].result_hash == calls[2].result_hash is not None


def test_cancellation_passes_through() -> None:
    tracer = ToolTracer()
    reached: list[str] = []

    async def slow(args: dict[str, Any]) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            reached.append("cancelled inside")
            raise
        return "never"

    tool = tracer.wrap_registry({"slow": slow})["slow"]

    async def main() -> None:
        running = asyncio.ensure_future(tool({"n": 1}))
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        waiting = asyncio.ensure_future(tool({"n": 2}))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert reached == ["cancelled inside"]
    assert [call.status for call in tracer.trace().calls] == ["unknown", "cancelled"]


def test_concurrent_tasks_keep_their_own_contexts() -> None:
    tracer = ToolTracer()
    ready = asyncio.Event()

    async def leaf(args: dict[str, Any]) -> str:
        ready.set()
        await asyncio.sleep(0)
        return "x"

    tools: dict[str, Any] = {}

    async def agent(args: dict[str, Any]) -> str:
        with tracer.context(args["name"]):
            for _ in range(3):
                tracer.next_turn()
                await tools["leaf"]({"who": args["name"]})
        return "done"

    tools = tracer.wrap_registry({"leaf": leaf, "agent": agent})

    async def main() -> None:
        tracer.next_turn()
        await asyncio.gather(*(tools["agent"]({"name": f"s{n}"}) for n in range(4)))

    asyncio.run(main())
    trace = tracer.trace()
    agents = {args_of(c)["name"]: c.seq for c in trace.calls if c.name == "agent"}
    for name, seq in agents.items():
        own = [c for c in trace.calls if c.context == name]
        assert [(c.turn, c.parent) for c in own] == [(1, seq), (2, seq), (3, seq)]
        assert all(args_of(c)["who"] == name for c in own)


def test_a_tool_that_gives_a_future_is_recorded_when_the_future_ends() -> None:
    tracer = ToolTracer()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        good: asyncio.Future[str] = loop.create_future()
        bad: asyncio.Future[str] = loop.create_future()
        assert tracer.wrap(lambda: good, name="good")() is good
        assert tracer.wrap(lambda: bad, name="bad")() is bad
        assert [c.status for c in tracer.trace().calls] == ["missing", "missing"]
        good.set_result("x")
        bad.cancel()
        await asyncio.sleep(0)

    asyncio.run(main())
    assert [c.status for c in tracer.trace().calls] == ["ok", "unknown"]


def test_generators_pass_everything_through() -> None:
    tracer = ToolTracer()

    @tracer.tool
    def talk(n: int) -> Generator[Any, Any, Any]:
        total: Any = 0
        while n:
            try:
                sent = yield total
            except LookupError:
                sent = 100
            total += sent or 1
            n -= 1
        return total

    assert inspect.isgeneratorfunction(talk)
    stream: Any = talk(3)
    assert not tracer.trace().calls
    assert next(stream) == 0
    assert stream.send(5) == 5
    assert stream.throw(LookupError()) == 105
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert stop.value.value == 106
    (call,) = tracer.trace().calls
    assert (call.status, args_of(call), call.truncated) == ("ok", {"n": 3}, False)
    assert call.result_chars == len("[0,5,105]")


def test_generators_that_stop_early_or_fail() -> None:
    tracer = ToolTracer()
    closed: list[bool] = []
    error = ValueError("mid")

    def lines(args: dict[str, Any]) -> Iterator[str]:
        try:
            yield "one\n"
            yield "two\n"
            raise error
        finally:
            closed.append(True)

    tool = tracer.wrap_registry({"lines": lines})["lines"]
    early = tool({})
    assert next(early) == "one\n"
    early.close()
    with pytest.raises(ValueError, match="mid") as caught:
        list(tool({}))
    assert caught.value is error
    first, second = tracer.trace().calls
    assert (first.status, first.truncated, first.result_chars) == ("ok", True, 4)
    assert second.status == "error"
    assert closed == [True, True]


def test_a_text_stream_equals_the_text() -> None:
    tracer = ToolTracer()
    stream = tracer.wrap_registry({"s": lambda a: "ab", "g": lambda a: None})
    stream["s"]({})

    @tracer.tool
    def parts() -> Iterator[str]:
        yield "a"
        yield "b"

    assert list(parts()) == ["a", "b"]
    whole, pieces = tracer.trace().calls
    assert whole.result_hash == pieces.result_hash


def test_async_generators() -> None:
    tracer = ToolTracer()

    @tracer.tool
    async def count(n: int) -> AsyncGenerator[int, None]:
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async def entry(args: dict[str, Any]) -> AsyncIterator[int]:
        for i in range(args["n"]):
            yield i

    tools = tracer.wrap_registry({"entry": entry})
    assert inspect.isasyncgenfunction(count)

    async def main() -> None:
        assert [i async for i in count(3)] == [0, 1, 2]
        stream = tools["entry"]({"n": 5})
        assert await anext(stream) == 0
        await stream.aclose()
        broken = count(2)
        assert await anext(broken) == 0
        with pytest.raises(ZeroDivisionError):
            await broken.athrow(ZeroDivisionError())

    asyncio.run(main())
    assert [(c.status, c.truncated) for c in tracer.trace().calls] == [
        ("ok", False),
        ("ok", True),
        ("error", False),
    ]


def test_calls_inside_a_generator_are_nested_in_it() -> None:
    tracer = ToolTracer()
    inner = tracer.wrap(lambda: "x", name="inner")

    @tracer.tool
    def outer() -> Iterator[str]:
        yield str(inner())
        yield str(inner())

    stream = outer()
    next(stream)
    inner()
    next(stream)
    assert [(c.name, c.parent) for c in tracer.trace().calls] == [
        ("outer", None),
        ("inner", 0),
        ("inner", None),
        ("inner", 0),
    ]


def test_the_trace_round_trips() -> None:
    tracer = ToolTracer(run="r", task="t", model="m", harness="h", keep_results=True)
    tool = tracer.wrap_registry({"t": Tool(read_file, mutates=False)})["t"]
    tracer.user_message()
    tracer.next_turn()
    tool({"path": "a"})
    trace: Trace = tracer.trace()
    again = read_native(encode_native(trace))
    assert again.events == trace.events
    assert (again.run, again.task, again.model, again.harness) == ("r", "t", "m", "h")
    assert again.tools == {"t": {"mutates": False}}


class Untouchable:
    """A value that answers every question with an exception."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def _no(self, *_: Any) -> Any:
        raise RuntimeError

    __repr__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = _no


class UntouchableError(Exception):
    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("declared", [{}, {"resource": lambda a: f"x:{a}"}])
@pytest.mark.parametrize("as_tool", [False, True])
def test_a_value_that_cannot_be_looked_at_goes_through(
    tmp_path: Path, streamed: bool, declared: dict[str, Any], as_tool: bool
) -> None:
    value, problem = Untouchable(), UntouchableError()

    def plain(x: Any) -> Any:
        return value

    def failing(x: Any) -> Any:
        raise problem

    def generator(x: Any) -> Any:
        yield value
        raise problem

    async def coroutine(x: Any) -> Any:
        return value

    async def failing_coroutine(x: Any) -> Any:
        raise problem

    tracer = ToolTracer(stream=tmp_path / "t.jsonl" if streamed else None)
    for function in (plain, failing, generator, coroutine, failing_coroutine):
        target = Tool(function, **declared) if as_tool else function
        wrapped = tracer.wrap(target, **({} if as_tool else declared))
        for argument in (value, [value], {"a": value}, problem):
            got: list[Any] = []
            try:
                answer = wrapped(argument)
                if function is generator:
                    got.extend(answer)
                elif function in (coroutine, failing_coroutine):
                    answer.send(None)
                else:
                    got.append(answer)
            except StopIteration as end:
                got.append(end.value)
            except UntouchableError as error:
                got.append(error)
            # Not `==` and no display of a failure, which would ask the value.
            assert (got[-1] is (value if function in (plain, coroutine) else problem)) is True
    trace = tracer.finish()
    assert len(trace.calls) == 20
    assert check(trace).findings == []
