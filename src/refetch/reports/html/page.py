"""Puts data, style and script into one HTML file.

A content security policy allows the page's own style and script, by their hashes, and nothing else:
no network, no handlers, no frames. Text from traces stands in a data block, out of which no
character can break, and the script writes it as text only.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path

from refetch.reports.batch import Batch
from refetch.reports.html.data import page_data
from refetch.reports.json_report import encode
from refetch.reports.look import Look

_ASSETS = Path(__file__).parent / "assets"


def render(batch: Batch, look: Look) -> str:
    """The whole page."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _asset("page.html")
    parts = {"POLICY": policy, "STYLE": style, "SCRIPT": script, "DATA": _inert(batch)}
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    return page


def _inert(batch: Batch) -> str:
    """JSON that cannot end its element, begin a comment, or break a line of script."""
    text = encode(page_data(batch))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


@lru_cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
