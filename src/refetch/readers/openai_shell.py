"""What became of the commands of an OpenAI `shell_call`, as its output tells."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from refetch.readers.blocks import EMPTY, whole_text
from refetch.readers.json_records import plain
from refetch.readers.sniff import elements, members, small_text

_NOT_APPROVED = "Tool execution was not approved."


def was_refused(output: Raw) -> bool:
    """Whether a person refused the call, in the words of the Agents SDK."""
    if plain(output) == _NOT_APPROVED:
        return True
    said = [small_text(members(raw).get("stderr")) for raw in elements(output, 2)]
    return said == [_NOT_APPROVED]


def outcome_of_commands(output: Raw, limit: Any) -> tuple[str, dict[str, Any]]:
    """(outcome, fields) of the commands of a shell call, which have an exit code each."""
    codes = []
    length = 0
    for raw in elements(output):
        told = members(raw)
        length += sum(len(whole_text(told[key])) for key in ("stdout", "stderr") if key in told)
        outcome = members(told.get("outcome"))
        if small_text(outcome.get("type")) == "timeout":
            return "timeout", {}
        code = plain(outcome.get("exit_code", EMPTY))
        if isinstance(code, int):
            codes.append(code)
    fields: dict[str, Any] = {}
    if codes:
        fields["exit_code"] = next(filter(None, codes), 0)
    if isinstance(limit, int | float) and length >= limit:
        fields["truncated"] = True
    return "ok", fields
