"""Words of a command after quote removal, and the paths and patterns they spell.

A plain word is a ``str``; the sub-classes mark words whose value is not settled by their text.
"""

from __future__ import annotations

from functools import lru_cache

from refetch.effects.shell.effect import WORK_TREE
from refetch.effects.shell.outcome import Opaque
from refetch.keys.paths import lexical_path

GLOB_CHARS = frozenset("*?[")
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-")
_HARMLESS_DEVICES = frozenset(
    "/dev/null /dev/stdout /dev/stderr /dev/tty /dev/stdin /dev/fd/1 /dev/fd/2".split()
)


class Glob(str):
    """A word with an unquoted pattern: it may stand for any number of names."""

    __slots__ = ()


class Unresolved(str):
    """A word that holds a variable or a substitution: its value is not known."""

    __slots__ = ()


class QuotedUnresolved(Unresolved):
    """The same inside double quotes: unknown, yet certainly one word."""

    __slots__ = ()


class Pipe(str):
    """A process substitution: a file that exists for this command only."""

    __slots__ = ()


def unescaped(text: str) -> str:
    """An unquoted word without its backslashes (a backslash and a newline vanish together)."""
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text):
            position += 1
            if text[position] != "\n":
                out.append(text[position])
        else:
            out.append(char)
        position += 1
    return "".join(out)


def has_glob(text: str) -> bool:
    """Whether an unquoted word, still with its backslashes, holds a pattern character."""
    position = 0
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] in GLOB_CHARS:
            return True
        position += 1
    return False


def double_quoted(text: str) -> str:
    """The inside of double quotes, where a backslash escapes only a few characters."""
    if "\\" not in text:
        return text
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text) and text[position + 1] in '$`"\\\n':
            position += 1
            if text[position] != "\n":
                out.append(text[position])
        else:
            out.append(char)
        position += 1
    return "".join(out)


def quoted(word: str) -> str:
    """A word as it would be typed, for the canonical text of a command."""
    if word and word.strip() != "" and _BARE.issuperset(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def stage_text(words: list[str]) -> str:
    """The canonical text of one command."""
    return " ".join([quoted(word) for word in words])


def braces(word: str) -> list[str]:
    """The words that ``{a,b}`` stands for; one level is enough in practice, more stay a pattern."""
    start = word.find("{")
    end = word.find("}", start)
    if start < 0 or end < 0 or "{" in word[start + 1 : end]:
        return [word]
    inner = word[start + 1 : end]
    if "," not in inner:
        return [Glob(word)] if ".." in inner else [word]
    expanded = []
    for piece in inner.split(","):
        expanded += braces(word[:start] + piece + word[end + 1 :])
    return expanded


@lru_cache(maxsize=8192)
def file_resource(path: str, cwd: str) -> str:
    """``file:`` and the path, resolved against the directory where that is known."""
    if "\0" in path:
        raise Opaque("a path with a zero byte")
    return "file:" + lexical_path(path, cwd or None)


@lru_cache(maxsize=8192)
def tree_resource(path: str, cwd: str) -> str:
    """The tree below a path: ``file:src/**``, ``file:**`` for the directory itself."""
    root = lexical_path(path, cwd or None)
    if root == ".":
        return WORK_TREE
    return f"file:{root.rstrip('/')}/**"


def glob_root(pattern: str) -> str:
    """The directory above the first segment that holds a pattern: ``src`` of ``src/*.py``."""
    kept: list[str] = []
    for segment in pattern.split("/"):
        if any(char in GLOB_CHARS or char == "{" for char in segment):
            break
        kept.append(segment)
    if kept == [""]:
        return "/"
    return "/".join(kept) or "."


def is_device(path: str) -> bool:
    """Whether writing to this path changes no file."""
    return path in _HARMLESS_DEVICES


def looks_like_file(path: str) -> bool:
    """Whether the name has an extension, so it plainly is no directory to descend into."""
    name = path.rsplit("/", 1)[-1]
    stem, dot, extension = name.rpartition(".")
    return bool(stem and dot and extension[:1].isalnum() and not path.endswith("/"))
