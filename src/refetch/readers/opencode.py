"""opencode: its database, its storage folder, exported sessions (`opencode export`), lists of
messages with their parts, and what `opencode run --format json` prints.

Sniff: a SQLite database with the tables `session`, `message` and `part`; the file of a session
(its messages and parts are read from beside it); messages with `info` and `parts`; or parts of type
"tool" with `callID` and `state`, bare or under `part`.

- Traces: one for each session that no other one started. Context: `main`; a session that a call
  of another one started, and in other files every further session, is a context of its own.
- Turn: one `step-start` part, else one assistant message.
- Calls and results: `tool` parts (`tool`, `state.input`, `state.output`).
- Outcomes: the state's status: completed, error; pending and running have no result yet. A call
  that was stopped is "unknown", a command that ran out of time a timeout; what a person or a rule
  refused is rejected; the tool `invalid` stands for a call that was not executed.
- Tools that a person ran (`!command`, `/command`) are calls of the user. Those asked to run in the
  `background` do.
- Context loss: a summary message or a `compaction` part. A tool part whose `state.time.compacted`
  is set loses its result with the first message after that. A message with an error is shown to
  the model no more, and a step that broke off is not shown to the attempt that follows it.
- People: user messages that are not made by the program or by the call that started the session,
  answered questions, and feedback in place of a permission.
- Folder: of the message, and of the call (`workdir`). Times: `state.time`. Usage: `step-finish` and
  the message's `tokens`.

What the format cannot tell: what was taken back before a new prompt (it is deleted), how much of
the latest messages a compaction kept, and in the storage folder who started a session (each is a
trace of its own).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Raw

from refetch.keys.paths import lexical_path
from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning, ending
from refetch.readers.failures import failed_as
from refetch.readers.json_records import mapping, milliseconds, parts, plain
from refetch.readers.opencode_database import TABLES, sessions_in
from refetch.readers.opencode_folder import is_session, messages_beside
from refetch.readers.records import Record, RecordList, record_lists, sniffed_records
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.sqlite_file import MAGIC
from refetch.readers.trace_builder import OpenCall, OpenRequest, TraceBuilder

NAME = "opencode"
_KEYS = ("messages", "parts")
_RUN_BY_PEOPLE = "The following tool was executed by the user"
_ASKING = frozenset(("question", "plan_enter", "plan_exit"))
_REFUSED = re.compile(
    "rejected permission to use this|specified a rule which prevents|dismissed this question"
)
_FEEDBACK = "with the following feedback"
_OUT_OF_TIME = re.compile(
    r"terminated command after exceeding timeout|Command timed out after \d+ ?ms"
)
_STOPPED = re.compile(r"User aborted the command|Command was aborted")
_INTERRUPTED = re.compile("abort|interrupt", re.IGNORECASE)
_TAIL = 400


class _Message(NamedTuple):
    context: str = MAIN
    model: str | None = None
    folder: str | None = None
    by_people: bool = False


def sniff(sniffed: Sniffed) -> bool:
    """True for its database or session file, messages with info and parts, or tool parts."""
    if sniffed.shape == "sqlite":
        return TABLES.issubset(sniffed.tables)
    if is_session(sniffed.document):
        return True
    if "messageID" in sniffed.document:
        return False  # one part of a storage folder
    for row in sniffed_records(sniffed, _KEYS):
        info = members(row.get("info"))
        if "role" in info and "parts" in row and ("sessionID" in info or "time" in info):
            return True
        part = members(row.get("part")) if "sessionID" in row else row
        if small_text(part.get("type")) == "tool" and {"callID", "state"} <= part.keys():
            return True
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """The sessions in a file, with those that they started.

    Raises:
        InputError: there are no messages, or a database of something else.
    """
    if data.startswith(MAGIC):
        traces = []
        for session in sessions_in(data, source):
            reading = _Reading(source, session.run, session.folder)
            reading.take(session.messages)
            traces.append(reading.build.trace())
        return traces
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "message", problems)
    info = members(lists[0].around.get("info"))
    alone = lists[0].records[0].fields
    if is_session(alone):
        info = alone
        lists = [RecordList(messages_beside(source, problems), {})]
    reading = _Reading(source, small_text(info.get("id")), small_text(info.get("directory")))
    for one in lists:
        reading.take(one.records)
    reading.build.problems.extend(problems)
    return [reading.build.trace()]


class _Reading:
    def __init__(self, source: str, session: str | None, folder: str | None) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        self.build.run = self.session = session
        self.folder = folder
        self.known = {MAIN}
        self.started: dict[str, int] = {}
        self.by_people: set[str] = set()
        self.evicted: list[tuple[float, str, int]] = []
        self.request: OpenRequest | None = None
        self.message_id: str | None = None
        self.began = False
        self.step: int | None = None

    def take(self, records: Iterable[Record]) -> None:
        """Messages, or parts without them."""
        for record in records:
            if "parts" in record.fields:
                self._message(record)
                continue
            session = small_text(record.get("sessionID"))
            self.build.run = self.build.run or session
            inside = members(record.get("part")) if session is not None else {}
            self._part(Record(inside, f"{record.path}.part", record.line) if inside else record)
            self._evict(None)

    def _message(self, record: Record) -> None:
        info = {**members(record.get("info")), **record.fields}
        context = self._context(small_text(info.get("sessionID")))
        self._evict(milliseconds(mapping(info.get("time")).get("created")), context)
        listed = [members(raw) for raw in parts(record.get("parts"))]
        kinds = {small_text(part.get("type")) for part in listed}
        if small_text(info.get("role")) == "user":
            self._prompt(small_text(info.get("id")), listed, context)
            return
        if plain(info.get("summary")) is True:
            self.build.lose("compaction", context)
        message = _Message(
            context,
            small_text(info.get("modelID")),
            small_text(members(info.get("path")).get("cwd")) or self.folder,
            "step-start" not in kinds and small_text(info.get("parentID")) in self.by_people,
        )
        self.message_id, self.began, self.step = None, message.by_people, None
        if not message.by_people and "step-start" not in kinds:
            self._begin(message, mapping(info.get("tokens")))
        first = self.build.last_seq + 1
        for at, part in enumerate(listed):
            self._part(Record(part, f"{record.path}.parts[{at}]", record.line), message)
        if _is_left_out(members(info.get("error")), kinds):
            self._forget(first, context)

    def _context(self, session: str | None) -> str:
        self.session = self.session or session
        if session is None or session == self.session:
            return MAIN
        if session not in self.known:
            self.known.add(session)
            self.build.start_context(ContextStart(session, self.started.get(session)))
        return session

    def _prompt(self, own: str | None, listed: list[dict[str, Raw]], context: str) -> None:
        if any(small_text(part.get("type")) == "compaction" for part in listed):
            self.build.lose("compaction", context)
        if own is not None and any(_tells_of_a_run(part) for part in listed):
            self.by_people.add(own)
        if context in self.started and not self.build.turn_of(context):
            return  # the caller's prompt
        if not listed or not all(_is_made(part) for part in listed):
            said = next((text for part in listed if (text := part.get("text"))), NULL)
            self.build.user_message(said, context)

    def _begin(self, message: _Message, usage: dict[str, Any]) -> None:
        self.request = self.build.begin_turn(message.context, message.model, _counts(usage))
        self.began = True

    def _part(self, part: Record, message: _Message | None = None) -> None:
        message = message or _Message(folder=self.folder)
        own = small_text(part.get("messageID"))
        if own != self.message_id:
            self.message_id, self.step = own, None
        kind = small_text(part.get("type"))
        if kind == "step-start":
            if self.step is not None:
                self._forget(self.step, message.context)
            self._begin(message, {})
            self.step = self.build.last_seq + 1
        elif kind == "tool":
            if not self.began:
                self._begin(message, {})
            self._tool(part, message)
        elif kind == "step-finish":
            self.step = None
            if self.request is not None:
                self.request.usage = _counts(mapping(part.get("tokens"))) or self.request.usage

    def _forget(self, first: int, context: str) -> None:
        if lost := list(range(first, self.build.last_seq + 1)):
            self.build.lose("trim", context, lost)

    def _evict(self, now: float | None, context: str = MAIN) -> None:
        gone = [
            item for item in self.evicted if item[1] == context and (now is None or item[0] <= now)
        ]
        if gone:
            self.build.lose("eviction", context, [seq for _, _, seq in gone])
            self.evicted = [item for item in self.evicted if item not in gone]

    def _tool(self, part: Record, message: _Message) -> None:
        state = members(part.get("state"))
        time = mapping(state.get("time"))
        args = state.get("input", NULL)
        call = self.build.call(
            small_text(part.get("tool")) or "",
            EMPTY if _is_unknown(args, state) else args,
            context=message.context,
            call_id=small_text(part.get("callID")),
            line=part.line,
            path=part.path,
            started=milliseconds(time.get("start")),
            cwd=_folder_of(args, message.folder),
            **({"origin": "user"} if message.by_people else {}),
            **({"background": True} if mapping(args).get("background") is True else {}),
        )
        metadata = mapping(state.get("metadata"))
        child = metadata.get("sessionId", metadata.get("sessionID"))
        if isinstance(child, str):
            self.started.setdefault(child, call.seq)
        ended = milliseconds(time.get("end"))
        status = small_text(state.get("status"))
        if status == "completed":
            _completed(call, state.get("output", Raw(b'""')), metadata, ended)
        elif status == "error":
            words = _failed(call, state.get("error", NULL), metadata, ended)
            if _FEEDBACK in words and call.fields["outcome"] == "rejected":
                self.build.user_message(None, message.context)
        if status == "completed" and call.fields["name"] in _ASKING:
            self.build.user_message(None, message.context)
        if (gone := milliseconds(time.get("compacted"))) is not None:
            self.evicted.append((gone, message.context, call.seq))


def _is_made(part: dict[str, Raw]) -> bool:
    """Whether the program wrote this part of a user message."""
    if small_text(part.get("type")) == "compaction":
        return True
    return plain(part.get("synthetic")) is True and not _tells_of_a_run(part)


def _tells_of_a_run(part: dict[str, Raw]) -> bool:
    if small_text(part.get("type")) == "subtask":
        return True
    return plain(part.get("synthetic")) is True and small_text(part.get("text")) == _RUN_BY_PEOPLE


def _is_left_out(error: dict[str, Raw], kinds: set[str | None]) -> bool:
    if small_text(error.get("name")) == "MessageAbortedError":
        return not kinds - {"step-start", "reasoning"}
    return bool(error)


def _is_unknown(args: Raw, state: dict[str, Raw]) -> bool:
    """Arguments are empty until all of them have arrived, and stay so where they never did."""
    if mapping(args):
        return False
    status = small_text(state.get("status"))
    stopped = status == "error" and _INTERRUPTED.search(beginning(state.get("error", NULL)))
    return status == "pending" or bool(stopped)


def _folder_of(args: Raw, folder: str | None) -> str | None:
    own = small_text(members(args).get("workdir"))
    return lexical_path(own, folder) if own else folder


def _completed(call: OpenCall, output: Raw, metadata: dict[str, Any], ended: float | None) -> None:
    last = ending(output, _TAIL)
    code = metadata.get("exit")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    outcome = "ok"
    if call.fields["name"] == "invalid":
        outcome = "not-executed"
    elif _OUT_OF_TIME.search(last):
        outcome = "timeout"
    elif _STOPPED.search(last) or ("exit" in metadata and metadata["exit"] is None):
        outcome = "unknown"
    call.answer(
        output,
        outcome,
        error=None if outcome == "ok" else last or outcome,
        exit_code=code if outcome == "ok" else None,
        truncated=metadata.get("truncated") is True,
        ended=ended,
    )


def _failed(call: OpenCall, error: Raw, metadata: dict[str, Any], ended: float | None) -> str:
    words = beginning(error) or "error"
    if _REFUSED.search(words):
        outcome = "rejected"
    elif metadata.get("interrupted") is True or _INTERRUPTED.search(words):
        outcome = "unknown"
    else:
        outcome = failed_as(words)
    call.answer(error, outcome, error=words, ended=ended)
    return words


def _counts(usage: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in usage.items() if isinstance(v, int | float)}
