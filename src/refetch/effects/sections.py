"""Tables of this package, in TOML, parsed one at a time: a trace meets few of a file's hundreds.

For files of this package alone: one is cut at its `[headers]`, each on a line of its own and none
inside a string.
"""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import Any

_HEADER = re.compile(r'^\[([\w."-]+)\]', re.M)


class Sections:
    """The tables of one file below `prefix`, with their sub-tables.

    Args:
        text: the file.
        prefix: what all headers begin with, as `tools.`
    """

    def __init__(self, text: str, prefix: str = "") -> None:
        self._texts: dict[str, str] = {}
        starts = [(m.start(), m[1].removeprefix(prefix)) for m in _HEADER.finditer(text)]
        for (start, header), (end, _) in pairwise([*starts, (len(text), "")]):
            quoted = header.startswith('"')
            name = header[1:].partition('"')[0] if quoted else header.partition(".")[0]
            self._texts[name] = self._texts.get(name, "") + text[start:end]
        self._prefix = prefix
        self._head = text[: starts[0][0]] if starts else text

    def __iter__(self) -> Any:
        return iter(self._texts)

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def head(self) -> dict[str, Any]:
        """The keys before the first table."""
        return tomllib.loads(self._head)

    def text(self, name: str) -> str:
        """A table as it is written."""
        return self._texts[name]

    def table(self, name: str) -> dict[str, Any]:
        """A table, parsed. Raises KeyError."""
        found = tomllib.loads(self._texts[name])
        for part in self._prefix.split(".")[:-1]:
            found = found[part]
        row: dict[str, Any] = found[name]
        return row
