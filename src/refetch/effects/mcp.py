"""Tool metadata from an MCP server's own description of its tools (specification 2025-06-18).

Hints are not promises: what comes from them is inferred evidence (SPEC 2), and `SOURCE` labels it
so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from refetch.model.errors import InputError
from refetch.model.tool import ToolMeta

SOURCE = "mcp-annotations"
"""Label of this source; judges treat everything under it as inferred."""

_HINTS = {
    "read_only": ("readOnlyHint", "read_only_hint"),
    "destructive": ("destructiveHint", "destructive_hint"),
    "idempotent": ("idempotentHint", "idempotent_hint"),
    "open_world": ("openWorldHint", "open_world_hint"),
}
_SCHEMAS = ("inputSchema", "input_schema")
_EXPECTED = 'a tools/list result: [{"name": …}], {"tools": […]} or {"result": {"tools": […]}}'


def meta_from_annotations(tool: Mapping[str, Any]) -> ToolMeta:
    """What a tool object of `tools/list` says about its effect, schema and defaults.

    Annotations without `readOnlyHint` mean a tool that writes, as the protocol has it; an object
    without any member annotates nothing, and without annotations nothing is said about the effect.
    `idempotentHint` counts for tools that write only. `destructiveHint` and `openWorldHint` change
    no
    verdict: a write that destroys nothing still makes reads stale.
    """
    effect: str | None = None
    idempotent: bool | None = None
    annotations = tool.get("annotations")
    if isinstance(annotations, Mapping) and any(v is not None for v in annotations.values()):
        effect = "read" if _hint(annotations, "read_only") is True else "write"
        if effect == "write":
            idempotent = _hint(annotations, "idempotent")
    schema = _schema(tool)
    return ToolMeta(
        effect=effect, idempotent=idempotent, schema=schema, defaults=_defaults(schema) or None
    )


def tools_from_list_dump(data: bytes, source: str) -> dict[str, ToolMeta]:
    """The tools of a saved `tools/list` answer, by name; the first of a name counts.

    Args:
        data: JSON, as a bare list, a result, a JSON-RPC response, or a list of such pages.
        source: the file as the user named it, for errors.

    Raises:
        InputError: no JSON, or not the shape of a `tools/list` answer.
    """
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(source, f"no JSON: {error}", expected=_EXPECTED) from None
    found: dict[str, ToolMeta] = {}
    for path, tool in _tools(document, source, "$"):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not name:
            what = "a tool without a name" if isinstance(tool, Mapping) else _kind(tool)
            raise InputError(
                source,
                f"expected a tool object with a name, found {what}",
                path=path,
                expected='{"name": "…"}',
                found=what,
            )
        found.setdefault(name, meta_from_annotations(tool))
    return found


def _tools(document: Any, source: str, path: str) -> list[tuple[str, Any]]:
    if isinstance(document, Mapping):
        for key in ("tools", "result"):
            if key in document:
                return _tools(document[key], source, f"{path}.{key}")
        if isinstance(document.get("error"), Mapping):
            raise InputError(source, "the server answered with an error", path=f"{path}.error")
    if isinstance(document, list):
        rows: list[tuple[str, Any]] = []
        for index, item in enumerate(document):
            place = f"{path}[{index}]"
            page = isinstance(item, Mapping) and "name" not in item and _is_page(item)
            rows += _tools(item, source, place) if page else [(place, item)]
        return rows
    raise InputError(
        source,
        f"expected a tools/list answer, found {_kind(document)}",
        path=path,
        expected=_EXPECTED,
        found=_kind(document),
    )


def _is_page(item: Mapping[str, Any]) -> bool:
    return "tools" in item or "result" in item


def _kind(value: Any) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "bool"), (Mapping, "object"), (list, "array"), (str, "str"), (int, "int"),
        (float, "float"),
    )  # fmt: skip
    return next((word for kind, word in kinds if isinstance(value, kind)), "null")


def _hint(annotations: Mapping[str, Any], which: str) -> bool | None:
    for spelling in _HINTS[which]:
        value = annotations.get(spelling)
        if isinstance(value, bool):
            return value
    return None


def _schema(tool: Mapping[str, Any]) -> dict[str, Any] | None:
    for spelling in _SCHEMAS:
        value = tool.get(spelling)
        if isinstance(value, Mapping):
            return dict(value)
    return None


def _defaults(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    properties = schema.get("properties") if schema else None
    if not isinstance(properties, Mapping):
        return {}
    return {
        str(name): rule["default"]
        for name, rule in properties.items()
        if isinstance(rule, Mapping) and "default" in rule
    }
