"""Who spoke in a Claude Code session, and what left or changed without a call."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from tests.unit.readers.claude_records import answered, asked, lines, record, told

from refetch.model.trace import ContextLoss, Trace, UserMessage, Write
from refetch.readers import read_bytes

READ = ("t1", "Read", {"file_path": "/w/a"})


def read(*records: dict[str, Any]) -> Trace:
    (trace,) = read_bytes(lines(*records), "s.jsonl")
    return trace


def after_one_read(*records: dict[str, Any]) -> list[Any]:
    """The events that follow one finished read."""
    trace = read(told("u0", "go"), asked("a0", "m0", READ), answered("r0", "t1"), *records)
    place = next(i for i, e in enumerate(trace.events) if getattr(e, "seq", None) == 0)
    return trace.events[place + 1 :]


@pytest.mark.parametrize(
    "words",
    [
        "please look again",
        [{"type": "text", "text": "please look again"}],
        [{"type": "image", "source": {}}],
        "<command-message>review</command-message>\n<command-name>/review</command-name>",
        "<system-reminder>note</system-reminder>\nplease look again",
    ],
)
def test_people_speak(words: Any) -> None:
    assert after_one_read(told("u1", words)) == [UserMessage(0)]


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("Base directory for this skill: /x", {"isMeta": True}),
        ("Base directory for this skill: /x", {"sourceToolUseID": "t1"}),
        ([{"type": "image", "source": {}}], {"isMeta": True}),
        ("<local-command-stdout>Bye!</local-command-stdout>", {}),
        ("<local-command-caveat>Caveat</local-command-caveat>", {}),
        ("<task-notification>done</task-notification>", {}),
        ("agent finished", {"origin": {"kind": "task-notification"}}),
        ("<system-reminder>only a note</system-reminder>", {}),
        ([{"type": "text", "text": "[Request interrupted by user]"}], {}),
        ("", {}),
        ([], {}),
    ],
)
def test_the_harness_speaks(words: Any, fields: dict[str, Any]) -> None:
    assert after_one_read(told("u1", words, **fields)) == []


def test_queued_words_are_a_user_message() -> None:
    queued = record("queue-operation", "q", operation="enqueue", content="also fix this")
    assert after_one_read(queued) == [UserMessage(0)]
    removed = record("queue-operation", "q", operation="remove")
    assert after_one_read(removed) == []
    note = "<task-notification>done</task-notification>"
    assert after_one_read(record("queue-operation", "q", operation="enqueue", content=note)) == []


def attachment(kind: str, **fields: Any) -> dict[str, Any]:
    return record("attachment", "x", attachment={"type": kind, **fields})


def test_queued_command_attachment() -> None:
    assert after_one_read(attachment("queued_command", prompt="stop")) == [UserMessage(0)]
    assert (
        after_one_read(attachment("queued_command", prompt="x", commandMode="task-notification"))
        == []
    )


def test_answers_and_refusals_with_words_are_user_messages() -> None:
    ask: Any = ("t2", "AskUserQuestion", {"questions": []})
    plan = ("t3", "ExitPlanMode", {"plan": "p"})
    said = "The user doesn't want to proceed with this tool use. the user said:\nno"
    trace = read(
        asked("a", "m", ask),
        answered("r2", "t2", 'User has answered your questions: "a"="b".'),
        asked("b", "n", plan),
        answered("r3", "t3", said, is_error=True),
    )
    assert [e.after for e in trace.events if type(e) is UserMessage] == [0, 1]
    silent = "The user doesn't want to proceed with this tool use. STOP what you are doing"
    trace = read(asked("b", "n", plan), answered("r3", "t3", silent, is_error=True))
    assert not [e for e in trace.events if type(e) is UserMessage]


def test_a_persons_own_shell_command_is_their_call() -> None:
    trace = read(
        asked("a", "m", READ),
        told("u1", "<bash-input>git pull</bash-input>"),
        told("u2", "<bash-stdout>Updated</bash-stdout><bash-stderr>!</bash-stderr>"),
    )
    call = trace.calls[1]
    assert (call.origin, call.name, call.status, call.turn) == ("user", "Bash", "ok", 1)
    assert json.loads(bytes(call.args)) == {"command": "git pull"}
    assert json.loads(bytes(call.result)) == "Updated!"
    assert [e.after for e in trace.events if type(e) is UserMessage] == [0]


def test_compaction() -> None:
    boundary = record("system", "s", subtype="compact_boundary", compactMetadata={})
    summary = told("u", "This session is being continued", isCompactSummary=True)
    assert after_one_read(boundary, summary) == [ContextLoss(0, "compaction")]
    assert after_one_read(summary) == [ContextLoss(0, "compaction")]


def test_microcompaction_names_what_left() -> None:
    trace = read(
        asked("a", "m", READ, ("t2", "Read", {}), ("t3", "Read", {})),
        record(
            "system",
            "s",
            subtype="microcompact_boundary",
            microcompactMetadata={"compactedToolIds": ["t3", "t1", "unknown"]},
        ),
    )
    assert [e for e in trace.events if type(e) is ContextLoss] == [
        ContextLoss(2, "trim", lost=[2, 0])
    ]


def test_microcompaction_without_names_loses_everything() -> None:
    boundary = record("system", "s", subtype="microcompact_boundary")
    assert after_one_read(boundary) == [ContextLoss(0, "trim")]


def test_clear() -> None:
    events = after_one_read(told("u", "<command-name>/clear</command-name>"))
    assert events == [ContextLoss(0, "clear"), UserMessage(0)]


def test_going_back_to_an_earlier_message_loses_the_branch() -> None:
    trace = read(
        told("u0", "go"),
        asked("a0", "m0", READ, parentUuid="u0"),
        answered("r0", "t1", parentUuid="a0"),
        asked("a1", "m1", ("t2", "Read", {}), parentUuid="r0"),
        answered("r1", "t2", parentUuid="a1"),
        told("u1", "no, differently", parentUuid="r0"),
        asked("a2", "m2", ("t3", "Read", {}), parentUuid="u1"),
    )
    assert [e for e in trace.events if type(e) is ContextLoss] == [ContextLoss(1, "trim", lost=[1])]


def test_parallel_calls_fork_the_graph_without_a_loss() -> None:
    trace = read(
        told("u0", "go"),
        asked("a0", "m0", READ, parentUuid="u0"),
        asked("a1", "m0", ("t2", "Read", {}), parentUuid="a0"),
        answered("r0", "t1", parentUuid="a0"),
        answered("r1", "t2", parentUuid="a1"),
        told("u1", "go on", parentUuid="r0"),
    )
    assert not [e for e in trace.events if type(e) is ContextLoss]


def test_a_hole_in_the_graph_proves_no_loss() -> None:
    events = after_one_read(told("u1", "go on", parentUuid="not in this file"))
    assert events == [UserMessage(0)]


def test_files_changed_by_others() -> None:
    changed = attachment("edited_text_file", filename="/w/a", snippet="x")
    assert after_one_read(changed) == [Write("file:/w/a", 0, "external")]
    refused = "<tool_use_error>File has been modified since read, either by the user or a linter."
    trace = read(
        asked("a", "m", ("t1", "Edit", {"file_path": "/w/b"})),
        answered("r", "t1", refused, is_error=True),
    )
    assert [e for e in trace.events if type(e) is Write] == [Write("file:/w/b", 0, "external")]


def hook(event: str, name: str, command: str) -> dict[str, Any]:
    data = {"type": "hook_progress", "hookEvent": event, "hookName": name, "command": command}
    return record("progress", "h", data=data, parentToolUseID="t1", toolUseID="t1")


def test_a_hooked_command_after_an_edit_may_write_any_file() -> None:
    trace = read(
        asked("a", "m", ("t1", "Edit", {}), ("t2", "Read", {})),
        answered("r", "t1"),
        hook("PostToolUse", "PostToolUse:Edit", "prettier --write ."),
    )
    # After the edit, or after whatever has been asked since: the order is not recorded.
    assert [e for e in trace.events if type(e) is Write] == [
        Write("file:**", 0, "hook"),
        Write("file:**", 1, "hook"),
    ]


@pytest.mark.parametrize(
    ("event", "name", "command"),
    [
        ("PostToolUse", "PostToolUse:Edit", "callback"),
        ("PostToolUse", "PostToolUse:Read", "log.sh"),
        ("PreToolUse", "PreToolUse:Edit", "check.sh"),
        ("Stop", "Stop", "notify.sh"),
    ],
)
def test_other_hooks_write_nothing_known(event: str, name: str, command: str) -> None:
    assert after_one_read(hook(event, name, command)) == []


def test_a_file_that_the_harness_attached_was_read_by_the_harness() -> None:
    file = {"filePath": "/w/a", "content": "x", "numLines": 3, "startLine": 1, "totalLines": 3}
    trace = read(attachment("file", filename="/w/a", content={"type": "text", "file": file}))
    call = trace.calls[0]
    assert (call.origin, call.name, call.status, call.delivered) == ("harness", "Read", "ok", "all")
    assert msgspec.json.decode(call.args) == {"file_path": "/w/a"}


def test_other_attachments_are_ignored() -> None:
    assert after_one_read(attachment("todo_reminder", content=[], itemCount=0)) == []
