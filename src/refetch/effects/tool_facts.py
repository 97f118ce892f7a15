"""What is declared about one tool, all sources merged field by field: computed once a tool.

A trace calls few tools many times, so that everything that does not depend on the arguments is
settled here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from refetch.effects import names
from refetch.effects.identity import Equalities
from refetch.effects.regions import WELL_KNOWN, bounds_of
from refetch.keys import VERBATIM_DEFAULT
from refetch.model.tool import ToolMeta

MetaSource = tuple[ToolMeta, str]
ANNOTATIONS = "mcp-annotations"
"""How the label of a server's own annotations begins: hints, so that they make a call inferred."""

_OWN_HANDLING = frozenset(("effect", "mutates", "shell", "persistent", "change", "schema"))
_FIELDS = tuple(f for f in ToolMeta.__struct_fields__ if f not in _OWN_HANDLING)


class Quiet(NamedTuple):
    """What the name of a tool that nobody declared suggests."""

    poll: bool = False
    repeatable: bool = False


NOT_QUIET = Quiet()


def as_list(value: str | list[str] | None) -> list[str]:
    """One text or several, or none."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


class ToolFacts:
    """The merged metadata of one tool.

    Args:
        name: the tool. layers: metadata with the label of its source, the strongest first.
    """

    def __init__(self, name: str, layers: tuple[MetaSource, ...]) -> None:
        self.name = name
        self._layers = layers
        self.labels: dict[str, str] = {}
        declared = {field: self._first(field) for field in _FIELDS}
        self.annotated = any(label.startswith(ANNOTATIONS) for label in self.labels.values())
        self.effects = tuple(_effects(layers))
        self.shell: str | None = self._first("shell", keep=False)
        self.persistent: bool | None = self._first("persistent", keep=False)
        self.change: str = self._first("change", keep=False) or "any"
        self.resource = as_list(declared["resource"])
        self.depends_on = as_list(declared["depends_on"])
        self.region = declared["region"]
        self.view: str | None = declared["view"]
        self.domain: str = declared["domain"] or "*"
        self.independent = frozenset(declared["independent"] or ())
        self.noise: tuple[str, ...] = tuple(declared["noise"] or ())
        self.ttl: float | None = declared["ttl"]
        self.volatile: bool | None = declared["volatile"]
        self.poll = bool(declared["poll"])
        self.idempotent = bool(declared["idempotent"])
        self.repeatable = bool(declared["repeatable"])
        self.partial = bool(declared["partial"])
        self.background = bool(declared["background"])
        self.creating = names.is_creating_name(name)
        self.name_effect = names.effect_of_name(name)
        verbatim = declared["verbatim"]
        self.equalities = Equalities(
            ignore=frozenset(declared["ignore_args"] or ()),
            verbatim=VERBATIM_DEFAULT if verbatim is None else frozenset(verbatim),
            defaults=self._defaults(declared["defaults"]),
            paths=frozenset(declared["path_args"] or ()),
            urls=frozenset(declared["url_args"] or ()),
            unordered=frozenset(declared["unordered"] or ()),
            bounds=WELL_KNOWN if self.region is None else frozenset(bounds_of(self.region)),
        )

    def _first(self, field: str, *, keep: bool = True) -> Any:
        for meta, label in self._layers:
            value = getattr(meta, field)
            if value is not None:
                if keep:
                    self.labels[field] = label
                return value
        return None

    def _defaults(self, declared: Mapping[str, Any] | None) -> dict[str, Any]:
        defaults = dict(declared or {})
        schema = self._first("schema")
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        for name, rule in (properties if isinstance(properties, Mapping) else {}).items():
            if isinstance(rule, Mapping) and "default" in rule:
                defaults.setdefault(name, rule["default"])
        return defaults

    @cached_property
    def _repeatable_name(self) -> bool:
        return names.is_repeatable_name(self.name)

    @cached_property
    def waits(self) -> bool:
        """Whether time passes while it runs, whatever is declared of it."""
        return names.is_waiting_name(self.name)

    def quiet(self, args: Mapping[str, Any]) -> Quiet:
        """What the name suggests, together with the action among the arguments."""
        return Quiet(names.is_poll_name(self.name, names.action_of(args)), self._repeatable_name)


def _effects(
    layers: tuple[MetaSource, ...],
) -> list[tuple[str | Mapping[str, str], str]]:
    """Declared effects, the strongest source first; a table by argument may leave some open."""
    found: list[tuple[str | Mapping[str, str], str]] = []
    for meta, label in layers:
        if meta.effect is not None:
            found.append((meta.effect, label))
        elif meta.mutates is not None:
            found.append(("write" if meta.mutates else "read", label))
    return found
