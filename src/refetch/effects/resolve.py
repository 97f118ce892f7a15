"""What one recorded call does, and how sure that is: every source of metadata, merged per field
(SPEC 2).

The order of the sources: the call record, the user's table, the trace's own header (with MCP
annotations), the built-in catalogue (only where harness or server is known), the shell reader for a
tool that plainly takes a command line, the verb in the name. What none of them knows is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import msgspec

from refetch.effects import catalogue
from refetch.effects.identity import Identity, identity_of, view_of
from refetch.effects.regions import (
    ALL,
    Region,
    capped,
    from_arguments,
    from_rule,
    from_spec,
)
from refetch.effects.resources import canonical_resource, others_write
from refetch.effects.shell_calls import STILL, ShellReading, command_of, read_command
from refetch.effects.tool_facts import (
    ANNOTATIONS,
    NOT_QUIET,
    MetaSource,
    ToolFacts,
    as_list,
)
from refetch.keys import UnreadableArguments, decode_json
from refetch.model.tool import EFFECTS, ToolMeta
from refetch.model.trace import Call, Trace

_TEMPLATE = re.compile(r"\{([^{}=]+)(?:=([^{}]*))?\}")


class ToolTable(Protocol):
    """Anything that knows tools by name: a user's table."""

    def lookup(self, name: str) -> MetaSource | None:
        """Metadata and the label of its source, or None."""
        ...

    def hint(self, name: str) -> MetaSource | None:
        """What the tool's MCP server says of it, or None."""
        ...


class Access(NamedTuple):
    """One thing a call reads: canonical resource, the form it is looked at, the part asked."""

    resource: str
    view: str
    region: Region
    names_only: bool = False


class WriteTarget(NamedTuple):
    """One thing a call writes. `change` "modify" certainly leaves names and existence alone."""

    resource: str
    change: str = "any"


class Resolved(msgspec.Struct, frozen=True):
    """Everything the judge needs to know about one call.

    `effect` is one of read, write, pure, none, opaque. `known` says where it comes from:
    "declared" (record, user, header, catalogue, shell reader) or "inferred" (a hint or the verb in
    the name). `soft` marks test runners: no barrier where results are known and equal. `program`
    tells shell commands apart.
    """

    effect: str
    identity: Identity
    reads: tuple[Access, ...] = ()
    writes: tuple[WriteTarget, ...] = ()
    depends: tuple[str, ...] = ()
    view: str = ""
    region: Region = ALL
    delivers: Region = ALL
    domain: str = "*"
    schemes: frozenset[str] = frozenset()
    independent: frozenset[str] = frozenset()
    inferred: bool = False
    mutates_declared: bool = False
    volatile: bool = False
    poll: bool = False
    ttl: float | None = None
    idempotent: bool = False
    repeatable: bool = False
    partial: bool = False
    background: bool = False
    waits: bool = False
    soft: bool = False
    command: bool = False
    creating: bool = False
    program: str = ""
    noise: tuple[str, ...] = ()
    sources: dict[str, str] = {}

    @property
    def is_read(self) -> bool:
        """A call that only looks: a read, or a pure computation."""
        return self.effect in ("read", "pure")

    @property
    def may_write(self) -> bool:
        """Whether an execution of it may change something."""
        return self.effect in ("write", "opaque")


class Resolver:
    """Resolves the calls of one trace; equal calls are resolved once.

    Args:
        trace: gives the harness and the header's tool metadata. user: the user's tables, if any.
    """

    def __init__(self, trace: Trace, user: ToolTable | None = None) -> None:
        self._harness = trace.harness
        self._user = user
        self._header = {
            n: _as_meta(m) for n, m in trace.tools.items() if isinstance(m, (Mapping, ToolMeta))
        }
        self._facts: dict[str, ToolFacts] = {}
        self._memo: dict[tuple[Any, ...], Resolved] = {}

    def facts(self, name: str) -> ToolFacts:
        """What is declared about a tool, the strongest source first."""
        found = self._facts.get(name)
        if found is None:
            rows: list[MetaSource | None] = [
                self._user.lookup(name) if self._user is not None else None,
                (self._header[name], "trace") if name in self._header else None,
                self._user.hint(name) if self._user is not None else None,
                catalogue.lookup(self._harness, name),
            ]
            found = self._facts[name] = ToolFacts(name, tuple(row for row in rows if row))
        return found

    def resolve(self, call: Call) -> Resolved:
        """What this call does. Never raises: arguments that cannot be read are treated as
        unknown.
        """
        key = (
            call.name, bytes(call.args), call.raw_args, call.cwd, call.context, call.background,
            _own_metadata(call),
        )  # fmt: skip
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = _Resolution(self.facts(call.name), call).run()
        return found


def _own_metadata(call: Call) -> tuple[Any, ...] | None:
    """What a record declares about itself, hashable; None for the many that declare nothing."""
    if (
        call.effect is None
        and call.mutates is None
        and call.resource is None
        and call.view is None
        and call.region is None
        and call.delivered is None
        and call.volatile is None
        and call.ttl is None
        and call.depends_on is None
    ):
        return None
    return (
        call.effect, call.mutates, _hashable(call.resource), call.view, repr(call.region),
        repr(call.delivered), call.volatile, call.ttl, _hashable(call.depends_on),
    )  # fmt: skip


def arguments(call: Call) -> Any:
    """The parsed arguments: a mapping where possible, None for none or unreadable ones."""
    raw: bytes | str = bytes(call.args) or (call.raw_args or "")
    if not raw or not raw.strip():
        return None
    try:
        return decode_json(raw)
    except UnreadableArguments:
        return None


class _Resolution:
    """One call on its way to a `Resolved`: the record's own words before what its tool declares."""

    def __init__(self, facts: ToolFacts, call: Call) -> None:
        self.call = call
        self.facts = facts
        value = arguments(call)
        self.value = value
        self.args: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        self.sources: dict[str, str] = {"effect": "unknown", **facts.labels}
        self.inferred = facts.annotated

    def run(self) -> Resolved:
        call, facts = self.call, self.facts
        effect = self.declared_effect()
        shell: ShellReading | None = None
        if effect is None:
            command = command_of(call.name, self.args, facts.shell)
            if command is not None:
                # Variables, aliases and, where it is not recorded, the directory may have been set
                # by an earlier command.
                alone = call.cwd is not None and facts.persistent is False
                shell = read_command(command, call.cwd, None if alone else call.context)
                effect = shell.effect
                self.sources["effect"] = "shell"
        declared = effect is not None
        if effect is None and facts.name_effect is not None:
            effect = facts.name_effect
            self.inferred = True
            self.sources["effect"] = "name"
        return self.finish(effect or "opaque", declared, shell)

    def declared_effect(self) -> str | None:
        call = self.call
        if call.effect is not None and call.effect in EFFECTS:
            self.sources["effect"] = "record"
            return call.effect
        if call.mutates is not None:
            self.sources["effect"] = "record"
            return "write" if call.mutates else "read"
        for declared, label in self.facts.effects:
            effect = _by_argument(declared, self.args)
            if effect is not None:
                self.sources["effect"] = label
                self.inferred = self.inferred or label.startswith(ANNOTATIONS)
                return effect
        return None

    def finish(self, effect: str, declared: bool, shell: ShellReading | None) -> Resolved:
        call, facts = self.call, self.facts
        resources = self.resources()
        region, delivers = self.regions()
        reading = effect in ("read", "pure")
        identity = identity_of(
            call,
            self.value,
            facts.equalities,
            resources=resources,
            commentary=reading or shell is not None,
            rest=reading and shell is None,
            place=call.cwd if shell is not None else None,
        )
        view = call.view or facts.view or view_of(call.name, identity)
        reads, writes, depends = self.targets(effect, resources, view, region, shell)
        sure = declared and not self.inferred
        quiet = facts.quiet(self.args) if not sure else NOT_QUIET
        moves = shell if shell is not None else STILL
        return Resolved(
            effect=effect,
            identity=identity,
            reads=reads,
            writes=writes,
            depends=depends,
            view=view,
            region=region,
            delivers=delivers,
            domain=facts.domain,
            schemes=schemes_of(resources) or moves.schemes,
            independent=facts.independent,
            inferred=self.inferred,
            mutates_declared=effect == "write" and sure,
            volatile=self.volatile(reads) or moves.volatile,
            poll=quiet.poll or facts.poll or moves.poll,
            ttl=call.ttl if call.ttl is not None else facts.ttl,
            idempotent=facts.idempotent,
            repeatable=quiet.repeatable or facts.repeatable,
            partial=facts.partial,
            background=call.background or self.backgrounded() or moves.background,
            waits=facts.waits or moves.waits,
            soft=moves.tests,
            command=shell is not None,
            creating=facts.creating,
            program=moves.program or call.name,
            noise=facts.noise or moves.noise,
            sources=self.sources,
        )

    def volatile(self, reads: tuple[Access, ...]) -> bool:
        recorded, declared = self.call.volatile, self.facts.volatile
        if recorded is not None:
            self.sources["volatile"] = "record"
            return recorded
        if declared is not None:
            return declared
        return any(others_write(access.resource) for access in reads)

    def backgrounded(self) -> bool:
        asked = self.args.get("run_in_background")
        return asked is True or (self.facts.background and asked is not False)

    def regions(self) -> tuple[Region, Region]:
        """The region asked and the region that the result holds at most."""
        call, rule = self.call, self.facts.region
        if call.region is not None:
            asked = from_spec(call.region)
        else:
            asked = from_arguments(self.args) if rule is None else from_rule(rule, self.args)
        if call.delivered is not None:
            return asked, from_spec(call.delivered)
        return asked, asked if rule is None else capped(asked, rule)

    def resources(self) -> tuple[str, ...]:
        call = self.call
        if call.resource is not None:
            self.sources["resource"] = "record"
            given = as_list(call.resource)
        else:
            given = [r for t in self.facts.resource for r in fill(t, self.args)]
        return tuple(canonical_resource(r, call.cwd) for r in given)

    def targets(
        self,
        effect: str,
        resources: tuple[str, ...],
        view: str,
        region: Region,
        shell: ShellReading | None,
    ) -> tuple[tuple[Access, ...], tuple[WriteTarget, ...], tuple[str, ...]]:
        call, facts = self.call, self.facts
        given = facts.depends_on if call.depends_on is None else as_list(call.depends_on)
        filled = [r for t in given for r in fill(t, self.args)]
        depends = tuple(canonical_resource(r, call.cwd) for r in filled)
        if shell is not None:
            return shell.reads, shell.writes, (*depends, *shell.depends)
        if effect == "read":
            names_only = view in ("names", "listing-names")
            return tuple(Access(r, view, region, names_only) for r in resources), (), depends
        if effect in ("write", "opaque"):
            change = facts.change
            if any(self.args.get(old) == "" for old in ("old_string", "oldString", "old_str")):
                change = "any"  # an edit of nothing creates the file
            return (), tuple(WriteTarget(r, change) for r in resources), depends
        return (), (), depends


@lru_cache(maxsize=4096)
def schemes_of(resources: tuple[str, ...]) -> frozenset[str]:
    """The schemes of some resources."""
    return frozenset(resource.partition(":")[0] for resource in resources)


def _by_argument(effect: str | Mapping[str, str] | None, args: Mapping[str, Any]) -> str | None:
    if effect is None or isinstance(effect, str):
        return effect
    value = args.get(effect.get("by", ""))
    chosen = effect.get(value) if isinstance(value, str) else None
    chosen = chosen or effect.get("*") or "opaque"
    return chosen if chosen in EFFECTS else "opaque"


@lru_cache(maxsize=4096)
def _parts(template: str) -> tuple[list[tuple[str, str]], tuple[str, str, str] | None]:
    """The fields of a template as (argument, default), and (before, argument, after) of a plain
    one.
    """
    fields = _TEMPLATE.findall(template)
    plain = None
    if len(fields) == 1 and f"{{{fields[0][0]}}}" in template:
        before, _, after = template.partition(f"{{{fields[0][0]}}}")
        plain = (before, fields[0][0], after)
    return fields, plain


def fill(template: str, args: Mapping[str, Any]) -> list[str]:
    """The resources that a template names for these arguments; none where an argument is absent.

    An argument that holds a list of strings gives one resource each.
    """
    fields, plain = _parts(template)
    if plain is not None and type(value := args.get(plain[1])) is str:
        return [f"{plain[0]}{value}{plain[2]}"]
    many: tuple[str, list[Any]] | None = None
    for name, _ in fields:
        value = args.get(name)
        if isinstance(value, list) and many is None:
            many = (name, value)
        elif (value is None and f"{{{name}=" not in template) or isinstance(value, (Mapping, bool)):
            return []
    if many is None:
        return [_TEMPLATE.sub(lambda m: _spell(args.get(m[1]), m[2]), template)]
    name, values = many
    if not all(isinstance(v, str) for v in values):
        return []
    return [r for v in values for r in fill(template, {**args, name: v})]


def _spell(value: Any, default: str | None) -> str:
    if value is None:
        return default or ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _as_meta(value: Mapping[str, Any] | ToolMeta) -> ToolMeta:
    """Header metadata leniently: fields of the wrong type are left out, so that the rest still
    counts.
    """
    if isinstance(value, ToolMeta):
        return value
    good: dict[str, Any] = {}
    for field in ToolMeta.__struct_fields__:
        if field in value:
            try:
                msgspec.convert({field: value[field]}, ToolMeta)
            except msgspec.ValidationError:
                continue
            good[field] = value[field]
    if isinstance(good.get("noise"), list):
        # Names of kinds only: a trace brings no regular expressions, which could take for ever.
        good["noise"] = [kind for kind in good["noise"] if re.fullmatch(r"[a-z-]+", kind)]
    return msgspec.convert(good, ToolMeta)


def _hashable(value: str | Sequence[str] | None) -> Any:
    return value if value is None or isinstance(value, str) else tuple(value)
