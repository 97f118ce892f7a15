"""What users declare about their own tools: `[tool.refetch.tools]` in pyproject.toml, `[tools]` in
refetch.toml.

The table of a tool holds the fields of `ToolMeta`; its name may be a glob (`"get_*"`). An exact
name beats a glob, a longer glob a shorter one. Every mistake is a `UsageError` that names file,
table and key.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from refetch.effects.mcp import SOURCE as ANNOTATIONS
from refetch.effects.names import effect_of_name
from refetch.model.errors import UsageError, nearest
from refetch.model.tool import EFFECTS, RegionRule, ToolMeta
from refetch.options import keys_of

REFETCH_TOML = "refetch.toml"
PYPROJECT = "pyproject.toml"

_TABLES = {PYPROJECT: ("tool", "refetch", "tools"), REFETCH_TOML: ("tools",)}
_GLOB = frozenset("*?[")
_TEMPLATE_FIELDS = ("resource", "depends_on")
_FIELD = re.compile(r"\{([^{}=]+)(=[^{}]*)?\}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+._-]*:")
_REGION_ARGUMENTS = ("first", "last", "count", "range", "cursor", "tail")
_MSGSPEC_PLACE = re.compile(r" - at `\$(?P<path>.*)`$")


class UserTools:
    """Tools declared in one place, found by name.

    Args:
        tools: metadata by exact name or glob, in the order of the file.
        source: the file (or whatever declared them) as findings name it.
        hints: what MCP servers say of their tools, by the server's name for them.
    """

    def __init__(
        self,
        tools: Mapping[str, ToolMeta],
        source: str,
        hints: Mapping[str, ToolMeta] | None = None,
    ) -> None:
        self.source = source
        self.tools = dict(tools)
        self.hints = dict(hints or {})
        globs = [name for name in self.tools if not _GLOB.isdisjoint(name)]
        self._globs = sorted(globs, key=len, reverse=True)

    def __len__(self) -> int:
        return len(self.tools)

    def lookup(self, name: str) -> tuple[ToolMeta, str] | None:
        """The metadata of a tool and the label of its source, or None."""
        meta = self.tools.get(name)
        if meta is None:
            pattern = next((g for g in self._globs if fnmatchcase(name, g)), None)
            if pattern is None:
                return None
            meta = self.tools[pattern]
        return meta, self.source

    def hint(self, name: str) -> tuple[ToolMeta, str] | None:
        """What an MCP server says of a tool; harnesses put the server's name before its own."""
        meta = self.hints.get(name) or self.hints.get(re.split(r"__|[./:]", name)[-1])
        return None if meta is None else (meta, ANNOTATIONS)


def load_user_tools(path_or_start_dir: str | os.PathLike[str]) -> UserTools:
    """The tools declared in a file, or in the nearest configuration at or above a folder.

    In a folder `refetch.toml` comes before a `pyproject.toml` with a `[tool.refetch]` table, and
    the nearest folder that has either ends the search. No configuration at all: an empty table.

    Raises:
        UsageError: the file cannot be read, is no TOML, or declares a tool wrongly.
    """
    start = Path(path_or_start_dir)
    if not start.is_dir():
        return _load_file(start)
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / REFETCH_TOML).is_file():
            return _load_file(folder / REFETCH_TOML)
        pyproject = folder / PYPROJECT
        if pyproject.is_file() and _below(_read_toml(pyproject), ("tool", "refetch")) is not None:
            return _load_file(pyproject)
    return UserTools({}, REFETCH_TOML)


def tools_from_mapping(
    mapping: Mapping[str, Any], source: str, *, table: str = "tools", lenient: bool = False
) -> UserTools:
    """The tools of a plain mapping `{name: {field: value}}`: a trace header, options of a test run.

    `lenient` leaves out what is wrong or unknown instead of raising, for input that users did not
    write.

    Raises:
        UsageError: not lenient, and a tool is declared wrongly.
    """
    tools: dict[str, ToolMeta] = {}
    for name, value in mapping.items():
        if isinstance(value, ToolMeta):
            tools[str(name)] = value
        elif lenient:
            if isinstance(value, Mapping):
                tools[str(name)] = _lenient(value)
        else:
            tools[str(name)] = _strict(value, source, f"{table}.{_key(str(name))}")
    return UserTools(tools, source)


def template_fields(template: str) -> list[tuple[str, str | None]]:
    """(argument, default or None) for each `{argument}` or `{argument=default}` of a template.

    Raises:
        ValueError: unbalanced or empty braces.
    """
    fields = [(m[1].strip(), m[2][1:] if m[2] else None) for m in _FIELD.finditer(template)]
    rest = _FIELD.sub("", template)
    if "{" in rest or "}" in rest or any(not name for name, _ in fields):
        raise ValueError("write {argument} or {argument=default}")
    return fields


def check_templates(
    meta: ToolMeta,
    known_args: Collection[str],
    *,
    name: str = "",
    source: str = REFETCH_TOML,
    from_schema: bool = False,
) -> None:
    """Check that the arguments a declaration names are arguments of the tool.

    Args:
        known_args: the names in the tool's schema, or in the calls seen so far; none at all: no
        check.
        from_schema: the names are complete. Without it an argument with a default, or one of the
            region, may simply not have been sent yet and is not complained about.

    Raises:
        UsageError: an argument that the tool does not have, with the nearest one it has.
    """
    if not known_args:
        return
    table = f"tools.{_key(name)}" if name else "tools"
    for field in _TEMPLATE_FIELDS:
        value = getattr(meta, field)
        templates = [value] if isinstance(value, str) else value or []
        missing = [_missing(t, known_args, from_schema) for t in templates]
        # Several templates are alternatives: one that fits is enough.
        if missing and all(missing):
            _no_argument(next(m for m in missing if m), known_args, source, table, field)
    if from_schema and meta.region is not None:
        for field in _REGION_ARGUMENTS:
            argument = getattr(meta.region, field)
            if argument is not None and argument not in known_args:
                _no_argument(argument, known_args, source, table, f"region.{field}")
    if from_schema and meta.shell is not None and meta.shell not in known_args:
        _no_argument(meta.shell, known_args, source, table, "shell")


def stub_for(name: str, seen_args: Mapping[str, Any]) -> str:
    """A table for refetch.toml about a tool that nobody declared, to be edited by hand.

    Args:
        name: the tool.
        seen_args: an example value for each argument seen.

    Returns:
        Valid TOML. Only the effect is set (guessed from the name, else opaque); the rest are
        comments.
    """
    guess = effect_of_name(name)
    reason = "guessed from the name" if guess else "unknown: it may change anything"
    lines = [f"# {_comment(name)}: " + (_arguments(seen_args) or "seen without arguments")]
    lines += [f"[tools.{_toml_string(name)}]"]
    lines += [f'effect = "{guess or "opaque"}"  # read, write, pure, none or opaque; {reason}']
    lines += [f"# {_comment(line)}" for line in _suggestions(seen_args)]
    return "\n".join(lines) + "\n"


def _load_file(path: Path) -> UserTools:
    document = _read_toml(path)
    place = _TABLES.get(path.name)
    if place is None:
        # A file of any other name follows the one whose table it has.
        place = _TABLES[PYPROJECT if _below(document, _TABLES[PYPROJECT]) else REFETCH_TOML]
    table = _below(document, place)
    where = ".".join(place)
    if table is None:
        return UserTools({}, path.name)
    if not isinstance(table, Mapping):
        raise UsageError(f"{path}: [{where}] must be a table of tools, found {_type(table)}")
    settings = tuple(keys_of("tools"))  # they stand in the same tables, and are read elsewhere
    tools = {
        name: _strict(value, str(path), f"{where}.{_key(name)}", settings)
        for name, value in table.items()
    }
    # A table with nothing but settings declares nothing, and hides no glob.
    silent = {name for name, value in table.items() if value and set(value) <= set(settings)}
    return UserTools({name: tools[name] for name in tools if name not in silent}, path.name)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: no valid TOML: {error}") from None


def _below(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document


def _strict(value: Any, source: str, table: str, others: tuple[str, ...] = ()) -> ToolMeta:
    if not isinstance(value, Mapping):
        raise UsageError(f"{source}: [{table}] must be a table, found {_type(value)}")
    _known_keys(value, (*ToolMeta.__struct_fields__, *others), source, table)
    value = {key: given for key, given in value.items() if key not in others}
    region = value.get("region")
    if isinstance(region, Mapping):
        _known_keys(region, RegionRule.__struct_fields__, source, f"{table}.region")
    try:
        meta = msgspec.convert(value, ToolMeta)
    except msgspec.ValidationError as error:
        place = _MSGSPEC_PLACE.search(str(error))
        key = place["path"].lstrip(".") if place else ""
        text = _MSGSPEC_PLACE.sub("", str(error))
        raise UsageError(f"{source}: [{table}] {key}: {text}") from None
    for problem in _problems(meta):
        raise UsageError(f"{source}: [{table}] {problem}")
    return meta


def _lenient(value: Mapping[str, Any]) -> ToolMeta:
    good: dict[str, Any] = {}
    for field in ToolMeta.__struct_fields__:
        if field not in value:
            continue
        try:
            meta = msgspec.convert({field: value[field]}, ToolMeta)
        except msgspec.ValidationError:
            continue
        if not any(_problems(meta)):
            good[field] = value[field]
    return msgspec.convert(good, ToolMeta)


def _known_keys(value: Mapping[str, Any], fields: tuple[str, ...], source: str, table: str) -> None:
    for key in value:
        if key not in fields:
            raise UsageError(f"{source}: [{table}] unknown key `{key}`{_nearest(str(key), fields)}")


def _problems(meta: ToolMeta) -> Iterator[str]:
    """What the types allow and the meaning does not."""
    effects = [("effect", meta.effect)] if isinstance(meta.effect, str) else []
    if isinstance(meta.effect, dict):
        if "by" not in meta.effect:
            yield 'effect: a table by argument needs `by`, as in {by = "command", view = "read"}'
        effects = [(f"effect.{k}", v) for k, v in meta.effect.items() if k != "by"]
    for place, effect in effects:
        if effect not in EFFECTS:
            yield f"{place}: `{effect}` is no effect{_nearest(effect, EFFECTS)}"
    settled = meta.mutates is not None and meta.effect in ("read", "pure", "none", "write")
    if settled and meta.mutates != (meta.effect == "write"):
        said = "true" if meta.mutates else "false"
        yield f'mutates = {said} contradicts effect = "{meta.effect}"'
    if meta.ttl is not None and not meta.ttl >= 0:
        yield f"ttl: expected seconds, 0 or more, found {meta.ttl:g}"
    for pattern in meta.noise or ():
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"noise: {_comment(pattern)!r} is no regular expression: {error}"
    for field in _TEMPLATE_FIELDS:
        value = getattr(meta, field)
        for template in [value] if isinstance(value, str) else value or []:
            if problem := _template_problem(template):
                yield f"{field}: {_comment(template)!r}: {problem}"


def _template_problem(template: str) -> str | None:
    try:
        template_fields(template)
    except ValueError as error:
        return str(error)
    if template != "*" and not _SCHEME.match(template):
        return 'a resource is scheme:path, as in "user:{id}" or "file:{path}"'
    return None


def _missing(template: str, known: Collection[str], complete: bool) -> str | None:
    try:
        fields = template_fields(template)
    except ValueError:
        return None
    wanted = (name for name, default in fields if complete or default is None)
    return next((name for name in wanted if name not in known), None)


def _no_argument(
    argument: str, known: Collection[str], source: str, table: str, field: str
) -> None:
    hint = _nearest(argument, known)
    raise UsageError(f"{source}: [{table}] {field}: the tool has no argument `{argument}`{hint}")


def _nearest(word: str, known: Collection[str]) -> str:
    near = nearest(word, known)
    return f"; did you mean `{near}`?" if near else f"; known: {', '.join(sorted(known))}"


def _type(value: Any) -> str:
    return {dict: "a table", list: "an array", str: "a string", bool: "a boolean"}.get(
        type(value), f"`{type(value).__name__}`"
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_string(name)


def _toml_string(text: str) -> str:
    """A TOML basic string; what TOML cannot hold (lone surrogates) becomes a question mark."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    """Text for one line of a comment: no control characters, no end."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    plain = "".join(c if c.isprintable() else " " for c in clean)
    return plain if len(plain) <= 160 else plain[:159] + "…"


def _arguments(seen: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name} ({_json_type(value)})" for name, value in seen.items())
    return _comment(f"arguments {shown}") if shown else ""


def _json_type(value: Any) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (list, "array"),
        (Mapping, "object"),
    )  # fmt: skip
    return next((word for kind, word in kinds if isinstance(value, kind)), "null")


def _suggestions(seen: Mapping[str, Any]) -> list[str]:
    """Lines that become declarations once their comment sign is removed."""
    usable = [name for name in seen if re.fullmatch(r"[A-Za-z_][\w.-]{0,60}", name)]
    fallback = f"thing:{{{usable[0] if usable else 'id'}}}"
    resource = next((r for name in usable if (r := _resource_of(name))), fallback)
    lines = [f'resource = "{resource}"']
    first = next((n for n in ("offset", "start_line", "start") if n in seen), None)
    count = next((n for n in ("limit", "count", "max_lines") if n in seen), None)
    if first and count:
        lines.append(f'region = {{ unit = "item", first = "{first}", count = "{count}" }}')
    lines.append("volatile = true  # a clock, a sensor: another answer each time")
    lines.append("ttl = 60  # seconds that an answer stays good")
    return lines


def _resource_of(argument: str) -> str | None:
    lower = argument.lower()
    if lower in ("path", "file", "filename") or lower.endswith(("path", "_file")):
        return f"file:{{{argument}}}"
    if lower in ("url", "uri", "href") or lower.endswith("_url"):
        return f"url:{{{argument}}}"
    stem = re.fullmatch(r"(\w+?)(?:_ids?|Ids?|ID)", argument)
    if stem is not None:
        return f"{stem[1].lower()}:{{{argument}}}"
    return f"item:{{{argument}}}" if lower == "id" else None
