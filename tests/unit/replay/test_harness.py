"""The agent loop: results, errors, retries, batches."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec
import pytest

from refetch.model import FixtureError, UsageError
from refetch.record import Tool, ToolTracer
from refetch.replay import TransientError, arun_agent, run_agent, scripted_model


def echo(args: dict[str, Any]) -> str:
    return f"echo {args.get('x')}"


def script(*steps: Any) -> Any:
    return scripted_model([*steps, {"final": "done"}], "test")


def ask(*calls: Any) -> dict[str, Any]:
    return {"tool_calls": [{"tool": tool, "args": args} for tool, args in calls]}


def outcomes(run: Any) -> list[tuple[Any, ...]]:
    return [(c.name, c.turn, c.status, c.origin, c.attempt_of) for c in run.trace.calls]


def test_messages_turns_and_answer() -> None:
    seen: list[Any] = []

    def model(messages: list[dict[str, Any]]) -> Any:
        seen.append([dict(message) for message in messages])
        return ask(("echo", {"x": 1})) if len(seen) < 3 else {"final": "done"}

    run = run_agent(model, {"echo": echo}, task="say")
    assert (run.answer, run.stopped) == ("done", "final")
    assert seen[0] == [{"role": "user", "content": "say"}]
    assert seen[1][2] == {
        "role": "tool",
        "tool": "echo",
        "call_id": None,
        "ok": True,
        "content": "echo 1",
    }
    assert outcomes(run) == [
        ("echo", 1, "ok", "model", None),
        ("echo", 2, "ok", "model", None),
    ]
    assert run.trace.task == "say"


def test_the_call_id_and_usage_of_the_model_are_recorded() -> None:
    asked = {"tool_calls": [{"tool": "echo", "args": {}, "id": "c7"}], "usage": {"input_tokens": 3}}
    run = run_agent(script(asked), {"echo": echo})
    assert run.trace.calls[0].call_id == "c7"
    requests = [event for event in run.trace.events if type(event).__name__ == "Request"]
    assert msgspec.to_builtins(requests) == [
        {"type": "request", "turn": 1, "usage": {"input_tokens": 3}}
    ]


def test_unknown_tools_and_unfit_arguments_never_run() -> None:
    observed: list[Any] = []

    def last(messages: list[dict[str, Any]]) -> Any:
        observed.extend(messages[-2:])
        return {"final": None}

    run = run_agent(scripted_model([ask(("nope", {}), ("echo", [1])), last], "t"), {"echo": echo})
    assert [row[2] for row in outcomes(run)] == ["not-executed", "not-executed"]
    assert [message["content"] for message in observed] == [
        "error: unknown tool: nope",
        "error: arguments must be an object, found list",
    ]
    assert not any(message["ok"] for message in observed)


def test_a_failing_tool_is_told_to_the_model_and_not_tried_again() -> None:
    def broken(args: dict[str, Any]) -> str:
        raise ValueError("bad")

    run = run_agent(script(ask(("broken", {}), ("echo", {}))), {"broken": broken, "echo": echo})
    assert [row[2:] for row in outcomes(run)] == [("error", "model", None), ("ok", "model", None)]


@pytest.mark.parametrize(
    ("failures", "retries", "attempts"), [(1, 2, 2), (2, 2, 3), (5, 2, 3), (1, 0, 1)]
)
def test_transient_errors_are_retried_by_the_harness(
    failures: int, retries: int, attempts: int
) -> None:
    left = [failures]

    def flaky(args: dict[str, Any]) -> str:
        args["x"] = "spoilt"
        if left[0]:
            left[0] -= 1
            raise TransientError("later")
        return "ok"

    run = run_agent(script(ask(("flaky", {"x": 1}))), {"flaky": flaky}, retries=retries)
    rows = outcomes(run)
    assert [row[3:] for row in rows] == [("model", None)] + [("harness-retry", 0)] * (attempts - 1)
    assert rows[-1][2] == ("ok" if failures < attempts else "error")
    assert {bytes(call.args) for call in run.trace.calls} == {b'{"x":1}'}


def test_the_model_asking_again_is_no_retry() -> None:
    def broken(args: dict[str, Any]) -> str:
        raise TransientError("later")

    run = run_agent(script(ask(("b", {})), ask(("b", {}))), {"b": broken}, retries=1)
    assert [row[3:] for row in outcomes(run)] == [
        ("model", None),
        ("harness-retry", 0),
        ("model", None),
        ("harness-retry", 2),
    ]


def test_equal_calls_of_one_batch_are_retried_each_for_itself() -> None:
    calls = [0]

    def flaky(args: dict[str, Any]) -> str:
        calls[0] += 1
        if calls[0] % 2:
            raise TransientError("later")
        return "x"

    run = run_agent(script(ask(("f", {}), ("f", {}))), {"f": flaky})
    assert [row[3:] for row in outcomes(run)] == [
        ("model", None),
        ("harness-retry", 0),
        ("model", None),
        ("harness-retry", 2),
    ]


def test_a_run_that_never_ends_is_stopped() -> None:
    run = run_agent(lambda messages: ask(("echo", {})), {"echo": echo}, max_turns=3)
    assert (run.answer, run.stopped, len(run.trace.calls)) == (None, "max-turns", 3)


def test_a_batch_runs_in_parallel_threads() -> None:
    gate = threading.Barrier(3, timeout=20)

    def meet(args: dict[str, Any]) -> str:
        gate.wait()
        return str(args["n"])

    tracer = ToolTracer()
    with tracer.context("sub"):
        run = run_agent(
            script(ask(*(("meet", {"n": n}) for n in range(3)))),
            {"meet": meet},
            parallel=True,
            tracer=tracer,
        )
    assert {(c.context, c.turn, c.status) for c in run.trace.calls} == {("sub", 1, "ok")}
    assert len(run.trace.calls) == 3


def test_tools_that_are_recorded_already_keep_their_tracer() -> None:
    tracer = ToolTracer()
    own = tracer.wrap(lambda x, y=2: f"{x}{y}", name="own")
    tools = {**tracer.wrap_registry({"echo": Tool(echo, mutates=False)}), "own": own}
    run = run_agent(script(ask(("echo", {"x": 1}), ("own", {"x": 5}))), tools)
    assert run.tracer is tracer
    assert [(c.name, c.result_chars) for c in tracer.trace().calls] == [("echo", 6), ("own", 2)]


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"tool_calls": [{"args": {}}]}, {"tool_calls": 5}]
)
def test_a_response_that_is_none_is_a_usage_error(answer: Any) -> None:
    with pytest.raises(UsageError):
        run_agent(lambda messages: answer, {})


def test_a_script_that_runs_out_names_itself_and_the_step() -> None:
    model = scripted_model([ask(("echo", {}))], "short.json")
    with pytest.raises(FixtureError, match=r"short\.json: .* step 2, .* has 1"):
        run_agent(model, {"echo": echo})


def test_a_broken_step_names_the_script_and_the_step() -> None:
    with pytest.raises(FixtureError, match=r"odd: step 1: .*'tool_calls' or 'final'"):
        run_agent(scripted_model([{"toolcalls": []}], "odd"), {})


def test_async_tools_models_and_batches() -> None:
    running = [0]
    most = [0]

    async def slow(args: dict[str, Any]) -> str:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0.01)
        running[0] -= 1
        return "x"

    def make() -> Any:
        steps = script(ask(("slow", {"n": 1}), ("slow", {"n": 2}), ("echo", {})))

        async def model(messages: list[dict[str, Any]]) -> Any:
            await asyncio.sleep(0)
            return steps(messages)

        return model

    tools = {"slow": slow, "echo": echo}
    one = asyncio.run(arun_agent(make(), tools))
    assert (most[0], one.answer) == (1, "done")
    many = asyncio.run(arun_agent(make(), tools, parallel=True))
    assert most[0] == 2
    assert outcomes(one) == outcomes(many)


def test_async_retries() -> None:
    left = [1]

    async def flaky(args: dict[str, Any]) -> str:
        if left[0]:
            left[0] -= 1
            raise TransientError("later")
        return "x"

    async def broken(args: dict[str, Any]) -> str:
        raise KeyError("k")

    run = asyncio.run(
        arun_agent(script(ask(("f", {}), ("b", {}), ("nope", {}))), {"f": flaky, "b": broken})
    )
    assert [row[2:] for row in outcomes(run)] == [
        ("error", "model", None),
        ("ok", "harness-retry", 0),
        ("error", "model", None),
        ("not-executed", "model", None),
    ]
    always = asyncio.run(arun_agent(script(ask(("t", {}))), {"t": _always_transient}, retries=1))
    assert [row[2] for row in outcomes(always)] == ["error", "error"]
    endless = asyncio.run(arun_agent(lambda m: ask(("echo", {})), {"echo": echo}, max_turns=2))
    assert endless.stopped == "max-turns"


async def _always_transient(args: dict[str, Any]) -> str:
    raise TransientError("later")


def test_a_cancelled_run_records_what_ran_and_what_never_began() -> None:
    tracer = ToolTracer()

    async def slow(args: dict[str, Any]) -> str:
        await asyncio.sleep(60)
        return "never"

    async def main() -> None:
        batch = ask(("slow", {"n": 1}), ("slow", {"n": 2}))
        task = asyncio.ensure_future(arun_agent(script(batch), {"slow": slow}, tracer=tracer))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [call.status for call in tracer.trace().calls] == ["unknown", "cancelled"]


def test_an_interrupt_ends_the_run_and_the_rest_of_the_batch() -> None:
    tracer = ToolTracer()

    def interrupt(args: dict[str, Any]) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_agent(
            script(ask(("i", {}), ("echo", {}))), {"i": interrupt, "echo": echo}, tracer=tracer
        )
    assert [call.status for call in tracer.trace().calls] == ["unknown", "cancelled"]
