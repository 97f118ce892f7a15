"""Metadata from MCP annotations: hints are taken as the protocol defines them, and no further."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.mcp import SOURCE, meta_from_annotations, tools_from_list_dump
from refetch.model.errors import InputError


@pytest.mark.parametrize(
    ("annotations", "effect"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"read_only_hint": True}, "read"),
        ({"readOnlyHint": True, "openWorldHint": True}, "read"),
        ({"readOnlyHint": False}, "write"),
        ({"title": "Get the weather"}, "write"),
        ({"destructiveHint": False}, "write"),
        ({"idempotentHint": True}, "write"),
        ({"openWorldHint": False}, "write"),
        ({"readOnlyHint": "true"}, "write"),
        ({"readOnlyHint": 1}, "write"),
        ({"readOnlyHint": None, "title": "x"}, "write"),
        ({"readonlyhint": True}, "write"),
    ],
)
def test_annotations_present(annotations: dict[str, Any], effect: str) -> None:
    assert meta_from_annotations({"name": "get_x", "annotations": annotations}).effect == effect


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "get_x"},
        {"name": "delete_x"},
        {"name": "x", "annotations": None},
        {"name": "x", "annotations": {}},
        {"name": "x", "annotations": {"title": None, "readOnlyHint": None}},
        {"name": "x", "annotations": "readOnlyHint"},
        {"name": "x", "annotations": ["readOnlyHint"]},
        {"name": "x", "readOnlyHint": True},
        {"name": "x", "description": "readOnlyHint: true"},
    ],
)
def test_without_annotations_nothing_is_said(tool: dict[str, Any]) -> None:
    meta = meta_from_annotations(tool)
    assert meta.effect is None
    assert meta.mutates is None
    assert meta.idempotent is None


@pytest.mark.parametrize(
    ("annotations", "idempotent"),
    [
        ({"readOnlyHint": False, "idempotentHint": True}, True),
        ({"idempotent_hint": True}, True),
        ({"idempotentHint": False}, False),
        ({"readOnlyHint": True, "idempotentHint": True}, None),
        ({"readOnlyHint": False}, None),
    ],
)
def test_idempotent_counts_for_writes(annotations: dict[str, Any], idempotent: bool | None) -> None:
    assert meta_from_annotations({"annotations": annotations}).idempotent is idempotent


@pytest.mark.parametrize("key", ["inputSchema", "input_schema"])
def test_schema_and_defaults(key: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "default": 10},
            "q": {"type": "string"},
            "bad": True,
        },
    }
    meta = meta_from_annotations({"name": "x", key: schema})
    assert meta.schema == schema
    assert meta.defaults == {"limit": 10}


@pytest.mark.parametrize(
    "schema",
    [None, True, [], "object", {}, {"properties": []}, {"properties": {"q": {"type": "string"}}}],
)
def test_schema_without_defaults(schema: object) -> None:
    assert meta_from_annotations({"name": "x", "inputSchema": schema}).defaults is None


TOOLS = [{"name": "a", "annotations": {"readOnlyHint": True}}, {"name": "b"}]


@pytest.mark.parametrize(
    "document",
    [
        TOOLS,
        {"tools": TOOLS, "nextCursor": "x"},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}},
        [{"tools": TOOLS[:1]}, {"result": {"tools": TOOLS[1:]}}],
        [*TOOLS, {"name": "a", "annotations": {"readOnlyHint": False}}],
    ],
)
def test_list_dump(document: object) -> None:
    tools = tools_from_list_dump(json.dumps(document).encode(), "tools.json")
    assert {name: meta.effect for name, meta in tools.items()} == {"a": "read", "b": None}


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (b"", None, "tools.json: no JSON"),
        (b"{", None, "tools.json: no JSON"),
        (b"\xff", None, "tools.json: no JSON"),
        (b"[" * 5000, None, "tools.json: no JSON"),
        (b"{}", "$", "tools.json: $: expected a tools/list answer, found object"),
        (b"null", "$", "tools.json: $: expected a tools/list answer, found null"),
        (
            b'{"tools": 5}',
            "$.tools",
            "tools.json: $.tools: expected a tools/list answer, found int",
        ),
        (b"[5]", "$[0]", "tools.json: $[0]: expected a tool object with a name, found int"),
        (
            b'{"tools": [{"name": "a"}, {"title": "b"}]}',
            "$.tools[1]",
            "tools.json: $.tools[1]: expected a tool object with a name, found a tool without",
        ),
        (
            b'{"error": {"code": -1}}',
            "$.error",
            "tools.json: $.error: the server answered with an error",
        ),
    ],
)
def test_list_dump_errors(data: bytes, path: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        tools_from_list_dump(data, "tools.json")
    assert str(caught.value).startswith(message)
    assert caught.value.path == path


def test_label_says_that_it_is_inferred() -> None:
    assert SOURCE == "mcp-annotations"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "annotations",
                    "readOnlyHint",
                    "inputSchema",
                    "properties",
                    "tools",
                    "result",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(document: object) -> None:
    try:
        tools = tools_from_list_dump(json.dumps(document).encode(), "-")
    except InputError:
        return
    assert all(meta.effect in ("read", "write", None) for meta in tools.values())
