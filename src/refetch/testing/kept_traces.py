"""Traces of failed tests, kept as files, and the command that makes a test of one."""

from __future__ import annotations

import os
import re
import shlex
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refetch.model.trace import Trace

_UNFIT = re.compile(r"[^\w.-]+")
_LONGEST = 80


class KeptTraces:
    """A folder of traces, one file for each test and run.

    Args:
        folder: where the files go; made when the first is written.
        fixtures: where captured fixtures are to go, as people name it.
    """

    def __init__(self, folder: Path, fixtures: str) -> None:
        self.folder = folder
        self.fixtures = fixtures
        self._owner: dict[str, str] = {}

    def keep(self, trace: Trace, test: str, run: int = 1) -> Path:
        """Write a trace in the native format and give its path.

        Args:
            test: the test's node id; two tests of one name get different files.
            run: the number of the run in its test, from 1.

        Raises:
            OSError: the file cannot be written.
        """
        from refetch.model.native import encode_native

        path = self.folder / f"{self._stem(test)}{f'-{run}' if run > 1 else ''}.jsonl"
        self.folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_native(trace))
        return path

    def _stem(self, test: str) -> str:
        stem = _UNFIT.sub("-", test.rsplit("::", 1)[-1]).strip("-.")[:_LONGEST] or "test"
        if self._owner.setdefault(stem, test) != test:
            stem = f"{stem}-{zlib.crc32(test.encode()):08x}"
            self._owner.setdefault(stem, test)
        return stem

    def capture_command(self, path: Path, start: Path) -> str:
        """The command that makes a fixture of a kept trace.

        `start`: the folder in which people type it.
        """
        kept = Path(os.path.relpath(path, start)).as_posix()
        target = f"{self.fixtures}/{path.stem}.json"
        return f"refetch capture {shlex.quote(kept)} -o {shlex.quote(target)}"
