"""Real models for the harness: `run_agent(openai_model(client, tools, model="…"), tools)`.

Each function gives a model as `run_agent` takes it: from the messages so far to tool calls or a
final answer, with the usage of the request. The client is the official SDK's (extras
`refetch[openai]`, `refetch[anthropic]`), made by you: nothing here reads keys or chooses addresses.
One response is one turn; parallel calls of a response stay together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Message = dict[str, Any]
Model = Callable[[Sequence[Message]], dict[str, Any]]
OPEN_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": True}
"""Arguments of a tool that declares none."""


def tool_schemas(tools: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """(name, description, JSON schema of the arguments) of each tool of a registry.

    Taken from the field `schema` of a `Tool` or mapping, the description from its docstring.
    """
    found = []
    for name, tool in tools.items():
        given = tool.get("schema") if isinstance(tool, Mapping) else getattr(tool, "schema", None)
        run = tool.get("run") if isinstance(tool, Mapping) else getattr(tool, "run", tool)
        text = (getattr(run, "__doc__", None) or "").strip().split("\n")[0]
        found.append((name, text, dict(given) if isinstance(given, Mapping) else OPEN_SCHEMA))
    return found


def openai_model(
    client: Any, tools: Mapping[str, Any], *, model: str, system: str | None = None, **options: Any
) -> Model:
    """A model behind OpenAI's Chat Completions, or a server that speaks it.

    Args:
        client: an `openai.OpenAI`. tools: the registry of the run. options: further arguments of
            `chat.completions.create`.
    """
    functions = [
        {"type": "function", "function": {"name": n, "description": d, "parameters": s}}
        for n, d, s in tool_schemas(tools)
    ]

    def ask(messages: Sequence[Message]) -> dict[str, Any]:
        sent = [{"role": "system", "content": system}] if system else []
        sent += [_chat_message(message) for message in messages]
        given: dict[str, Any] = {"tools": functions} if functions else {}
        response = client.chat.completions.create(model=model, messages=sent, **given, **options)
        said = response.choices[0].message
        calls = [
            {"tool": c.function.name, "args": _parsed(c.function.arguments), "id": c.id}
            for c in said.tool_calls or ()
            if c.type == "function"
        ]
        return _step(calls, said.content, _plain(response.usage))

    return ask


def _chat_message(message: Message) -> Message:
    if message["role"] == "assistant":
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["tool"], "arguments": json.dumps(call["args"])},
            }
            for call in message["tool_calls"]
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if message["role"] == "tool":
        return {
            "role": "tool",
            "tool_call_id": message["call_id"],
            "content": _text(message["content"]),
        }
    return {"role": message["role"], "content": message["content"]}


def openai_responses_model(
    client: Any, tools: Mapping[str, Any], *, model: str, system: str | None = None, **options: Any
) -> Model:
    """A model behind OpenAI's Responses; its own items (reasoning too) are sent back as they came.

    Args:
        client: an `openai.OpenAI`. tools: the registry of the run. options: further arguments of
            `responses.create`.
    """
    functions = [
        {"type": "function", "name": n, "description": d, "parameters": s, "strict": False}
        for n, d, s in tool_schemas(tools)
    ]
    answers: dict[str, list[Any]] = {}

    def ask(messages: Sequence[Message]) -> dict[str, Any]:
        sent: list[Any] = []
        for message in messages:
            sent += _items(message, answers)
        given: dict[str, Any] = {"tools": functions} if functions else {}
        given |= {"instructions": system} if system else {}
        response = client.responses.create(model=model, input=sent, **given, **options)
        calls = [
            {"tool": item.name, "args": _parsed(item.arguments), "id": item.call_id}
            for item in response.output
            if item.type == "function_call"
        ]
        if calls:
            answers[calls[0]["id"]] = [_plain(item) for item in response.output]
        return _step(calls, response.output_text, _plain(response.usage))

    return ask


def _items(message: Message, answers: dict[str, list[Any]]) -> list[Any]:
    if message["role"] == "assistant":
        return answers[message["tool_calls"][0]["id"]]
    if message["role"] == "tool":
        text = _text(message["content"])
        return [{"type": "function_call_output", "call_id": message["call_id"], "output": text}]
    return [{"role": message["role"], "content": message["content"]}]


def anthropic_model(
    client: Any,
    tools: Mapping[str, Any],
    *,
    model: str,
    system: str | None = None,
    max_tokens: int = 4096,
    **options: Any,
) -> Model:
    """A model behind Anthropic's Messages; its own blocks are sent back as they came.

    Args:
        client: an `anthropic.Anthropic`. tools: the registry of the run. options: further arguments
            of `messages.create`.
    """
    offered = [{"name": n, "description": d, "input_schema": s} for n, d, s in tool_schemas(tools)]
    answers: dict[str, list[Any]] = {}

    def ask(messages: Sequence[Message]) -> dict[str, Any]:
        given: dict[str, Any] = {"tools": offered} if offered else {}
        given |= {"system": system} if system else {}
        response = client.messages.create(
            model=model,
            max_tokens=max_tokens,
            messages=_anthropic_messages(messages, answers),
            **given,
            **options,
        )
        calls = [
            {"tool": block.name, "args": block.input, "id": block.id}
            for block in response.content
            if block.type == "tool_use"
        ]
        if calls:
            answers[calls[0]["id"]] = [_plain(block) for block in response.content]
        text = "".join(block.text for block in response.content if block.type == "text")
        return _step(calls, text, _plain(response.usage))

    return ask


def _anthropic_messages(
    messages: Sequence[Message], answers: dict[str, list[Any]]
) -> list[Message]:
    """Results of one batch stand in one user message, as the API wants them."""
    sent: list[Message] = []
    for message in messages:
        if message["role"] == "assistant":
            blocks = answers[message["tool_calls"][0]["id"]]
            sent.append({"role": "assistant", "content": blocks})
        elif message["role"] == "tool":
            block = {
                "type": "tool_result",
                "tool_use_id": message["call_id"],
                "content": _text(message["content"]),
                "is_error": not message["ok"],
            }
            if sent and isinstance(sent[-1]["content"], list) and sent[-1]["role"] == "user":
                sent[-1]["content"].append(block)
            else:
                sent.append({"role": "user", "content": [block]})
        else:
            sent.append({"role": message["role"], "content": message["content"]})
    return sent


def _step(calls: list[dict[str, Any]], text: str | None, usage: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"tool_calls": calls} if calls else {"final": text or ""}
    return {**step, "usage": usage} if usage else step


def _parsed(arguments: str) -> Any:
    """The arguments as data; a text that is no JSON reaches the harness, which refuses it."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if value is not None else None


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, default=str)
