"""Rules of the SWE-agent reader."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refetch.model.errors import InputError
from refetch.model.trace import ContextLoss, Trace, UserMessage
from refetch.readers import read_bytes
from refetch.readers.swe_agent_commands import own_command


def step(action: str, observation: Any = "x", folder: str = "/r", **more: Any) -> dict[str, Any]:
    state = json.dumps({"open_file": "n/a", "working_dir": folder})
    return {"action": action, "observation": observation, "state": state} | more


def read(*steps: dict[str, Any], history: list[dict[str, Any]] | None = None, **more: Any) -> Trace:
    document = {"trajectory": list(steps), "history": history or [], "info": {}} | more
    (trace,) = read_bytes(json.dumps(document).encode(), "t.traj")
    return trace


def test_the_header() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "an example", "is_demo": True},
        {"role": "user", "content": "solve it"},
    ]
    config = {"agent": {"model": {"name": "m-1"}}}
    trace = read(step("ls"), history=history, replay_config=json.dumps(config))
    assert (trace.format, trace.harness, trace.task, trace.model) == (
        "swe-agent",
        "swe-agent",
        "solve it",
        "m-1",
    )
    assert UserMessage(-1) in trace.events


def test_seq_counts_steps_with_an_action() -> None:
    trace = read(step("ls\n"), step(""), step("pwd\n"))
    assert [(c.seq, c.turn, c.name) for c in trace.calls] == [(0, 1, "bash"), (1, 3, "bash")]
    assert bytes(trace.calls[1].args) == b'{"command":"pwd"}'


@pytest.mark.parametrize(
    ("action", "name", "args"),
    [
        ("open src/a.py 10", "open", {"path": "src/a.py", "line_number": "10"}),
        ("create new.py", "create", {"filename": "new.py"}),
        ("search_dir 'a b' src", "search_dir", {"search_term": "a b", "dir": "src"}),
        ("scroll_down", "scroll_down", {}),
        (
            "edit 1:2\nx = 1\n\nend_of_edit",
            "edit",
            {"lines": "1:2", "replacement_text": "x = 1\n"},
        ),
        (
            "str_replace_editor view /r/a.py --view_range 1 20",
            "str_replace_editor",
            {"command": "view", "path": "/r/a.py", "view_range": [1, 20]},
        ),
        ("cat a.py", "bash", {"command": "cat a.py"}),
        ("open a.py | head", "bash", {"command": "open a.py | head"}),
        ("open 'a", "bash", {"command": "open 'a"}),
        ("create a.py\nrm b.py", "bash", {"command": "create a.py\nrm b.py"}),
        ("decompile release", "bash", {"command": "decompile release"}),
    ],
)
def test_actions_become_tool_calls(action: str, name: str, args: dict[str, Any]) -> None:
    assert own_command(action) == (name, args)


def test_a_native_call_is_taken_from_the_history() -> None:
    text = '{"command": "ls -la"}'
    history: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "action": "ls -la",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": text}}],
        },
        {"role": "tool", "content": "x<response clipped>", "tool_call_ids": ["c1"]},
    ]
    (call,) = read(step("ls -la"), history=history).calls
    assert (call.name, call.call_id, call.raw_args) == ("bash", "c1", text)
    assert call.truncated


def test_the_folder_is_known_where_both_states_agree() -> None:
    trace = read(step("ls"), step("cd sub", folder="/r/sub"), step("ls", folder="/r/sub"))
    assert [c.cwd for c in trace.calls] == ["/r", None, "/r/sub"]


@pytest.mark.parametrize(
    ("observation", "outcome"),
    [
        ("ok", "ok"),
        ("", "ok"),
        (None, "missing"),
        ("\nEXECUTION TIMED OUT BECAUSE NO OUTPUT WAS PRODUCED", "timeout"),
        ("The command 'x' was cancelled because it took more than 30 seconds.", "timeout"),
        ("Operation 'vim' is not supported by this environment", "not-executed"),
        ("Your proposed edit has introduced new syntax error(s).", "error"),
    ],
)
def test_outcomes(observation: str | None, outcome: str) -> None:
    assert read(step("x", observation)).calls[0].status == outcome


@pytest.mark.parametrize(
    ("notes", "delivered"),
    [
        ("1:a\n2:b", "all"),
        ("(5 more lines above)\n6:a\n(4 more lines below)", {"unit": "line", "from": 6, "to": 16}),
        ("(5 more lines above)\n6:a", {"unit": "line", "from": 6, "to": None}),
    ],
)
def test_an_open_window_names_its_lines(notes: str, delivered: Any) -> None:
    text = f"[File: /r/a.py (20 lines total)]\n{notes}"
    assert read(step("open a.py", text)).calls[0].delivered == delivered
    assert read(step("cat a.py", text)).calls[0].delivered is None


def test_old_observations_leave_the_context() -> None:
    config = {"agent": {"history_processors": [{"type": "last_n_observations", "n": 2}]}}
    trace = read(*(step(f"cat {n}") for n in range(4)), replay_config=json.dumps(config))
    losses = [e for e in trace.events if type(e) is ContextLoss]
    assert losses == [ContextLoss(2, "eviction", lost=[0])]


def test_the_last_prompt_says_how_many_observations_it_keeps() -> None:
    old = {"role": "user", "content": "Old environment output: (3 lines omitted)"}
    query = [{"role": "user", "content": "task"}, old, {"role": "user", "content": "x"}]
    trace = read(step("cat 0"), step("cat 1"), step("cat 2", query=query), step("cat 3"))
    losses = [e for e in trace.events if type(e) is ContextLoss]
    # The third step saw one of two observations, so each step sees the latest one.
    assert losses == [
        ContextLoss(1, "eviction", lost=[0]),
        ContextLoss(2, "eviction", lost=[1]),
    ]


def test_without_a_processor_nothing_leaves() -> None:
    trace = read(*(step(f"cat {n}") for n in range(9)))
    assert not [e for e in trace.events if type(e) is ContextLoss]


def test_nothing_readable_is_an_error() -> None:
    with pytest.raises(InputError):
        read_bytes(b'{"trajectory": [], "history": []}')
