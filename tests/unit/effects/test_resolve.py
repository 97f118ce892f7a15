"""What one call does: the order of the sources, templates, and no argument that breaks it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.resolve import Resolved, Resolver, arguments, fill
from refetch.effects.user_tables import UserTools
from refetch.model.tool import EFFECTS, ToolMeta
from refetch.model.trace import Call, Trace


def resolved(
    name: str,
    args: Any = None,
    *,
    user: dict[str, ToolMeta] | None = None,
    tools: dict[str, Any] | None = None,
    harness: str | None = None,
    **fields: Any,
) -> Resolved:
    trace = Trace("r", [], harness=harness, tools=tools or {})
    table = UserTools(user, "refetch.toml") if user else None
    raw = msgspec.Raw(msgspec.json.encode(args))
    return Resolver(trace, table).resolve(Call(0, 1, name, raw, **fields))


WRITE, READ = ToolMeta(effect="write"), ToolMeta(effect="read")


@pytest.mark.parametrize(
    ("made", "effect", "source"),
    [
        ({"effect": "pure", "user": {"Read": WRITE}}, "pure", "record"),
        ({"mutates": True, "user": {"Read": READ}}, "write", "record"),
        ({"user": {"Read": WRITE}, "tools": {"Read": {"mutates": False}}}, "write", "refetch.toml"),
        ({"tools": {"Read": {"mutates": True}}}, "write", "trace"),
        ({}, "read", "catalogue:claude-code"),
    ],
)
def test_the_stronger_source_is_believed(made: dict[str, Any], effect: str, source: str) -> None:
    found = resolved("Read", {"file_path": "/a"}, harness="claude-code", **made)
    assert (found.effect, found.sources["effect"]) == (effect, source)
    assert not found.inferred


@pytest.mark.parametrize(
    ("name", "args", "effect", "source", "inferred"),
    [
        ("bash", {"command": "cat a"}, "read", "shell", False),
        ("get_user", {"id": 1}, "read", "name", True),
        ("delete_user", {"id": 1}, "write", "name", True),
        ("frobnicate", {"id": 1}, "opaque", "unknown", False),
        ("Read", {"file_path": "/a"}, "read", "name", True),  # no harness, no catalogue
    ],
)
def test_without_declarations(
    name: str, args: Any, effect: str, source: str, inferred: bool
) -> None:
    found = resolved(name, args)
    assert (found.effect, found.sources["effect"], found.inferred) == (effect, source, inferred)


def test_sources_are_merged_field_by_field() -> None:
    found = resolved(
        "Read",
        {"file_path": "/a"},
        harness="claude-code",
        user={"Read": ToolMeta(volatile=True)},
        tools={"Read": {"ttl": 5.0}},
    )
    assert (found.effect, found.volatile, found.ttl) == ("read", True, 5.0)
    assert [a.resource for a in found.reads] == ["file:/a"]
    assert found.sources["volatile"] == "refetch.toml"
    assert found.sources["ttl"] == "trace"
    assert found.sources["resource"] == "catalogue:claude-code"


@pytest.mark.parametrize(
    ("tools", "fields", "volatile"),
    [
        ({}, {}, True),
        ({"Read": {"volatile": False}}, {}, False),
        ({}, {"volatile": False}, False),
        ({"Read": {"volatile": False}}, {"volatile": True}, True),
    ],
)
def test_a_log_is_volatile_unless_somebody_says_otherwise(
    tools: dict[str, Any], fields: dict[str, Any], volatile: bool
) -> None:
    found = resolved(
        "Read", {"file_path": "/srv/app.log"}, harness="claude-code", tools=tools, **fields
    )
    assert found.volatile is volatile


def test_what_the_record_says_about_itself_comes_first() -> None:
    found = resolved(
        "get",
        {"id": 1},
        tools={"get": {"mutates": False, "resource": "row:{id}", "volatile": True, "ttl": 9}},
        resource=["row:7", "row:8"],
        volatile=False,
        ttl=1.0,
        view="short",
        region={"from": 1, "to": 2},
        delivered={"from": 1, "to": 1},
        depends_on="row:*",
    )
    assert [a.resource for a in found.reads] == ["row:7", "row:8"]
    assert (found.volatile, found.ttl, found.view) == (False, 1.0, "short")
    assert (found.region.high, found.delivers.high) == (2, 1)
    assert found.depends == ("row:*",)
    assert found.sources["resource"] == "record"


def test_an_effect_by_argument() -> None:
    meta = ToolMeta(effect={"by": "op", "view": "read", "make": "write", "*": "none"})
    effects = [
        resolved("t", {"op": op}, user={"t": meta}).effect for op in ("view", "make", "x", 5)
    ]
    assert effects == ["read", "write", "none", "none"]
    bare = ToolMeta(effect={"by": "op", "view": "read"})
    assert resolved("t", {"op": "x"}, user={"t": bare}).effect == "opaque"


def test_an_edit_of_nothing_may_create() -> None:
    tools = {"edit": {"mutates": True, "resource": "file:{p}", "change": "modify"}}
    plain = resolved("edit", {"p": "/a", "old_string": "x"}, tools=tools)
    fresh = resolved("edit", {"p": "/a", "old_string": ""}, tools=tools)
    assert [w.change for w in plain.writes] == ["modify"]
    assert [w.change for w in fresh.writes] == ["any"]


@pytest.mark.parametrize(
    ("template", "args", "expected"),
    [
        ("file:{p}", {"p": "a"}, ["file:a"]),
        ("file:{p}", {}, []),
        ("file:{p=.}", {}, ["file:."]),
        ("file:{p=.}", {"p": "a"}, ["file:a"]),
        ("row:{t}/{id}", {"t": "users", "id": 5.0}, ["row:users/5"]),
        ("row:{t}/{id}", {"t": "users"}, []),
        ("row:{id}", {"id": ["a", "b"]}, ["row:a", "row:b"]),
        ("row:{id}", {"id": [1]}, []),
        ("row:{id}", {"id": True}, []),
        ("row:{id}", {"id": {"x": 1}}, []),
        ("config:app", {}, ["config:app"]),
        ("x:{a}{a}", {"a": "b"}, ["x:bb"]),
        ("x:{a}", {"a": "{b}"}, ["x:{b}"]),
    ],
)
def test_templates(template: str, args: dict[str, Any], expected: list[str]) -> None:
    assert fill(template, args) == expected


def test_patterns_of_a_trace_are_not_run() -> None:
    tools = {"t": {"effect": "read", "noise": ["(a+)+$", "duration", "("]}}
    assert resolved("t", {}, tools=tools).noise == ("duration",)


def test_broken_metadata_of_a_header_spares_the_rest() -> None:
    tools = {"t": {"mutates": "maybe", "effect": "read", "unknown": 1}, "u": 5}
    assert resolved("t", {}, tools=tools).effect == "read"
    assert resolved("u", {}, tools=tools).effect == "opaque"


def test_equal_calls_are_resolved_once() -> None:
    resolver = Resolver(Trace("r", []))
    one, two = (Call(n, n, "get_x", msgspec.Raw(b'{"a":1}')) for n in (0, 1))
    assert resolver.resolve(one) is resolver.resolve(two)


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b"", None), (b"  ", None), (b"{", None), (b'{"a":1}', {"a": 1}), (b"[1]", [1])],
)
def test_arguments(raw: bytes, value: Any) -> None:
    assert arguments(Call(0, 1, "t", msgspec.Raw(raw))) == value
    assert arguments(Call(0, 1, "t", raw_args=raw.decode())) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["path", "command", "offset", "limit", "page", "id", "action", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(
        ["Read", "Bash", "Grep", "Edit", "get_user", "bash", "mcp__github__get_me", ""]
    ),
    JSON,
    st.sampled_from([None, "claude-code", "codex-cli", "swe-agent"]),
    st.none() | st.text(max_size=4),
)
def test_no_arguments_break_it(name: str, args: Any, harness: str | None, cwd: str | None) -> None:
    found = resolved(name, args, harness=harness, cwd=cwd)
    assert found.effect in EFFECTS
    assert found.sources["effect"]
