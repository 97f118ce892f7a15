"""The built-in catalogue: well-formed, cautious, silent where the owner of a tool is a guess."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest

from refetch.effects import catalogue
from refetch.model.tool import EFFECTS, ToolMeta

BUILTIN = sorted(
    (f for f in (files("refetch.effects") / "builtin").iterdir() if f.name.endswith(".toml")),
    key=lambda f: f.name,
)
ENTRIES = list(catalogue.entries())


def meta_of(harness: str | None, name: str) -> ToolMeta:
    found = catalogue.lookup(harness, name)
    assert found is not None, f"{name} of {harness} is not in the catalogue"
    return found[0]


def templates(meta: ToolMeta) -> Iterator[str]:
    for value in (meta.resource, meta.depends_on):
        yield from [value] if isinstance(value, str) else value or []


# Files


@pytest.mark.parametrize("file", BUILTIN, ids=lambda f: f.name)
def test_file_has_one_kind_of_owner_and_exact_fields(file: Any) -> None:
    table = tomllib.loads(file.read_text("utf-8"))
    assert set(table) <= {"harness", "server", "domain", "tools"}
    assert bool(table.get("harness")) != bool(table.get("server"))
    for name, fields in table["tools"].items():
        assert set(fields) <= set(ToolMeta.__struct_fields__), name
        assert "mutates" not in fields, f"{name}: the catalogue speaks in effects"
        msgspec.convert(fields, ToolMeta)


def test_unknown_field_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"efect": "read"}, ToolMeta)
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"sever": ["s"]}, catalogue._Head)


def test_no_owner_stands_twice() -> None:
    names = [
        (kind, catalogue._plain(name))
        for file in BUILTIN
        for kind in ("harness", "server")
        for name in tomllib.loads(file.read_text("utf-8")).get(kind, [])
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: f"{e.owner}:{e.name}")
def test_entry_is_sound(entry: catalogue.CatalogueEntry) -> None:
    meta = entry.meta
    assert (meta.effect is None) == (meta.shell is not None)
    effects = meta.effect.items() if isinstance(meta.effect, dict) else [("", meta.effect)]
    for key, effect in effects:
        assert effect is None or key == "by" or effect in EFFECTS
    if isinstance(meta.effect, dict):
        assert "by" in meta.effect
        assert meta.effect.get("*") in ("write", "opaque"), "an unknown command may do anything"
    for template in templates(meta):
        assert template == "*" or re.match(r"[a-z]+:", template), template
        assert (
            template.count("{") == template.count("}") == len(re.findall(r"\{[^{}]+\}", template))
        )
    if meta.region is not None and meta.region.limit:
        assert meta.region.count, "a default limit needs the argument that overrides it"


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.meta.effect == "write"], ids=lambda e: f"{e.owner}:{e.name}"
)
def test_write_names_what_it_writes_or_its_domain(entry: catalogue.CatalogueEntry) -> None:
    meta = entry.meta
    assert meta.resource is not None or meta.domain is not None
    # A template whose only argument is absent would leave a write without a place.
    assert "file" not in (meta.independent or []) or not any(
        t.startswith("file:") for t in templates(meta)
    )


@pytest.mark.parametrize(
    "entry",
    [e for e in ENTRIES if e.source.startswith("catalogue:mcp:")],
    ids=lambda e: f"{e.owner}:{e.name}",
)
def test_remote_write_never_misses_a_read(entry: catalogue.CatalogueEntry) -> None:
    """Remote things go by several names, so a write that names one would leave others fresh."""
    meta = entry.meta
    if meta.effect == "write" and meta.domain and meta.domain.startswith("mcp:"):
        assert not any("{" in t for t in templates(meta))


def test_declared_view_hides_no_argument() -> None:
    """A declared view replaces the one made of arguments: each must stand elsewhere."""
    known = {
        ("claude-code", "Read"): {"file_path", "offset", "limit", "pages"},
        ("claude-code", "Glob"): {"pattern", "path"},
        ("pi", "read"): {"path", "offset", "limit"},
        ("opencode", "read"): {"filePath", "path", "offset", "limit"},
        ("cline", "read_file"): {"path", "start_line", "end_line"},
        ("cline", "readFile"): {"path", "start_line", "end_line"},
        ("filesystem", "read_file"): {"path", "head", "tail"},
        ("filesystem", "read_text_file"): {"path", "head", "tail"},
    }
    editors = {"str_replace_editor", "file_editor", "developer__text_editor"}
    for entry in ENTRIES:
        if entry.meta.view is None:
            continue
        arguments = known.get((entry.owner, entry.name))
        if entry.name in editors:
            arguments = {"path", "view_range"}
        assert arguments is not None, f"{entry.owner}:{entry.name} declares a view"
        rule = entry.meta.region
        named = {getattr(rule, f) for f in ("first", "last", "count", "range", "cursor", "tail")}
        named |= {m for t in templates(entry.meta) for m in re.findall(r"\{(\w+)", t)}
        assert arguments <= named


# Look-up


@pytest.mark.parametrize(
    ("harness", "name", "source"),
    [
        ("claude-code", "Read", "catalogue:claude-code"),
        ("Claude Code", "Read", "catalogue:claude-code"),
        ("claude-code/2.1.42", "Read", "catalogue:claude-code"),
        ("codex_vscode", "shell", "catalogue:codex-cli"),
        ("codex_cli_rs", "exec_command", "catalogue:codex-cli"),
        ("codex-cli", "container.exec", "catalogue:codex-cli"),
        ("gemini-cli", "replace", "catalogue:gemini-cli"),
        ("swe-agent", "str_replace_editor", "catalogue:swe-agent"),
        ("mini-swe-agent", "bash", "catalogue:mini-swe-agent"),
        ("openhands", "execute_bash", "catalogue:openhands"),
        ("pi", "edit", "catalogue:pi"),
        ("opencode", "webfetch", "catalogue:opencode"),
        ("cline", "replace_in_file", "catalogue:cline"),
        ("roo-code", "apply_diff", "catalogue:roo-code"),
        ("goose", "developer__text_editor", "catalogue:goose"),
        ("claude-code", "mcp__github__get_me", "catalogue:mcp:github"),
        (None, "mcp__github__get_me", "catalogue:mcp:github"),
        ("gemini-cli", "mcp_github_get_me", "catalogue:mcp:github"),
        ("gemini-cli", "github__get_me", "catalogue:mcp:github"),
        ("codex-cli", "github.get_me", "catalogue:mcp:github"),
        ("goose", "github/get_me", "catalogue:mcp:github"),
        ("opencode", "github_get_me", "catalogue:mcp:github"),
        ("opencode", "sequential-thinking_sequentialthinking", "catalogue:mcp:sequential-thinking"),
        ("claude-code", "mcp__linear-server__get_issue", "catalogue:mcp:linear"),
        ("claude-code", "mcp__claude_ai_Linear__get_issue", "catalogue:mcp:linear"),
        (None, "mcp__plugin_some-plugin_context7__query-docs", "catalogue:mcp:context7"),
        (None, "mcp__brave_search__brave_web_search", "catalogue:mcp:brave-search"),
    ],
)
def test_found(harness: str | None, name: str, source: str) -> None:
    found = catalogue.lookup(harness, name)
    assert found is not None
    assert found[1] == source


@pytest.mark.parametrize(
    ("harness", "name"),
    [
        # no harness, no server: somebody's own tool, whatever it is called
        (None, "read_file"),
        (None, "Read"),
        (None, "bash"),
        (None, "search_code"),
        (None, "get_me"),
        (None, "fetch"),
        (None, "github__get_me"),
        (None, "github.get_me"),
        (None, "github_get_me"),
        (None, "filesystem/read_file"),
        ("", "Read"),
        # a harness nobody knows, or another one's tool
        ("my-agent", "Read"),
        ("my-agent", "github__get_me"),
        ("claude", "Read"),
        ("gemini", "read_file"),
        ("claude-code", "read_file"),
        ("claude-code", "read"),
        ("gemini-cli", "Read"),
        ("pi", "Bash"),
        ("mini-swe-agent", "str_replace_editor"),
        ("tau-bench", "think"),
        ("tau2-bench", "calculate"),
        ("claude-code", "get_reservation_details"),
        ("claude-code", "github_get_me"),
        ("codex-cli", "github_get_me"),
        # a server nobody knows, or a tool the server does not have
        ("claude-code", "mcp__weather__get_weather"),
        ("claude-code", "mcp__github__launch_rocket"),
        ("claude-code", "mcp__mygithub__get_me"),
        ("claude-code", "mcp__githubs__get_me"),
        ("claude-code", "mcp__plugin_github_other__get_me"),
        ("claude-code", "mcp__get_me"),
        ("claude-code", "mcp__github__"),
        ("claude-code", "mcp____get_me"),
        ("claude-code", "mcp__"),
        ("claude-code", "github__x__get_me"),
        ("opencode", "git_status"),
        (None, ""),
    ],
)
def test_not_found(harness: str | None, name: str) -> None:
    assert catalogue.lookup(harness, name) is None


@pytest.mark.parametrize(
    ("server", "name", "found"),
    [
        ("github", "get_me", True),
        ("github", "mcp__github__get_me", True),
        ("@modelcontextprotocol/server-filesystem", "read_text_file", True),
        ("mcp-server-git", "git_status", True),
        ("weather", "get_me", False),
        ("github", "Read", False),
        ("", "get_me", False),
    ],
)
def test_server_that_the_trace_names_apart(server: str, name: str, found: bool) -> None:
    assert (catalogue.lookup("claude-code", name, server=server) is not None) is found


def test_names_of_owners() -> None:
    assert catalogue.harness_name("codex_vscode") == "codex-cli"
    assert catalogue.harness_name("nobody") is None
    assert catalogue.harness_name(None) is None
    assert catalogue.server_name("linear-server") == "linear"
    assert catalogue.server_name("plugin_a_b") is None


def test_entries_are_sorted_and_looked_up_alike() -> None:
    assert sorted(ENTRIES, key=lambda e: (e.source, e.name)) == ENTRIES
    assert len({(e.source, e.name) for e in ENTRIES}) == len(ENTRIES) > 400
    for entry in ENTRIES:
        if not entry.source.startswith("catalogue:mcp:"):
            assert catalogue.lookup(entry.owner, entry.name) == (entry.meta, entry.source)


# Judgements


@pytest.mark.parametrize(
    ("harness", "name"),
    [
        ("claude-code", "Task"),
        ("claude-code", "Agent"),
        ("claude-code", "Skill"),
        ("claude-code", "SlashCommand"),
        ("claude-code", "PowerShell"),
        ("claude-code", "mcp__ide__executeCode"),
        ("codex-cli", "spawn_agent"),
        ("codex-cli", "write_stdin"),
        ("openhands", "execute_ipython_cell"),
        ("cline", "use_mcp_tool"),
        ("opencode", "batch"),
        ("playwright", "mcp__playwright__browser_evaluate"),
    ],
)
def test_what_may_do_anything_is_opaque(harness: str, name: str) -> None:
    assert meta_of(harness, name).effect == "opaque"


@pytest.mark.parametrize(
    ("harness", "name", "argument"),
    [
        ("claude-code", "Bash", "command"),
        ("codex-cli", "shell", "command"),
        ("codex-cli", "exec_command", "cmd"),
        ("gemini-cli", "run_shell_command", "command"),
        ("pi", "bash", "command"),
        ("openhands", "terminal", "command"),
        ("swe-agent", "bash", "command"),
        ("cline", "execute_command", "command"),
        ("goose", "developer__shell", "command"),
    ],
)
def test_command_lines_are_left_to_the_shell_reader(harness: str, name: str, argument: str) -> None:
    meta = meta_of(harness, name)
    assert (meta.shell, meta.effect) == (argument, None)


@pytest.mark.parametrize(
    ("harness", "name"),
    [
        ("claude-code", "BashOutput"),
        ("claude-code", "TaskOutput"),
        ("claude-code", "TaskList"),
        ("claude-code", "mcp__ide__getDiagnostics"),
        ("codex-cli", "wait_agent"),
        ("claude-code", "mcp__github__get_job_logs"),
        ("claude-code", "mcp__github__pull_request_read"),
        ("claude-code", "mcp__slack__slack_get_channel_history"),
        ("claude-code", "mcp__time__get_current_time"),
    ],
)
def test_what_moves_by_itself_is_a_poll(harness: str, name: str) -> None:
    assert meta_of(harness, name).poll


@pytest.mark.parametrize("name", ["TodoWrite", "TaskCreate", "TaskUpdate", "KillShell"])
def test_bookkeeping_is_no_barrier_for_files(name: str) -> None:
    meta = meta_of("claude-code", name)
    assert meta.domain not in (None, "*", "file")
    assert {"file", "url", "web"} <= set(meta.independent or [])


@pytest.mark.parametrize("name", ["WebFetch", "WebSearch", "mcp__fetch__fetch"])
def test_the_web_goes_stale_by_itself(name: str) -> None:
    assert meta_of("claude-code", name).ttl == 900


@pytest.mark.parametrize("harness", ["swe-agent", "openhands"])
def test_one_editor_reads_and_writes_by_its_command(harness: str) -> None:
    effect = meta_of(harness, "str_replace_editor").effect
    assert isinstance(effect, dict)
    assert effect["by"] == "command"
    assert [k for k, v in effect.items() if v == "read"] == ["view"]


@pytest.mark.parametrize("name", ["open", "goto", "scroll_up", "scroll_down"])
def test_the_moving_window_of_swe_agent_is_repeatable(name: str) -> None:
    assert meta_of("swe-agent", name).repeatable


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.meta.domain == "browser"], ids=lambda e: f"{e.owner}:{e.name}"
)
def test_nothing_of_a_browser_can_be_convicted(entry: catalogue.CatalogueEntry) -> None:
    assert entry.meta.repeatable or entry.meta.volatile


@pytest.mark.parametrize(
    ("harness", "name"),
    [
        ("codex-cli", "apply_patch"),
        ("opencode", "apply_patch"),
        ("cline", "apply_patch"),
        ("openhands", "apply_patch"),
        ("roo-code", "apply_patch"),
    ],
)
def test_a_patch_may_touch_every_file(harness: str, name: str) -> None:
    meta = meta_of(harness, name)
    assert (meta.effect, meta.resource, meta.domain, meta.partial) == ("write", None, "file", True)


def test_only_certain_edits_leave_names_alone() -> None:
    for entry in ENTRIES:
        if entry.meta.change == "modify":
            assert entry.name not in (
                "Write",
                "write",
                "write_file",
                "create",
                "apply_patch",
                "save_memory",
            )
            assert entry.meta.effect == "write"


# Real traces


OWN_TOOLS = frozenset(("mcp__weather__get_weather",))


def calls_in(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, arguments) of every tool call below a decoded line, in the shapes of four formats."""
    if isinstance(value, dict):
        name, kind = value.get("name"), value.get("type")
        args = value.get("input", value.get("arguments", value.get("args")))
        known = kind in ("tool_use", "toolCall", "function_call") or "args" in value
        if kind == "function_call" and isinstance(args, str):
            args = json.loads(args)
        if known and isinstance(name, str) and isinstance(args, dict):
            yield name, args
        for inner in value.values():
            yield from calls_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from calls_in(inner)


def documents(file: Path) -> Iterator[Any]:
    if file.suffix == ".json":
        yield json.loads(file.read_text("utf-8"))
        return
    for line in file.read_text("utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue  # a sample holds two objects on one line


@pytest.mark.parametrize(
    ("folder", "harness"),
    [
        ("claude-code", "claude-code"),
        ("codex-cli", "codex_vscode"),
        ("gemini-cli", "gemini-cli"),
        ("pi", "pi"),
    ],
)
def test_every_tool_of_the_real_traces_is_known(
    shared_dir: Path, folder: str, harness: str
) -> None:
    unknown: set[str] = set()
    absent: set[str] = set()
    seen = 0
    for file in sorted((shared_dir / "traces" / folder).iterdir()):
        for document in documents(file):
            for name, args in calls_in(document):
                seen += 1
                found = catalogue.lookup(harness, name)
                if found is None:
                    unknown.add(name)
                elif found[0].shell is not None and found[0].shell not in args:
                    absent.add(name)
    assert seen > 10
    assert unknown - OWN_TOOLS == set()
    assert absent == set()
