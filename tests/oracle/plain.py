"""Keys, resources and regions in the plainest form: text, lists of segments, sets of integers."""

from __future__ import annotations

import json
import re
import unicodedata
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

VERBATIM = frozenset(
    """content text old_string new_string old new pattern regex code command script body patch
    diff""".split()
)
COMMENTARY = frozenset("description explanation reason task_progress thought justification".split())
WHITE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(code) for code in range(0x2000, 0x200B)
)
LAST = 400
"""The oracle's universe of lines: 0 to LAST, and one mark for everything after."""
END = LAST + 1
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def number_text(value: int | float) -> str:
    """What ECMAScript prints for a number; integers keep their digits."""
    if isinstance(value, int):
        return str(value)
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    lead = "-" if sign else ""
    if 0 < point <= 21:
        return lead + text[:point] + "." + text[point:]
    if -6 < point <= 0:
        return lead + "0." + "0" * -point + text
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{lead}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def stringify(value: Any) -> str:
    """What JSON.stringify prints, in recorded order."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(stringify, value)) + "]"
    return "{" + ",".join(f"{stringify(k)}:{stringify(v)}" for k, v in value.items()) + "}"


def normal(value: Any) -> Any:
    """A value such that two are equal exactly when the normalized key calls them equal."""
    if isinstance(value, bool) or value is None:
        return ("literal", value)
    if isinstance(value, (int, float)):
        return ("text", number_text(value))
    if isinstance(value, str):
        return ("text", value.strip(WHITE))
    if isinstance(value, list):
        return ("list", *map(normal, value))
    return ("object", *sorted((k, normal(v)) for k, v in value.items()))


def scheme_of(resource: str) -> str:
    """The part before the first colon; nothing where there is none."""
    return resource.partition(":")[0] if ":" in resource else ""


def path_of(resource: str) -> str:
    return resource.partition(":")[2] if ":" in resource else resource


def lexical(path: str, cwd: str | None = None) -> str:
    """`./a`, `a//b`, `a/../b` in one form, relative against cwd where it is known."""
    if cwd and not path.startswith("/"):
        path = cwd + "/" + path
    out: list[str] = []
    for part in path.split("/"):
        if part == ".." and out and out[-1] != "..":
            out.pop()
        elif part not in ("", ".", "..") or (part == ".." and not path.startswith("/")):
            out.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(out)


def plain_url(url: str) -> str:
    """Scheme and host case, default port and empty path folded; nothing else."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    host = parts.netloc.lower().removesuffix(DEFAULT_PORTS.get(parts.scheme.lower(), ":"))
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{host}{parts.path or '/'}{query}"


def plain_resource(resource: str, cwd: str | None) -> str:
    """A resource in the one form in which equal text means certainly the same."""
    scheme, path = scheme_of(resource), path_of(resource)
    if scheme == "file":
        tree = path.endswith("/**")
        return "file:" + lexical(path.removesuffix("/**"), cwd) + ("/**" if tree else "")
    return "url:" + plain_url(path) if scheme == "url" else resource


def segments(resource: str) -> list[str]:
    """Path segments with case, Unicode form and slash direction folded, without the tree mark."""
    text = unicodedata.normalize("NFC", path_of(resource)).casefold()
    text = unicodedata.normalize("NFC", text).replace("\\", "/").removesuffix("/**")
    return [part for part in text.split("/") if part]


def may_overlap(write: str, write_cwd: str | None, read: str, read_cwd: str | None) -> bool:
    """Whether the two MAY be one thing: equal, above or below, alike but for form, or a suffix."""
    if "*" in (write, read) or "**" in (write, read):
        return True
    if scheme_of(write).casefold() != scheme_of(read).casefold():
        return False
    w, r = plain_resource(write, write_cwd), plain_resource(read, read_cwd)
    a, b = segments(w), segments(r)
    shorter = min(len(a), len(b))
    if a[:shorter] == b[:shorter]:
        return True
    if scheme_of(w).casefold() != "file":
        return False
    return (_relative(w) and b[-len(a) :] == a) or (_relative(r) and a[-len(b) :] == b)


def _relative(resource: str) -> bool:
    path = path_of(resource).replace("\\", "/")
    return not path.startswith("/") and not re.match(r"[A-Za-z]:", path)


Region = tuple[str, frozenset[Any]]
"""Unit and what is asked of it; ("all", …) is everything."""
ALL: Region = ("all", frozenset())


def span(first: int, last: int | None) -> frozenset[Any]:
    """An inclusive range; without an end it goes to the end of everything."""
    return frozenset(range(first, END + 1 if last is None else min(last, LAST) + 1))


def region_of(spec: Any) -> Region:
    """A recorded region."""
    if spec is None or spec == "all":
        return ALL
    if spec.get("cursor") is not None:
        return ("cursor", frozenset([spec["cursor"]]))
    if spec.get("fields") is not None:
        return ("fields", frozenset(spec["fields"]))
    first, unit = spec.get("from"), spec.get("unit") or "line"
    start = (0 if unit in ("byte", "item") else 1) if first is None else first
    if start <= (0 if unit in ("byte", "item") else 1) and spec.get("to") is None:
        return ALL
    return (unit, span(start, spec.get("to")))


def covered_by(asked: Region, parts: list[Region]) -> bool:
    """Whether what is asked lies inside the union of the parts."""
    if asked in parts:
        return True
    unit, wanted = asked
    if any(part == ALL for part in parts):
        return unit in ("line", "byte", "item", "fields", "tail")
    got = frozenset().union(*(values for u, values in parts if u == unit))
    if unit == "all":
        return any(
            span(base, None) <= frozenset().union(*(v for u, v in parts if u == part_unit))
            for part_unit, base in (("line", 1), ("byte", 0), ("item", 0))
        )
    return unit not in ("cursor", "tail", "opaque") and bool(wanted) and wanted <= got
