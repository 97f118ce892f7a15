"""What each context knows: which call delivered what, and whether its result is still there
(SPEC 6a, 6d).
"""

from __future__ import annotations

import msgspec

from refetch.effects.regions import Region
from refetch.effects.resolve import Access, Resolved
from refetch.judge.barriers import Barriers
from refetch.judge.results import Outcome
from refetch.keys import UnreadableArguments, decode_json, raw_key
from refetch.model.finding import CallRef, Location
from refetch.model.trace import Call


def raw_key_of(call: Call) -> str:
    """The raw key of a call; arguments that are no JSON stand as they are."""
    if call.raw_args is not None:
        return raw_key(call.name, call.raw_args)
    raw = bytes(call.args)
    if not raw:
        return f"{call.name}(?)"
    try:
        return raw_key(call.name, None, decode_json(raw))
    except UnreadableArguments:
        return raw_key(call.name, raw.decode("utf-8", "replace"))


CHAIN = 8
"""How many earlier deliveries of one request are remembered: a named eviction may spare an
older one.
"""

WINDOW = 48
"""How many deliveries of one resource are weighed for a union; older ones are forgotten (misses
only).
"""


class Entry:
    """One logical call: `first` is its first execution (the one reported), `last` its last.

    `asked` is the position of the first execution, `pos` that of the last, which delivered.
    """

    __slots__ = (
        "_ref",
        "asked",
        "beside",
        "delivered",
        "first",
        "generation",
        "last",
        "pos",
        "previous",
        "resolved",
        "result",
        "same",
        "seq",
        "settled",
        "status",
    )

    def __init__(self, first: Call, last: Call, resolved: Resolved, pos: int, asked: int) -> None:
        self.first = first
        self.last = last
        self.resolved = resolved
        self.pos = pos
        self.asked = asked
        # Until when nothing but equal calls can have touched what this one wrote.
        self.settled = pos
        # What others may have done while it ran.
        self.beside: Barriers | None = None
        self.seq = last.seq
        self.generation = 0
        self.result = Outcome(last, resolved.noise)
        self.previous: Entry | None = None
        # The key under which equal requests meet.
        self.same = resolved.identity.key
        self.status = last.status
        # Whether it put content into its context: an `unchanged` answer did not.
        self.delivered = self.status == "ok" and not last.unchanged
        self._ref: CallRef | None = None

    @property
    def normalized_key(self) -> tuple[str, str]:
        """The plain normalized key, before working directory and named equalities."""
        return (self.first.name, self.resolved.identity.normalized)

    @property
    def looks_at(self) -> tuple[str, str, Region] | None:
        """Resource, view and region, for results that other tools' results compare with.

        None for several resources, and for commands: programs print one content in different ways.
        """
        reads = self.resolved.reads
        if len(reads) != 1 or self.resolved.command:
            return None
        return (reads[0].resource, reads[0].view, self.resolved.region)

    @property
    def spelling(self) -> str:
        """The raw key: arguments as sent, or what JSON.stringify prints for the parsed ones
        (SPEC 4).
        """
        return raw_key_of(self.first)

    def ref(self, lines: dict[int, int], paths: dict[int, str]) -> CallRef:
        """This call as acquittals name it; many name the same one."""
        if self._ref is None:
            seq, resolved = self.first.seq, self.resolved
            line, path = lines.get(seq), paths.get(seq)
            resources = [a.resource for a in resolved.reads or resolved.writes]
            self._ref = CallRef(
                seq=seq,
                turn=self.first.turn,
                name=self.first.name,
                call_id=self.first.call_id,
                resource=resources[0] if resources else None,
                context=self.first.context,
                location=Location(line, path) if line or path else None,
            )
        return self._ref

    def keyed_ref(self, lines: dict[int, int], paths: dict[int, str]) -> CallRef:
        """This call as findings name it: with its raw key."""
        return msgspec.structs.replace(self.ref(lines, paths), raw_key=self.spelling)


class ContextKnowledge:
    """The memory of one context. `generation` counts whole losses, `lost` holds results lost by
    name, `executed` the calls of this turn by seq.
    """

    __slots__ = (
        "by_resource",
        "coverage",
        "delivered",
        "executed",
        "generation",
        "lost",
        "lost_to",
        "turn",
        "turn_keys",
    )

    def __init__(self) -> None:
        self.delivered: dict[tuple[str, str], Entry] = {}
        self.coverage: dict[tuple[str, str], list[tuple[Region, Entry]]] = {}
        self.by_resource: dict[str, Entry] = {}
        self.generation = 0
        self.lost: dict[int, int] = {}
        self.lost_to = "compaction"
        self.turn: int | None = None
        self.turn_keys: dict[tuple[str, str], TurnKey] = {}
        self.executed: dict[int, Entry] = {}

    def begin_turn(self, turn: int) -> None:
        """Forget the calls of the turn before: a request is executed twice within one turn."""
        if turn != self.turn:
            self.turn = turn
            self.turn_keys = {}
            self.executed = {}

    def lose(self, seqs: list[int] | None, kind: str, pos: int) -> None:
        """Everything so far, or the named results, left this context."""
        self.lost_to = kind
        if seqs is None:
            self.generation += 1
        else:
            self.lost.update((seq, pos) for seq in seqs)

    def holds(self, entry: Entry) -> bool:
        """Whether the result of a call is still visible here."""
        if entry.generation != self.generation:
            return False
        lost = self.lost
        return not lost or max(lost.get(entry.first.seq, -1), lost.get(entry.seq, -1)) < entry.pos

    def covers(self, reads: tuple[Access, ...]) -> bool:
        """Whether anything at all was delivered of each of these."""
        return all((access.resource, access.view) in self.coverage for access in reads)

    def deliver(self, entry: Entry) -> None:
        """Remember what a call put into this context."""
        entry.generation = self.generation
        entry.previous = self.delivered.get(entry.same)
        self.delivered[entry.same] = entry
        _cut_chain(entry)
        resolved, call = entry.resolved, entry.last
        if call.truncated and call.delivered is None:
            return
        failed = resolved.command and call.exit_code not in (None, 0)
        for access in resolved.reads:
            self.by_resource[access.resource] = entry
            if failed:
                continue
            region = (
                resolved.delivers
                if len(resolved.reads) == 1 and not resolved.command
                else access.region
            )
            rows = self.coverage.setdefault((access.resource, access.view), [])
            rows.append((region, entry))
            if len(rows) > 2 * WINDOW:
                del rows[:-WINDOW]


def _cut_chain(entry: Entry) -> None:
    at: Entry | None = entry
    for _ in range(CHAIN):
        if at is None:
            return
        at = at.previous
    if at is not None:
        at.previous = None


class Group:
    """Equal calls of one turn: the first, the latest that delivered the whole answer, and the first
    of those whose result is known.
    """

    __slots__ = ("first", "known", "latest")

    def __init__(self, first: Entry) -> None:
        self.first = first
        self.latest = first
        self.known = first if first.result.known else None

    def join(self, entry: Entry) -> None:
        """Another equal call that nothing separated from the ones before."""
        if entry.delivered and not entry.last.truncated:
            self.latest = entry
            if self.known is None and entry.result.known:
                self.known = entry


class TurnKey(Group):
    """Equal calls of one turn, and those that delivered of each raw spelling apart.

    `pos` is where the latest of them took effect: equal calls never stand between each other.
    """

    __slots__ = ("_spelled", "_unspelled", "pos")

    def __init__(self, first: Entry) -> None:
        super().__init__(first)
        self.pos = first.pos
        self._spelled: dict[str, Group] = {}
        # Most calls have no equal in their turn, so that nobody asks how they were written.
        self._unspelled = [first]

    def add(self, entry: Entry) -> None:
        """The next of them."""
        self.pos = entry.pos
        self.join(entry)
        if entry.delivered:
            self._unspelled.append(entry)

    @property
    def spelled(self) -> dict[str, Group]:
        """The calls of each raw spelling."""
        for entry in self._unspelled:
            group = self._spelled.get(entry.spelling)
            if group is None:
                self._spelled[entry.spelling] = Group(entry)
            else:
                group.join(entry)
        self._unspelled.clear()
        return self._spelled
