"""What a converted trace carries along in the extension fields of another format.

Formats have a place for a call's name, arguments and result, and none for most of what SPEC 11
knows. A writer puts the rest under the key `refetch`, so that reading the file back gives the very
trace that was written. Other programs do not look there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from refetch.model.native import encode_line, header_of, read_native
from refetch.model.trace import Call, Event, Trace

KEY = "refetch"
_ELSEWHERE = ("args", "result")
_encode = msgspec.json.Encoder().encode


class Carried(msgspec.Struct, omit_defaults=True):
    """The run itself: its header, and the events that are no calls, as native lines."""

    header: Raw
    events: list[Raw] = []


def carried_run(trace: Trace) -> dict[str, Any]:
    """What stands once in a converted file."""
    others = [Raw(encode_line(event)) for event in trace.events if type(event) is not Call]
    return {"header": Raw(encode_line(header_of(trace))), "events": others}


def carried_call(call: Call, *, holds_args: bool, holds_result: bool) -> dict[str, Any]:
    """A call's fields, without the arguments or the result where the format itself holds them."""
    fields: dict[str, Any] = {}
    for name, default in zip(Call.__struct_fields__[3:], Call.__struct_defaults__, strict=True):
        value = getattr(call, name)
        if isinstance(value, Raw):
            held = holds_args if name == "args" else holds_result
            if bytes(value) and not held:
                fields[name] = value
        elif value != default:
            fields[name] = value
    return {"type": "call", "seq": call.seq, "turn": call.turn, "name": call.name, **fields}


def restored(
    run: Raw, calls: Iterable[tuple[Raw, Raw, Raw]], source: str, reader: str
) -> Trace | None:
    """The trace that was converted, or None where what was carried does not fit together.

    Args:
        run: what `carried_run` gave. calls: (what `carried_call` gave, arguments, result) of every
            call; an empty text where the format holds none. source: the file's name. reader: the
            format that was read.
    """
    try:
        whole = msgspec.json.decode(run, type=Carried)
        lines = [
            _encode({**_call_fields(fields), **_held(fields, args, result)})
            for fields, args, result in calls
        ]
    except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError):
        return None
    trace = read_native(
        b"\n".join([bytes(whole.header), *map(bytes, whole.events), *lines]), source
    )
    if trace.problems:
        return None
    events = sorted(trace.events, key=_place)
    return msgspec.structs.replace(trace, events=events, source=source, format=reader, lines={})


def _call_fields(fields: Raw) -> dict[str, Raw]:
    return msgspec.json.decode(fields, type=dict[str, Raw])


def _held(fields: Raw, args: Raw, result: Raw) -> dict[str, Raw]:
    own = _call_fields(fields)
    given = {"args": args, "result": result}
    return {name: raw for name, raw in given.items() if bytes(raw) and name not in own}


def _place(event: Event) -> tuple[int, int]:
    """Calls by their number; other events behind the call that they follow."""
    if type(event) is Call:
        return event.seq, 0
    after = getattr(event, "after", None)
    if after is None:
        after = getattr(event, "parent_call", None)
    return (-1 if after is None else after), 1
