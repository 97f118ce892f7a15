"""Resources and what a write may touch (SPEC 4, "same or overlapping").

Convicting needs resources that are certainly the same: equal text. A write, on the other hand,
overlaps whatever it *may* be: the resource itself, an ancestor, a descendant, another spelling in
case, Unicode form or slash direction, or a relative path (without a known working directory) that
ends the other. `WriteIndex` answers "the last write that may have touched this" without comparing
pairs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from refetch.keys.paths import fold_path, lexical_path
from refetch.keys.urls import canonical_url

EVERYTHING = "*"
"""The resource that stands for all resources of all schemes."""


_OTHERS_WRITE = re.compile(
    r"file:(?:/(?:proc|sys|dev|run|var/run|var/log)(?:/|$)|/(?:var/)?tmp$|.*(?:\.log|nohup\.out)$)",
    re.I | re.S,
)


class Resource(NamedTuple):
    """A parsed resource: its scheme, its folded path segments, and whether its root is known."""

    text: str
    scheme: str
    segments: tuple[str, ...]
    rooted: bool


class Mark(NamedTuple):
    """A place in time: `pos` grows with every event, `seq` names the call that stands there."""

    pos: int
    seq: int


NEVER = Mark(-1, -1)


def others_write(resource: str) -> bool:
    """Whether running programs write it at any time: a log, the folder of temporary files, what
    the kernel shows of itself. Who reads it again need not have seen the latest.
    """
    return _OTHERS_WRITE.match(resource) is not None


@lru_cache(maxsize=65536)
def canonical_resource(text: str, cwd: str | None = None) -> str:
    """The one spelling of a resource: lexical path for `file:`, canonical form for `url:`."""
    scheme, colon, path = text.partition(":")
    if not colon:
        return text
    if scheme == "file":
        if path.endswith("**"):
            base = path[:-2].rstrip("/") or ("/" if path.startswith("/") else ".")
            root = lexical_path(base, cwd)
            return "file:**" if root == "." else f"file:{root.rstrip('/')}/**"
        return f"file:{lexical_path(path, cwd)}"
    if scheme == "url":
        return f"url:{canonical_url(path)}"
    return text


@lru_cache(maxsize=65536)
def parse_resource(text: str) -> Resource:
    """Split a canonical resource into scheme and folded segments; `/**` names the same node as
    its root.
    """
    scheme, colon, path = text.partition(":")
    if not colon:
        return Resource(text, text, (), True)
    folded = fold_path(path)
    if folded.endswith("**"):
        folded = folded[:-2].rstrip("/")
        if path.startswith("/") and not folded:
            return Resource(text, scheme, ("/",), True)
    if scheme != "file":
        return Resource(text, scheme, tuple(folded.split("/")) if folded else (), True)
    if folded.startswith("/"):
        return Resource(text, scheme, ("/", *(s for s in folded.split("/") if s)), True)
    segments = tuple(s for s in folded.split("/") if s and s != ".")
    rooted = len(segments) > 0 and segments[0].endswith(":")
    while segments and segments[0] in ("..", "~"):
        segments = segments[1:]
    return Resource(text, scheme, segments, rooted)


def overlaps(write: str, other: str) -> bool:
    """Whether a write to one canonical resource may touch another: the obvious form of
    `WriteIndex`.
    """
    if EVERYTHING in (write, other):
        return True
    a, b = parse_resource(write), parse_resource(other)
    if a.scheme != b.scheme:
        return False
    if _nested(a.segments, b.segments):
        return True
    inside_a = not b.rooted and any(
        _nested(a.segments[k:], b.segments) for k in range(len(a.segments))
    )
    inside_b = not a.rooted and any(
        _nested(b.segments[k:], a.segments) for k in range(len(b.segments))
    )
    return inside_a or inside_b


def _nested(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    shared = min(len(a), len(b))
    return a[:shared] == b[:shared]


class _Tree:
    """Last write at each node, and below each node."""

    __slots__ = ("at", "below")

    def __init__(self) -> None:
        self.at: dict[tuple[str, ...], Mark] = {}
        self.below: dict[tuple[str, ...], Mark] = {}

    def put(self, segments: tuple[str, ...], mark: Mark) -> None:
        if self.at.get(segments, NEVER) < mark:
            self.at[segments] = mark
        below = self.below
        for length in range(len(segments)):
            prefix = segments[:length]
            if below.get(prefix, NEVER) < mark:
                below[prefix] = mark

    def last(self, segments: tuple[str, ...]) -> Mark:
        latest = self.below.get(segments, NEVER)
        at = self.at
        for length in range(len(segments) + 1):
            mark = at.get(segments[:length])
            if mark is not None and mark > latest:
                latest = mark
        return latest


class _SchemeWrites:
    """Writes of one scheme. Suffix trees exist only once a path without a known root turned up."""

    __slots__ = ("exact", "loose_all", "loose_relative", "written")

    def __init__(self) -> None:
        self.exact = _Tree()
        self.written: dict[Resource, Mark] = {}
        self.loose_all: _Tree | None = None
        self.loose_relative: _Tree | None = None

    def put(self, resource: Resource, mark: Mark) -> None:
        self.written[resource] = mark
        self.exact.put(resource.segments, mark)
        if self.loose_all is not None:
            self._put_loose(resource, mark)
        elif not resource.rooted:
            self._loosen()

    def last(self, resource: Resource) -> Mark:
        latest = self.exact.last(resource.segments)
        if not resource.rooted:
            if self.loose_all is None:
                self._loosen()
            assert self.loose_all is not None
            latest = max(latest, self.loose_all.last(resource.segments))
        if self.loose_relative is not None:
            for k in range(1, len(resource.segments)):
                latest = max(latest, self.loose_relative.last(resource.segments[k:]))
        return latest

    def _loosen(self) -> None:
        self.loose_all, self.loose_relative = _Tree(), _Tree()
        for resource, mark in self.written.items():
            self._put_loose(resource, mark)

    def _put_loose(self, resource: Resource, mark: Mark) -> None:
        assert self.loose_all is not None
        assert self.loose_relative is not None
        for k in range(1, len(resource.segments)):
            self.loose_all.put(resource.segments[k:], mark)
        if not resource.rooted:
            self.loose_relative.put(resource.segments, mark)


class WriteIndex:
    """The last write that may have touched a resource, in time that depends on its depth alone."""

    __slots__ = ("_everything", "_latest", "_scheme_latest", "_schemes")

    def __init__(self) -> None:
        self._schemes: dict[str, _SchemeWrites] = {}
        self._scheme_latest: dict[tuple[str, frozenset[str]], Mark] = {}
        self._everything = NEVER
        self._latest = NEVER

    def put(self, text: str, mark: Mark, independent: frozenset[str] | None = frozenset()) -> None:
        """Record a write to a canonical resource that cannot touch the `independent` schemes.

        None: it can touch no other scheme at all.
        """
        self._latest = max(self._latest, mark)
        if text == EVERYTHING:
            self._everything = max(self._everything, mark)
            return
        resource = parse_resource(text)
        writes = self._schemes.get(resource.scheme)
        if writes is None:
            writes = self._schemes[resource.scheme] = _SchemeWrites()
        writes.put(resource, mark)
        if independent is not None:
            self._scheme_latest[resource.scheme, independent] = mark

    def last(self, text: str) -> Mark:
        """The latest write that may overlap a canonical resource; `*` asks for any write at all."""
        if text == EVERYTHING:
            return self._latest
        resource = parse_resource(text)
        writes = self._schemes.get(resource.scheme)
        return self._everything if writes is None else max(self._everything, writes.last(resource))

    def last_of_other_scheme(self, schemes: frozenset[str], apart: frozenset[str]) -> Mark:
        """The latest write in none of `schemes` or `apart` and not declared independent of
        `schemes`.
        """
        marks = (
            mark
            for (scheme, independent), mark in self._scheme_latest.items()
            if scheme not in schemes and scheme not in apart and not schemes <= independent
        )
        return max(marks, default=NEVER)
