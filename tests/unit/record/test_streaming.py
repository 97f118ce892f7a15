"""Streaming: what a killed process leaves behind can be read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from refetch.model.native import encode_native, read_native
from refetch.record import Tool, ToolTracer

CHILD = """
    import sys, time
    from refetch.record import Tool, ToolTracer

    tracer = ToolTracer(run="killed", stream=sys.argv[1])

    def read(args):
        if args["n"] == 5:
            print("now", flush=True)
            time.sleep(60)
        return "x" * args["n"]

    tool = tracer.wrap_registry({"read": Tool(read, mutates=False, resource="n:{n}")})["read"]
    tracer.user_message()
    for n in range(10):
        tracer.next_turn()
        tool({"n": n})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_kill_9_leaves_a_readable_trace(tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD), str(target)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"now\n"
        os.kill(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    trace = read_native(target.read_bytes(), str(target))
    assert not trace.problems
    assert trace.run == "killed"
    assert trace.tools == {"read": {"mutates": False, "resource": "n:{n}"}}
    assert [(c.seq, c.turn, c.status, c.result_chars) for c in trace.calls] == [
        (n, n + 1, "ok", n) for n in range(5)
    ]


def test_the_stream_holds_what_the_trace_holds(tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    with ToolTracer(run="r", stream=target) as tracer:
        tool = tracer.wrap(lambda path: path, name="t", mutates=False)
        tracer.next_turn()
        tool("a")
        with tracer.context("sub"), tracer.origin("harness"):
            tool("b")
        with pytest.raises(TypeError):
            tool()
        still_open = tracer.open("late", {"x": 1})
    trace = tracer.trace()
    streamed = read_native(target.read_bytes())
    assert streamed.events == trace.events
    assert streamed.tools == trace.tools
    assert still_open.outcome is None
    tool("after the end")
    assert len(read_native(target.read_bytes()).events) == len(streamed.events)


def test_nested_calls_are_written_as_they_finish_and_ordered_by_seq(tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    tracer = ToolTracer(stream=target)
    inner = tracer.wrap(lambda: "i", name="inner")
    tracer.next_turn()
    tracer.wrap(lambda: inner(), name="outer")()
    tracer.finish()
    calls = read_native(target.read_bytes()).calls
    assert [(c.name, c.seq, c.parent) for c in calls] == [("inner", 1, 0), ("outer", 0, None)]
    assert sorted(calls, key=lambda c: c.seq) == tracer.trace().calls


def test_a_tool_wrapped_after_the_header_describes_itself(tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    tracer = ToolTracer(stream=target)
    tracer.user_message()
    tools = tracer.wrap_registry(
        {
            "late": Tool(
                lambda a: "x",
                mutates=False,
                resource="file:{path}",
                view="v",
                depends_on=["a:{q=1}"],
            )
        }
    )
    tracer.next_turn()
    tools["late"]({"path": "a"})
    tools["late"]({"other": "a"})
    tracer.finish()
    first, second = read_native(target.read_bytes()).calls
    assert (first.mutates, first.resource, first.view) == (False, "file:a", "v")
    assert first.depends_on == ["a:1"]
    assert second.resource is None


def test_a_run_without_events_is_a_readable_file(tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    ToolTracer(run="empty", stream=target).finish()
    assert read_native(target.read_bytes()).run == "empty"


def test_a_file_that_cannot_be_written_never_reaches_the_agent(tmp_path: Path) -> None:
    tracer = ToolTracer(stream=tmp_path / "absent" / "run.jsonl")
    assert tracer.wrap(lambda: "x", name="t")() == "x"
    tracer.finish()
    assert len(tracer.trace().calls) == 1
    assert "cannot write the trace" in tracer.problems[0].message


def test_reading_the_trace_out_twice_gives_the_same_bytes() -> None:
    tracer = ToolTracer(run="r", keep_results=True)
    tool = tracer.wrap(lambda n: "x" * n, name="t")
    tracer.next_turn()
    for n in range(3):
        tool(n)
    assert encode_native(tracer.trace()) == encode_native(tracer.trace())
