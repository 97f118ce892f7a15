"""Text from traces made harmless for a terminal: what would act is shown as an escape instead."""

from __future__ import annotations

import re

_ACTIVE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0 and C1: escape sequences, carriage returns, bells
    "\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, bidi
    "\ud800-\udfff"  # halves of pairs, which no encoding can print
    "\U000e0000-\U000e007f]"  # tags
)
_IN_JSON = re.compile(_ACTIVE.pattern.replace("\x00-\x1f", "", 1))  # those are escaped already
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escaped(text: str, *, keep_newlines: bool = False) -> str:
    """The text with each active or invisible character spelled out, as in `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return _ACTIVE.sub(lambda m: "\n" if keep_newlines and m[0] == "\n" else _spelled(m[0]), text)


def escaped_json(text: str) -> str:
    """JSON text of the same value, in which no active or invisible character stands as it is."""
    return text if text.isascii() and "\x7f" not in text else _IN_JSON.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _spelled(char: str) -> str:
    named = _NAMED.get(char)
    if named is not None:
        return named
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
