"""Which calls ask the same: raw key, normalized key, and the named equalities on top of it
(SPEC 4).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from refetch.effects.regions import WELL_KNOWN
from refetch.effects.resources import canonical_resource
from refetch.keys import (
    VERBATIM_DEFAULT,
    UnreadableArguments,
    canonical_url,
    lexical_path,
    normalize_args,
    normalize_json,
    number_text,
)
from refetch.model.trace import Call

COMMENTARY = frozenset("description explanation reason task_progress thought justification".split())
"""Arguments that only comment on a call; ignored for every read (SPEC 2)."""


class Identity(msgspec.Struct, frozen=True):
    """What makes two calls equal.

    `key` is the tool and the canonical text after the further equalities; `raw` the argument text
    as sent (or the recorded JSON), `normalized` the canonical text before them, `changed` the names
    of those that altered it. `rest` holds the arguments that neither spell the resource nor the
    region. `known` is False where arguments were not recorded: such calls are never compared.
    """

    key: tuple[str, str]
    raw: bytes | str
    normalized: str
    changed: frozenset[str] = frozenset()
    rest: str = ""
    known: bool = True


def identity_of(
    call: Call,
    value: Any,
    *,
    resources: tuple[str, ...],
    reading: bool,
    ignore: Collection[str] | None,
    verbatim: Collection[str] | None,
    defaults: Mapping[str, Any],
    paths: Collection[str] | None,
    urls: Collection[str] | None,
    unordered: Collection[str] | None,
    place: str | None,
    bounds: Collection[str] = WELL_KNOWN,
) -> Identity:
    """Compute the keys of one call from its parsed arguments `value`.

    `reading` says whether commentary is ignored; `place` is the working directory where it matters;
    `bounds` names the arguments that spell the region.
    """
    raw: bytes | str = call.raw_args if call.raw_args is not None else bytes(call.args)
    if not call.has_args:
        return Identity((call.name, ""), b"", "", known=False)
    kept_verbatim = VERBATIM_DEFAULT if verbatim is None else frozenset(verbatim)
    normalized = _normalized(call, value, kept_verbatim)
    if not isinstance(value, Mapping):
        return Identity((call.name, normalized + (place or "")), raw, normalized)
    ignored = (COMMENTARY if reading else frozenset()) | frozenset(ignore or ())
    changed: set[str] = set()
    kept: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, argument in value.items():
        if name in ignored:
            changed.add("ignore_args")
            continue
        if name in defaults and _equal(argument, defaults[name]):
            changed.add("defaults")
            continue
        spelled = _spelling(name, argument, resources, call.cwd, paths, urls, unordered)
        if spelled is None:
            kept[name] = argument
            spells = name in bounds or _spells(argument, resources)
        else:
            kept[name] = spelled[1]
            if spelled[1] != argument:
                changed.add(spelled[0])
            spells = _spells(argument, resources, call.cwd) or _spells(spelled[1], resources)
        if not spells:
            rest[name] = kept[name]
    same = normalize_args(kept, verbatim=kept_verbatim) if changed else normalized
    left = normalize_args(rest, verbatim=kept_verbatim) if rest else ""
    if place:
        same = f"{same} in {place}"
    return Identity((call.name, same), raw, normalized, frozenset(changed), left)


def _normalized(call: Call, value: Any, verbatim: Collection[str]) -> str:
    try:
        if value is None:
            source = bytes(call.args) or (call.raw_args or "")
            return normalize_json(source, verbatim=verbatim)
        return normalize_args(value, verbatim=verbatim)
    except UnreadableArguments:
        # Text that is no JSON still identifies the call: equal text, equal call.
        return f"text {call.raw_args if call.raw_args is not None else bytes(call.args)!r}"


def _equal(a: Any, b: Any) -> bool:
    return (type(a) is type(b) and bool(a == b)) or (
        isinstance(a, (int, float, str))
        and isinstance(b, (int, float, str))
        and not isinstance(a, bool)
        and not isinstance(b, bool)
        and _text(a) == _text(b)
    )


def _text(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return str(value)


def _spelling(
    name: str,
    argument: Any,
    resources: tuple[str, ...],
    cwd: str | None,
    paths: Collection[str] | None,
    urls: Collection[str] | None,
    unordered: Collection[str] | None,
) -> tuple[str, Any] | None:
    """(name of the equality, canonical value) where one applies to this argument, else None."""
    if unordered and name in unordered and isinstance(argument, list):
        return "unordered", sorted(argument, key=lambda v: normalize_args([v]))
    if paths and name in paths and isinstance(argument, list):
        return "path", [lexical_path(a, cwd) if isinstance(a, str) else a for a in argument]
    if not isinstance(argument, str) or not argument:
        return None
    if paths and name in paths:
        return "path", lexical_path(argument, cwd)
    if urls and name in urls:
        return "url", canonical_url(argument)
    for resource in resources:
        scheme, _, path = resource.partition(":")
        if scheme == "file" and lexical_path(argument, cwd) == path:
            return "path", path
        if scheme == "url" and canonical_url(argument) == path:
            return "url", path
    return None


def _spells(argument: Any, resources: tuple[str, ...], cwd: str | None = None) -> bool:
    """Whether an argument merely spells (part of) a resource."""
    if isinstance(argument, bool) or not isinstance(argument, (str, int, float)):
        return False
    text = _text(argument)
    for resource in resources:
        scheme, _, path = resource.partition(":")
        if text == path or canonical_resource(f"{scheme}:{text}", cwd) == resource:
            return True
        if path.removesuffix("/**") == text:
            return True
    return False


def view_of(name: str, identity: Identity) -> str:
    """The default view: the tool, and every argument that is neither resource nor region."""
    if not identity.rest:
        return name
    return f"{name} {identity.rest}"
