"""The built-in catalogue: what the tools of well-known harnesses and MCP servers do.

It speaks only where the harness or the server is known from the trace: somebody's own `search` is
not another product's. One TOML file in `builtin/` describes one harness (`harness = [name, other
names…]`) or one MCP server (`server = […]`); below `[tools.NAME]` stand exactly the fields of
`ToolMeta`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from refetch.effects.sections import Sections
from refetch.model.tool import ToolMeta


class _Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands above the tools. `domain` holds for every tool of the file that names none."""

    harness: list[str] = []
    server: list[str] = []
    domain: str | None = None


class CatalogueEntry(msgspec.Struct, frozen=True):
    """One tool of the catalogue: `owner` is the harness or server, `source` the label of
    findings."""

    owner: str
    name: str
    source: str
    meta: ToolMeta


class _Owner:
    """A harness or server and its tools, each read when somebody asks for it."""

    def __init__(self, name: str, label: str, domain: str | None, tools: Sections) -> None:
        self.name = name
        self.label = label
        self.tools = tools
        self._domain = domain

    def get(self, tool: str) -> tuple[ToolMeta, str] | None:
        """Metadata and the label of its source. Results are cached by `lookup`."""
        if tool not in self.tools:
            return None
        meta = msgspec.convert(self.tools.table(tool), ToolMeta)
        if self._domain is not None and meta.domain is None:
            meta = msgspec.structs.replace(meta, domain=self._domain)
        return meta, self.label


class _Catalogue(msgspec.Struct, frozen=True):
    harnesses: dict[str, _Owner]
    servers: dict[str, _Owner]


_VERSION = re.compile(r"[/@ ]v?\d.*$")
_BEFORE_SERVER = re.compile(r"^(?:claude-ai-|modelcontextprotocol-|mcp-server-|server-|mcp-)")
_BEHIND_SERVER = re.compile(r"(?:-mcp-server|-server-mcp|-server|-mcp)$")
_SEPARATORS = ("__", ".", "/")
_UNDERSCORE_HARNESSES = frozenset(("opencode",))
"""Harnesses that join server and tool with one underscore."""


def lookup(
    harness: str | None, name: str, *, server: str | None = None
) -> tuple[ToolMeta, str] | None:
    """What the catalogue knows about a tool, with the label of its source.

    Args:
        harness: the program that ran the agent, as the trace names it ("codex_vscode"), or None.
        name: the tool as the trace names it; `mcp__server__tool` names its server itself.
        server: the MCP server of the tool, where the trace says it apart from the name.

    Returns:
        The metadata and a label such as "catalogue:claude-code" or "catalogue:mcp:github"; None
        where neither harness nor server is certain, or the tool is not one of theirs.
    """
    return _lookup(harness, name, server)


def harness_name(harness: str | None) -> str | None:
    """The catalogue's own name of a harness, or None where it has no table for it."""
    owner = _catalogue().harnesses.get(_plain(harness)) if harness else None
    return owner.name if owner else None


def server_name(server: str) -> str | None:
    """The catalogue's own name of an MCP server, however a configuration spells it, or None.

    `linear-server`, `claude_ai_Linear`, `@modelcontextprotocol/server-github` and
    `plugin_some-plugin_context7` are spellings that hosts produce.
    """
    owner = _server(server)
    return owner.name if owner else None


def entries() -> Iterator[CatalogueEntry]:
    """Every tool of the catalogue, by owner and name, for documentation."""
    catalogue = _catalogue()
    owners = {o.label: o for o in (*catalogue.harnesses.values(), *catalogue.servers.values())}
    for label in sorted(owners):
        owner = owners[label]
        for name in sorted(owner.tools):
            found = owner.get(name)
            assert found is not None
            yield CatalogueEntry(owner.name, name, label, found[0])


@lru_cache(maxsize=4096)
def _lookup(harness: str | None, name: str, server: str | None) -> tuple[ToolMeta, str] | None:
    if server is not None:
        owner = _server(server)
        return _own_tool(owner, server, name) if owner else None
    own = _catalogue().harnesses.get(_plain(harness)) if harness else None
    if own is not None and (found := own.get(name)) is not None:
        return found
    for part, tool in _server_spellings(name, own):
        owner = _server(part)
        if owner is not None and (found := owner.get(tool)) is not None:
            return found
    return None


def _server_spellings(name: str, own: _Owner | None) -> Iterator[tuple[str, str]]:
    """(server, tool) as the name may be read, only in spellings that certainly name a server.

    `mcp__server__tool` and `mcp_server_tool` say so themselves. `server__tool`, `server.tool` and
    `server/tool` count where a known harness, which joins names this way, ran the agent.
    """
    if name.startswith("mcp__"):
        yield from _splits(name[5:], "__")
    elif name.startswith("mcp_"):
        yield from _splits(name[4:], "_")
    elif own is not None:
        for separator in _SEPARATORS:
            yield from _splits(name, separator)
        if own.name in _UNDERSCORE_HARNESSES:
            yield from _splits(name, "_")


def _splits(text: str, separator: str) -> Iterator[tuple[str, str]]:
    at = text.find(separator)
    while at >= 0:
        server, tool = text[:at], text[at + len(separator) :]
        if server and tool:
            yield server, tool
        at = text.find(separator, at + 1)


def _own_tool(owner: _Owner, server: str, name: str) -> tuple[ToolMeta, str] | None:
    """The tool under its bare name, or behind the server's name in one of the spellings."""
    if (found := owner.get(name)) is not None:
        return found
    for prefix in (f"mcp__{server}__", f"mcp_{server}_", f"{server}__", f"{server}.", f"{server}/"):
        if name.startswith(prefix) and (found := owner.get(name[len(prefix) :])) is not None:
            return found
    return None


def _server(name: str) -> _Owner | None:
    servers = _catalogue().servers
    plain = _plain(name)
    if plain in servers:
        return servers[plain]
    if plain.startswith("plugin-"):
        # Hosts write plugin_<plugin>_<server>, and either may hold a hyphen.
        last = name.rsplit("_", 1)[-1]
        return _server(last) if last != name else None
    bare = _BEHIND_SERVER.sub("", _BEFORE_SERVER.sub("", plain.lstrip("-")))
    bare = _BEFORE_SERVER.sub("", bare)
    return servers.get(bare)


def _plain(name: str) -> str:
    """A name without case, version and choice of separators."""
    return re.sub(r"[^a-z0-9.]+", "-", _VERSION.sub("", name.strip().lower()))


@lru_cache(maxsize=1)
def _catalogue() -> _Catalogue:
    harnesses: dict[str, _Owner] = {}
    servers: dict[str, _Owner] = {}
    for file in sorted((Path(__file__).parent / "builtin").glob("*.toml")):
        tools = Sections(file.read_text("utf-8"), "tools.")
        head = msgspec.convert(tools.head(), _Head)
        for names, owners, kind in (
            (head.harness, harnesses, ""),
            (head.server, servers, "mcp:"),
        ):
            if names:
                owner = _Owner(names[0], f"catalogue:{kind}{names[0]}", head.domain, tools)
                owners.update((_plain(name), owner) for name in names)
    return _Catalogue(harnesses, servers)
