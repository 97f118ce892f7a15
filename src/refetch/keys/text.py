"""White space as ECMAScript sees it."""

from __future__ import annotations

WHITE_SPACE = (
    "\t\n\v\f\r "
    "\u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
    "\ufeff"
)
"""What String.prototype.trim removes: WhiteSpace and LineTerminator of ECMA-262.

Python's own ``str.strip()`` differs on both sides: it removes U+001C-U+001F and U+0085, and keeps
U+FEFF.
"""


def trim(text: str) -> str:
    """The text without the ECMAScript white space at its two ends."""
    return text.strip(WHITE_SPACE)
