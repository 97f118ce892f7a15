"""Builds one trace from the records of a Claude Code session and of its sub-agents."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw

from refetch.model.trace import (
    MAIN,
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Problem,
    Request,
    Trace,
    UserMessage,
    Write,
)
from refetch.readers import claude_code_harness as harness
from refetch.readers.blocks import EMPTY, raw_chars, raw_hash, raw_of, whole_text
from refetch.readers.claude_code_outcomes import PEOPLE_ANSWER, outcome_of
from refetch.readers.claude_code_people import (
    Prompt,
    prompt_of,
    shell_output,
)
from refetch.readers.claude_code_records import (
    Block,
    Line,
    Message,
    Progress,
    agent_message_of,
)
from refetch.readers.claude_code_regions import delivered_lines, without_reminder
from refetch.readers.claude_code_state import Context, Pending, path_argument, usage_of
from refetch.readers.claude_code_threads import Threads

FORMAT = "claude-code"
_TASK_CHARS = 200
_AGENTS = frozenset(("Task", "Agent"))
_SYNTHETIC = "<synthetic>"
_BACKGROUND_ARG = re.compile(rb'"run_in_background"\s*:\s*true')
_FORK_ARG = re.compile(rb'"subagent_type"\s*:\s*"fork"')
_AGENT_ID = re.compile(rb'"agentId"\s*:\s*"([^"\\]{1,80})"')


class Session:
    """Takes records in order of time and gives the trace.

    Args:
        source: what the trace calls its file.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.run: str | None = None
        self.task: str | None = None
        self.model: str | None = None
        self.events: list[Event | None] = []
        self.calls: list[Pending] = []
        self.lines: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.contexts: dict[str, Context] = {MAIN: Context(None, None)}
        self._by_key: set[tuple[str, str, str]] = set()
        self._by_id: dict[str, list[Pending]] = {}
        self._agents: dict[str, int] = {}
        self._seen: set[str] = set()
        self._threads = Threads()
        self._shell: Pending | None = None
        self._handlers = {
            "assistant": self._assistant,
            "user": self._user,
            "progress": self._progress,
            "system": self._system,
            "queue-operation": self._queued,
            "attachment": self._attached,
        }

    @property
    def last_seq(self) -> int:
        """The latest call so far, -1 before all."""
        return len(self.calls) - 1

    def calls_with(self, call_id: str | None) -> list[Pending]:
        """The calls that carry this id, in order."""
        return self._by_id.get(call_id or "", [])

    def add(self, line: Line, number: int, part: str | None = None) -> None:
        """Take the next record.

        Args:
            line: the record.
            number: its line in its file.
            part: the file it stands in, where that is not the session's own.
        """
        uuid = line.uuid
        if uuid is not None:
            if uuid in self._seen:
                return
            self._seen.add(uuid)
        handler = self._handlers.get(line.type)
        if handler is not None:
            if (session := line.session_id or line.stream_session) is not None:
                self.run = session
            handler(line, self._context_of(line), number, part)
        if uuid is not None:
            self._threads.follow(line, uuid)

    def _context_of(self, line: Line) -> str:
        if not line.is_sidechain and line.agent_id is None and line.stream_parent is None:
            return MAIN
        if line.agent_id is not None and (line.is_sidechain or line.type != "system"):
            return self._enter(line.agent_id, line.parent_tool_use_id)
        if line.stream_parent is not None:
            return self._enter(f"agent-of-{line.stream_parent}", line.stream_parent)
        if line.is_sidechain:
            return self._enter(self._threads.sidechain_of(line), None)
        return MAIN

    def _enter(self, context: str, parent_tool: str | None) -> str:
        known = self.contexts.get(context)
        if known is None:
            self.contexts[context] = Context(len(self.events), parent_tool)
            self.events.append(None)
        elif known.parent_tool is None:
            known.parent_tool = parent_tool
        return context

    # Calls

    def _assistant(self, line: Line, context: str, number: int, part: str | None) -> None:
        if line.message is not None and not line.is_api_error_message:
            key = line.message.id or line.request_id or line.uuid or f"line {number}"
            self._answer(line.message, key, line, context, number, part)

    def _answer(
        self,
        message: Message,
        key: str,
        line: Line,
        context: str,
        number: int,
        part: str | None,
    ) -> None:
        blocks = message.content if isinstance(message.content, list) else []
        if message.model == _SYNTHETIC and not any(b.type == "tool_use" for b in blocks):
            return
        state = self.contexts[context]
        turn = state.turns.get(key)
        if turn is None:
            turn = state.turns[key] = len(state.turns) + 1
            state.requests[key] = (len(self.events), message.usage, message.model)
            self.events.append(None)
        elif memoryview(message.usage):
            state.requests[key] = (state.requests[key][0], message.usage, message.model)
        state.turn = turn
        state.model = state.model or message.model
        if context == MAIN:
            self.model = self.model or message.model
        for block in blocks:
            if block.type == "tool_use":
                self._call(block, key, turn, line, context, number, part)

    def _call(
        self,
        block: Block,
        key: str,
        turn: int,
        line: Line,
        context: str,
        number: int,
        part: str | None,
    ) -> None:
        if block.id is not None:
            # The same block in a copied history or in a later snapshot of the message.
            if (context, key, block.id) in self._by_key:
                return
            self._by_key.add((context, key, block.id))
        fields: dict[str, Any] = {
            "turn": turn,
            "name": block.name or "",
            "args": block.input,
            "context": context,
            "call_id": block.id,
            "cwd": line.cwd,
        }
        if b"run_in_background" in bytes(memoryview(block.input)[-400:]) or (
            fields["name"] in _AGENTS
        ):
            fields["background"] = bool(_BACKGROUND_ARG.search(memoryview(block.input)))
        self.new_call(fields, key, line.uuid, number, part)

    def new_call(
        self,
        fields: dict[str, Any],
        key: str,
        line_uuid: str | None,
        number: int,
        part: str | None = None,
    ) -> Pending:
        """A call with these fields is next; its `seq` is its ordinal."""
        seq = fields["seq"] = len(self.calls)
        pending = Pending(len(self.events), key, line_uuid, fields)
        self.calls.append(pending)
        self.events.append(None)
        self.lines[seq] = number
        if part is not None:
            self.paths[seq] = part
        if (call_id := fields.get("call_id")) is not None:
            self._by_id.setdefault(call_id, []).append(pending)
        return pending

    # Results and people

    def _user(self, line: Line, context: str, number: int, part: str | None) -> None:
        if line.message is not None:
            self._said(line.message, line, context, number, line.tool_use_result)

    def _said(self, message: Message, line: Line, context: str, number: int, details: Raw) -> None:
        content = message.content
        words: list[str] = []
        spoke = False
        if isinstance(content, str):
            words.append(content)
        elif content is not None:
            for block in content:
                if block.type == "tool_result":
                    self._result(block, line, context, details)
                elif block.type == "text":
                    words.append(whole_text(block.text))
                elif block.type in ("image", "document"):
                    spoke = not line.is_meta
        if context != MAIN:
            return
        text = "\n".join(words)
        if line.is_compact_summary:
            self.lose(context, "compaction")
        prompt = prompt_of(line, text) if words else None
        if prompt is not None:
            self._prompted(prompt, line, number)
        elif spoke:
            self.user_message(context)
        elif self._shell is not None and (printed := shell_output(text)) is not None:
            result = raw_of(printed)
            self._deliver(self._shell, result, result)
            self._shell.fields["outcome"] = "ok"
            self._shell = None

    def _result(self, block: Block, line: Line, context: str, details: Raw) -> None:
        pending = self._open_call(block.tool_use_id, context, line.source_tool_assistant_uuid)
        if pending is None:
            return
        fields = pending.fields
        name = fields["name"]
        says = outcome_of(name, block.content, block.is_error, details)
        fields["outcome"] = says.outcome
        fields["exit_code"] = says.exit_code
        fields["error"] = says.error
        fields["truncated"] = says.truncated
        fields["unchanged"] = says.unchanged
        fields["ended"] = line.timestamp
        if says.background:
            fields["background"] = True
        hashed: Raw | memoryview = block.content
        if name == "Read" and says.outcome == "ok":
            fields["delivered"] = delivered_lines(details)
            hashed = without_reminder(block.content)
        self._deliver(pending, block.content, hashed)
        if name in _AGENTS and (agent := _AGENT_ID.search(memoryview(details))):
            self._agents[agent[1].decode("utf-8", "replace")] = fields["seq"]
        if says.modified_outside:
            self.written_outside(path_argument(fields["args"]))
        if says.user_spoke or (name in PEOPLE_ANSWER and says.outcome == "ok"):
            self.user_message(context)

    def _open_call(self, call_id: str | None, context: str, asked_in: str | None) -> Pending | None:
        candidates = [
            call
            for call in self.calls_with(call_id)
            if call.open and call.fields["context"] == context
        ]
        if len(candidates) <= 1:
            return candidates[0] if candidates else None
        for call in candidates:
            if asked_in is not None and call.line_uuid == asked_in:
                return call
        latest = candidates[-1].message
        return next(call for call in candidates if call.message == latest)

    @staticmethod
    def _deliver(pending: Pending, result: Raw, hashed: Raw | memoryview) -> None:
        if not memoryview(result):
            # A result block without content: the tool answered with nothing.
            result = hashed = Raw(b'""')
        pending.fields["result"] = result
        pending.fields["result_hash"] = raw_hash(hashed)
        pending.fields["result_chars"] = raw_chars(result)

    def _prompted(self, prompt: Prompt, line: Line, number: int) -> None:
        lost = self._threads.left_behind(line)
        if lost:
            seqs = [
                call.fields["seq"]
                for call in self.calls
                if call.fields["context"] == MAIN and call.message in lost
            ]
            if seqs:
                self.events.append(ContextLoss(self.last_seq, "trim", MAIN, seqs))
        if prompt.clears:
            self.lose(MAIN, "clear")
        self.user_message(MAIN)
        if self.task is None and not prompt.clears and prompt.shell is None:
            self.task = prompt.text[:_TASK_CHARS]
        if prompt.shell is not None:
            fields = {
                "turn": self.contexts[MAIN].turn,
                "name": "Bash",
                "args": raw_of({"command": prompt.shell}),
                "origin": "user",
                "cwd": line.cwd,
            }
            self._shell = self.new_call(fields, "", line.uuid, number)

    def user_message(self, context: str) -> None:
        """A person spoke, after everything so far."""
        self.events.append(UserMessage(self.last_seq, context))

    def lose(self, context: str, kind: Any) -> None:
        """Everything delivered so far left the context."""
        state = self.contexts[context]
        if state.last_loss != self.last_seq:
            self.events.append(ContextLoss(self.last_seq, kind, context))
            state.last_loss = self.last_seq

    def written_outside(self, path: str | None) -> None:
        """Somebody else wrote this file, or any file."""
        scope = f"file:{path}" if path else harness.ANY_FILE
        self.events.append(Write(scope, self.last_seq, "external"))

    def _progress(self, line: Line, context: str, number: int, part: str | None) -> None:
        progress = line.data
        if progress is None:
            return
        if progress.type == "agent_progress" and progress.agent_id is not None:
            self._agent_said(progress, line, number, part)
        elif progress.type == "hook_progress":
            harness.hooked(
                self,
                progress.hook_event,
                progress.hook_name,
                progress.command,
                line.parent_tool_use_id,
            )

    def _system(self, line: Line, context: str, number: int, part: str | None) -> None:
        harness.system(self, line, context)

    def _queued(self, line: Line, context: str, number: int, part: str | None) -> None:
        harness.queued(self, line)

    def _attached(self, line: Line, context: str, number: int, part: str | None) -> None:
        harness.attached(self, line, context, number, part)

    def _agent_said(self, progress: Progress, line: Line, number: int, part: str | None) -> None:
        inner = agent_message_of(progress)
        if inner is None or inner.message is None or progress.agent_id is None:
            return
        if inner.uuid is not None:
            if inner.uuid in self._seen:
                return
            self._seen.add(inner.uuid)
        context = self._enter(progress.agent_id, line.parent_tool_use_id)
        line.uuid = inner.uuid
        line.timestamp = inner.timestamp or line.timestamp
        if inner.type == "assistant":
            key = inner.message.id or inner.request_id or inner.uuid or f"line {number}"
            self._answer(inner.message, key, line, context, number, part)
        elif inner.type == "user":
            self._said(inner.message, line, context, number, inner.tool_use_result)

    # The end

    def trace(self, problems: list[Problem]) -> Trace:
        """Everything taken so far as a trace."""
        for name, state in self.contexts.items():
            if state.place is not None:
                self.events[state.place] = self._started(name, state)
            for key, (place, usage, model) in state.requests.items():
                self.events[place] = Request(state.turns[key], name, model, usage_of(usage))
        for call in self.calls:
            self.events[call.place] = Call(**call.fields)
        return Trace(
            run=self.run or self.source,
            events=[event for event in self.events if event is not None],
            task=self.task,
            model=self.model,
            source=self.source,
            format=FORMAT,
            harness=FORMAT,
            lines=self.lines,
            paths=self.paths,
            problems=problems,
        )

    def _started(self, name: str, state: Context) -> ContextStart:
        parent = self._agents.get(name)
        if parent is None and (calls := self._by_id.get(state.parent_tool or "")):
            parent = calls[-1].fields["seq"]
        fields = self.calls[parent].fields if parent is not None else {}
        args = fields.get("args", EMPTY)
        return ContextStart(
            name,
            parent,
            inherits=bool(_FORK_ARG.search(memoryview(args))),
            background=bool(fields.get("background", False)),
            model=state.model,
        )
