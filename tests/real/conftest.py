"""The handed traces, read and judged once."""

from __future__ import annotations

from pathlib import Path

import pytest

from refetch.api import check
from refetch.model import RunReport, Trace
from refetch.readers.open_input import read_paths


@pytest.fixture(scope="session")
def judged(shared_dir: Path) -> list[tuple[Trace, RunReport]]:
    found = []
    for loaded in read_paths([str(shared_dir / "traces")]):
        found += [(trace, check(trace)) for trace in loaded.traces]
    return found
