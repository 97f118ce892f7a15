"""SWE-agent trajectories (`*.traj`), 0.x with text actions and 1.x with tool calls.

Sniff: a document with `trajectory` and `history`, or a `trajectory` whose steps have `action` and
`observation`.

- Turn and call: a step with a non-empty action, so `seq` counts those steps. Context: `main`.
- Name and arguments: the native tool call in `history`, where the step has one; else SWE-agent's
  own commands (`open`, `edit`, `search_dir`, `str_replace_editor`, …) by their positions, and
  every other action as `bash` with `command`.
- Outcomes: read from the observation's fixed sentences (timeouts, blocked commands, refused
  edits); all else is ok. `cwd` is the working directory of the shell, where the states before and
  after agree.
- Delivered lines: "(N more lines above)" and "(N more lines below)" around an open file.
- Context loss: a history processor that keeps the last N observations evicts one before each
  step, the older ones become "Old environment output: (N lines omitted)". N comes from
  `replay_config`, else from the last step's own prompt. `query` and `messages`, which repeat the
  history, are not decoded otherwise.
- Truncation: "<response clipped>" or elided characters in what `history` gave the model.

What the format cannot tell: exit codes, times, usage by request, the argument text of 0.x.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers.blocks import beginning, raw_of, starts_with, whole_text
from refetch.readers.json_records import Lenient, mapping, parts, plain
from refetch.readers.openai_chat import arguments_of
from refetch.readers.sniff import Sniffed, document_of, elements, keys_of, members, small_text
from refetch.readers.swe_agent_commands import own_command
from refetch.readers.trace_builder import OpenCall, TraceBuilder

NAME = "swe-agent"
_WINDOW_TOOLS = frozenset(("open", "goto", "scroll_up", "scroll_down"))
_EVICTED = b"Old environment output: ("
_ELIDED = (b"<response clipped>", b"characters were elided", b"(Open file: n/a) clipped")
_ABOVE = re.compile(r"\((\d{1,9}) more lines? above\)")
_BELOW = re.compile(r"\((\d{1,9}) more lines? below\)")
_OPEN_FILE = re.compile(r"\[File: [^\n]{1,400} \((\d{1,9}) lines total\)\]")
_OUTCOMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), outcome)
    for pattern, outcome in (
        (
            r"\s*EXECUTION TIMED OUT|\s*The command .{0,400}? was cancelled because it took",
            "timeout",
        ),
        (r"\s*COMMAND FAILED TO EXECUTE|\s*EXECUTION FAILED", "unknown"),
        (r"\s*Operation '.{0,80}' is not supported", "not-executed"),
        (r"\s*(?:Your bash command|The command you provided) .{0,40}syntax error", "not-executed"),
        (r"\s*Your proposed edit has introduced new syntax error", "error"),
        (r"\s*Your edit was not applied|\s*No replacement was performed", "error"),
        (r"\s*Exit(?:ed)? due to", "unknown"),
    )
)


class _Step(msgspec.Struct, gc=False):
    action: str | None = None
    observation: Raw = Raw()
    state: Raw = Raw()
    query: Raw = Raw()
    messages: Raw = Raw()


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Raw = Raw()


class _ToolCall(msgspec.Struct, gc=False):
    id: str | None = None
    function: _Function | None = None


class _Entry(msgspec.Struct, gc=False):
    role: str = ""
    content: Raw = Raw()
    action: str | None = None
    is_demo: bool = False
    tool_calls: list[_ToolCall] | None = None


_step = Lenient(_Step)
_entry = Lenient(_Entry)


def sniff(sniffed: Sniffed) -> bool:
    """True for a trajectory document."""
    if not sniffed.has("trajectory"):
        return False
    if "history" in sniffed.document:
        return True
    first = elements(sniffed.document["trajectory"], 1)
    return bool(first) and {"action", "observation"} <= set(keys_of(first[0]))


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a trajectory file.

    Raises:
        InputError: there is no list of steps.
    """
    document = document_of(data)
    steps = _step.decode_list(document.get("trajectory"))
    if not steps and not elements(document.get("history")):
        raise InputError(
            source, "no steps", path="$.trajectory", expected="a list of steps", found="none"
        )
    return [_Reading(source, document).read(steps, _EVICTED in data)]


class _Reading:
    def __init__(self, source: str, document: dict[str, Raw]) -> None:
        self.build = TraceBuilder(source, NAME, NAME)
        info = members(document.get("info"))
        self.build.run = small_text(info.get("instance_id"))
        self.config = _config_of(document.get("replay_config"))
        agent = self.config.get("agent")
        model = agent.get("model") if isinstance(agent, dict) else None
        name = model.get("name") if isinstance(model, dict) else None
        self.build.model = name if isinstance(name, str) else None
        entries = _entry.decode_list(document.get("history"))
        self.history = [entry for entry in entries if entry is not None and not entry.is_demo]
        self.at = 0
        self.directory: str | None = None

    def read(self, steps: list[_Step | None], evicts: bool) -> Trace:
        """Take all steps in order."""
        task = next((entry for entry in self.history if entry.role == "user"), None)
        if task is not None:
            self.build.user_message(whole_text(task.content))
        keeps = self._observations_kept([s for s in steps if s is not None], evicts)
        seqs: list[int | None] = []
        for index, step in enumerate(steps):
            path = f"$.trajectory[{index}]"
            if step is None:
                self.build.problems.append(
                    Problem(self.build.source, "not a step", None, path, "an object")
                )
                continue
            self.build.begin_turn(model=self.build.model)
            if keeps is not None and len(seqs) > keeps:
                gone = seqs[len(seqs) - keeps - 1]
                if gone is not None:
                    self.build.lose("eviction", lost=[gone])
            seqs.append(self._take(step, path))
        return self.build.trace()

    def _take(self, step: _Step, path: str) -> int | None:
        before, after = self.directory, _directory_of(step.state)
        self.directory = after
        if step.action is None or not step.action.strip():
            return None
        if before is None and not re.search(r"\bcd\b", step.action):
            before = after
        entry, shown = self._in_history(step.action)
        fields: dict[str, Any] = {"cwd": after if before == after else None}
        asked = (entry.tool_calls or [None])[0] if entry else None  # type: ignore[list-item]
        if asked is not None and asked.function is not None and asked.function.name:
            args, fields["raw_args"] = arguments_of(asked.function.arguments)
            call = self.build.call(asked.function.name, args, call_id=asked.id, path=path, **fields)
        else:
            name, values = own_command(step.action)
            call = self.build.call(name, raw_of(values), path=path, **fields)
        _answer(call, step.observation, shown)
        return call.seq

    def _in_history(self, action: str) -> tuple[_Entry | None, Raw | None]:
        """The message that asked for this action, and what the model was shown of the result."""
        for index in range(self.at, len(self.history)):
            entry = self.history[index]
            if entry.role == "assistant" and entry.action == action:
                self.at = index + 1
                following = self.history[self.at] if self.at < len(self.history) else None
                told = following is not None and following.role in ("user", "tool")
                return entry, following.content if following is not None and told else None
        return None, None

    def _observations_kept(self, steps: list[_Step], evicts: bool) -> int | None:
        """How many observations the model still saw at each step; None where it saw all."""
        if not evicts:
            return _configured(self.config)
        for index in range(len(steps) - 1, -1, -1):
            step = steps[index]
            shown = parts(step.query) or parts(step.messages)
            if shown:
                gone = sum(
                    starts_with(members(message).get("content", Raw()), _EVICTED)
                    for message in shown
                )
                return index - gone if gone else None
        return _configured(self.config)


def _answer(call: OpenCall, observation: Raw, shown: Raw | None) -> None:
    if not memoryview(observation) or bytes(observation) == b"null":
        return
    text = beginning(observation, 600)
    for pattern, outcome in _OUTCOMES:
        if pattern.match(text):
            call.answer(observation, outcome, error=text[:200])
            return
    cut = _is_cut(observation) or (shown is not None and _is_cut(shown))
    looks = call.fields["name"] in _WINDOW_TOOLS and not cut
    call.answer(observation, "ok", truncated=cut, delivered=_window(observation) if looks else None)


def _is_cut(text: Raw) -> bool:
    data = bytes(text)
    return any(words in data for words in _ELIDED)


def _window(observation: Raw) -> Any:
    """The lines of an open file that the observation shows."""
    if not starts_with(observation, b"[File: "):
        return None
    text = whole_text(observation)
    head = _OPEN_FILE.match(text)
    if head is None:
        return None
    above, below = _ABOVE.search(text), _BELOW.search(text)
    total = int(head[1])
    first = int(above[1]) + 1 if above else 1
    last = total - int(below[1]) if below else None
    if first == 1 and last is None:
        return "all"
    return {"unit": "line", "from": first, "to": last} if last is None or last >= first else None


def _directory_of(state: Raw) -> str | None:
    value = plain(state)
    if isinstance(value, str):
        value = mapping(Raw(value.encode("utf-8", "surrogatepass")))
    folder = value.get("working_dir") if isinstance(value, dict) else None
    return folder if isinstance(folder, str) and folder else None


def _config_of(raw: Raw | None) -> dict[str, Any]:
    value = plain(raw)
    if isinstance(value, str):
        return mapping(Raw(value.encode("utf-8", "surrogatepass")))
    return value if isinstance(value, dict) else {}


def _configured(config: dict[str, Any]) -> int | None:
    agent = config.get("agent")
    processors = agent.get("history_processors") if isinstance(agent, dict) else None
    for processor in processors if isinstance(processors, list) else []:
        if isinstance(processor, dict) and processor.get("type") == "last_n_observations":
            count = processor.get("n")
            return count if isinstance(count, int) and count > 0 else None
    return None
