"""Paths compared by their spelling; the file system is never asked.

Two forms for the two directions of doubt. ``lexical_path`` is for convicting: it joins only
spellings that certainly name one file. ``fold_path`` is for acquitting: it joins whatever may.
"""

from __future__ import annotations

import re
import unicodedata

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_DRIVE_RELATIVE = re.compile(r"[A-Za-z]:(?![\\/])")
_UNC = re.compile(r"\\\\[^\\/?.][^\\/]*\\[^\\/]+")
_WINDOWS_DEVICE = re.compile(r"\\\\[?.]")
_DRIVE_LETTER = re.compile(r"^([a-z]):")
_MOUNTED_DRIVE = re.compile(r"^/mnt/([a-z])(?=/|$)")
# A pattern or a variable may stand for several segments, so ".." cannot take one away.
_NO_PLAIN_NAME = re.compile(r"[*?\[{$`%]")


def lexical_path(path: str, cwd: str | None = None) -> str:
    """The path with ``.``, ``..``, doubled and trailing slashes resolved by spelling alone.

    A relative path is taken against ``cwd`` where that is given; else a leading ``..`` is kept.
    ``~`` and variables stay as they are. Windows paths (a drive, ``\\\\server\\share``, backslashes
    only) are resolved in their own spelling: slash direction and letter case stay, and none becomes
    a path that could be a POSIX one. What is no path (an address, a device, an empty text) is
    returned unchanged. The function is idempotent.
    """
    style = _style(path)
    base_style = _style(cwd) if cwd else "none"
    if style == "backslash" and base_style in ("posix", "home"):
        style = "posix"  # on such a machine a backslash is a letter of the name
    if style == "other" or not cwd or not _is_relative(path, style):
        return _resolve(path, style)
    if base_style in ("windows", "backslash"):
        return _resolve(f"{cwd}{_separator(cwd)}{path}", base_style)
    joined = f"{cwd}/{path}"
    return _resolve(joined, _style(joined) if base_style == "other" else base_style)


def _is_relative(path: str, style: str) -> bool:
    rooted = {"posix": "/", "backslash": "\\"}.get(style)
    return rooted is not None and not path.startswith(rooted)


def _separator(path: str) -> str:
    """The slash in which a Windows path is written."""
    return "\\" if "\\" in path else "/"


def _style(path: str) -> str:
    """How the path is spelled: posix, home (~), windows, backslash (maybe Windows) or other."""
    if not path or _ADDRESS.match(path) or _WINDOWS_DEVICE.match(path):
        return "other"
    if _DRIVE.match(path) or _UNC.match(path):
        return "windows"
    if _DRIVE_RELATIVE.match(path):
        return "other"
    if path.startswith("~"):
        return "home"
    if "\\" in path and "/" not in path:
        return "backslash"
    return "posix"


def _resolve(path: str, style: str) -> str:
    if style == "other":
        return path
    root, rest = _split_root(path, style)
    on_windows = style in ("windows", "backslash")
    separator = _separator(path) if on_windows else "/"
    names = re.split(r"[\\/]", rest) if on_windows else rest.split("/")
    kept: list[str] = []
    for name in names:
        if name in ("", "."):
            continue
        if name != "..":
            kept.append(name)
        elif kept and kept[-1] != ".." and not _NO_PLAIN_NAME.search(kept[-1]):
            kept.pop()
        elif kept or not root or style == "home":
            kept.append(name)
    result = root + separator.join(kept)
    if root:
        return result if kept or style != "home" else root.rstrip("/")
    return _guarded(result or ".", style, separator)


def _split_root(path: str, style: str) -> tuple[str, str]:
    """What ``..`` cannot leave, with its separator, and the rest."""
    if style == "windows":
        unc = _UNC.match(path)
        end = unc.end() if unc else 3
        return (path[:end] + "\\" if unc else path[:end]), path[end:]
    if style == "home":
        user, _, rest = path.partition("/")
        return user + "/", rest
    roots = "/\\" if style == "backslash" else "/"
    return (path[0], path[1:]) if path[0] in roots else ("", path)


def _guarded(relative: str, style: str, separator: str) -> str:
    """Keeps ``./`` before a name that would read as something else without it (``./~``)."""
    return relative if _style(relative) == style else f".{separator}{relative}"


def fold_path(path: str) -> str:
    """The loosest form of a path: two files that may be one have the same.

    Slashes are unified, a drive is written as Git Bash and WSL mount it, Unicode form and letter
    case are folded (Unicode's canonical caseless match, D145), and ``lexical_path`` is applied.
    """
    unified = unicodedata.normalize("NFD", lexical_path(path).replace("\\", "/"))
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", unified.casefold()))
    return _MOUNTED_DRIVE.sub(r"/\1", lexical_path(_DRIVE_LETTER.sub(r"/\1/", folded)))
