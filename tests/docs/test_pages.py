"""Every code block of the hand-written pages is run, loaded or parsed."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.docs.test_readme import ROOT, start

from refetch.effects.user_tables import tools_from_mapping
from refetch.model.native import read_native
from refetch.settings import load_settings

DOCS = ROOT / "docs"
GENERATED = ("rules", "formats", "settings", "evidence")
PAGES = [path for path in sorted(DOCS.glob("*.md")) if path.stem not in GENERATED]
_BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block(NamedTuple):
    page: str
    kind: str
    title: str
    text: str


def blocks(*kinds: str) -> list[Block]:
    return [
        Block(page.name, kind, options.strip(), text)
        for page in PAGES
        for kind, options, text in _BLOCK.findall(page.read_text("utf-8"))
        if kind in kinds
    ]


def name_of(block: Block) -> str:
    return f"{block.page}:{block.title or block.text.splitlines()[0][:40]}"


def test_there_are_only_kinds_that_are_tested() -> None:
    known = {"console", "python", "toml", "json", "jsonl", "sh", "yaml"}
    assert {block.kind for block in blocks(*known, "", "text", "bash", "ini")} <= known


@pytest.mark.parametrize("block", blocks("console"), ids=name_of)
def test_an_output(block: Block) -> None:
    command, expected = block.text.removeprefix("$ ").split("\n", 1)
    assert command.startswith("refetch ")
    found = start(*command.split(), cwd=ROOT)
    assert found.stderr == ""
    assert found.stdout.rstrip() == expected.rstrip()


@pytest.mark.parametrize("block", blocks("python"), ids=name_of)
def test_code_runs(block: Block, tmp_path: Path) -> None:
    if "def test_" not in block.text:
        compile(block.text, block.page, "exec")
        return
    if "tool_tracer):\n    my_agent" in block.text:
        pytest.skip("stands for an agent of the reader's own")
    (tmp_path / "test_page.py").write_text(block.text, "utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    found = start("pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    first_of_the_tutorial = block.page == "tutorial.md" and "fixed" not in block.title
    assert ("1 failed" if first_of_the_tutorial else "1 passed") in found.stdout, found.stdout


@pytest.mark.parametrize("block", blocks("toml"), ids=name_of)
def test_settings_load(block: Block, tmp_path: Path) -> None:
    name = "refetch.toml" if "refetch.toml" in block.title else "pyproject.toml"
    (tmp_path / name).write_text(block.text, "utf-8")
    load_settings(str(tmp_path / name))
    data = tomllib.loads(block.text)
    tables = data if name == "refetch.toml" else data["tool"].get("refetch", {})
    tools_from_mapping(tables.get("tools", {}), block.page)


@pytest.mark.parametrize("block", blocks("json", "jsonl"), ids=name_of)
def test_json_is_what_it_says(block: Block) -> None:
    if block.kind == "json":
        assert json.loads(block.text)
        return
    trace = read_native(block.text.encode(), block.page)
    assert trace.calls
    assert not trace.problems


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        file = (DOCS / path) if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-") for h in headings}
            assert anchor in slugs, target


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [p.name for p in DOCS.glob("*.md") if f": {p.name}" not in navigation] == []
