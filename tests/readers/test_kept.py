"""What the kept samples tell, line by line: compared with texts that were read beside the files.

`REFETCH_UPDATE_GOLDEN=1 pytest tests/readers/test_kept.py` writes the texts anew; read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.readers.samples import Sample, kept
from tests.readers.told import told

from refetch.readers import read_bytes

TEXTS = Path(__file__).resolve().parents[1] / "golden" / "traces"


@pytest.mark.parametrize("sample", kept(), ids=lambda sample: sample.name)
def test_what_a_sample_tells(sample: Sample) -> None:
    text = told(read_bytes(sample.read(), sample.name))
    path = TEXTS / f"{sample.name.replace('/', '-')}.txt"
    if os.environ.get("REFETCH_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_text_is_left_over() -> None:
    names = {f"{sample.name.replace('/', '-')}.txt" for sample in kept()}
    assert {path.name for path in TEXTS.iterdir()} == names
