"""What the attributes of a span say about a call or a model request.

Reads the GenAI conventions of OpenTelemetry, OpenInference, and the names that frameworks used
before or beside them (Logfire, Google ADK, Vercel AI SDK, Traceloop, Langfuse, LangSmith).
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw

from refetch.readers.blocks import EMPTY, parsed_args, raw_of
from refetch.readers.json_records import plain
from refetch.readers.span_tree import Asked, Span, Told

TOOL_NAMES = (
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "mcp.tool.name",
    "traceloop.entity.name",
)
TOOL_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "ai.toolCall.input",
    "tool.parameters",
    "input.value",
    "traceloop.entity.input",
    "langfuse.observation.input",
)
TOOL_RESULTS = (
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "output.value",
    "traceloop.entity.output",
    "langfuse.observation.output",
)
CALL_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id")
OUTPUTS = (
    "gen_ai.output.messages",
    "ai.response.toolCalls",
    "langfuse.observation.output",
    "output.value",
)
INPUTS = (
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "langfuse.observation.input",
    "input.value",
)
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")
SESSIONS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id")
_FLAT = re.compile(
    r"(?P<list>llm\.(?:output|input)_messages|gen_ai\.(?:completion|prompt))\.(?P<message>\d+)"
    r"\.(?:message\.)?(?P<field>.+)"
)
_FLAT_CALL = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_OPERATIONS = {
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "other",
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
}
_KINDS = {
    "tool": "tool",
    "llm": "model",
    "generation": "model",
    "agent": "agent",
}
_KIND_KEYS = (
    "openinference.span.kind",
    "traceloop.span.kind",
    "langsmith.span.kind",
    "langfuse.observation.type",
)
_PREFIXES = ("execute_tool ", "running tool: ", "tool: ")
_DEPTH = 8


def kind_of(attributes: dict[str, Any]) -> str:
    """tool, model, agent or other."""
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _OPERATIONS:
        return _OPERATIONS[operation]
    for key in _KIND_KEYS:
        value = attributes.get(key)
        if isinstance(value, str) and value.lower() in _KINDS:
            return _KINDS[value.lower()]
    if "ai.toolCall.name" in attributes or attributes.get("mcp.method.name") == "tools/call":
        return "tool"
    if "gen_ai.tool.name" in attributes and not isinstance(operation, str):
        return "tool"
    step = attributes.get("ai.operationId")
    if isinstance(step, str):
        return "model" if step.endswith((".doGenerate", ".doStream")) else "agent"
    if "gen_ai.request.model" in attributes and not isinstance(operation, str):
        return "model"
    return "other"


def describe(span: Span, attributes: dict[str, Any]) -> None:
    """Fill in what the attributes say, for a span whose `kind` is known."""
    span.session = _text(attributes, SESSIONS)
    span.node = span.node or "langgraph_node" in str(attributes.get("metadata", ""))
    if span.kind == "tool":
        describe_tool(span, attributes)
    elif span.kind == "model":
        describe_model(span, attributes)


def describe_tool(span: Span, attributes: dict[str, Any]) -> None:
    """Name, arguments and result of a tool span."""
    name = _text(attributes, TOOL_NAMES)
    if name is None:
        name = span.name
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
    span.name = name
    span.call_id = _text(attributes, CALL_IDS)
    sent = _first(attributes, TOOL_ARGUMENTS)
    if sent is not None and not memoryview(span.args):
        span.args, span.raw_args = arguments(sent)
    result = _first(attributes, TOOL_RESULTS)
    if result is not None and not memoryview(span.result):
        span.result = raw_of(result)
    kind = _text(attributes, ("error.type", "exception.type"))
    if kind is not None:
        span.failed, span.error = True, span.error or kind


def describe_model(span: Span, attributes: dict[str, Any]) -> None:
    """Model, usage, calls asked for and results shown."""
    span.model = _text(attributes, MODELS) or span.model
    span.usage = span.usage or usage_of(attributes)
    flat = _unflattened(attributes)
    outputs = [flat.get("llm.output_messages"), flat.get("gen_ai.completion")]
    outputs += [structure(attributes.get(key)) for key in OUTPUTS]
    for output in outputs:
        if not span.asked:
            span.asked = asked_in(output)
    inputs = [flat.get("llm.input_messages"), flat.get("gen_ai.prompt")]
    inputs += [structure(attributes.get(key)) for key in INPUTS]
    for prompt in inputs:
        if prompt is not None and not span.told and not span.people:
            span.told, span.people = told_in(prompt), people_in(prompt)


def usage_of(attributes: dict[str, Any]) -> dict[str, Any]:
    """Token counts by the names that the conventions give them, without prefix."""
    usage: dict[str, Any] = {}
    for prefix in ("gen_ai.usage.", "llm.token_count.", "ai.usage."):
        for key, value in attributes.items():
            if key.startswith(prefix) and isinstance(value, (int, float)):
                usage.setdefault(key.removeprefix(prefix), value)
    return usage


def arguments(sent: Any) -> tuple[Raw, str | None]:
    """(`args`, `raw_args`) of arguments that are a text or decoded data."""
    if isinstance(sent, str):
        return parsed_args(sent), sent
    return raw_of(sent), None


def structure(value: Any) -> Any:
    """Decoded JSON where the value is a text that holds an object or a list."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return plain(Raw(value.encode("utf-8", "surrogatepass")))
    return value


def asked_in(value: Any, depth: int = 0) -> list[Asked]:
    """The calls in a model's answer, in any of the usual message forms."""
    found: list[Asked] = []
    if depth > _DEPTH:
        return found
    if isinstance(value, list):
        for item in value:
            found += asked_in(item, depth + 1)
    elif isinstance(value, dict):
        call = _call_in(value)
        if call is not None:
            return [call]
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                found += asked_in(inner, depth + 1)
    return found if depth else _each_once(found)


def _each_once(calls: list[Asked]) -> list[Asked]:
    """Some messages hold their calls twice, in their content and beside it."""
    kept: list[Asked] = []
    seen: set[str] = set()
    for call in calls:
        if call.call_id is None or call.call_id not in seen:
            kept.append(call)
        if call.call_id is not None:
            seen.add(call.call_id)
    return kept


def _call_in(value: dict[str, Any]) -> Asked | None:
    kind = value.get("type")
    function = value.get("function")
    if isinstance(function, dict) and isinstance(function.get("name"), str):
        name, sent, key = function["name"], function.get("arguments"), value.get("id")
    elif kind in ("tool_call", "tool_use", "function_call", "tool-call"):
        name = value.get("name", value.get("toolName"))
        sent = next((value[k] for k in ("arguments", "input", "args") if k in value), None)
        key = next((value[k] for k in ("call_id", "id", "toolCallId") if value.get(k)), None)
    elif isinstance(value.get("toolName"), str) and "toolCallId" in value:
        name, key = value["toolName"], value["toolCallId"]
        sent = value.get("input", value.get("args"))
    else:
        return None
    if not isinstance(name, str):
        return None
    args, raw_args = (EMPTY, None) if sent is None else arguments(sent)
    return Asked(key if isinstance(key, str) else None, name, args, raw_args)


def told_in(value: Any, depth: int = 0) -> list[Told]:
    """The results in a model's prompt."""
    found: list[Told] = []
    if depth > _DEPTH:
        return found
    if isinstance(value, list):
        for item in value:
            found += told_in(item, depth + 1)
    elif isinstance(value, dict):
        key = next(
            (value[k] for k in ("tool_call_id", "tool_use_id", "call_id") if k in value),
            value.get("id") if value.get("type") == "tool_call_response" else None,
        )
        names = ("response", "result", "content", "output")
        answer = next((value[k] for k in names if value.get(k) is not None), None)
        if isinstance(key, str) and answer is not None and "arguments" not in value:
            return [Told(key, raw_of(answer))]
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                found += told_in(inner, depth + 1)
    return found


def people_in(prompt: Any) -> int:
    """How many user messages with words a prompt holds."""
    if isinstance(prompt, dict):
        listed = prompt.get("messages", prompt.get("input"))
        prompt = listed if isinstance(listed, list) else [prompt]
    if not isinstance(prompt, list):
        return 0
    return sum(1 for message in prompt if isinstance(message, dict) and _is_person(message))


def _is_person(message: dict[str, Any]) -> bool:
    path, inner = message.get("id"), message.get("kwargs")
    if isinstance(path, list) and isinstance(inner, dict):  # as LangChain writes its messages
        return path[-1:] == ["HumanMessage"] and _has_words(inner.get("content"))
    person = message.get("role") == "user" or message.get("type") == "human"
    return person and _has_words(message.get("content", message.get("parts")))


def _has_words(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return isinstance(content, list) and any(
        isinstance(part, str) or (isinstance(part, dict) and "text" in (part.get("type"), *part))
        for part in content
    )


def _unflattened(attributes: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Messages that are spelt as `PREFIX.N.message.FIELD` attributes."""
    messages: dict[str, dict[int, dict[str, Any]]] = {}
    calls: dict[tuple[str, int], dict[int, dict[str, Any]]] = {}
    for key, value in attributes.items():
        flat = _FLAT.match(key)
        if flat is None:
            continue
        number = int(flat["message"])
        message = messages.setdefault(flat["list"], {}).setdefault(number, {})
        call = _FLAT_CALL.match(flat["field"])
        if call is None:
            message[flat["field"]] = value
        else:
            listed = calls.setdefault((flat["list"], number), {})
            listed.setdefault(int(call[1]), {"type": "tool_call"})[call[2]] = value
    for (name, number), listed in calls.items():
        messages[name][number]["tool_calls"] = [listed[index] for index in sorted(listed)]
    return {name: [rows[n] for n in sorted(rows)] for name, rows in messages.items()}


def _text(attributes: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _first(attributes: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)
