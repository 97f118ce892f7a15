"""Patterns of file names, as in `traces/**/*.jsonl`, with an end on any tree of folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator


def matching(pattern: str, below: str = "") -> Iterator[str]:
    """What a pattern fits in a folder.

    Its `**` enters no links: two that lead upwards make more paths than anybody can wait for.
    """
    parts = pattern.replace(os.sep, "/").split("/")
    at = parts.index("**") if "**" in parts else len(parts)
    first = "/".join(parts[:at]) or ("/" if at and not parts[0] else "")
    # Path.glob takes no absolute patterns, and no folder beside the pattern.
    found = glob.glob(first, root_dir=below or None) if first else [""]  # noqa: PTH207
    paths = [os.path.join(below, match) for match in found]  # noqa: PTH118
    if at == len(parts):
        yield from paths
        return
    rest = [part for here, part in enumerate(parts) if here > at]
    while rest[:1] == ["**"]:
        del rest[0]
    for path in paths:
        for folder, folders, _ in os.walk(path or os.curdir):
            folders[:] = [name for name in folders if not name.startswith(".")]
            spelled = folder if path else folder.removeprefix(os.curdir).removeprefix(os.sep)
            yield from matching("/".join(rest) or "*", spelled)
