"""Events of Google's Agent Development Kit: a session document, a list, or JSON Lines.

Sniff: events with an `author` and an invocation id, in camelCase or snake_case.

- Turn: one event with calls or words of a model (a streamed response may be two events).
- Context: the agent (`author`) in its `branch` and `isolation_scope`. The first agent outside of
  any branch is `main`; one that took over by transfer may or may not have seen the history, so it
  is a context of its own.
- Calls: `functionCall` parts, and `executableCode` parts as `code_execution`. Results:
  `functionResponse` parts by id, else by name. `adk_request_…` calls are the kit's own questions
  to a person, no calls.
- Outcomes: a response with an `error`, `isError` or the status "error" is an error. A call that
  waits for approval did not run; what comes after it is a further attempt. One that waits for
  credentials is "unknown". Long-running tools are background calls, the last response counts.
- Context loss: `actions.compaction` loses what its time range covers, a rewind what it takes back.
- People: events of the author "user". Usage: `usageMetadata`. Model: `modelVersion`. Times: of
  the events; the call's is when it was asked, the answer's when it came.
- Partial events of a stream are passed over, the whole one follows; an event told twice counts
  once.

What the format cannot tell: which of a batch of calls ran first, what the agent inside an
`AgentTool` did (it has a session of its own), and agents that are shown no history
(`include_contents="none"`).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Raw

from refetch.hygiene import FAILED
from refetch.model.trace import MAIN, ContextStart, Problem, Trace
from refetch.readers.blocks import EMPTY, NULL, beginning, begins, raw_hash
from refetch.readers.json_records import parts, plain
from refetch.readers.records import Record, record_lists, sniffed_records, traces_of
from refetch.readers.sniff import Sniffed, members, small_text
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "google-adk"
_KEYS = ("events",)
_USER = "user"
_OWN_CALLS = "adk_request_"
_TRANSFER = "transfer_to_agent"
_CODE = "code_execution"
_CODE_OUTCOMES = {"OUTCOME_OK": "ok", "OUTCOME_DEADLINE_EXCEEDED": "timeout"}
_REJECTED = '"This tool call is rejected."'
_NO_ERROR = (b"null", b"false", b'""', b"{}", b"[]")


class _Part(NamedTuple):
    text: Raw = EMPTY
    call: Raw = EMPTY
    response: Raw = EMPTY
    code: Raw = EMPTY
    printed: Raw = EMPTY


class _Event(NamedTuple):
    record: Record
    author: str
    parts: list[_Part]
    actions: Record
    context: str
    time: Any


def sniff(sniffed: Sniffed) -> bool:
    """True for events with author and invocation."""
    return any(
        "author" in row and ("invocationId" in row or "invocation_id" in row)
        for row in sniffed_records(sniffed, _KEYS)
    )


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each session.

    Raises:
        InputError: there are no events.
    """
    problems: list[Problem] = []
    lists = record_lists(data, source, _KEYS, "event", problems)
    traces = traces_of(lists, source, "id", _Reading)
    traces[0].problems.extend(problems)
    return traces


class _Reading:
    def __init__(self, source: str) -> None:
        self.build = TraceBuilder(source, NAME)
        self.names: dict[tuple[str | None, str, str | None], str] = {}
        self.asked: dict[str, OpenCall] = {}
        self.code: dict[str, list[OpenCall]] = {}
        self.transfers: dict[str, int] = {}
        self.began: dict[str, int] = {}
        self.seen: set[tuple[str, str]] = set()
        self.times: dict[int, list[float]] = {}

    def take(self, record: Record) -> None:
        """One event."""
        if begins(record.get("partial"), b"true") or self._told(record):
            return
        event = self._event(record)
        invocation = small_text(record.get("invocationId", "invocation_id"))
        if invocation is not None:
            self.began.setdefault(invocation, self.build.last_seq + 1)
        self._losses(event.actions)
        if event.author == _USER:
            self._person(event)
        elif self._is_answer_of_model(event):
            usage = plain(record.get("usageMetadata", "usage_metadata"))
            model = small_text(record.get("modelVersion", "model_version"))
            self.build.begin_turn(event.context, model, usage if isinstance(usage, dict) else None)
        for at, part in enumerate(event.parts):
            self._take_part(event, part, f"{record.path}.content.parts[{at}]")

    def _told(self, record: Record) -> bool:
        own = small_text(record.get("id"))
        if own is None:
            return False
        key = (own, raw_hash(record.get("content")))
        known = key in self.seen
        self.seen.add(key)
        return known

    def _event(self, record: Record) -> _Event:
        author = small_text(record.get("author")) or ""
        found = parts(members(record.get("content")).get("parts", NULL))
        time = plain(record.get("timestamp"))
        timed = isinstance(time, str | int | float) and not isinstance(time, bool)
        context = MAIN
        if author != _USER:
            branch = small_text(record.get("branch"))
            scope = small_text(record.get("isolationScope", "isolation_scope"))
            context = self._context(branch, author, scope)
        return _Event(
            record,
            author,
            [_part(raw) for raw in found],
            Record(members(record.get("actions")), record.path, record.line),
            context,
            time if timed else None,
        )

    def _context(self, branch: str | None, author: str, scope: str | None) -> str:
        key = (branch, author, scope)
        if key in self.names:
            return self.names[key]
        if branch is None and scope is None and MAIN not in self.names.values():
            name = MAIN
        else:
            name = author if branch is None else branch
            if branch is not None and branch.rpartition(".")[2] != author:
                name = f"{branch}/{author}"
            name = name if scope is None else f"{name}#{scope}"
            name = f"agent {name}" if name in (MAIN, *self.names.values()) else name
            by = self.asked[scope].seq if scope in self.asked else self.transfers.get(author)
            self.build.start_context(ContextStart(name, by))
        self.names[key] = name
        return name

    def _is_answer_of_model(self, event: _Event) -> bool:
        calls = [small_text(members(p.call).get("name")) for p in event.parts if memoryview(p.call)]
        if calls:
            return not all((name or "").startswith(_OWN_CALLS) for name in calls)
        told = any(memoryview(p.response) or memoryview(p.printed) for p in event.parts)
        return not told and any(memoryview(p.text) or memoryview(p.code) for p in event.parts)

    def _person(self, event: _Event) -> None:
        """Everybody hears a person: also agents that took over and now talk to them."""
        said = next((part.text for part in event.parts if memoryview(part.text)), None)
        if not event.parts:
            return
        for context in dict.fromkeys((MAIN, *self.names.values())):
            self.build.user_message(said, context)

    def _losses(self, actions: Record) -> None:
        compaction = members(actions.get("compaction"))
        if compaction:
            summary = Record(compaction, actions.path)
            start = plain(summary.get("startTimestamp", "start_timestamp"))
            end = plain(summary.get("endTimestamp", "end_timestamp"))
            if isinstance(start, int | float) and isinstance(end, int | float):
                covered = [s for s, at in self.times.items() if any(start <= t <= end for t in at)]
                self._lose("compaction", covered)
            else:
                self._lose("compaction", list(range(self.build.last_seq + 1)))
        back = small_text(actions.get("rewindBeforeInvocationId", "rewind_before_invocation_id"))
        if back is not None and back in self.began:
            self._lose("trim", list(range(self.began[back], self.build.last_seq + 1)))

    def _lose(self, kind: Literal["compaction", "trim"], seqs: list[int]) -> None:
        for context in dict.fromkeys(self.names.values()):
            lost = [s for s in seqs if self.build.calls[s].fields["context"] == context]
            if lost:
                self.build.lose(kind, context, lost)

    def _take_part(self, event: _Event, part: _Part, path: str) -> None:
        if memoryview(part.call):
            self._call(event, members(part.call), path)
        elif memoryview(part.response):
            self._response(event, members(part.response), path)
        elif memoryview(part.code):
            call = self.build.call(
                _CODE,
                part.code,
                context=event.context,
                line=event.record.line,
                path=path,
                started=event.time,
            )
            self.code.setdefault(event.context, []).append(call)
        elif memoryview(part.printed) and self.code.get(event.context):
            told = members(part.printed)
            outcome = _CODE_OUTCOMES.get(small_text(told.get("outcome")) or "", "error")
            output = told.get("output", EMPTY)
            error = None if outcome == "ok" else beginning(output) or outcome
            self.code[event.context].pop(0).answer(output, outcome, error=error, ended=event.time)

    def _call(self, event: _Event, asked: dict[str, Raw], path: str) -> None:
        name = small_text(asked.get("name")) or ""
        if name.startswith(_OWN_CALLS):
            return
        call_id = small_text(asked.get("id"))
        listed = parts(event.record.get("longRunningToolIds", "long_running_tool_ids"))
        background = call_id is not None and call_id in map(small_text, listed)
        call = self.build.call(
            name,
            asked.get("args", NULL),
            context=event.context,
            call_id=call_id,
            line=event.record.line,
            path=path,
            started=event.time,
            **({"background": True} if background else {}),
        )
        self._stamp(call, event.time)
        if call_id is not None:
            self.asked[call_id] = call
        target = small_text(members(asked.get("args")).get("agent_name"))
        if name == _TRANSFER and target is not None:
            self.transfers[target] = call.seq

    def _response(self, event: _Event, told: dict[str, Raw], path: str) -> None:
        call_id = small_text(told.get("id"))
        name = small_text(told.get("name"))
        call = self._asked_by(event.context, call_id, name)
        if call is None:
            return
        outcome, result, error = _outcome(told.get("response", NULL))
        if call_id is not None and outcome != "rejected":
            waits = members(
                event.actions.get("requestedToolConfirmations", "requested_tool_confirmations")
            )
            logins = members(event.actions.get("requestedAuthConfigs", "requested_auth_configs"))
            if call_id in waits:
                outcome, error = "not-executed", error or "waits for approval"
            elif call_id in logins:
                outcome, error = "unknown", error or "waits for credentials"
        if call.answered and not call.fields.get("background"):
            if call.fields["outcome"] not in FAILED:
                return
            call = self._attempt(call, event, path)
        call.answer(result, outcome, error=error, ended=event.time)
        self._stamp(call, event.time)

    def _attempt(self, before: OpenCall, event: _Event, path: str) -> OpenCall:
        fields = before.fields
        call = self.build.call(
            fields["name"],
            fields["args"],
            context=fields["context"],
            call_id=fields["call_id"],
            line=event.record.line,
            path=path,
            turn=before.turn,
            origin="harness-retry",
            attempt_of=before.seq,
        )
        if fields["call_id"] is not None:
            self.asked[fields["call_id"]] = call
        return call

    def _asked_by(self, context: str, call_id: str | None, name: str | None) -> OpenCall | None:
        if call_id is not None:
            return self.build.waiting(call_id, context) or self.asked.get(call_id)
        waiting = self.build.still_open(context)
        return next((call for call in waiting if call.fields["name"] == name), None)

    def _stamp(self, call: OpenCall, time: Any) -> None:
        if isinstance(time, int | float):
            self.times.setdefault(call.seq, []).append(time)


def _part(raw: Raw) -> _Part:
    part = Record(members(raw), "")
    return _Part(
        part.get("text"),
        part.get("functionCall", "function_call"),
        part.get("functionResponse", "function_response"),
        part.get("executableCode", "executable_code"),
        part.get("codeExecutionResult", "code_execution_result"),
    )


def _outcome(response: Raw) -> tuple[str, Raw, str | None]:
    """(outcome, result, error) of a response."""
    told = Record(members(response), "$")
    error = told.get("error")
    if memoryview(error) and bytes(error) not in _NO_ERROR:
        rejected = set(told.fields) == {"error"} and bytes(error) == _REJECTED.encode()
        words = beginning(error) or bytes(memoryview(error)[:200]).decode("utf-8", "replace")
        return "rejected" if rejected else "error", response, words
    failed = small_text(told.get("status")) == "error"
    if failed or begins(told.get("isError", "is_error"), b"true"):
        words = beginning(told.get("error_message", "errorMessage", "message", "content"))
        return "error", response, words or "error"
    whole = set(told.fields) == {"result"}
    return "ok", told.fields["result"] if whole else response, None
