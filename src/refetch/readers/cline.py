"""Cline and Roo Code: `ui_messages.json`, and `api_conversation_history.json` with XML tool calls.

Sniff: a list of records with `ts` and `type` "say" or "ask"; or chat messages whose text holds the
tool calls as XML tags of these programs.

- Turn: a request (`api_req_started`), or one assistant message. Context: always `main`.
- Calls: `say`/`ask` records of kind tool, command, use_mcp_server, browser_action; the text of a
  tool record is JSON whose `tool` names it. In the history: the tags in the text.
- Results: command output, MCP responses and browser results that follow; content that stands in
  the tool record itself; in the history the next user message.
- Outcomes: a record of kind error after the call; else ok where an answer stands.
- Context loss: `conversationHistoryDeletedRange` that grows (trim), condensed contexts.
- Usage: of `api_req_started`. People: feedback and the first task. Times: `ts`.

What the format cannot tell: call ids, exit codes, and results of file reads in the ui file.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw

from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import EMPTY, begins, raw_of, whole_text
from refetch.readers.json_records import mapping, parts, plain
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
        elif kind == "user_feedback" or (kind in ("text", "task") and not self.build.task):
            self.build.user_message(text)
        elif kind == "condense_context":
            self.build.lose("compaction")
        elif kind in ("tool", "command", "use_mcp_server", "browser_action"):
            self._asked(kind, text, record)
        elif kind in _ANSWERS:
            self._answered(text)
        elif kind == "error" and self.last is not None and not self.last.answered:
            self.last.end("error", error=text[:200] or "error")

    def _trimmed(self, deleted: Any) -> None:
        if deleted is not None and deleted != self.deleted:
            self.deleted = deleted
            self.build.lose("trim")

    def _asked(self, kind: str, text: str, record: Record) -> None:
        when = plain(record.get("ts"))
        started = when / 1000 if isinstance(when, int) and not isinstance(when, bool) else None
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
        if self._again(name, args):
            return
        self.output = []
        self.last = self.build.call(
            name, raw_of(args), line=record.line, path=record.path, started=started
        )
        if isinstance(content, str) and not name.startswith(("write", "replace", "apply")):
            self.last.answer(raw_of(content))

    def _again(self, name: str, args: Any) -> bool:
        """A call is asked (for approval) and then said; between the two nothing else happens."""
        last = self.last
        return (
            last is not None
            and last.turn == self.build.turn_of()
            and not last.answered
            and last.fields["name"] == name
            and bytes(last.fields["args"]) == bytes(raw_of(args))
        )

    def _answered(self, text: str) -> None:
        if self.last is not None:
            self.output.append(text)
            self.last.answer(raw_of("\n".join(self.output)))

    # -- api_conversation_history.json
    # -------------------------------------------------------------------------------------

    def message(self, record: Record) -> None:
        """One message of the history."""
        role = small_text(record.get("role"))
        if role == "assistant":
            self.build.begin_turn()
            for name, body in _TAG.findall(_text(record.fields)[:_CUT]):
                args = {k: v.strip("\n") for k, v in _ARGUMENT.findall(body)}
                self.build.call(name, raw_of(args), line=record.line, path=record.path)
        elif role == "user":
            self._results(record)

    def _results(self, record: Record) -> None:
        blocks = parts(record.get("content"))
        texts = [whole_text(members(b).get("text", EMPTY)) for b in blocks]
        texts = texts or [_text(record.fields)]
        answered = None
        for text in texts:
            if found := _RESULT.match(text):
                answered = self.build.waiting(None)
                rest = text[found.end() :].strip("\n")
                if answered is not None and rest:
                    answered.answer(raw_of(rest))
                    answered = None
            elif answered is not None and not text.startswith("<environment_details>"):
                answered.answer(raw_of(text))
                answered = None
        if not any(map(_RESULT.match, texts)):
            self.build.user_message(record.get("content"))


def _inner(value: Any) -> Any:
    """Arguments are a JSON text inside the record."""
    decoded = plain(Raw(value.encode("utf-8", "replace"))) if isinstance(value, str) else value
    return decoded if decoded is not None else {}
