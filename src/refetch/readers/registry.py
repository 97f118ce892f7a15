"""The one list of trace formats, and the way from bytes to traces.

A built-in reader is a module of this package with two functions:

    def sniff(sniffed: Sniffed) -> bool: ...            # is this input mine? by content alone
    def read(data: bytes, source: str) -> list[Trace]: ...

To add one, write the module and add its line to `READERS`. Other packages add readers through the
entry point group `refetch.readers`: the entry point's name is the format's name, its object has
`title`, `sniff` and `read`. Plug-ins are asked only where no built-in reader claims the input, or
where they are named.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

import msgspec

from refetch.model.errors import InputError, RefetchError, UsageError, nearest
from refetch.model.trace import Call, Trace
from refetch.readers.blocks import one_line
from refetch.readers.sniff import (
    Sniffed,
    broken_array,
    forget,
    normalized_text,
    sniff_bytes,
    sniffed_lines,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PLUGIN_GROUP = "refetch.readers"
_KEYS_SHOWN = 12
# The encoder leaves out a field only where it is the default object itself.
_UNSAID = Call(0, 0, "")


class Reader(Protocol):
    """One trace format.

    `sniff` says whether an input is of this format. `read` returns the traces in it and raises
    `InputError` where there is nothing to read; broken parts of a readable input become
    `Trace.problems`.
    """

    @property
    def name(self) -> str:
        """What `--input-format` and `Trace.format` call it."""
        ...

    @property
    def title(self) -> str:
        """What people call it: "Claude Code session"."""
        ...

    def sniff(self, sniffed: Sniffed, /) -> bool:
        """True if the input is of this format."""
        ...

    def read(self, data: bytes, source: str, /) -> list[Trace]:
        """The traces in the input."""
        ...


class BuiltIn(msgspec.Struct, frozen=True):
    """A reader of this package; its module is imported when it is first asked."""

    name: str
    title: str
    module: str

    def sniff(self, sniffed: Sniffed) -> bool:
        """See `Reader`."""
        return bool(import_module(self.module).sniff(sniffed))

    def read(self, data: bytes, source: str) -> list[Trace]:
        """See `Reader`."""
        traces: list[Trace] = import_module(self.module).read(data, source)
        return traces


class PlugIn(msgspec.Struct, frozen=True):
    """A reader of another package, as its entry point names it."""

    name: str
    title: str
    target: Reader

    def sniff(self, sniffed: Sniffed) -> bool:
        """See `Reader`."""
        return bool(self.target.sniff(sniffed))

    def read(self, data: bytes, source: str) -> list[Trace]:
        """See `Reader`."""
        return self.target.read(data, source)


_HERE = "refetch.readers"
# In the order in which they are asked: the most specific mark first, generic message lists last.
READERS: tuple[BuiltIn, ...] = (
    BuiltIn("native", "refetch trace", f"{_HERE}.native"),
    BuiltIn("claude-code", "Claude Code session", f"{_HERE}.claude_code"),
    BuiltIn("mini-swe-agent", "mini-swe-agent trajectory", f"{_HERE}.mini_swe_agent"),
    BuiltIn("tau-bench", "tau-bench results", f"{_HERE}.tau_bench"),
    BuiltIn("tau2-bench", "tau2-bench results", f"{_HERE}.tau2"),
    BuiltIn("codex-cli", "Codex rollout", f"{_HERE}.codex"),
    BuiltIn("codex-exec", "codex exec --json", f"{_HERE}.codex_exec"),
    BuiltIn("pi", "pi session", f"{_HERE}.pi"),
    BuiltIn("swe-agent", "SWE-agent trajectory", f"{_HERE}.swe_agent"),
    BuiltIn("gemini-cli", "Gemini CLI conversation", f"{_HERE}.gemini_cli"),
    BuiltIn("atif", "Agent Trajectory Interchange Format", f"{_HERE}.atif"),
    BuiltIn("inspect-ai", "Inspect AI log", f"{_HERE}.inspect_ai"),
    BuiltIn("langfuse", "Langfuse trace", f"{_HERE}.langfuse"),
    BuiltIn("otel-genai", "OpenTelemetry GenAI spans (OTLP JSON)", f"{_HERE}.otel_genai"),
    BuiltIn("otlp-protobuf", "OpenTelemetry GenAI spans (protobuf)", f"{_HERE}.otlp_protobuf"),
    BuiltIn("openhands", "OpenHands events", f"{_HERE}.openhands"),
    BuiltIn("google-adk", "Google ADK events", f"{_HERE}.google_adk"),
    BuiltIn("pydantic-ai", "Pydantic AI message history", f"{_HERE}.pydantic_ai"),
    BuiltIn("langsmith", "LangSmith runs", f"{_HERE}.langsmith"),
    BuiltIn("opencode", "opencode session", f"{_HERE}.opencode"),
    BuiltIn("goose", "Goose session or database", f"{_HERE}.goose"),
    BuiltIn("cline", "Cline or Roo Code task", f"{_HERE}.cline"),
    BuiltIn("mcp-log", "MCP JSON-RPC log", f"{_HERE}.mcp_log"),
    BuiltIn("openai-responses", "OpenAI Responses items", f"{_HERE}.openai_responses"),
    BuiltIn("vercel-ai", "Vercel AI SDK messages", f"{_HERE}.vercel_ai"),
    BuiltIn("langchain", "LangChain messages", f"{_HERE}.langchain"),
    BuiltIn("anthropic-messages", "Anthropic messages", f"{_HERE}.anthropic_messages"),
    BuiltIn("openai-chat", "OpenAI chat messages", f"{_HERE}.openai_chat"),
)


def _points() -> list[EntryPoint]:
    """What installed packages offer; looked up late, since it costs a third of the start-up."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=PLUGIN_GROUP), key=lambda point: point.name)


def plugins() -> tuple[PlugIn, ...]:
    """The readers that installed packages offer, by name.

    Raises:
        UsageError: a plug-in cannot be loaded or is no reader.
    """
    found: list[PlugIn] = []
    for point in _points():
        try:
            target = point.load()
        except Exception as error:
            raise UsageError(
                f"reader plug-in {point.name!r} ({point.value}) cannot be loaded: {error}"
            ) from error
        if not (
            callable(getattr(target, "sniff", None)) and callable(getattr(target, "read", None))
        ):
            raise UsageError(
                f"reader plug-in {point.name!r} ({point.value}) has no sniff() and read()"
            )
        found.append(PlugIn(point.name, str(getattr(target, "title", point.name)), target))
    return tuple(found)


def format_names() -> list[str]:
    """Every known format, plug-ins last."""
    return [reader.name for reader in READERS] + [point.name for point in _points()]


def reader_named(name: str) -> Reader:
    """The reader of a format.

    Raises:
        UsageError: no such format; the message lists the known ones.
    """
    for built_in in READERS:
        if built_in.name == name:
            return built_in
    for plugin in plugins():
        if plugin.name == name:
            return plugin
    near = nearest(name, format_names())
    hint = f"did you mean {near}?" if near else f"known: {', '.join(format_names())}"
    raise UsageError(f"unknown input format {name!r}; {hint}")


def claim(sniffed: Sniffed) -> Reader | None:
    """The first reader that takes the input for its own, or None."""
    for built_in in READERS:
        if built_in.sniff(sniffed):
            return built_in
    for plugin in plugins():
        if plugin.sniff(sniffed):
            return plugin
    return None


def read_bytes(data: bytes, source: str = "-", input_format: str | None = None) -> list[Trace]:
    """Read the traces in `data`.

    Args:
        data: the input, uncompressed.
        source: what errors and traces call it.
        input_format: a reader's name; None finds it by content.

    Raises:
        InputError: unknown format (the message lists the known ones and the first keys found),
            nothing readable in it, or a reader that failed on it.
        UsageError: no reader has the name `input_format`.
    """
    data = normalized_text(data)
    if input_format is not None:
        return _read_with(reader_named(input_format), data, source)
    try:
        sniffed = sniff_bytes(data)
        reader = claim(sniffed)
        if reader is None:
            raise unknown_format(sniffed, source, empty=not data.strip())
        return _read_with(reader, data, source, one_line_each=sniffed.shape == "lines")
    except InputError:
        if (why := broken_array(data)) is None:
            raise
        # Only the first elements were looked at so far.
        raise unknown_format(sniffed_lines(data, why), source) from None
    finally:
        forget()


def _read_with(
    reader: Reader, data: bytes, source: str, *, one_line_each: bool = False
) -> list[Trace]:
    collects = gc.isenabled()
    gc.disable()  # many objects that stay, and no cycles: a search for garbage finds nothing
    try:
        traces = reader.read(data, source)
        spread = not one_line_each and b"\n" in data
        for trace in traces:
            _settle(trace, spread)
    except RefetchError:
        raise
    except Exception as error:
        # A person's file must never end in a traceback; the cause stays attached for a bug report.
        what = type(error).__name__
        raise InputError(
            source, f"the {reader.name} reader failed on this input ({what}: {error})"
        ) from error
    finally:
        if collects:
            gc.enable()
    return traces


def _settle(trace: Trace, spread: bool) -> None:
    """Give JSON text the form in which it can be written: on one line, left out where empty.

    The native format and the JSON Lines reports write this text as it is, one event a line. Only an
    indented document (`spread`) can hold text that runs over lines.
    """
    for event in trace.events:
        if type(event) is not Call:
            continue
        args, result = event.args, event.result
        if not len(args):
            args = _UNSAID.args
        elif spread:
            args = one_line(args)
        if not len(result):
            result = _UNSAID.result
        elif spread:
            result = one_line(result)
        if args is not event.args or result is not event.result:
            msgspec.structs.force_setattr(event, "args", args)
            msgspec.structs.force_setattr(event, "result", result)


class UnknownFormatError(InputError):
    """No reader claims the input; inside a folder such a file is skipped."""


def unknown_format(sniffed: Sniffed, source: str, *, empty: bool = False) -> UnknownFormatError:
    """The error for an input that no reader claims: what was found, and what is known."""
    known = ", ".join(format_names())
    keys = sniffed.first_keys
    if empty:
        found = "nothing"
        message = "empty input"
    elif sniffed.shape == "sqlite":
        found = f"a SQLite database with {_shown('tables', list(sniffed.tables))}"
        message = f"no known trace format: {found}; known: {known}"
    elif keys:
        kind = {"lines": "JSON Lines", "array": "a JSON array"}.get(sniffed.shape, "a JSON object")
        found = f"{kind} with {_shown('keys', keys)}"
        message = f"no known trace format: {found}; known: {known}"
    elif sniffed.error is not None:
        found = "broken JSON"
        message = f"no known trace format: not valid JSON ({sniffed.error}); known: {known}"
    elif _is_prose(sniffed.head):
        found = "plain text"
        message = f"a text log, which holds no structured tool calls; known formats: {known}"
    else:
        found = repr(bytes(sniffed.head[:16]))
        message = f"no known trace format: begins with {found}; known: {known}"
    return UnknownFormatError(source, message, expected=f"one of: {known}", found=found)


def _shown(what: str, names: list[str]) -> str:
    more = ", …" if len(names) > _KEYS_SHOWN else ""
    return f"{what} {', '.join(names[:_KEYS_SHOWN])}{more}" if names else f"no readable {what}"


def _is_prose(head: bytes) -> bool:
    """Whether bytes are letters that a person could read (the last one may be cut)."""
    text = head.decode("utf-8", "ignore")
    whole = len(text.encode()) > len(head) - 4
    return len(text) > 2 and whole and "".join(text.split()).isprintable()
