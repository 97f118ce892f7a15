"""Pages that scripts write are what the scripts write."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest
from tests.unit.cli.runner import run

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


PAGES = [
    "write_rules_page",
    "write_formats_page",
    "write_cost_page",
    "write_schema",
    "write_settings_page",
]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str, shared_dir: Path) -> None:
    assert shared_dir.is_dir()
    module = script(name)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), f"run scripts/{name}.py"


def test_every_difference_from_the_manifest_is_explained(shared_dir: Path) -> None:
    from refetch.readers import read_path

    explained = script("write_formats_page").EXPLAINED
    for line in (shared_dir / "traces" / "MANIFEST.tsv").read_text("utf-8").splitlines()[1:]:
        file, _, _, _, _, raw, *_ = line.split("\t")
        traces = read_path(shared_dir / "traces" / file)
        total = sum(len(trace.calls) for trace in traces)
        main = sum(call.context == "main" for trace in traces for call in trace.calls)
        if raw not in (str(total), f"{main}+{total - main}sub"):
            assert traces[0].format in explained, (file, raw, total)


@pytest.mark.parametrize("paths", [["sloppy", "transient-retry"], ["examples/traces"], ["none.x"]])
def test_reports_fit_their_schema(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8"))
    document = json.loads(run("check", "--format", "json", *paths).stdout)
    jsonschema.Draft202012Validator(schema).validate(document)
    broken = {**document, "traces": [{"run": 5}]}
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(broken))
