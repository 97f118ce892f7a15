"""Which calls ask the same: raw key, normalized key, and the named equalities on top of it
(SPEC 4).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from refetch.effects.regions import WELL_KNOWN
from refetch.effects.resources import canonical_resource
from refetch.keys import (
    VERBATIM_DEFAULT,
    UnreadableArguments,
    canonical_members,
    canonical_url,
    encode_json,
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


class Equalities(NamedTuple):
    """What a tool's metadata says about equal arguments (SPEC 2); `bounds` spell the region."""

    ignore: frozenset[str] = frozenset()
    verbatim: frozenset[str] = VERBATIM_DEFAULT
    defaults: Mapping[str, Any] = MappingProxyType({})
    paths: frozenset[str] = frozenset()
    urls: frozenset[str] = frozenset()
    unordered: frozenset[str] = frozenset()
    bounds: frozenset[str] = WELL_KNOWN


PLAIN = Equalities()
"""Nothing declared."""


def identity_of(
    call: Call,
    value: Any,
    equalities: Equalities = PLAIN,
    *,
    resources: tuple[str, ...] = (),
    commentary: bool = False,
    rest: bool = True,
    place: str | None = None,
) -> Identity:
    """Compute the keys of one call from its parsed arguments `value`.

    `commentary` says whether comments on the call are ignored, `rest` whether `Identity.rest` is
    wanted; `place` is the working directory where it matters.
    """
    raw: bytes | str = call.raw_args if call.raw_args is not None else bytes(call.args)
    if not call.has_args:
        return Identity((call.name, ""), b"", "", known=False)
    verbatim = equalities.verbatim
    if not isinstance(value, dict):
        normalized = _normalized(call, value, verbatim)
        return Identity((call.name, normalized + (place or "")), raw, normalized)
    try:
        canonical = canonical_members(value, verbatim)
    except UnreadableArguments:
        normalized = _as_text(call)
        return Identity((call.name, normalized + (place or "")), raw, normalized)
    ignored = equalities.ignore | COMMENTARY if commentary else equalities.ignore
    defaults = equalities.defaults
    changed: set[str] = set()
    kept: dict[str, Any] = {}
    left: dict[str, Any] = {}
    for name, form in canonical.items():
        argument = value[name]
        if name in ignored:
            changed.add("ignore_args")
            continue
        if name in defaults and _equal(argument, defaults[name]):
            changed.add("defaults")
            continue
        spelled = _spelling(name, argument, resources, call.cwd, equalities)
        kept[name] = form
        if spelled is not None and spelled[1] != argument:
            kept[name] = canonical_members({name: spelled[1]}, verbatim)[name]
            changed.add(spelled[0])
        if rest and not _names_it(name, argument, spelled, resources, call.cwd, equalities):
            left[name] = kept[name]
    normalized = encode_json(canonical)
    same = encode_json(kept) if changed else normalized
    if place:
        same = f"{same} in {place}"
    rest_text = encode_json(left) if left else ""
    return Identity((call.name, same), raw, normalized, frozenset(changed), rest_text)


def _names_it(
    name: str,
    argument: Any,
    spelled: tuple[str, Any] | None,
    resources: tuple[str, ...],
    cwd: str | None,
    equalities: Equalities,
) -> bool:
    """Whether an argument says which part of which resource, and nothing about its form."""
    if spelled is None:
        return name in equalities.bounds or _spells(argument, resources)
    return _spells(argument, resources, cwd) or _spells(spelled[1], resources)


def _normalized(call: Call, value: Any, verbatim: Collection[str]) -> str:
    try:
        if value is None:
            source = bytes(call.args) or (call.raw_args or "")
            return normalize_json(source, verbatim=verbatim)
        return normalize_args(value, verbatim=verbatim)
    except UnreadableArguments:
        return _as_text(call)


def _as_text(call: Call) -> str:
    """Text that is no JSON still identifies the call: equal text, equal call."""
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
    equalities: Equalities,
) -> tuple[str, Any] | None:
    """(name of the equality, canonical value) where one applies to this argument, else None."""
    if isinstance(argument, list):
        if name in equalities.unordered:
            return "unordered", sorted(argument, key=lambda v: normalize_args([v]))
        if name in equalities.paths:
            return "path", [lexical_path(a, cwd) if isinstance(a, str) else a for a in argument]
        return None
    if not isinstance(argument, str) or not argument:
        return None
    if name in equalities.paths:
        return "path", lexical_path(argument, cwd)
    if name in equalities.urls:
        return "url", canonical_url(argument)
    for resource in resources:
        scheme, _, path = resource.partition(":")
        if _differ_plainly(argument, path):
            continue
        if scheme == "file" and lexical_path(argument, cwd) == path:
            return "path", path
        if scheme == "url" and canonical_url(argument) == path:
            return "url", path
    return None


def _differ_plainly(argument: str, path: str) -> bool:
    """Spares the work for long texts: no spelling of a path adds or loses a line."""
    return len(argument) > 200 and argument.count("\n") != path.count("\n")


def _spells(argument: Any, resources: tuple[str, ...], cwd: str | None = None) -> bool:
    """Whether an argument merely spells (part of) a resource."""
    if isinstance(argument, bool) or not isinstance(argument, (str, int, float)):
        return False
    text = _text(argument)
    for resource in resources:
        scheme, _, path = resource.partition(":")
        if text == path:
            return True
        if _differ_plainly(text, path):
            continue
        if canonical_resource(f"{scheme}:{text}", cwd) == resource:
            return True
        if path.removesuffix("/**") == text:
            return True
    return False


def view_of(name: str, identity: Identity) -> str:
    """The default view: the tool, and every argument that is neither resource nor region."""
    if not identity.rest:
        return name
    return f"{name} {identity.rest}"
