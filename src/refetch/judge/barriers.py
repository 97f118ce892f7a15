"""Everything that can make knowledge stale, and the latest place where it happened (SPEC 6c).

A barrier is asked for by what a call depends on, never by comparing pairs of calls, so that one
pass stays linear. Positions (`pos`) grow with every event of the trace.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from refetch.effects.resolve import Resolved
from refetch.effects.resources import EVERYTHING, NEVER, Mark, WriteIndex

LOCAL = frozenset(("file", "git", "env", "shell"))
"""Schemes that live on the machine the agent works on: a remote service's tool cannot change
them.
"""

APART = frozenset(("git", "shell", "env", "todo", "task", "plan", "memory"))
"""Schemes whose writes are known not to change what a file reads as (the shell reader names
file writes apart).
"""


class Barrier(NamedTuple):
    """Why something may be stale, as an acquittal reason, and the call that proves it."""

    reason: str
    mark: Mark


class _Domains:
    """The last act of some kind in each domain."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: dict[str, Mark] = {}

    def put(self, domain: str, mark: Mark) -> None:
        self._last[domain] = mark

    def last(self, domain: str, schemes: frozenset[str]) -> Mark:
        latest = NEVER
        for acted, mark in self._last.items():
            if mark > latest and (
                acted in (EVERYTHING, domain) or domain == EVERYTHING or acted in schemes
            ):
                latest = mark
        return latest


def domain_of(resolved: Resolved) -> str:
    """The domain in which a call's answer can be changed: declared, local for files, else
    anything.
    """
    if resolved.domain != EVERYTHING:
        return resolved.domain
    if resolved.schemes and resolved.schemes <= LOCAL:
        return "file"
    return EVERYTHING


class Barriers:
    """The latest barrier of each kind."""

    def __init__(self) -> None:
        self.writes = WriteIndex()
        self.structure = WriteIndex()
        self.failed = WriteIndex()
        self._write_domains = _Domains()
        self._opaque_domains = _Domains()
        self._jobs = WriteIndex()
        self._job_domains = _Domains()
        self.any_write = NEVER
        self.tests = NEVER
        self.wait = NEVER
        self.guess = NEVER
        self._people: list[int] = []
        self._said: list[int] = []
        self._by_tool: dict[str, Mark] = {}

    def write(
        self, resource: str, change: str, mark: Mark, independent: frozenset[str] = frozenset()
    ) -> None:
        """A write to a named resource."""
        self.any_write = mark
        self.writes.put(resource, mark, independent)
        if change != "modify":
            self.structure.put(resource, mark)

    def undeclared(self, resolved: Resolved, mark: Mark) -> None:
        """A write that nobody recorded, proven by a result that changed."""
        self.any_write = mark
        for access in resolved.reads:
            # It says nothing about other schemes: a write that somebody made would.
            self.writes.put(access.resource, mark, None)
            self.structure.put(access.resource, mark, None)

    def fail(self, resolved: Resolved, mark: Mark) -> None:
        """A write that failed without effect."""
        for target in resolved.writes:
            self.failed.put(target.resource, mark)

    def user_spoke(self, mark: Mark) -> None:
        """A message by a person."""
        self._people.append(mark.pos)
        self._said.append(mark.seq)

    def user_between(self, since: int, until: int) -> Mark:
        """The latest message by a person after `since` and before `until`."""
        at = bisect_left(self._people, until) - 1
        if at < 0 or self._people[at] <= since:
            return NEVER
        return Mark(self._people[at], self._said[at])

    def failed_on(self, resolved: Resolved) -> Mark:
        """The latest failed write to the very resource that this call reads."""
        return max((self.failed.last(a.resource) for a in resolved.reads), default=NEVER)

    def written_by_others(self, resolved: Resolved, tool: str) -> Mark:
        """The latest write that may have touched what `resolved` writes, by another tool than
        `tool`.
        """
        others = (mark for name, mark in self._by_tool.items() if name != tool)
        return max(others, default=NEVER)

    def apply(self, resolved: Resolved, mark: Mark) -> None:
        """The effect of one execution that may have changed something."""
        self._by_tool[resolved.identity.key[0]] = mark
        for target in resolved.writes:
            self.write(target.resource, target.change, mark, resolved.independent)
        domain = domain_of(resolved) if resolved.effect == "write" else resolved.domain
        if resolved.effect == "opaque":
            self.any_write = mark
            self._opaque_domains.put(domain, mark)
        elif resolved.effect == "write" and not resolved.writes:
            self.any_write = mark
            self._write_domains.put(domain, mark)
        if resolved.background:
            for target in resolved.writes:
                self._jobs.put(target.resource, mark)
            if resolved.effect == "opaque" or not resolved.writes:
                self._job_domains.put(resolved.domain, mark)

    def written(self, resolved: Resolved) -> Mark:
        """The latest write that may have touched what this call reads (or writes) or depends on."""
        latest = NEVER
        for access in resolved.reads:
            index = self.structure if access.names_only else self.writes
            latest = max(latest, index.last(access.resource))
        for target in resolved.writes:
            latest = max(latest, self.writes.last(target.resource))
        for resource in resolved.depends:
            latest = max(
                latest, self.any_write if resource == EVERYTHING else self.writes.last(resource)
            )
        if not resolved.reads and not resolved.writes:
            latest = max(latest, self.writes.last(EVERYTHING))
        return max(latest, self._write_domains.last(domain_of(resolved), resolved.schemes))

    def opaque(self, resolved: Resolved) -> Mark:
        """The latest act of unknown effect whose domain reaches what this call looks at."""
        domain = EVERYTHING if EVERYTHING in resolved.depends else domain_of(resolved)
        return self._opaque_domains.last(domain, resolved.schemes)

    def running(self, resolved: Resolved) -> Mark:
        """A background job that may still be writing what this call looks at."""
        latest = self._job_domains.last(domain_of(resolved), resolved.schemes)
        for access in resolved.reads:
            latest = max(latest, self._jobs.last(access.resource))
        return latest

    def other_scheme(self, resolved: Resolved) -> Mark:
        """The latest write in another scheme that nobody declared independent (SPEC 4)."""
        if not resolved.schemes:
            return NEVER
        apart = APART if resolved.schemes <= LOCAL else frozenset()
        return self.writes.last_of_other_scheme(resolved.schemes, apart)
