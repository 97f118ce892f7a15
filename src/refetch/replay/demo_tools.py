"""Four tools over a declared world: nothing outside it is read or written."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from refetch.record import Tool
from refetch.replay.harness import TransientError


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a search finds, after failing `failures` times in a way that passes."""

    results: list[str] = []
    failures: int = 0


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files by path, users by id, searches by query."""

    files: dict[str, str] = {}
    users: dict[str, Any] = {}
    searches: dict[str, Search] = {}


def demo_tools(world: World) -> dict[str, Tool]:
    """The tools search, read_file, get_user and write_file over a copy of `world`."""
    files = dict(world.files)
    left = {query: search.failures for query, search in world.searches.items()}

    def search(args: dict[str, Any]) -> str:
        query = args["query"]
        if left.get(query, 0) > 0:
            left[query] -= 1
            raise TransientError(f"search for {query!r} is briefly not available")
        found = world.searches.get(query)
        return "\n".join(found.results) if found is not None else ""

    def read_file(args: dict[str, Any]) -> str:
        path = args["path"]
        if path not in files:
            raise FileNotFoundError(f"no such file: {path}")
        return files[path]

    def get_user(args: dict[str, Any]) -> str:
        name = str(args["id"]).strip()
        if name not in world.users:
            raise LookupError(f"no such user: {name}")
        return json.dumps(world.users[name], ensure_ascii=False)

    def write_file(args: dict[str, Any]) -> str:
        files[args["path"]] = args["content"]
        return f"wrote {args['path']}"

    return {
        "search": Tool(search, mutates=False, resource=lambda a: f"search:{a['query']}"),
        "read_file": Tool(read_file, mutates=False, resource=lambda a: f"file:{a['path']}"),
        "get_user": Tool(get_user, mutates=False, resource=lambda a: f"user:{a['id']}"),
        "write_file": Tool(write_file, mutates=True, resource=lambda a: f"file:{a['path']}"),
    }
