"""Rules of the Claude Code reader, each on a session of a few lines."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.readers.claude_records import SESSION, answered, asked, lines, record, told

from refetch.model.trace import Call, Request, Trace
from refetch.readers import read_bytes


def read(*records: dict[str, Any]) -> Trace:
    (trace,) = read_bytes(lines(*records), "s.jsonl")
    return trace


def one_result(name: str, args: dict[str, Any], content: Any, **fields: Any) -> Call:
    return read(asked("a", "m1", ("t1", name, args)), answered("r", "t1", content, **fields)).calls[
        0
    ]


def events(trace: Trace, kind: type) -> list[Any]:
    return [event for event in trace.events if type(event) is kind]


def test_the_header() -> None:
    trace = read(told("u", "fix the bug"), asked("a", "m1", ("t1", "Read", {"file_path": "/w/a"})))
    assert (trace.run, trace.format, trace.harness) == (SESSION, "claude-code", "claude-code")
    assert (trace.task, trace.model, trace.source) == ("fix the bug", "claude-x", "s.jsonl")
    assert trace.lines == {0: 2}
    assert trace.problems == []


def test_a_turn_is_a_message_however_many_records_it_takes() -> None:
    trace = read(
        asked("a1", "m1", ("t1", "Read", {"file_path": "/w/a"})),
        record("progress", "p", data={"type": "bash_progress", "output": "x"}),
        answered("r1", "t1"),
        asked("a2", "m1", ("t2", "Read", {"file_path": "/w/b"})),
        answered("r2", "t2"),
        asked("a3", "m2", ("t3", "Read", {"file_path": "/w/c"})),
    )
    assert [(c.seq, c.turn, c.call_id) for c in trace.calls] == [
        (0, 1, "t1"),
        (1, 1, "t2"),
        (2, 2, "t3"),
    ]


def test_arguments_and_results_keep_their_bytes() -> None:
    row = asked("a", "m1", ("t1", "Read", {"file_path": "/w/ä", "offset": 5.0}))
    data = lines(row, answered("r", "t1", "tab\there"))
    (trace,) = read_bytes(data)
    call = trace.calls[0]
    assert bytes(call.args) == '{"file_path":"/w/ä","offset":5.0}'.encode()
    assert call.raw_args is None
    assert bytes(call.result) == b'"tab\\there"'
    assert call.result_chars == len("tab\\there")
    assert call.result_hash is not None
    assert call.result_hash.startswith("xxh3-raw:")


def test_equal_results_hash_equal_and_others_do_not() -> None:
    hashes = [one_result("Bash", {"command": "ls"}, text).result_hash for text in ("a", "a", "b")]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_call_without_result_is_missing() -> None:
    trace = read(asked("a", "m1", ("t1", "Read", {"file_path": "/w/a"})))
    assert trace.calls[0].status == "missing"
    assert bytes(trace.calls[0].result) == b""


TAGGED = "<tool_use_error>{}</tool_use_error>"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


@pytest.mark.parametrize(
    ("name", "content", "is_error", "outcome"),
    [
        ("Read", "     1→x", None, "ok"),
        ("Edit", "The file was updated", False, "ok"),
        ("Bash", REFUSED, True, "rejected"),
        ("Bash", "[Request interrupted by user for tool use]", True, "rejected"),
        ("Bash", "Permission to use Bash with command x\ny has been denied.", True, "rejected"),
        ("Bash", "The user doesn't want to take this action right now. STOP", True, "unknown"),
        ("Edit", TAGGED.format("File has not been read yet."), True, "not-executed"),
        ("Nope", TAGGED.format("Error: No such tool available: Nope"), True, "not-executed"),
        ("Read", TAGGED.format("InputValidationError: Read failed"), True, "not-executed"),
        ("Bash", "PreToolUse:Bash hook error: [check.sh]: no", True, "not-executed"),
        ("Bash", TAGGED.format("Sibling tool call errored"), True, "cancelled"),
        ("Edit", TAGGED.format("String to replace not found in file."), True, "error"),
        ("Read", TAGGED.format("File does not exist."), True, "error"),
        ("Read", TAGGED.format("File does not exist."), None, "error"),
        ("Read", "EISDIR: illegal operation on a directory, read", True, "error"),
        ("Bash", "Exit code 143\nCommand timed out after 2m 0.0s", True, "timeout"),
        ("Bash", "Command timed out after 2m", True, "timeout"),
        ("Bash", "Exit code 137\nkilled", True, "unknown"),
        ("Bash", "some stderr of an old version", True, "error"),
        ("mcp__x__get", [{"type": "text", "text": TAGGED.format("bad")}], True, "error"),
    ],
)
def test_outcomes(name: str, content: Any, is_error: bool | None, outcome: str) -> None:
    assert one_result(name, {}, content, is_error=is_error).status == outcome


def test_a_non_zero_exit_is_an_answer() -> None:
    call = one_result("Bash", {"command": "grep x y"}, "Exit code 1\n", is_error=True)
    assert (call.status, call.exit_code, call.error) == ("ok", 1, None)


def test_a_text_that_only_speaks_of_failure_is_no_failure() -> None:
    call = one_result("Grep", {"pattern": "x"}, "log.txt: Sibling tool call errored")
    assert call.status == "ok"
    call = one_result("Read", {"file_path": "/w/a"}, "     1→<tool_use_error>no</tool_use_error>")
    assert call.status == "ok"


def test_a_command_interrupted_while_running_is_unknown() -> None:
    details = {"stdout": "", "stderr": "", "interrupted": True, "isImage": False}
    call = one_result("Bash", {"command": "make"}, "partial", toolUseResult=details)
    assert call.status == "unknown"
    quoting = {"stdout": ',"interrupted":true', "stderr": "", "interrupted": False}
    call = one_result("Bash", {"command": "cat log"}, "x", toolUseResult=quoting)
    assert call.status == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "File unchanged since last read. The content from the earlier Read is still current",
        "Wasted call — file unchanged since your last Read.",
    ],
)
def test_a_stub_is_unchanged_and_delivers_nothing(text: str) -> None:
    call = one_result("Read", {"file_path": "/w/a"}, text)
    assert call.unchanged
    assert call.delivered is None


def read_lines(start: int, count: int, total: int, text: str = "x") -> Any:
    file = {"filePath": "/w/a", "content": text, "numLines": count, "startLine": start}
    details = {"type": "text", "file": {**file, "totalLines": total}}
    return one_result("Read", {"file_path": "/w/a"}, "1→x", toolUseResult=details).delivered


def test_delivered_lines() -> None:
    assert read_lines(1, 40, 40) == "all"
    assert read_lines(1, 40, 400) == {"unit": "line", "from": 1, "to": 40}
    assert read_lines(30, 10, 400) == {"unit": "line", "from": 30, "to": 39}
    assert read_lines(391, 10, 400) == {"unit": "line", "from": 391, "to": None}


def test_delivered_lines_are_not_read_from_the_text_of_the_file() -> None:
    trap = '"numLines":1,"startLine":1,"totalLines":1}'
    assert read_lines(3, 4, 9, trap) == {"unit": "line", "from": 3, "to": 6}
    details = {"file": {"totalLines": 9, "numLines": 4, "startLine": 3, "content": trap}}
    call = one_result("Read", {"file_path": "/w/a"}, "1→x", toolUseResult=details)
    assert call.delivered == {"unit": "line", "from": 3, "to": 6}


def test_a_reminder_behind_the_text_does_not_change_the_result() -> None:
    plain = one_result("Read", {"file_path": "/w/a"}, "     1→x\n")
    bare = one_result("Read", {"file_path": "/w/a"}, "     1→x")
    note = "\n\n<system-reminder>\nConsider this.\n</system-reminder>\n"
    noted = one_result("Read", {"file_path": "/w/a"}, "     1→x" + note)
    assert bare.result_hash == noted.result_hash
    assert plain.result_hash != noted.result_hash


@pytest.mark.parametrize(
    ("name", "content", "cut"),
    [
        ("Glob", "/w/a\n(Results are truncated. Consider using a more specific path.)", True),
        ("Bash", "x" * 200 + "\n\n... [6 lines truncated] ...", True),
        ("Bash", "<persisted-output>\nOutput too large (45KB). Full output saved to: /x", True),
        ("Bash", "x" * 15000 + "\n\n... [88 lines truncated] ...\n\n" + "y" * 15000, True),
        ("Grep", "a:1:x\n\n[Showing results with pagination = limit: 100]", True),
        ("Bash", "the list is truncated here and there, says the documentation of it", False),
        ("Read", "     1→x\n     2→... [6 lines truncated] ...", False),
    ],
)
def test_cut_results(name: str, content: str, cut: bool) -> None:
    assert one_result(name, {}, content).truncated is cut


def test_background() -> None:
    assert one_result("Bash", {"command": "x", "run_in_background": True}, "ok").background
    text = "Command running in background with ID: b1"
    assert one_result("Bash", {"command": "x"}, text).background
    assert not one_result("Bash", {"command": "x", "run_in_background": False}, "ok").background
    assert not one_result("Bash", {"command": 'echo "run_in_background":true'}, "ok").background


def test_times_and_place() -> None:
    trace = read(
        asked("a", "m1", ("t1", "Bash", {"command": "ls"}), cwd="/w/sub"),
        answered("r", "t1", timestamp="2026-01-01T00:00:09.000Z"),
    )
    call = trace.calls[0]
    assert (call.cwd, call.started, call.ended) == ("/w/sub", None, "2026-01-01T00:00:09.000Z")


def test_usage_is_the_last_of_a_message() -> None:
    trace = read(
        asked("a1", "m1", ("t1", "Read", {}), usage={"output_tokens": 1}),
        answered("r1", "t1"),
        asked("a2", "m1", usage={"output_tokens": 7, "cache_read_input_tokens": 3}),
        asked("a3", "m2"),
    )
    first, second = events(trace, Request)
    assert first.usage == {"output_tokens": 7, "cache_read_input_tokens": 3}
    assert (first.turn, second.turn, first.model) == (1, 2, "claude-x")


def test_api_errors_and_synthetic_messages_are_no_turns() -> None:
    trace = read(
        asked("a1", "m0", model="<synthetic>"),
        asked("a2", "e", isApiErrorMessage=True),
        record("system", "s", subtype="api_error", error={"status": 529}),
        asked("a3", "m1", ("t1", "Read", {})),
    )
    assert len(events(trace, Request)) == 1
    assert trace.calls[0].turn == 1
