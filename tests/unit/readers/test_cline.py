"""Rules of the Cline and Roo Code reader."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refetch import check
from refetch.model.trace import Call, ContextLoss, Trace, UserMessage
from refetch.readers import read_bytes

READ = "<read_file>\n<path>a.py</path>\n</read_file>"
RESULT = "[read_file for 'a.py'] Result:"
LIST = json.dumps({"tool": "listFilesTopLevel", "path": ".", "content": "a.py"})


def read(*records: dict[str, Any]) -> Trace:
    [trace] = read_bytes(json.dumps(list(records)).encode())
    return trace


def assistant(text: str = READ, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], **more}


def user(*texts: str, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text} for text in texts]
    return {"role": "user", "content": blocks, **more}


def told(kind: str, name: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"ts": 1000, "type": kind, kind: name, "text": text, **more}


REQUEST = told("say", "api_req_started", "{}")


def losses(trace: Trace) -> list[ContextLoss]:
    return [event for event in trace.events if isinstance(event, ContextLoss)]


def people(trace: Trace) -> list[int]:
    return [event.after for event in trace.events if isinstance(event, UserMessage)]


def flags(trace: Trace) -> list[str]:
    return [finding.code for finding in check(trace).findings if finding.level == "flag"]


def command(result: str) -> Call:
    asked = "<execute_command>\n<command>ls</command>\n</execute_command>"
    [call] = read(assistant(asked), user("[execute_command for 'ls'] Result:", result)).calls
    return call


# -- api_conversation_history.json ----------------------------------------------------------------


def test_two_equal_reads_are_flagged() -> None:
    trace = read(assistant(), user(RESULT, "x = 1"), assistant(), user(RESULT, "x = 1"))
    assert [call.status for call in trace.calls] == ["ok", "ok"]
    assert flags(trace) == ["RF003"]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ("The user denied this operation.", "rejected"),
        ("The user denied this operation and provided the following feedback:\nno", "rejected"),
        ('{"status":"denied","message":"The user denied this operation."}', "rejected"),
        ("The tool execution failed with the following error:\n<error>no</error>", "error"),
        ('{"status":"error","message":"The tool execution failed","error":"no"}', "error"),
        ("Access to a.py is blocked by the .clineignore file settings. You", "error"),
        ("Missing value for required parameter 'path'. Please retry", "not-executed"),
        ("This tool cannot be used in PLAN MODE. File", "not-executed"),
        ("Skipping tool [read_file for 'a.py'] due to user rejecting", "not-executed"),
        ("Tool [read_file] was not executed because a tool has already been", "not-executed"),
    ],
)
def test_what_was_not_delivered_is_no_first_read(result: str, status: str) -> None:
    trace = read(*(assistant(), user(RESULT, result)) * 2)
    assert [call.status for call in trace.calls] == [status] * 2
    assert flags(trace) == []


@pytest.mark.parametrize(
    ("result", "status", "code"),
    [
        ("Command executed.\nOutput:\na", "ok", None),
        ("Command executed in terminal  within '/w'. Exit code: 2\nOutput:\na", "ok", 2),
        ("Command failed with exit code 1.", "ok", 1),
        ("Command is still running in the user's terminal.\nHere's the", "timeout", None),
        ("The command was terminated after exceeding a user-configured", "timeout", None),
        ("Exit code: 7", "ok", None),
    ],
)
def test_commands(result: str, status: str, code: int | None) -> None:
    call = command(result)
    assert (call.status, call.exit_code) == (status, code)


def test_a_short_list_is_not_whole() -> None:
    assert command("a\n\n(File list truncated. Use list_files on").truncated
    assert not command("a").truncated


def test_results_go_to_the_tool_that_they_name() -> None:
    trace = read(
        assistant(),
        user("nothing yet"),
        assistant("<ask_followup_question>\n<question>?</question>\n</ask_followup_question>"),
        user("[ask_followup_question for '?'] Result:", "<answer>\nyes\n</answer>"),
        assistant(),
        user(RESULT, "x = 1"),
    )
    assert [call.status for call in trace.calls] == ["missing", "ok"]
    assert people(trace) == [0]


@pytest.mark.parametrize(
    ("words", "spoke"),
    [
        (("[TASK RESUMPTION] This task was interrupted",), True),
        (("<feedback>\nlook again\n</feedback>",), True),
        (("<environment_details>x</environment_details>",), False),
    ],
)
def test_people_speak_beside_results(words: tuple[str, ...], spoke: bool) -> None:
    assert (people(read(assistant(), user(RESULT, "x", *words))) == [0]) is spoke


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        ((user("summary", isSummary=True),), "compaction"),
        ((assistant("summary", isSummary=True),), "compaction"),
        ((user("[marker]", isTruncationMarker=True),), "trim"),
        (
            (
                assistant("<summarize_task>\n<context>x</context>\n</summarize_task>"),
                user("[summarize_task] Result:", "ok"),
            ),
            "compaction",
        ),
    ],
)
def test_a_summary_stands_for_what_was_before(
    records: tuple[dict[str, Any], ...], kind: Any
) -> None:
    again = (assistant(), user(RESULT, "x = 1"))
    trace = read(*again, *records, *again)
    assert losses(trace) == [ContextLoss(0, kind)]
    assert flags(trace) == []


# -- ui_messages.json -----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "status"), [("say", "ok"), ("ask", "missing")])
def test_what_waits_for_a_person_may_be_refused(kind: str, status: str) -> None:
    trace = read(*(REQUEST, told(kind, "tool", LIST)) * 2)
    assert [call.status for call in trace.calls] == [status] * 2
    assert flags(trace) == (["RF003"] if status == "ok" else [])


def test_what_was_asked_and_then_said_is_one_call() -> None:
    trace = read(REQUEST, told("ask", "tool", LIST), told("say", "tool", LIST))
    assert [call.status for call in trace.calls] == ["ok"]


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (told("say", "condense_context"), "compaction"),
        (told("say", "sliding_window_truncation"), "trim"),
        (told("say", "deleted_api_reqs"), "trim"),
        (told("say", "tool", json.dumps({"tool": "summarizeTask"})), "compaction"),
        (told("say", "text", conversationHistoryDeletedRange=[2, 5]), "trim"),
    ],
)
def test_the_log_tells_what_left(record: dict[str, Any], kind: Any) -> None:
    call = (REQUEST, told("say", "tool", LIST))
    trace = read(*call, record, *call)
    assert losses(trace) == [ContextLoss(0, kind)]
    assert flags(trace) == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("say", "user_feedback"),
        ("say", "user_feedback_diff"),
        ("ask", "resume_task"),
        ("say", "deleted_api_reqs"),
    ],
)
def test_people_in_the_log(kind: str, name: str) -> None:
    assert people(read(REQUEST, told("say", "tool", LIST), told(kind, name))) == [0]


@pytest.mark.parametrize("name", ["error", "diff_error", "rooignore_error"])
def test_errors_in_the_log(name: str) -> None:
    edit = json.dumps({"tool": "editedExistingFile", "path": "a", "diff": "-a"})
    [call] = read(REQUEST, told("ask", "tool", edit), told("say", name, "no match")).calls
    assert call.status == "error"
