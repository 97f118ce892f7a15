"""What people and programs see, whole. REFETCH_UPDATE_GOLDEN=1 rewrites it: read the diff."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.unit.cli.runner import PROJECT, run

import refetch

HERE = Path(__file__).resolve().parent
FIXTURES = ("well-behaved", "sloppy", "transient-retry")

CASES: dict[str, tuple[object, ...]] = {
    **{f"check-{name}.txt": ("check", name) for name in FIXTURES},
    **{f"check-{name}.json": ("check", name, "--format", "json") for name in FIXTURES},
    **{f"show-{name}.txt": ("show", name, "--why") for name in FIXTURES},
    "check-sloppy-budget.txt": ("check", "sloppy", "--budget", 5, "--per-tool", "read_file=2"),
    "check-sloppy-narrow.txt": ("check", "sloppy"),
    "check-fixtures.txt": ("check", *FIXTURES),
    "check-fixtures.jsonl": ("check", *FIXTURES, "--format", "jsonl"),
    **{
        f"check-fixtures.{suffix}": ("check", *FIXTURES, "--format", name)
        for name, suffix in (
            ("sarif", "sarif"),
            ("junit", "xml"),
            ("github", "github.txt"),
            ("markdown", "md"),
            ("csv", "csv"),
            ("csv-calls", "calls.csv"),
        )
    },
    **{
        f"check-examples.{suffix}": ("check", "examples/traces", "--format", name)
        for name, suffix in (("sarif", "sarif"), ("junit", "xml"), ("markdown", "md"))
    },
    "check-fixtures-why.txt": ("check", *FIXTURES, "--why"),
    "check-examples.txt": ("check", "examples/traces"),
    "check-timeout-session.txt": ("check", "examples/traces/timeout-session.jsonl"),
    "check-release-notes.txt": ("check", "examples/traces/release-notes.jsonl"),
    "check-support-chat.txt": ("check", "examples/traces/support-chat.json"),
    "check-trip-planner.txt": ("check", "examples/traces/trip-planner.jsonl", "--why"),
    **{
        f"check-{name}.{suffix}": ("check", f"tests/data/traces/{path}", "--format", form, *why)
        for name, path in {
            "goose": "goose/sessions.db",
            "adk": "google-adk/session.json",
            "langsmith": "langsmith/sub-agents.jsonl",
        }.items()
        for form, suffix, why in (
            ("text", "txt", ("--why",)),
            ("json", "json", ()),
            ("sarif", "sarif", ()),
            ("junit", "xml", ()),
            ("github", "github.txt", ()),
            ("markdown", "md", ()),
            ("csv", "csv", ()),
        )
    },
    "demo.txt": ("demo",),
    "explain-written-since.txt": ("explain", "written-since"),
}
ENVIRONMENT = {"check-sloppy-narrow.txt": {"COLUMNS": "64"}}


def scrubbed(text: str) -> str:
    """The text without what changes from release to release: versions, prices of models."""
    text = re.sub(r"\$\d+\.\d+(-\d+\.\d+)?", "$MONEY", text)
    text = re.sub(r'("semanticVersion": ")[^"]+', r"\1VERSION", text)
    text = re.sub(r'("usd_(?:low|high)": ?)[\d.e-]+', r"\1MONEY", text)
    return re.sub(rf'("refetch": ?")({re.escape(refetch.__version__)})(")', r"\1VERSION\3", text)


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    result = run(*CASES[name], **ENVIRONMENT.get(name, {}))
    assert result.stderr == ""
    found = scrubbed(result.stdout)
    path = HERE / name
    if os.environ.get("REFETCH_UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8", newline="\n")
    assert found == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in HERE.iterdir() if path.suffix != ".py" and path.is_file()} == set(
        CASES
    )


@pytest.mark.parametrize("name", ["check-sloppy.txt", "check-examples.txt"])
def test_the_scrubbing_leaves_text_alone(name: str) -> None:
    text = (HERE / name).read_text(encoding="utf-8")
    assert scrubbed(text) == text
