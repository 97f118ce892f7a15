"""Inspect AI logs: `.eval` (a ZIP archive with `samples/*.json`) and `.json` (one document).

Sniff: a ZIP archive that begins with `_journal/` or `header.json`; a document with `eval`,
`status` and `samples` (or a `task` in `eval`).

- Run: `ID|epoch=E`; each sample and epoch is a trace. Turn: an assistant message. Context:
  `main`.
- Calls: `messages[].tool_calls`; results: `role: tool` messages, by id, else in order. Text that
  stands in `attachments` is put back.
- Outcomes: no `error` is ok; `timeout`; `parsing` never ran; `approval` was rejected; every other
  kind of error is an error.
- Times: from the `tool` event of the call. Usage: from the `model` event of the answer.
- Context loss: none (a log keeps all messages).

What the format cannot tell: arguments as sent, truncation. Agents that ran as tools have
histories of their own in `events`; they are part of the call that started them.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.trace import Problem, Trace
from refetch.readers import decompress
from refetch.readers.blocks import NULL
from refetch.readers.json_records import Lenient, mapping, plain
from refetch.readers.sniff import Sniffed, document_of, elements, keys_of, members
from refetch.readers.trace_builder import TraceBuilder

NAME = "inspect-ai"
_REFERENCE = b'"attachment://'
_OUTCOMES = {"timeout": "timeout", "parsing": "not-executed", "approval": "rejected"}
_HEADERS = ("header.json", "_journal/start.json")
_FIRST_MEMBERS = (b"_journal/", b"header.json")
_ZIP_NAME = 30  # where the name of the first member stands


class _ToolCall(msgspec.Struct, gc=False):
    id: str | None = None
    function: str | None = None
    arguments: Raw = Raw()


class _Error(msgspec.Struct, gc=False):
    type: str = ""
    message: str = ""


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    id: str | None = None
    content: Raw = Raw()
    model: str | None = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None
    error: _Error | None = None


class _Choice(msgspec.Struct, gc=False):
    message: _Message | None = None


class _Output(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: Raw = Raw()


class _Event(msgspec.Struct, gc=False):
    event: str = ""
    id: str | None = None
    timestamp: str | None = None
    completed: str | None = None
    output: Raw = Raw()


class _Sample(msgspec.Struct, gc=False):
    id: Raw = Raw()
    epoch: Raw = Raw()
    messages: Raw = Raw()
    events: Raw = Raw()
    attachments: Raw = Raw()


_sample = Lenient(_Sample)
_message = Lenient(_Message)
_event = Lenient(_Event)
_output = Lenient(_Output)


def sniff(sniffed: Sniffed) -> bool:
    """True for a log document, and for an archive whose first member is a log's journal."""
    if sniffed.shape == "zip":
        return sniffed.head[_ZIP_NAME:].startswith(_FIRST_MEMBERS)
    if sniffed.shape == "object":
        document = sniffed.document
        if "eval" not in document or "status" not in document:
            return False
        return "samples" in document or "task" in keys_of(document["eval"])
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """One trace for each sample and epoch, in the log's order.

    Raises:
        InputError: no sample could be read.
    """
    problems: list[Problem] = []
    if data.startswith(b"PK\x03\x04"):
        samples, model = _from_archive(data, source, problems)
    else:
        document = document_of(data)
        model = _model_of(document)
        samples = [
            (f"$.samples[{index}]", raw)
            for index, raw in enumerate(elements(document.get("samples")))
        ]
    traces = []
    for path, raw in samples:
        sample = _sample.decode(raw)
        if sample is None:
            problems.append(Problem(source, "not a sample", None, path, "an object"))
        else:
            traces.append(_trace(sample, path, source, model))
    if not traces:
        raise InputError(
            source,
            problems[0].message if problems else "no samples",
            path=problems[0].path if problems else None,
            expected="a log with samples",
        )
    traces[0].problems.extend(problems)
    return traces


def _model_of(document: dict[str, Raw]) -> str | None:
    model = mapping(document.get("eval")).get("model")
    return model if isinstance(model, str) else None


def _from_archive(
    data: bytes, source: str, problems: list[Problem]
) -> tuple[list[tuple[str, Raw]], str | None]:
    samples: list[tuple[str, Raw]] = []
    model = None
    try:
        for member, content in decompress.members(data, source):
            name = member.removeprefix(f"{source}::")
            if not isinstance(content, bytes):
                told = content.message if isinstance(content, InputError) else str(content)
                problems.append(Problem(member, told))
            elif name.startswith("samples/") and name.endswith(".json"):
                samples.append((name, Raw(content)))
            elif name in _HEADERS:
                model = _model_of(members(Raw(content))) or model
    except InputError as error:
        # What was unpacked before the damage counts.
        problems.append(Problem(error.source, error.message, expected=error.expected))
    return samples, model


def _trace(sample: _Sample, path: str, source: str, model: str | None) -> Trace:
    build = TraceBuilder(source, NAME)
    build.run = f"{plain(sample.id)}|epoch={plain(sample.epoch)}"
    build.model = model
    attachments = members(sample.attachments)
    times, usages = _from_events(sample.events)
    for index, message in enumerate(_message.decode_list(sample.messages)):
        place = f"{path}.messages[{index}]" if path.startswith("$") else f"$.messages[{index}]"
        if message is None:
            build.problems.append(Problem(source, "not a message", None, place, "an object"))
        elif message.role == "assistant":
            build.begin_turn(model=message.model or model, usage=usages.get(message.id or "", {}))
            for number, asked in enumerate(message.tool_calls or ()):
                started, ended = times.get(asked.id or "", (None, None))
                build.call(
                    asked.function or "",
                    asked.arguments if memoryview(asked.arguments) else NULL,
                    call_id=asked.id,
                    path=f"{place}.tool_calls[{number}]",
                    started=started,
                    ended=ended,
                )
        elif message.role == "tool":
            _answer(build, message, attachments)
        elif message.role == "user":
            build.user_message(_restored(message.content, attachments))
    return build.trace()


def _answer(build: TraceBuilder, message: _Message, attachments: dict[str, Raw]) -> None:
    call = build.waiting(message.tool_call_id)
    if call is None:
        return
    content = _restored(message.content, attachments)
    if message.error is None:
        call.answer(content)
        return
    outcome = _OUTCOMES.get(message.error.type, "error")
    call.answer(content, outcome, error=f"{message.error.type}: {message.error.message}"[:200])


def _restored(content: Raw, attachments: dict[str, Raw]) -> Raw:
    """The text that a content refers to, where it is nothing but a reference."""
    view = memoryview(content)
    if not attachments or bytes(view[: len(_REFERENCE)]) != _REFERENCE:
        return content
    key = bytes(view[len(_REFERENCE) : -1]).decode("ascii", "replace")
    return attachments.get(key, content)


def _from_events(
    raw: Raw,
) -> tuple[dict[str, tuple[str | None, str | None]], dict[str, dict[str, Any]]]:
    """(started and ended by call id, usage by the id of the model's message)."""
    times: dict[str, tuple[str | None, str | None]] = {}
    usages: dict[str, dict[str, Any]] = {}
    reused: set[str] = set()
    for event in _event.decode_list(raw):
        if event is None:
            continue
        if event.event == "tool" and event.id is not None:
            if event.id in times:
                reused.add(event.id)
            times[event.id] = (event.timestamp, event.completed)
        elif event.event == "model":
            output = _output.decode(event.output)
            for choice in (output.choices if output else None) or ():
                if choice.message is not None and choice.message.id is not None and output:
                    usages[choice.message.id] = mapping(output.usage)
    for call_id in reused:
        del times[call_id]  # which of the calls ran when, nobody can tell
    return times, usages
