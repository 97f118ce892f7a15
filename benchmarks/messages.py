"""Benchmark results, messages and spans as frameworks and services write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from story import GO, Story, Turn, compact, document, lines, usage


def chat(story: Story) -> list[Any]:
    """Chat messages, as several formats hold them."""
    messages: list[Any] = [{"role": "system", "content": GO * 40}, {"role": "user", "content": GO}]
    for turn in story:
        calls = [
            {"id": c.id, "type": "function",
             "function": {"name": c.name, "arguments": json.dumps(c.args)}}
            for c in turn.calls
        ]  # fmt: skip
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": c.id, "name": c.name, "content": c.result}
            for c in turn.calls
        ]
    return messages


def openai_chat(story: Story) -> bytes:
    return document({"model": "gpt-5", "messages": chat(story), "tools": []}, None)


def runs_of(story: Story, turns: int = 12) -> list[Story]:
    """The story cut into short runs."""
    return [story[at : at + turns] for at in range(0, len(story), turns)]


def tau_bench(story: Story) -> bytes:
    def runs() -> Iterator[dict[str, Any]]:
        for at, part in enumerate(runs_of(story)):
            actions = [{"name": c.name, "kwargs": c.args} for t in part for c in t.calls[:1]]
            info = {"task": {"user_id": "u", "actions": actions, "instruction": GO * 4}}
            yield {"task_id": at, "reward": 0.0, "info": info, "traj": chat(part), "trial": 0}

    return document(list(runs()))


def tau2_bench(story: Story) -> bytes:
    def simulation(at: int, part: Story) -> dict[str, Any]:
        messages: list[Any] = [{"role": "user", "content": GO, "tool_calls": None, "turn_idx": 0,
                                "timestamp": part[0].time, "cost": 0.0, "usage": None}]  # fmt: skip
        for turn in part:
            used = usage(turn, "completion_tokens", "prompt_tokens")
            called = [
                {"function": {"arguments": json.dumps(c.args), "name": c.name}, "id": c.id,
                 "type": "function"} for c in turn.calls
            ]  # fmt: skip
            answer = {"content": None, "role": "assistant", "tool_calls": called,
                      "reasoning_content": turn.thought}  # fmt: skip
            messages.append(
                {"role": "assistant", "content": None,
                 "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.args,
                                 "requestor": "assistant"} for c in turn.calls],
                 "turn_idx": turn.at, "timestamp": turn.time, "cost": 0.0, "usage": used,
                 "raw_data": {"finish_reason": "tool_calls", "index": 0, "message": answer}}
            )  # fmt: skip
            messages += [
                {"id": c.id, "role": "tool", "content": c.result, "requestor": "assistant",
                 "error": False, "turn_idx": turn.at, "timestamp": turn.time}
                for c in turn.calls
            ]  # fmt: skip
        return {"id": f"s{at}", "task_id": f"t{at}", "start_time": part[0].time,
                "termination_reason": "user_stop", "reward_info": {"reward": 1.0},
                "messages": messages, "trial": 0, "seed": 1}  # fmt: skip

    info = {"agent_info": {"llm": "m"}, "user_info": {"llm": "m"}}
    tasks = [{"id": f"t{at}", "description": GO * 9} for at, _ in enumerate(runs_of(story))]
    simulations = [simulation(at, part) for at, part in enumerate(runs_of(story))]
    return document({"timestamp": story[0].time, "info": info, "tasks": tasks,
                     "simulations": simulations})  # fmt: skip


def langfuse(story: Story) -> bytes:
    empty = dict.fromkeys(
        ("statusMessage", "version", "promptId", "promptName", "latency", "internalModelId",
         "completionStartTime", "timeToFirstToken")
    )  # fmt: skip

    def observation(turn: Turn, kind: str, at: str, /, **fields: Any) -> dict[str, Any]:
        attributes = {"gen_ai.operation.name": kind.lower(), "langsmith.span.kind": kind.lower()}
        return {
            "id": at, "traceId": "t", "startTime": turn.time, "endTime": turn.time,
            "projectId": "p", "type": kind, "environment": "default", "level": "DEFAULT", **empty,
            **fields, "usageDetails": usage(turn, "input", "output"), "toolCalls": [],
            "metadata": compact({"attributes": attributes, "scope": {"name": "s"}}),
        }  # fmt: skip

    def observations() -> Iterator[dict[str, Any]]:
        yield observation(story[0], "AGENT", "root", name="agent", input=GO, output=None)
        for turn in story:
            own = f"g{turn.at}"
            called = [
                {"type": "tool_use", "id": c.id, "name": c.name, "input": c.args}
                for c in turn.calls
            ]  # fmt: skip
            yield observation(
                turn, "GENERATION", own, name="turn", parentObservationId="root", model="m",
                input=compact([{"role": "user", "content": GO}]),
                output=compact({"role": "assistant", "content": called}),
            )  # fmt: skip
            for c in turn.calls:
                yield observation(
                    turn, "TOOL", f"t{c.id}", name=c.name, parentObservationId="root", model=None,
                    input=compact(c.args),
                    output=compact({"content": [{"type": "text", "text": c.result}]}),
                )  # fmt: skip

    return document({"trace": {"id": "t", "name": "run"}, "observations": list(observations())})


def langsmith(story: Story) -> bytes:
    def message(kind: str, /, **fields: Any) -> dict[str, Any]:
        return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind],
                "kwargs": fields}  # fmt: skip

    def run(turn: Turn, kind: str, own: str, inputs: Any, outputs: Any) -> dict[str, Any]:
        meta = {"ls_provider": "p", "ls_model_name": "m", "thread_id": "1"}
        return {
            "id": own, "name": own, "run_type": kind, "trace_id": "root",
            "parent_run_id": None if own == "root" else "root",
            "dotted_order": "20261201T111517749583Zroot",
            "start_time": turn.time, "end_time": turn.time, "error": None, "inputs": inputs,
            "outputs": outputs, "extra": {"metadata": meta, "runtime": {"sdk": "langsmith-py"}},
        }  # fmt: skip

    def runs() -> Iterator[dict[str, Any]]:
        go = message("HumanMessage", content=GO, type="human", id="h")
        yield run(story[0], "chain", "root", {"messages": [go]}, {"messages": []})
        for turn in story:
            called = [
                {"name": c.name, "args": c.args, "id": c.id, "type": "tool_call"}
                for c in turn.calls
            ]
            answer = message("AIMessage", content=turn.words, type="ai", tool_calls=called,
                             usage_metadata=usage(turn, "input_tokens"))  # fmt: skip
            generated = {"generations": [[{"text": turn.words, "message": answer}]]}
            yield run(turn, "llm", f"m{turn.at}", {"messages": [[go]]}, generated)
            for c in turn.calls:
                kwargs = {"content": c.result, "type": "tool", "name": c.name,
                          "tool_call_id": c.id, "status": "success"}  # fmt: skip
                answered = message("ToolMessage", **kwargs)
                one = run(turn, "tool", f"t{c.id}", {"input": str(c.args)}, {"output": answered})
                yield {**one, "name": c.name}

    return lines(runs(), json.dumps)


def mcp_log(story: Story) -> bytes:
    def rows() -> Iterator[dict[str, Any]]:
        number = 0
        for turn in story:
            for call in turn.calls:
                number += 1
                head = {"jsonrpc": "2.0", "id": number}
                asked = {**head, "method": "tools/call",
                         "params": {"name": call.name, "arguments": call.args}}  # fmt: skip
                content = [{"type": "text", "text": call.result}]
                told = {**head, "result": {"content": content, "isError": False}}
                yield {"timestamp": turn.time, "direction": "client", "message": asked}
                yield {"timestamp": turn.time, "direction": "server", "message": told}

    return lines(rows())


def anthropic_messages(story: Story) -> bytes:
    messages: list[Any] = [{"role": "user", "content": GO}]
    for turn in story:
        asked: list[Any] = [{"type": "text", "text": turn.words}]
        asked += [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": c.args} for c in turn.calls
        ]
        told = [
            {"type": "tool_result", "tool_use_id": c.id, "content": c.result} for c in turn.calls
        ]
        messages += [{"role": "assistant", "content": asked}, {"role": "user", "content": told}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 8000, "system": GO * 40,
            "messages": messages, "tools": []}  # fmt: skip
    return document(body, None)


def openai_responses(story: Story) -> bytes:
    items: list[Any] = [{"role": "user", "content": GO}]
    for turn in story:
        items.append({"type": "reasoning", "id": f"rs_{turn.at}", "summary": [],
                      "encrypted_content": turn.sealed})  # fmt: skip
        items += [
            {"type": "function_call", "id": f"fc_{c.id}", "call_id": c.id, "name": c.name,
             "arguments": json.dumps(c.args), "status": "completed"}
            for c in turn.calls
        ]  # fmt: skip
        items += [
            {"type": "function_call_output", "call_id": c.id, "output": c.result}
            for c in turn.calls
        ]
    return document(items, None)


def otel_genai(story: Story) -> bytes:
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]}

    def row(turn: Turn, span: str, name: str, /, **fields: str) -> dict[str, Any]:
        said = {"gen_ai.conversation.id": "s", **fields}
        attributes = [{"key": k, "value": {"stringValue": v}} for k, v in said.items()]
        begun = 1781293600000000000 + turn.at * 10**9
        one = {
            "traceId": "a" * 32, "spanId": span, "parentSpanId": "" if span == "root" else "root",
            "name": name, "kind": 1, "startTimeUnixNano": str(begun),
            "endTimeUnixNano": str(begun + 10**8), "attributes": attributes,
        }  # fmt: skip
        scopes = [{"scope": {"name": "agent"}, "spans": [one]}]
        return {"resourceSpans": [{"resource": service, "scopeSpans": scopes}]}

    def rows() -> Iterator[dict[str, Any]]:
        yield row(story[0], "root", "invoke_agent", **{"gen_ai.operation.name": "invoke_agent"})
        for turn in story:
            parts = [
                {"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.args}
                for c in turn.calls
            ]
            answer = compact([{"role": "assistant", "parts": parts}])
            yield row(turn, f"m{turn.at}", "chat m", **{
                "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                "gen_ai.output.messages": answer})  # fmt: skip
            for c in turn.calls:
                yield row(turn, f"t{c.id}", f"execute_tool {c.name}", **{
                    "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": c.name,
                    "gen_ai.tool.call.id": c.id, "gen_ai.tool.call.arguments": compact(c.args),
                    "gen_ai.tool.call.result": c.result})  # fmt: skip

    return lines(rows())


def inspect_ai(story: Story) -> bytes:
    """Results stand in the messages and in the tool events."""

    def sample(at: int, part: Story) -> dict[str, Any]:
        messages: list[Any] = [{"id": "u", "content": GO, "source": "input", "role": "user"}]
        events: list[Any] = []
        for turn in part:
            calls = [{"id": c.id, "function": c.name, "arguments": c.args} for c in turn.calls]
            head = {"span_id": "s", "timestamp": turn.time, "working_start": 1.5}
            answer = {"id": f"a{turn.at}", "content": turn.words, "source": "generate",
                      "role": "assistant", "tool_calls": calls, "model": "m"}  # fmt: skip
            messages.append(answer)
            output = {"model": "m", "choices": [{"message": answer, "stop_reason": "tool_calls"}],
                      "usage": usage(turn, "input_tokens", "output_tokens")}  # fmt: skip
            events.append({**head, "event": "model", "model": "m", "input": [], "tools": [],
                           "output": output})  # fmt: skip
            for c in turn.calls:
                messages.append({"id": f"r{c.id}", "content": c.result, "role": "tool",
                                 "tool_call_id": c.id, "function": c.name})  # fmt: skip
                events.append({**head, "event": "tool", "type": "function", "id": c.id,
                               "function": c.name, "arguments": c.args, "result": c.result,
                               "events": [], "completed": turn.time})  # fmt: skip
        return {"id": at, "epoch": 1, "input": GO, "target": "", "messages": messages,
                "output": {"model": "m", "choices": []}, "scores": {}, "metadata": {}, "store": {},
                "events": events, "attachments": {}}  # fmt: skip

    about = {"eval_id": "e", "run_id": "r", "created": story[0].time, "task": "t", "model": "m"}
    samples = [sample(at, part) for at, part in enumerate(runs_of(story))]
    return document({"version": 2, "status": "success", "eval": about, "samples": samples})


def google_adk(story: Story) -> bytes:
    nothing: dict[str, Any] = {"stateDelta": {}, "artifactDelta": {}, "requestedAuthConfigs": {}}

    def row(turn: Turn, role: str, author: str, parts: list[Any], at: int) -> dict[str, Any]:
        return {"content": {"parts": parts, "role": role}, "invocationId": "e-1", "author": author,
                "actions": nothing, "nodeInfo": {"path": "a@1"}, "longRunningToolIds": [],
                "id": f"{turn.at}-{at}", "timestamp": 1796123718.5 + turn.at}  # fmt: skip

    def rows() -> Iterator[dict[str, Any]]:
        yield row(story[0], "user", "user", [{"text": GO}], 0)
        for turn in story:
            asked = [{"functionCall": {"id": c.id, "args": c.args, "name": c.name}}
                     for c in turn.calls]  # fmt: skip
            told = [
                {"functionResponse": {"id": c.id, "name": c.name, "response": {"result": c.result}}}
                for c in turn.calls
            ]
            yield row(turn, "model", "a", asked, 1)
            yield row(turn, "user", "a", told, 2)

    return lines(rows())


def vercel_ai(story: Story) -> bytes:
    parts: list[Any] = []
    for turn in story:
        parts += [{"type": "step-start"}, {"type": "text", "text": turn.words, "state": "done"}]
        parts += [
            {"type": f"tool-{c.name}", "toolCallId": c.id, "state": "output-available",
             "input": c.args, "output": c.result}
            for c in turn.calls
        ]  # fmt: skip
    user = {"id": "u", "role": "user", "parts": [{"type": "text", "text": GO}]}
    return document([user, {"id": "a", "role": "assistant", "parts": parts}], None)


def pydantic_ai(story: Story) -> bytes:
    prompt = {"content": GO, "timestamp": story[0].time, "part_kind": "user-prompt"}
    history: list[Any] = [{"parts": [prompt], "timestamp": story[0].time, "kind": "request"}]
    for turn in story:
        empty = {"tool_kind": None, "provider_name": None, "provider_details": None}
        asked: list[Any] = [{"content": turn.words, "id": None, "part_kind": "text"}]
        asked += [
            {"tool_name": c.name, "args": compact(c.args), "tool_call_id": c.id, **empty,
             "part_kind": "tool-call"} for c in turn.calls
        ]  # fmt: skip
        told = [
            {"tool_name": c.name, "content": c.result, "tool_call_id": c.id, **empty,
             "timestamp": turn.time, "outcome": "success", "part_kind": "tool-return"}
            for c in turn.calls
        ]  # fmt: skip
        more = {"timestamp": turn.time, "run_id": "r", "metadata": None}
        used = usage(turn, "input_tokens", "output_tokens")
        history += [{"parts": asked, "usage": used, "model_name": "m", "kind": "response", **more},
                    {"parts": told, "instructions": None, "kind": "request", **more}]  # fmt: skip
    return document(history, None)


def langchain(story: Story) -> bytes:
    def message(kind: str, content: str, **fields: Any) -> dict[str, Any]:
        return {"content": content, "additional_kwargs": {}, "response_metadata": {},
                "type": kind, "name": None, **fields}  # fmt: skip

    messages = [message("human", GO, id="h")]
    for turn in story:
        called = [
            {"name": c.name, "args": c.args, "id": c.id, "type": "tool_call"} for c in turn.calls
        ]
        messages.append(message("ai", turn.words, id=f"a{turn.at}", tool_calls=called,
                                invalid_tool_calls=[],
                                usage_metadata=usage(turn, "input_tokens")))  # fmt: skip
        messages += [
            {**message("tool", c.result, id=f"r{c.id}", tool_call_id=c.id, artifact=None,
                       status="success"), "name": c.name}
            for c in turn.calls
        ]  # fmt: skip
    return document({"messages": messages}, None)
