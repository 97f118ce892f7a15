"""What one recorded call does, and how sure that is: every source of metadata, merged per field
(SPEC 2).

The order of the sources: the call record, the user's table, the trace's own header (with MCP
annotations), the built-in catalogue (only where harness or server is known), the shell reader for a
tool that plainly takes a command line, the verb in the name. What none of them knows is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from refetch.effects import catalogue, names
from refetch.effects.identity import Identity, identity_of, view_of
from refetch.effects.regions import (
    ALL,
    WELL_KNOWN,
    Region,
    bounds_of,
    capped,
    from_arguments,
    from_rule,
    from_spec,
)
from refetch.effects.resources import canonical_resource
from refetch.effects.shell_calls import ShellReading, command_of, read_command
from refetch.keys import UnreadableArguments, decode_json
from refetch.model.tool import EFFECTS, ToolMeta
from refetch.model.trace import Call, Trace

MetaSource = tuple[ToolMeta, str]
_TEMPLATE = re.compile(r"\{([^{}=]+)(?:=([^{}]*))?\}")


class ToolTable(Protocol):
    """Anything that knows tools by name: a user's table."""

    def lookup(self, name: str) -> MetaSource | None:
        """Metadata and the label of its source, or None."""
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
        self._layers: dict[str, tuple[MetaSource, ...]] = {}
        self._memo: dict[tuple[Any, ...], Resolved] = {}
        self.unreadable: set[int] = set()

    def layers(self, name: str) -> tuple[MetaSource, ...]:
        """Declared metadata of a tool, the strongest source first."""
        found = self._layers.get(name)
        if found is None:
            rows: list[MetaSource | None] = [
                self._user.lookup(name) if self._user else None,
                (self._header[name], "trace") if name in self._header else None,
                catalogue.lookup(self._harness, name),
            ]
            found = self._layers[name] = tuple(row for row in rows if row)
        return found

    def resolve(self, call: Call) -> Resolved:
        """What this call does. Never raises: arguments that cannot be read are treated as
        unknown.
        """
        key = (
            call.name, bytes(call.args), call.raw_args, call.cwd, call.context, call.view,
            call.mutates, call.effect,
            call.volatile, call.ttl, call.background,
            _hashable(call.resource), _hashable(call.depends_on), repr(call.region),
            repr(call.delivered),
        )  # fmt: skip
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = _Resolution(self, call).run()
        return found


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
    """One call on its way to a `Resolved`; each step fills what the one before left open."""

    def __init__(self, resolver: Resolver, call: Call) -> None:
        self.call = call
        self.layers = resolver.layers(call.name)
        self.sources: dict[str, str] = {}
        value = arguments(call)
        self.value = value
        self.args: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        self.inferred = False

    def declared(self, field: str) -> Any:
        """The first source that declares a field; the source is remembered."""
        for meta, label in self.layers:
            value = getattr(meta, field)
            if value is not None:
                self.sources[field] = label
                if label.startswith("mcp-annotations"):
                    self.inferred = True
                return value
        return None

    def run(self) -> Resolved:
        call = self.call
        effect = self.declared_effect()
        shell: ShellReading | None = None
        if effect is None:
            command = command_of(call.name, self.args, self.declared("shell"))
            if command is not None:
                # Without a recorded working directory an earlier `cd` may decide what this reads.
                shell = read_command(command, call.cwd, call.context if call.cwd is None else None)
                effect = shell.effect
                self.sources["effect"] = "shell"
        declared = effect is not None
        if effect is None:
            effect = names.effect_of_name(call.name)
            if effect is not None:
                self.inferred = True
                self.sources["effect"] = "name"
        if effect is None:
            effect = "opaque"
            self.sources["effect"] = "unknown"
        return self.finish(effect, declared, shell)

    def declared_effect(self) -> str | None:
        call = self.call
        if call.effect is not None and call.effect in EFFECTS:
            self.sources["effect"] = "record"
            return call.effect
        if call.mutates is not None:
            self.sources["effect"] = "record"
            return "write" if call.mutates else "read"
        for meta, label in self.layers:
            effect = _by_argument(meta.effect, self.args)
            if effect is None and meta.mutates is not None:
                effect = "write" if meta.mutates else "read"
            if effect is not None:
                self.sources["effect"] = label
                self.inferred = label.startswith("mcp-annotations")
                return effect
        return None

    def finish(self, effect: str, declared: bool, shell: ShellReading | None) -> Resolved:
        call, args = self.call, self.args
        resources = self.resources()
        domain = self.declared("domain") or "*"
        rule = self.declared("region")
        if call.region is not None:
            region = from_spec(call.region)
        elif rule is not None:
            region = from_rule(rule, args)
        else:
            region = from_arguments(args)
        delivers = region if rule is None else capped(region, rule)
        if call.delivered is not None:
            delivers = from_spec(call.delivered)
        reading = effect in ("read", "pure")
        identity = identity_of(
            call,
            self.value,
            resources=resources,
            reading=reading or shell is not None,
            ignore=self.declared("ignore_args"),
            verbatim=self.declared("verbatim"),
            defaults=self.defaults(),
            paths=self.declared("path_args"),
            urls=self.declared("url_args"),
            unordered=self.declared("unordered"),
            place=call.cwd if shell is not None else None,
            bounds=WELL_KNOWN if rule is None else bounds_of(rule),
        )
        declared_view = call.view or self.declared("view")
        view = declared_view or view_of(call.name, identity)
        reads, writes, depends = self.targets(effect, resources, view, region, shell)
        schemes = frozenset(r.partition(":")[0] for r in resources)
        quiet = self.quiet(declared and not self.inferred)
        return Resolved(
            effect=effect,
            identity=identity,
            reads=reads,
            writes=writes,
            depends=depends,
            view=view,
            region=region,
            delivers=delivers,
            domain=domain,
            schemes=schemes or (shell.schemes if shell else frozenset()),
            independent=frozenset(self.declared("independent") or ()),
            inferred=self.inferred,
            mutates_declared=effect == "write" and declared and not self.inferred,
            volatile=self.flag("volatile") or (shell is not None and shell.volatile),
            poll=quiet[0] or self.flag("poll") or (shell is not None and shell.poll),
            ttl=call.ttl if call.ttl is not None else self.declared("ttl"),
            idempotent=self.flag("idempotent"),
            repeatable=quiet[1] or self.flag("repeatable"),
            partial=self.flag("partial"),
            background=call.background
            or self.backgrounded()
            or (shell is not None and shell.background),
            waits=quiet[2] or (shell is not None and shell.waits),
            soft=shell is not None and shell.tests,
            command=shell is not None,
            creating=names.is_creating_name(call.name),
            program=shell.program if shell else call.name,
            noise=tuple(self.declared("noise") or (shell.noise if shell else ())),
            sources=self.sources,
        )

    def flag(self, field: str) -> bool:
        recorded = getattr(self.call, field, None)
        if recorded is not None:
            self.sources[field] = "record"
            return bool(recorded)
        return bool(self.declared(field))

    def backgrounded(self) -> bool:
        asked = self.args.get("run_in_background")
        return asked is True or (bool(self.declared("background")) and asked is not False)

    def quiet(self, declared: bool) -> tuple[bool, bool, bool]:
        """(poll, repeatable, waits) as the name of a tool that nobody declared suggests."""
        if declared:
            return False, False, False
        name = self.call.name
        action = next(
            (self.args[a] for a in _ACTION_ARGS if isinstance(self.args.get(a), str)), None
        )
        return (
            names.is_poll_name(name, action),
            names.is_repeatable_name(name),
            names.is_waiting_name(name),
        )

    def defaults(self) -> Mapping[str, Any]:
        declared = dict(self.declared("defaults") or {})
        schema = self.declared("schema")
        if isinstance(schema, Mapping):
            properties = schema.get("properties")
            for name, rule in (properties if isinstance(properties, Mapping) else {}).items():
                if isinstance(rule, Mapping) and "default" in rule:
                    declared.setdefault(name, rule["default"])
        return declared

    def resources(self) -> tuple[str, ...]:
        call = self.call
        if call.resource is not None:
            self.sources["resource"] = "record"
            given = [call.resource] if isinstance(call.resource, str) else call.resource
            return tuple(canonical_resource(r, call.cwd) for r in given)
        templates = self.declared("resource")
        if templates is None:
            return ()
        rows = (
            fill(t, self.args) for t in ([templates] if isinstance(templates, str) else templates)
        )
        return tuple(canonical_resource(r, call.cwd) for row in rows for r in row)

    def targets(
        self,
        effect: str,
        resources: tuple[str, ...],
        view: str,
        region: Region,
        shell: ShellReading | None,
    ) -> tuple[tuple[Access, ...], tuple[WriteTarget, ...], tuple[str, ...]]:
        call = self.call
        depends_on = call.depends_on if call.depends_on is not None else self.declared("depends_on")
        given = [depends_on] if isinstance(depends_on, str) else (depends_on or [])
        filled = [r for t in given for r in fill(t, self.args)]
        depends = tuple(canonical_resource(r, call.cwd) for r in filled)
        if shell is not None:
            return shell.reads, shell.writes, (*depends, *shell.depends)
        if effect == "read":
            names_only = view in ("names", "listing-names")
            return tuple(Access(r, view, region, names_only) for r in resources), (), depends
        if effect in ("write", "opaque"):
            change = self.declared("change") or "any"
            if any(self.args.get(old) == "" for old in ("old_string", "oldString", "old_str")):
                change = "any"  # an edit of nothing creates the file
            return (), tuple(WriteTarget(r, change) for r in resources), depends
        return (), (), depends


_ACTION_ARGS = ("action", "op", "operation", "command", "method", "mode")


def _by_argument(effect: str | Mapping[str, str] | None, args: Mapping[str, Any]) -> str | None:
    if effect is None or isinstance(effect, str):
        return effect
    value = args.get(effect.get("by", ""))
    chosen = effect.get(value) if isinstance(value, str) else None
    chosen = chosen or effect.get("*") or "opaque"
    return chosen if chosen in EFFECTS else "opaque"


def fill(template: str, args: Mapping[str, Any]) -> list[str]:
    """The resources that a template names for these arguments; none where an argument is absent.

    An argument that holds a list of strings gives one resource each.
    """
    fields = _TEMPLATE.findall(template)
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
    return msgspec.convert(good, ToolMeta)


def _hashable(value: str | Sequence[str] | None) -> Any:
    return value if value is None or isinstance(value, str) else tuple(value)
