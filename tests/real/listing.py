"""Loads `scripts/list_findings.py`, which makes the rows that the tests compare."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "list_findings.py"


def listing() -> Any:
    """The script as a module; loaded once."""
    if "list_findings" not in sys.modules:
        spec = importlib.util.spec_from_file_location("list_findings", SCRIPT)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["list_findings"] = module
        spec.loader.exec_module(module)
    return sys.modules["list_findings"]
