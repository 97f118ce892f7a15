"""SWE-agent's own commands as tool calls: from an action line to a name and arguments.

The commands are those of its `tools/` bundles (windowed editing, search, file map, submission).
Everything else is a shell command.
"""

from __future__ import annotations

import shlex
from typing import Any

# The positional arguments of each command, in order.
_POSITIONS: dict[str, tuple[str, ...]] = {
    "open": ("path", "line_number"),
    "goto": ("line_number",),
    "scroll_up": (),
    "scroll_down": (),
    "create": ("filename",),
    "search_dir": ("search_term", "dir"),
    "search_file": ("search_term", "file"),
    "find_file": ("file_name", "dir"),
    "filemap": ("file_path",),
    "view_image": ("image_file",),
    "submit": (),
    "exit_forfeit": (),
}
_EDITOR = "str_replace_editor"
_TEXT_COMMANDS = ("edit", "insert")
_ENDS = ("end_of_edit", "end_of_insert")


def own_command(action: str) -> tuple[str, dict[str, Any]]:
    """(tool name, arguments) of an action.

    A line that does not fit the command's form is a shell command: `bash` with `command`.
    """
    text = action.strip()
    name, _, rest = text.partition(" ")
    first_line = text.partition("\n")[0]
    if name in _TEXT_COMMANDS and text.rpartition("\n")[2].strip() in _ENDS:
        lines, _, body = rest.partition("\n")
        return name, {"lines": lines.strip(), "replacement_text": body.rpartition("\n")[0]}
    if name == _EDITOR:
        values = _editor(rest)
        if values is not None:
            return _EDITOR, values
    if name in _POSITIONS and text == first_line:
        words = _split(rest)
        names = _POSITIONS[name]
        if words is not None and len(words) <= len(names) and not _is_shell(rest):
            return name, dict(zip(names, words, strict=False))
    return "bash", {"command": text}


def _is_shell(rest: str) -> bool:
    """True where the shell does more with the line than pass it on."""
    return any(mark in rest for mark in ("|", ">", "<", ";", "&", "`", "$("))


def _split(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _editor(rest: str) -> dict[str, Any] | None:
    """`view PATH --view_range 1 20` as arguments; None where it has another form."""
    words = _split(rest)
    if words is None or len(words) < 2 or words[0].startswith("-") or words[1].startswith("-"):
        return None
    values: dict[str, Any] = {"command": words[0], "path": words[1]}
    index = 2
    while index < len(words):
        option = words[index]
        if not option.startswith("--"):
            return None
        if option == "--view_range":
            bounds = words[index + 1 : index + 3]
            if len(bounds) != 2 or not all(b.lstrip("-").isdecimal() for b in bounds):
                return None
            values["view_range"] = [int(bound) for bound in bounds]
            index += 3
            continue
        if index + 1 >= len(words):
            return None
        values[option[2:]] = words[index + 1]
        index += 2
    return values
