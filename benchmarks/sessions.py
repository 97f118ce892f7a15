"""Sessions as coding agents log them.

With the records, the order of fields and the white space of real files, also the records that tell
nothing of calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import corpus
from story import GO, Story, Turn, compact, document, lines, usage


def codex_cli(story: Story) -> bytes:
    def rows() -> Iterator[dict[str, Any]]:
        def row(turn: Turn, kind: str, /, **payload: Any) -> dict[str, Any]:
            return {"timestamp": turn.time, "type": kind, "payload": payload}

        first = story[0]
        yield row(first, "session_meta", id="s", timestamp=first.time, cwd="/repo",
                  originator="codex_cli", cli_version="0.40.0", instructions=None)  # fmt: skip
        yield row(first, "event_msg", type="user_message", message=GO, kind="plain")
        for turn in story:
            title = f"**{turn.thought[:40]}**"
            yield row(turn, "turn_context", cwd="/repo", approval_policy="on-request",
                      sandbox_policy={"mode": "read-only"}, model="gpt-5-codex", effort="high",
                      summary="auto")  # fmt: skip
            yield row(turn, "event_msg", type="agent_reasoning", text=title)
            yield row(turn, "response_item", type="reasoning",
                      summary=[{"type": "summary_text", "text": title}], content=None,
                      encrypted_content=turn.sealed)  # fmt: skip
            for call in turn.calls:
                command = call.args.get("command") or f"rg -n {call.name} {call.args['path']}"
                sent = compact({"command": ["bash", "-lc", command], "workdir": "/repo"})
                yield row(turn, "response_item", type="function_call", name="shell",
                          arguments=sent, call_id=call.id)  # fmt: skip
            used = usage(turn, "input_tokens", "cached_input_tokens", "output_tokens",
                         "reasoning_output_tokens", "total_tokens")  # fmt: skip
            yield row(turn, "event_msg", type="token_count", info={"total_token_usage": used,
                      "last_token_usage": used, "model_context_window": 272000},
                      rate_limits={"primary_used_percent": 0.0})  # fmt: skip
            for call in turn.calls:
                output = {"output": call.result, "metadata": {"exit_code": 0,
                          "duration_seconds": 0.1}}  # fmt: skip
                yield row(turn, "response_item", type="function_call_output", call_id=call.id,
                          output=compact(output))  # fmt: skip

    return lines(rows())


def pi(story: Story) -> bytes:
    def row(turn: Turn, role: str, content: Any, **message: Any) -> dict[str, Any]:
        said = {"role": role, "content": content, **message, "timestamp": 1763681581544}
        return {"type": "message", "timestamp": turn.time, "message": said}

    def rows() -> Iterator[dict[str, Any]]:
        first = story[0]
        yield {"type": "session", "id": "s", "timestamp": first.time, "cwd": "/repo",
               "provider": "anthropic", "modelId": "m", "thinkingLevel": "off"}  # fmt: skip
        yield row(first, "user", [{"type": "text", "text": GO}])
        for turn in story:
            blocks: list[Any] = [{"type": "text", "text": turn.words}]
            blocks += [{"type": "toolCall", "id": c.id, "name": c.name, "arguments": c.args}
                       for c in turn.calls]  # fmt: skip
            used = usage(turn, "input", "output", "cacheRead", "cacheWrite")
            yield row(turn, "assistant", blocks, api="anthropic-messages", provider="anthropic",
                      model="claude-sonnet-4-5", usage={**used, "cost": used},
                      stopReason="toolUse")  # fmt: skip
            for call in turn.calls:
                yield row(turn, "toolResult", [{"type": "text", "text": call.result}],
                          toolCallId=call.id, toolName=call.name, isError=False)  # fmt: skip

    return lines(rows())


def gemini_cli(story: Story) -> bytes:
    messages: list[Any] = [{"id": "u", "timestamp": story[0].time, "type": "user", "content": GO}]
    for turn in story:
        calls = [
            {"id": c.id, "name": c.name, "args": c.args,
             "result": [{"functionResponse": {"id": c.id, "name": c.name,
                                              "response": {"output": c.result}}}],
             "status": "success", "timestamp": turn.time, "resultDisplay": c.result[:300],
             "displayName": c.name, "description": turn.thought, "renderOutputAsMarkdown": True}
            for c in turn.calls
        ]  # fmt: skip
        thought = {
            "subject": turn.thought[:30],
            "description": turn.thought,
            "timestamp": turn.time,
        }
        messages.append(
            {"id": f"m{turn.at}", "timestamp": turn.time, "type": "gemini", "content": turn.words,
             "thoughts": [thought, thought], "tokens": usage(turn, "input", "output", "cached"),
             "model": "gemini-2.5-flash", "toolCalls": calls}
        )  # fmt: skip
    return document({"sessionId": "s", "projectHash": "7e89", "startTime": story[0].time,
                     "lastUpdated": story[-1].time, "messages": messages})  # fmt: skip


def atif(story: Story) -> bytes:
    steps: list[Any] = [{"step_id": 1, "timestamp": story[0].time, "source": "user", "message": GO}]
    for turn in story:
        details = {
            c.id: {"metadata": {"exit_code": 0, "duration_seconds": 0.1},
                   "raw_arguments": compact(c.args), "item_type": "function_call"}
            for c in turn.calls
        }  # fmt: skip
        steps.append(
            {"step_id": len(steps) + 1, "timestamp": turn.time, "source": "agent",
             "model_name": "gpt-5-codex", "message": "", "reasoning_content": turn.thought,
             "tool_calls": [{"tool_call_id": c.id, "function_name": c.name, "arguments": c.args}
                            for c in turn.calls],
             "observation": {"results": [{"source_call_id": c.id, "content": c.result}
                                         for c in turn.calls]},
             "metrics": usage(turn, "prompt_tokens", "completion_tokens", "cached_tokens"),
             "llm_call_count": 1,
             "extra": {"api_call_id": f"api_call_{turn.at}", "tool_call_details": details}}
        )  # fmt: skip
    agent = {"name": "codex", "version": "0.40.0", "model_name": "gpt-5-codex",
             "extra": {"originator": "codex_cli", "cwd": "/repo"}}  # fmt: skip
    return document({"schema_version": "ATIF-v1.7", "session_id": "s", "agent": agent,
                     "steps": steps}, 1)  # fmt: skip


def mini_swe_agent(story: Story) -> bytes:
    messages: list[Any] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": GO},
    ]
    for turn in story:
        for call in turn.calls:
            command = call.args.get("command") or f"grep -n {call.name} {call.args['path']}"
            said = f"THOUGHT: {turn.words}\n\n```bash\n{command}\n```"
            reasoning = [{"type": "reasoning.encrypted", "data": turn.sealed, "index": 0}]
            answer = {"role": "assistant", "content": said, "refusal": None,
                      "reasoning": turn.thought, "reasoning_details": reasoning}  # fmt: skip
            response = {
                "id": "gen", "model": "google/gemini", "object": "chat.completion",
                "choices": [{"finish_reason": "stop", "index": 0, "message": answer}],
                "usage": usage(turn, "prompt_tokens", "completion_tokens", "total_tokens"),
            }  # fmt: skip
            messages.append({"role": "assistant", "content": said, "extra": {"response": response}})
            shown = f"<returncode>0</returncode>\n<output>\n{call.result}\n</output>"
            messages.append({"role": "user", "content": shown})
    config = {"agent": {"step_limit": 250}, "model": {"model_name": "google/gemini"},
              "environment": {"cwd": "/testbed", "timeout": 60}}  # fmt: skip
    info = {"exit_status": "Submitted", "submission": "diff", "model_stats": {"api_calls": 9},
            "mini_version": "1.15.0", "config": config}  # fmt: skip
    return document({"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1"})


def swe_agent(story: Story) -> bytes:
    """Each step repeats the last five observations as its `query`; older ones are elided."""
    history: list[dict[str, Any]] = [
        {"role": "system", "content": GO * 40, "agent": "main"},
        {"role": "user", "content": GO, "agent": "main"},
    ]
    trajectory = []
    asked = [call for turn in story for call in turn.calls]
    for at, call in enumerate(asked):
        action = call.args.get("command") or f"search_dir {call.name} {call.args['path']}"
        old = [
            {**m, "content": "Old environment output: (90 lines omitted)"}
            if m["role"] == "user" and 1 < place < len(history) - 10 else m
            for place, m in enumerate(history)
        ]  # fmt: skip
        thought = story[at % len(story)].words
        said = f"{thought}\n```\n{action}\n```"
        state = {"open_file": "n/a", "working_dir": "/repo"}
        trajectory.append(
            {"action": action, "observation": call.result, "response": said,
             "state": json.dumps(state), "thought": thought, "execution_time": 0.2, "query": old}
        )  # fmt: skip
        history += [
            {"role": "assistant", "content": said, "thought": thought, "action": action,
             "agent": "main"},
            {"role": "user", "content": call.result, "agent": "main"},
        ]  # fmt: skip
    processors = [{"type": "last_n_observations", "n": 5}]
    config = {"agent": {"history_processors": processors, "model": {"name": "m"}}}
    return document(
        {"environment": "swe_main", "trajectory": trajectory, "history": history,
         "info": {"exit_status": "submitted"}, "replay_config": json.dumps(config)}
    )  # fmt: skip


def codex_exec(story: Story) -> bytes:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"type": "thread.started", "thread_id": "t"}
        for turn in story:
            yield {"type": "turn.started"}
            said = {"id": f"m{turn.at}", "type": "reasoning", "text": turn.thought}
            yield {"type": "item.completed", "item": said}
            for c in turn.calls:
                item = {"id": c.id, "type": "command_execution", "command": compact(c.args)}
                started = {"aggregated_output": "", "exit_code": None, "status": "in_progress"}
                ended = {"aggregated_output": c.result, "exit_code": 0, "status": "completed"}
                yield {"type": "item.started", "item": {**item, **started}}
                yield {"type": "item.completed", "item": {**item, **ended}}
            yield {"type": "turn.completed", "usage": usage(turn, "input_tokens", "output_tokens")}

    return lines(rows())


def goose(story: Story) -> bytes:
    def success(value: Any) -> dict[str, Any]:
        return {"status": "success", "value": value}

    def rows() -> Iterator[dict[str, Any]]:
        yield {"description": "t", "working_dir": "/repo"}
        yield {"role": "user", "created": 1, "content": [{"type": "text", "text": GO}]}
        for turn in story:
            asked: list[Any] = [{"type": "text", "text": turn.words}]
            asked += [
                {"type": "toolRequest", "id": c.id,
                 "toolCall": success({"name": f"developer__{c.name}", "arguments": c.args})}
                for c in turn.calls
            ]  # fmt: skip
            told = [
                {"type": "toolResponse", "id": c.id, "toolResult": success(
                    {"content": [{"type": "text", "text": c.result}], "isError": False})}
                for c in turn.calls
            ]  # fmt: skip
            yield {"role": "assistant", "created": 9 + turn.at, "content": asked}
            yield {"role": "user", "created": 9 + turn.at, "content": told}

    return lines(rows())


def cline(story: Story) -> bytes:
    messages: list[Any] = [{"ts": 1, "type": "say", "say": "text", "text": GO}]

    def say(kind: str, text: str) -> None:
        messages.append({"ts": 2 + len(messages), "type": "say", "say": kind, "text": text})

    for turn in story:
        request = f"[tool] Result:\n\n{turn.calls[0].result}"
        say("api_req_started", compact({"request": request, "tokensIn": 9, "tokensOut": 3}))
        say("text", turn.words)
        for c in turn.calls:
            if c.name == "shell":
                say("command", c.args["command"])
                say("command_output", c.result)
            else:
                path = c.args["path"]
                say("tool", compact({"tool": "readFile", "path": path, "content": c.result}))
    return document(messages, None)


def opencode(story: Story) -> bytes:
    head: dict[str, Any] = {"sessionID": "s", "time": {"created": 1000}}
    go = {"info": {"id": "u", "role": "user", **head}, "parts": [{"type": "text", "text": GO}]}
    messages: list[Any] = [go]
    for turn in story:
        parts: list[Any] = [{"type": "step-start"}, {"type": "text", "text": turn.words}]
        parts += [
            {"type": "tool", "callID": c.id, "tool": c.name, "state": {
                "status": "completed", "input": c.args, "output": c.result, "title": c.name,
                "metadata": {"preview": c.result[:400]},
                "time": {"start": 2000 + 1000 * turn.at, "end": 2900 + 1000 * turn.at}}}
            for c in turn.calls
        ]  # fmt: skip
        info = {"id": f"m{turn.at}", "role": "assistant", **head, "modelID": "m",
                "tokens": usage(turn, "input", "output")}  # fmt: skip
        messages.append({"info": info, "parts": [*parts, {"type": "step-finish"}]})
    return document({"info": {"id": "s", "title": "t"}, "messages": messages})


def openhands(story: Story) -> bytes:
    events: list[Any] = [{"id": 0, "timestamp": "2026-01-01T00:00:00", "source": "user",
                          "message": GO, "action": "message", "args": {"content": GO}}]  # fmt: skip
    for turn in story:
        called = [
            {"id": c.id, "type": "function",
             "function": {"name": "execute_bash", "arguments": compact(c.args)}}
            for c in turn.calls
        ]  # fmt: skip
        message = {"content": turn.words, "role": "assistant", "tool_calls": called}
        response = {"id": f"r{turn.at}", "model": "m", "choices": [{"message": message}],
                    "usage": usage(turn, "prompt_tokens", "completion_tokens")}  # fmt: skip
        for c in turn.calls:
            head = {"timestamp": turn.time, "source": "agent", "message": "Running"}
            meta = {"tool_call_id": c.id, "function_name": "execute_bash",
                    "model_response": response, "total_calls_in_response": len(called)}  # fmt: skip
            command = compact(c.args)
            events.append({"id": len(events), **head, "action": "run", "tool_call_metadata": meta,
                           "args": {"command": command, "thought": turn.words}})  # fmt: skip
            extras = {"command": command, "metadata": {"exit_code": 0, "working_dir": "/repo"}}
            told = {"observation": "run", "content": c.result, "extras": extras}
            events.append({"id": len(events), **head, "cause": len(events) - 1, **told})
    return document(events, 4)


def claude_code(story: Story) -> bytes:
    return corpus.coding_session(len(story), sum(len(turn.calls) for turn in story))


def native(story: Story) -> bytes:
    return corpus.native_trace(len(story), sum(len(turn.calls) for turn in story))
