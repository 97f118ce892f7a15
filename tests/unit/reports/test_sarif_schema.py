"""The SARIF report holds to the official schema, which `scripts/fetch_sarif_schema.sh` gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.cli.runner import PROJECT, run
from tests.unit.reports.test_injection import HOSTILE, batch_of

from refetch.reports.look import Look
from refetch.reports.registry import format_named

SCHEMA = PROJECT / "build" / "sarif-2.1.0.json"
pytestmark = pytest.mark.skipif(
    not SCHEMA.is_file(), reason="needs the schema: scripts/fetch_sarif_schema.sh"
)


@pytest.fixture(scope="module")
def schema() -> Any:
    return jsonschema.Draft202012Validator(
        json.loads(SCHEMA.read_text("utf-8-sig")), format_checker=jsonschema.FormatChecker()
    )


def faults(schema: Any, text: str) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in schema.iter_errors(json.loads(text))]


@pytest.mark.parametrize("path", sorted((PROJECT / "tests" / "golden").glob("*.sarif")), ids=str)
def test_golden_reports(schema: Any, path: Path) -> None:
    assert faults(schema, path.read_text("utf-8")) == []


def test_a_report_with_errors_and_budgets(schema: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"refetch":1')
    done = run("check", "sloppy", tmp_path / "broken.jsonl", "--budget", 2, "--format", "sarif")
    assert done.exit_code == 2
    assert faults(schema, done.stdout) == []


def test_hostile_texts(schema: Any) -> None:
    form = format_named("sarif")
    assert [
        f for text in HOSTILE for f in faults(schema, form.render(batch_of(text), Look()))
    ] == []


def test_the_schema_refuses_what_it_does_not_know(schema: Any) -> None:
    document = json.loads((PROJECT / "tests" / "golden" / "check-fixtures.sarif").read_text())
    document["runs"][0]["results"][0]["ruleNumber"] = 3
    assert faults(schema, json.dumps(document))
