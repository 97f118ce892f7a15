"""Users' own tables: found, matched, and every mistake named with place and nearest right word."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.user_tables import (
    UserTools,
    check_templates,
    load_user_tools,
    stub_for,
    template_fields,
    tools_from_mapping,
)
from refetch.model.errors import UsageError
from refetch.model.tool import RegionRule, ToolMeta


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def effects(tools: UserTools, *names: str) -> list[Any]:
    return [found[0].effect if (found := tools.lookup(name)) else None for name in names]


# Finding the file


def test_refetch_toml(tmp_path: Path) -> None:
    file = write(
        tmp_path, "refetch.toml", '[tools.get_user]\nmutates = false\nresource = "user:{id}"\n'
    )
    for place in (file, tmp_path, str(tmp_path)):
        tools = load_user_tools(place)
        assert tools.lookup("get_user") == (
            ToolMeta(mutates=False, resource="user:{id}"),
            "refetch.toml",
        )


def test_pyproject(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", '[tool.refetch.tools.a]\neffect = "pure"\n')
    assert load_user_tools(tmp_path).lookup("a") == (ToolMeta(effect="pure"), "pyproject.toml")


def test_search_goes_up_to_the_nearest_configuration(tmp_path: Path) -> None:
    write(tmp_path, "refetch.toml", '[tools.a]\neffect = "read"\n')
    write(tmp_path / "x", "pyproject.toml", '[project]\nname = "other"\n')
    write(tmp_path / "x" / "y" / "z", "note.txt", "")
    assert effects(load_user_tools(tmp_path / "x" / "y" / "z"), "a") == ["read"]
    write(tmp_path / "x", "pyproject.toml", "[tool.refetch]\n")
    assert effects(load_user_tools(tmp_path / "x" / "y" / "z"), "a") == [None]


def test_refetch_toml_comes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path, "refetch.toml", '[tools.a]\neffect = "read"\n')
    write(tmp_path, "pyproject.toml", '[tool.refetch.tools.a]\neffect = "write"\n')
    assert effects(load_user_tools(tmp_path), "a") == ["read"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("refetch.toml", ""),
        ("refetch.toml", "[tool.refetch.tools.a]\neffect = 'read'\n"),
        ("pyproject.toml", "[tools.a]\neffect = 'read'\n"),
        ("pyproject.toml", "[tool.refetch]\nbudget = 5\n"),
    ],
)
def test_no_tools_declared(tmp_path: Path, name: str, text: str) -> None:
    assert len(load_user_tools(write(tmp_path, name, text))) == 0


def test_file_of_another_name_and_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff[tool.refetch.tools.a]\neffect = 'read'\n"
    assert effects(load_user_tools(write(tmp_path, "my.toml", text)), "a") == ["read"]
    assert effects(load_user_tools(write(tmp_path, "b.toml", "[tools.a]\neffect='pure'")), "a") == [
        "pure"
    ]


# Look-up


def test_exact_before_glob_and_longer_before_shorter() -> None:
    tools = tools_from_mapping(
        {
            "*": {"effect": "opaque"},
            "get_*": {"effect": "read"},
            "get_secret_*": {"effect": "none"},
            "get_secret_time": {"effect": "pure"},
        },
        "options",
    )
    names = ("get_secret_time", "get_secret_x", "get_user", "other")
    assert effects(tools, *names) == ["pure", "none", "read", "opaque"]
    assert tools.lookup("get_user") == (ToolMeta(effect="read"), "options")


@pytest.mark.parametrize("name", ["Get_user", "get", "xget_user", "get.user", ""])
def test_glob_matches_whole_names_in_their_case(name: str) -> None:
    assert tools_from_mapping({"get_*": {"effect": "read"}}, "x").lookup(name) is None


def test_every_field_is_accepted() -> None:
    value: dict[str, Any] = {
        "effect": {"by": "command", "view": "read", "create": "write", "*": "opaque"},
        "resource": ["file:{path}", "thing:{id=none}"],
        "depends_on": "*",
        "region": {"unit": "line", "first": "offset", "count": "limit", "limit": 2000},
        "ttl": 60,
        "volatile": False,
        "ignore_args": ["note"],
        "defaults": {"limit": 10},
        "independent": ["url"],
        "domain": "mcp:x",
    }
    found = tools_from_mapping({"x": value}, "x").lookup("x")
    assert found is not None
    assert found[0].region == RegionRule(first="offset", count="limit", limit=2000)
    assert found[0].ttl == 60.0


# Mistakes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("mutate = true", "[tools.t] unknown key `mutate`; did you mean `mutates`?"),
        ("zzz = 1", "[tools.t] unknown key `zzz`; known: background, budget, change, defaults,"),
        ("region = { frist = 'x' }", "[tools.t.region] unknown key `frist`; did you mean `first`?"),
        ("mutates = 'yes'", "[tools.t] mutates: Expected `bool | null`, got `str`"),
        ("mutates = 1", "[tools.t] mutates: Expected `bool | null`, got `int`"),
        ("ttl = 'long'", "[tools.t] ttl: Expected `float | null`, got `str`"),
        ("ttl = -1", "[tools.t] ttl: expected seconds, 0 or more, found -1"),
        ("ttl = nan", "[tools.t] ttl: expected seconds, 0 or more, found nan"),
        ("ignore_args = 'note'", "[tools.t] ignore_args: Expected `array | null`, got `str`"),
        ("ignore_args = [1]", "[tools.t] ignore_args[0]: Expected `str`, got `int`"),
        ("region = 'lines'", "[tools.t] region: Expected `object | null`, got `str`"),
        ("region = { limit = 'x' }", "[tools.t] region.limit: Expected `int`, got `str`"),
        ("noise = ['(']", "[tools.t] noise: '(' is no regular expression: missing )"),
        ("effect = 'raed'", "[tools.t] effect: `raed` is no effect; did you mean `read`?"),
        ("effect = { view = 'read' }", "[tools.t] effect: a table by argument needs `by`"),
        (
            "effect = { by = 'c', v = 'reads' }",
            "[tools.t] effect.v: `reads` is no effect; did you mean `read`?",
        ),
        ("mutates = true\neffect = 'read'", '[tools.t] mutates = true contradicts effect = "read"'),
        (
            "mutates = false\neffect = 'write'",
            '[tools.t] mutates = false contradicts effect = "write"',
        ),
        (
            "resource = 'file:{path'",
            "[tools.t] resource: 'file:{path': write {argument} or {argument=default}",
        ),
        (
            "resource = 'file:{}'",
            "[tools.t] resource: 'file:{}': write {argument} or {argument=default}",
        ),
        (
            "resource = 'file:{ }'",
            "[tools.t] resource: 'file:{ }': write {argument} or {argument=default}",
        ),
        ("resource = 'file:path}'", "[tools.t] resource: 'file:path}': write {argument}"),
        ("resource = '{path}'", "[tools.t] resource: '{path}': a resource is scheme:path"),
        ("depends_on = ['x:1', 'src']", "[tools.t] depends_on: 'src': a resource is scheme:path"),
    ],
)
def test_mistake_is_named(tmp_path: Path, body: str, message: str) -> None:
    file = write(tmp_path, "refetch.toml", f"[tools.t]\n{body}\n")
    with pytest.raises(UsageError) as caught:
        load_user_tools(file)
    assert str(caught.value).startswith(f"{file}: {message}")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("refetch.toml", "[tools\n", "no valid TOML: "),
        ("refetch.toml", "tools = 5\n", "[tools] must be a table of tools, found `int`"),
        ("refetch.toml", "[tools]\nt = 'read'\n", "[tools.t] must be a table, found a string"),
        ("refetch.toml", '[tools]\n"a b" = []\n', '[tools."a b"] must be a table, found an array'),
        (
            "pyproject.toml",
            "[tool.refetch.tools.t]\nx = 1\n",
            "[tool.refetch.tools.t] unknown key `x`",
        ),
    ],
)
def test_broken_file_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    file = write(tmp_path, name, text)
    with pytest.raises(UsageError) as caught:
        load_user_tools(file)
    assert str(caught.value).startswith(f"{file}: {message}")


def test_missing_and_undecodable_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_user_tools(tmp_path / "none.toml")
    (tmp_path / "refetch.toml").write_bytes(b"\xff\xfe[tools]")
    with pytest.raises(UsageError, match="no valid TOML"):
        load_user_tools(tmp_path)


def test_lenient_keeps_what_is_right() -> None:
    tools = tools_from_mapping(
        {
            "a": {"effect": "read", "ttl": "x", "new_field": 1, "resource": "file:{path"},
            "b": "read",
            "c": ToolMeta(effect="pure"),
            "d": {"effect": "raed", "volatile": True},
        },
        "trace",
        lenient=True,
    )
    assert tools.tools == {
        "a": ToolMeta(effect="read"),
        "c": ToolMeta(effect="pure"),
        "d": ToolMeta(volatile=True),
    }


# Templates

META_SHELL = msgspec.convert({"shell": "cmd"}, ToolMeta)


@pytest.mark.parametrize(
    ("template", "fields"),
    [
        ("user:5", []),
        ("*", []),
        ("file:{path}", [("path", None)]),
        ("file:{path=.}/**", [("path", ".")]),
        ("gh:{owner}/{repo}/{ref=}", [("owner", None), ("repo", None), ("ref", "")]),
    ],
)
def test_template_fields(template: str, fields: list[tuple[str, str | None]]) -> None:
    assert template_fields(template) == fields


@pytest.mark.parametrize(
    ("meta", "known", "from_schema"),
    [
        (ToolMeta(resource="file:{path}"), {"path", "limit"}, True),
        (ToolMeta(resource="file:{path}"), set(), False),
        (ToolMeta(resource="file:{path=.}"), {"pattern"}, False),
        (ToolMeta(resource=["file:{path}", "file:{file_path}"]), {"file_path"}, True),
        (ToolMeta(depends_on="*"), {"x"}, True),
        (ToolMeta(region=RegionRule(first="offset")), {"path"}, False),
        (META_SHELL, {"cmd"}, True),
        (ToolMeta(), {"x"}, True),
    ],
)
def test_templates_that_fit(meta: ToolMeta, known: set[str], from_schema: bool) -> None:
    check_templates(meta, known, name="t", from_schema=from_schema)


@pytest.mark.parametrize(
    ("meta", "from_schema", "message"),
    [
        (
            ToolMeta(resource="file:{pth}"),
            False,
            "resource: the tool has no argument `pth`; did you mean `path`?",
        ),
        (
            ToolMeta(resource="x:{zzz}"),
            False,
            "resource: the tool has no argument `zzz`; known: limit, path",
        ),
        (ToolMeta(resource=["a:{b}", "c:{d}"]), False, "resource: the tool has no argument `b`"),
        (ToolMeta(resource="file:{pth=.}"), True, "resource: the tool has no argument `pth`"),
        (
            ToolMeta(depends_on="file:{paht}"),
            False,
            "depends_on: the tool has no argument `paht`; did you mean `path`?",
        ),
        (
            ToolMeta(region=RegionRule(count="limt")),
            True,
            "region.count: the tool has no argument `limt`",
        ),
        (META_SHELL, True, "shell: the tool has no argument `cmd`"),
    ],
)
def test_templates_that_do_not_fit(meta: ToolMeta, from_schema: bool, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_templates(meta, {"path", "limit"}, name="t", from_schema=from_schema)
    assert str(caught.value).startswith(f"refetch.toml: [tools.t] {message}")


# Stubs


@pytest.mark.parametrize(
    ("name", "args", "effect", "lines"),
    [
        ("get_order", {"order_id": "W1"}, "read", ['# resource = "order:{order_id}"']),
        ("frobnicate", {"file_path": "a.py"}, "opaque", ['# resource = "file:{file_path}"']),
        ("update_page", {"pageId": 5}, "write", ['# resource = "page:{pageId}"']),
        (
            "list_items",
            {"offset": 0, "limit": 5},
            "read",
            ['# region = { unit = "item", first = "offset", count = "limit" }'],
        ),
        ("open", {"url": "x"}, "opaque", ['# resource = "url:{url}"']),
        ("ping", {}, "opaque", ['# resource = "thing:{id}"']),
    ],
)
def test_stub(name: str, args: dict[str, Any], effect: str, lines: list[str]) -> None:
    stub = stub_for(name, args)
    assert tomllib.loads(stub) == {"tools": {name: {"effect": effect}}}
    assert set(lines) <= set(stub.splitlines())


@given(
    st.text(min_size=1, max_size=40),
    st.dictionaries(
        st.text(max_size=80), st.none() | st.booleans() | st.integers() | st.text(), max_size=5
    ),
)
def test_every_stub_loads(name: str, args: dict[str, Any]) -> None:
    stub = stub_for(name, args)
    tools = tools_from_mapping(tomllib.loads(stub)["tools"], "refetch.toml")
    assert len(tools) == 1
    assert tools.lookup(name) is not None


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,70}", fullmatch=True), st.integers(), max_size=4
    )
)
def test_stub_loads_with_all_its_comments_removed(args: dict[str, Any]) -> None:
    head, *rest = stub_for("get_x", args).splitlines()
    assert head.startswith("# ")
    text = "\n".join(line.removeprefix("# ") for line in rest)
    found = tools_from_mapping(tomllib.loads(text)["tools"], "refetch.toml").lookup("get_x")
    assert found is not None
    assert found[0].ttl == 60


def test_stub_of_a_name_that_toml_cannot_hold() -> None:
    tools = tools_from_mapping(tomllib.loads(stub_for("get_\ud800\x7f", {"a\nb": 1}))["tools"], "x")
    assert len(tools) == 1
