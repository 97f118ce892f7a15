"""The graph of `parentUuid`: which earlier records a prompt still stands on.

A person can go back to an earlier message and ask anew. The file keeps the abandoned branch, the
model does not see it any more. Parallel calls fork the graph as well, so a branch counts as
abandoned only where a prompt does not descend from the latest answer of the model.
"""

from __future__ import annotations

from refetch.readers.claude_code_records import Line

_NOT_ANSWERS = frozenset((None, "<synthetic>"))


class Threads:
    """Remembers each record's parent and message while a file is read."""

    def __init__(self) -> None:
        self._parent: dict[str, str | None] = {}
        self._message: dict[str, str] = {}
        self._latest: str | None = None
        self._sidechains: dict[str, str] = {}

    def follow(self, line: Line, uuid: str) -> None:
        """Remember a record under its id."""
        self._parent[uuid] = line.parent_uuid or line.logical_parent_uuid
        message = line.message
        if message is None or message.id is None or line.is_sidechain:
            return
        if line.type == "assistant" and message.model not in _NOT_ANSWERS:
            self._message[uuid] = self._latest = message.id

    def sidechain_of(self, line: Line) -> str:
        """The name of the sub-agent thread a record belongs to, where no agent id is recorded."""
        known = self._sidechains.get(line.parent_uuid or "")
        if known is None:
            known = f"sidechain-{len(set(self._sidechains.values())) + 1}"
        if line.uuid is not None:
            self._sidechains[line.uuid] = known
        return known

    def left_behind(self, line: Line) -> frozenset[str]:
        """The messages (ids) that the branch of this prompt does not contain, if it goes back.

        Empty where the prompt follows the latest answer, or where the graph has a hole.
        """
        start = line.parent_uuid
        if self._latest is None or start is None or start not in self._parent:
            return frozenset()
        kept: set[str] = set()
        walked: set[str] = set()
        at: str | None = start
        while at is not None and at in self._parent and at not in walked:
            walked.add(at)
            message = self._message.get(at)
            if message == self._latest:
                return frozenset()
            if message is not None:
                kept.add(message)
            at = self._parent[at]
        return frozenset(self._message.values()) - kept
