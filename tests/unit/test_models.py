"""The real SDK clients over HTTP on loopback, against an endpoint that follows a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from refetch import Tool, run_agent
from refetch.api import check
from refetch.models import (
    anthropic_model,
    openai_model,
    openai_responses_model,
    tool_schemas,
)

NOTES = {"a": "milk", "b": "bread"}


def get_note(args: dict[str, Any]) -> str:
    """The text of a note."""
    return NOTES[args["name"]]


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOLS = {
    "get_note": Tool(get_note, mutates=False, resource="note:{name}", schema=SCHEMA),
    "other": {"run": lambda args: 1},
}
Endpoint = tuple[str, list[dict[str, Any]]]


@pytest.fixture
def endpoint() -> Iterator[Callable[[list[dict[str, Any]]], Endpoint]]:
    """Starts a server that answers with the given bodies, one a request, and keeps what came."""
    servers: list[ThreadingHTTPServer] = []

    def start(answers: list[dict[str, Any]]) -> Endpoint:
        came: list[dict[str, Any]] = []
        left = iter(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                came.append({"path": self.path, **json.loads(self.rfile.read(size))})
                body = json.dumps(next(left)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Silence."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", came

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def played(model: Any) -> Any:
    run = run_agent(model, TOOLS, task="read my notes")
    assert run.answer == "milk and bread"
    assert [(c.turn, c.name, c.call_id, c.status) for c in run.trace.calls] == [
        (1, "get_note", "c1", "ok"), (1, "get_note", "c2", "ok"), (2, "get_note", "c3", "ok"),
    ]  # fmt: skip
    assert [finding.code for finding in check(run.trace).flags] == ["RF003"]
    return run


def usages(run: Any) -> list[dict[str, Any]]:
    return [event.usage for event in run.trace.events if type(event).__name__ == "Request"]


def test_openai_chat(endpoint: Any) -> None:
    openai = pytest.importorskip("openai", reason="needs refetch[openai]")

    def answer(*names: str, text: str | None = None, first: int = 1) -> dict[str, Any]:
        calls = [
            {"id": f"c{first + at}", "type": "function",
             "function": {"name": "get_note", "arguments": json.dumps({"name": name})}}
            for at, name in enumerate(names)
        ]  # fmt: skip
        message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [choice], "usage": usage}  # fmt: skip

    url, came = endpoint([answer("a", "b"), answer("a", first=3), answer(text="milk and bread")])
    client = openai.OpenAI(base_url=url, api_key="none")
    run = played(openai_model(client, TOOLS, model="m", system="be brief", temperature=0))
    assert usages(run)[0]["prompt_tokens"] == 10
    assert [message["role"] for message in came[1]["messages"]] == [
        "system", "user", "assistant", "tool", "tool",
    ]  # fmt: skip
    assert came[0]["tools"][0]["function"]["parameters"] == SCHEMA
    assert came[0]["temperature"] == 0


def test_openai_responses(endpoint: Any) -> None:
    openai = pytest.importorskip("openai", reason="needs refetch[openai]")

    def answer(*items: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9,
                 "input_tokens_details": {"cached_tokens": 3},
                 "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        return {"id": "r", "object": "response", "created_at": 1, "model": "m",
                "status": "completed", "output": list(items), "usage": usage,
                "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}  # fmt: skip

    def call(key: str, name: str) -> dict[str, Any]:
        return {"type": "function_call", "id": f"f{key}", "call_id": key, "name": "get_note",
                "arguments": json.dumps({"name": name}), "status": "completed"}  # fmt: skip

    thought = {"type": "reasoning", "id": "rs", "summary": []}
    words = [{"type": "output_text", "text": "milk and bread", "annotations": []}]
    text = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": words}  # fmt: skip
    url, came = endpoint(
        [answer(thought, call("c1", "a"), call("c2", "b")), answer(call("c3", "a")), answer(text)]
    )
    client = openai.OpenAI(base_url=url, api_key="none")
    run = played(openai_responses_model(client, TOOLS, model="m", system="be brief"))
    assert usages(run)[0]["input_tokens"] == 7
    assert [item.get("type") for item in came[1]["input"]] == [
        None, "reasoning", "function_call", "function_call", "function_call_output",
        "function_call_output",
    ]  # fmt: skip


def test_anthropic(endpoint: Any) -> None:
    anthropic = pytest.importorskip("anthropic", reason="needs refetch[anthropic]")

    def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "output_tokens": 2, "cache_read_input_tokens": 1}
        return {"id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": list(blocks), "stop_reason": "tool_use", "usage": usage}  # fmt: skip

    def use(key: str, name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": key, "name": "get_note", "input": {"name": name}}

    words = {"type": "text", "text": "milk and bread"}
    url, came = endpoint(
        [answer({"type": "text", "text": "I look."}, use("c1", "a"), use("c2", "b")),
         answer(use("c3", "a")), answer(words)]
    )  # fmt: skip
    client = anthropic.Anthropic(base_url=url, api_key="none")
    run = played(anthropic_model(client, TOOLS, model="m", system="be brief"))
    assert usages(run)[0]["cache_read_input_tokens"] == 1
    roles = [message["role"] for message in came[2]["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in came[1]["messages"][1]["content"]] == [
        "text", "tool_use", "tool_use",
    ]  # fmt: skip
    assert len(came[1]["messages"][2]["content"]) == 2


def test_arguments_that_are_no_json_are_refused_not_crashed(endpoint: Any) -> None:
    openai = pytest.importorskip("openai", reason="needs refetch[openai]")
    bad = {"id": "c1", "type": "function", "function": {"name": "get_note", "arguments": "{"}}
    rows = [{"role": "assistant", "content": None, "tool_calls": [bad]},
            {"role": "assistant", "content": "sorry"}]  # fmt: skip
    url, _ = endpoint(
        [{"id": "x", "object": "chat.completion", "created": 1, "model": "m",
          "choices": [{"index": 0, "finish_reason": "stop", "message": row}]} for row in rows]
    )  # fmt: skip
    client = openai.OpenAI(base_url=url, api_key="none")
    run = run_agent(openai_model(client, TOOLS, model="m"), TOOLS, task="x")
    assert [call.status for call in run.trace.calls] == ["not-executed"]
    assert run.answer == "sorry"


def test_schemas_come_from_the_registry() -> None:
    found = tool_schemas(TOOLS)
    assert found[0] == ("get_note", "The text of a note.", SCHEMA)
    assert found[1][2] == {"type": "object", "additionalProperties": True}
