"""Cline and Roo Code: `ui_messages.json`, and `api_conversation_history.json` with XML tool calls.

Sniff: a list of records with `ts` and `type` "say" or "ask"; or chat messages whose text holds the
tool calls as XML tags of these programs.

- Turn: a request (`api_req_started`), or one assistant message. Context: always `main`.
- Calls: `say`/`ask` records of kind tool, command, use_mcp_server, browser_action; the text of a
  tool record is JSON whose `tool` names it. In the history: the tags in the text.
- Results: command output, MCP responses and browser results that follow; content that stands in
  the tool record itself, where the call did not wait for a person, who may have refused it; in the
  history the next user message, under the name of the tool.
- Outcomes: a record of kind error after the call; else ok where an answer stands. In the history
  the programs' own words: denied, failed, never run, still running, exit codes.
- Context loss: `conversationHistoryDeletedRange` that grows and sliding windows (trim), summaries
  and markers in place of what they stand for, going back to a checkpoint.
- Usage: of `api_req_started`. People: the first task, feedback (also inside results), changed
  edits, resumed tasks, and who went back to a checkpoint. Times: `ts`.

What the format cannot tell: call ids, results of file reads in the ui file, and in the history
which messages a window had left out.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, begins, raw_of, whole_text
from refetch.readers.json_records import mapping, milliseconds, parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "cline"
_KEYS = ("messages",)
_TOOLS = """read_file write_to_file replace_in_file apply_diff search_files list_files
    list_code_definition_names execute_command browser_action use_mcp_tool access_mcp_resource
    insert_content search_and_replace codebase_search fetch_instructions web_fetch new_task
    update_todo_list""".split()
_TAG = re.compile(rf"<({'|'.join(_TOOLS)})>(.*?)</\1>", re.DOTALL)
_ARGUMENT = re.compile(r"<([a-z_]+)>(.*?)</\1>", re.DOTALL)
_RESULT = re.compile(r"^\[(\w+)(?: for .*?)?\] Result:", re.DOTALL)
_UI_NAMES = {
    "readFile": "read_file",
    "editedExistingFile": "replace_in_file",
    "appliedDiff": "apply_diff",
    "newFileCreated": "write_to_file",
    "listFilesTopLevel": "list_files",
    "listFilesRecursive": "list_files",
    "listCodeDefinitionNames": "list_code_definition_names",
    "searchFiles": "search_files",
    "webFetch": "web_fetch",
    "codebaseSearch": "codebase_search",
}
_ANSWERS = frozenset(
    ("command_output", "mcp_server_response", "browser_action_result", "tool_output")
)
_PEOPLE = frozenset(("user_feedback", "user_feedback_diff", "resume_task", "resume_completed_task"))
_LOST: dict[str, Literal["compaction", "trim"]] = {
    "condense_context": "compaction",
    "sliding_window_truncation": "trim",
}
_SUMMARIES = frozenset(("summarizeTask", "summarize_task", "condense"))
_ERRORS = frozenset(("error", "diff_error", "clineignore_error", "rooignore_error"))
_WENT_BACK = "deleted_api_reqs"
_OUTCOMES = (
    (re.compile(r'The user denied this operation|\{"status":"denied"'), "rejected"),
    (re.compile("Missing value for required parameter|Invalid JSON argument"), "not-executed"),
    (re.compile("This tool cannot be used in|Skipping tool "), "not-executed"),
    (
        re.compile(r"Tool \[.{0,500}?\] was (?:interrupted and )?not exec", re.DOTALL),
        "not-executed",
    ),
    (re.compile("Command is still running|.{0,200}terminated after exceeding"), "timeout"),
    (
        re.compile(r'The tool execution failed|\{"status":"error"|Access to .{1,500} is blocked'),
        "error",
    ),
)
_EXIT = re.compile(r"Command (?:executed|failed)[^\n]{0,500}?[Ee]xit code:? (-?\d{1,9})")
_SAID = re.compile(r"<(?:user_)?feedback>|<user_message>|<answer>|\[TASK RESUMPTION\]")
_SHORTENED = re.compile(
    r"File list truncated|lines? omitted|File truncated|Showing (?:only|first|results) "
)
_EDGE = 600
_CUT = 200_000


def sniff(sniffed: Sniffed) -> bool:
    """True for records of the user interface, or a history with the programs' tags."""
    for row in sniffed_records(sniffed, _KEYS):
        if "ts" in row and small_text(row.get("type")) in ("say", "ask"):
            return True
        if small_text(row.get("role")) == "assistant" and _TAG.search(_text(row)[:_CUT]):
            return True
    return False


def _text(row: dict[str, Raw]) -> str:
    return whole_text(row["content"]) if "content" in row else ""


def read(data: bytes, source: str) -> list[Trace]:
    """The one task in a file.

    Raises:
        InputError: there are no records.
    """
    problems: list[Problem] = []
    reading = _Reading(source)
    for one in record_lists(data, source, _KEYS, "record", problems):
        for record in one.records:
            if "ts" in record.fields and "type" in record.fields:
                reading.told(record)
            else:
                reading.message(record)
    reading.build.problems.extend(problems)
    return [reading.build.trace()]


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME, "cline")
        self.last: OpenCall | None = None
        self.output: list[str] = []
        self.deleted: Any = None
        self.summarized = False

    # -- ui_messages.json
    # -------------------------------------------------------------------------------------

    def told(self, record: Record) -> None:
        """One record of the user interface."""
        if begins(record.get("partial"), b"true"):
            return
        self._trimmed(plain(record.get("conversationHistoryDeletedRange")))
        kind = small_text(record.get("say", "ask")) or ""
        text = plain(record.get("text"))
        text = text if isinstance(text, str) else ""
        if kind == "api_req_started":
            usage = mapping(Raw(text.encode("utf-8", "replace"))) if text else {}
            counts = {k: v for k, v in usage.items() if isinstance(v, int | float)}
            self.build.begin_turn(usage=counts)
        elif kind in _PEOPLE or (kind in ("text", "task") and not self.build.task):
            self.build.user_message(text)
        elif kind in _LOST:
            self.build.lose(_LOST[kind])
        elif kind == _WENT_BACK:
            self.build.lose("trim")
            self.build.user_message()
        elif kind in ("tool", "command", "use_mcp_server", "browser_action"):
            self._asked(kind, text, record)
        elif kind in _ANSWERS:
            self._answered(text)
        elif kind in _ERRORS and self.last is not None and not self.last.answered:
            self.last.end("error", error=text[:200] or "error")

    def _trimmed(self, deleted: Any) -> None:
        if deleted is not None and deleted != self.deleted:
            self.deleted = deleted
            self.build.lose("trim")

    def _asked(self, kind: str, text: str, record: Record) -> None:
        started = milliseconds(plain(record.get("ts")))
        fields = mapping(Raw(text.encode("utf-8", "replace"))) if kind != "command" else {}
        content: Any = None
        if kind == "command":
            name, args = "execute_command", {"command": text}
        elif kind == "use_mcp_server":
            name = str(fields.get("toolName") or fields.get("uri") or "")
            name = f"mcp__{fields.get('serverName')}__{name}" if fields.get("serverName") else name
            args = _inner(fields.get("arguments"))
        else:
            name = str(fields.pop("tool", fields.pop("action", kind)))
            name = _UI_NAMES.get(name, name)
            content = None if name == "read_file" else fields.pop("content", None)
            args = {k: v for k, v in fields.items() if k not in ("isOutsideWorkspace", "content")}
        if name in _SUMMARIES:
            self.build.lose("compaction")
            return
        last = self._again(name, args)
        if last is None:
            self.output = []
            last = self.last = self.build.call(
                name, raw_of(args), line=record.line, path=record.path, started=started
            )
        told = isinstance(content, str) and not name.startswith(("write", "replace", "apply"))
        if told and "say" in record.fields:
            last.answer(raw_of(content))

    def _again(self, name: str, args: Any) -> OpenCall | None:
        """A call is asked (for approval) and then said; between the two nothing else happens."""
        last = self.last
        same = (
            last is not None
            and last.turn == self.build.turn_of()
            and not last.answered
            and last.fields["name"] == name
            and bytes(last.fields["args"]) == bytes(raw_of(args))
        )
        return last if same else None

    def _answered(self, text: str) -> None:
        if self.last is not None:
            self.output.append(text)
            self.last.answer(raw_of("\n".join(self.output)))

    # -- api_conversation_history.json
    # -------------------------------------------------------------------------------------

    def message(self, record: Record) -> None:
        """One message of the history."""
        role = small_text(record.get("role"))
        if begins(record.get("isSummary"), b"true"):
            self.build.lose("compaction")
        elif begins(record.get("isTruncationMarker"), b"true"):
            self.build.lose("trim")
        elif role == "assistant":
            self.build.begin_turn()
            text = _text(record.fields)[:_CUT]
            for name, body in _TAG.findall(text):
                args = {k: v.strip("\n") for k, v in _ARGUMENT.findall(body)}
                self.build.call(name, raw_of(args), line=record.line, path=record.path)
            self.summarized = any(f"<{name}>" in text for name in _SUMMARIES)
        elif role == "user":
            self._results(record)
            if self.summarized:
                self.build.lose("compaction")

    def _results(self, record: Record) -> None:
        blocks = parts(record.get("content"))
        texts = [whole_text(members(b).get("text", EMPTY)) for b in blocks]
        texts = texts or [_text(record.fields)]
        answered = None
        for text in texts:
            if found := _RESULT.match(text):
                answered = self._asked_as(found[1])
                text = text[found.end() :].strip("\n")
            if answered is not None and text and not text.startswith("<environment_details>"):
                _answer(answered, text)
                answered = None
        if not any(map(_RESULT.match, texts)):
            self.build.user_message(record.get("content"))
        elif any(map(_SAID.search, texts)):
            self.build.user_message()

    def _asked_as(self, name: str) -> OpenCall | None:
        """Some tools are no calls here, but have results."""
        return next((c for c in self.build.still_open() if c.fields["name"] == name), None)


def _answer(call: OpenCall, text: str) -> None:
    outcome = next((word for pattern, word in _OUTCOMES if pattern.match(text)), "ok")
    code = _EXIT.match(text)
    call.answer(
        raw_of(text),
        outcome,
        error=None if outcome == "ok" else text[:200],
        exit_code=int(code[1]) if code and outcome == "ok" else None,
        truncated=bool(_SHORTENED.search(text[:_EDGE] + "\n" + text[-_EDGE:])),
    )


def _inner(value: Any) -> Any:
    """Arguments are a JSON text inside the record."""
    decoded = plain(Raw(value.encode("utf-8", "replace"))) if isinstance(value, str) else value
    return decoded if decoded is not None else {}
