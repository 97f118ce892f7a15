"""How shell commands are judged, one JSON line each (``refetch tools --commands``, SPEC 12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from refetch.effects.shell.classify import classify
from refetch.effects.shell.effect import ShellRead, ShellWrite
from refetch.model.errors import InputError

_LISTINGS = frozenset(("names", "listing"))
_SILENT = frozenset(("content", "input", "maybe", "tests"))


class _Line(msgspec.Struct):
    command: str
    cwd: str | None = None


_decoder = msgspec.json.Decoder(_Line)


def judge_commands(lines: Iterable[str | bytes], source: str = "-") -> Iterator[dict[str, Any]]:
    """Reads lines ``{"command": …, "cwd"?: …}`` and yields ``{"command", "effect", "reads",
    "writes", "note"?}``.

    Paths below the recorded ``cwd`` are shown relative to it. Blank lines are skipped.

    Raises:
        InputError: a line that is no such object, with its number and the place in it.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _decoder.decode(line)
        except msgspec.DecodeError as error:
            message, _, path = str(error).partition(" - at `")
            raise InputError(
                source,
                f"no shell command: {message}",
                line=number,
                path=path.rstrip("`") or None,
                expected='{"command": str, "cwd"?: str}',
            ) from None
        yield judged(record.command, record.cwd)


def judged(command: str, cwd: str | None = None) -> dict[str, Any]:
    """One judged command as plain data."""
    effect = classify(command, cwd)
    result: dict[str, Any] = {
        "command": command,
        "effect": effect.effect,
        "reads": _distinct(_read_text(read, cwd) for read in effect.reads),
        "writes": _distinct(_write_text(write, cwd) for write in effect.writes),
    }
    if effect.note:
        result["note"] = effect.note
    return result


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _read_text(read: ShellRead, cwd: str | None) -> str:
    parts = read.view.split(":", 2)
    while len(parts) > 1 and parts[0] in ("input", "maybe"):
        parts = parts[1:]
    base = parts[0]
    text = _shown(read.resource, cwd)
    if read.region is not None:
        return f"{text} [{_region_text(read.region)}]"
    if base in _LISTINGS:
        return f"{text} [listing]"
    if base in _SILENT or text == "*":
        return text
    if base == "sed":
        return f"{text} [sed: {':'.join(parts[1:])}]"
    return f"{text} [{base}]"


def _region_text(region: tuple[str | int | None, ...]) -> str:
    kind = region[0]
    if kind == "line":
        return f"lines {region[1]}-{region[2] if region[2] is not None else 'end'}"
    if kind == "tail":
        first = f", first {region[2]} of them" if len(region) > 2 else ""
        return f"last {region[1]} lines{first}"
    return " ".join(str(part) for part in region)


def _write_text(write: ShellWrite, cwd: str | None) -> str:
    return _shown(write.resource, cwd)


def _shown(resource: str, cwd: str | None) -> str:
    """The resource with its path relative to the directory the command starts in."""
    if not cwd or not resource.startswith("file:/"):
        return resource
    base = cwd.rstrip("/")
    if resource in (f"file:{base}", f"file:{base}/**"):
        return "file:." if resource.endswith(base) else "file:**"
    if resource.startswith(f"file:{base}/"):
        return "file:" + resource[len(base) + 6 :]
    return resource
