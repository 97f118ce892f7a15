"""Calls as people write them."""

from __future__ import annotations

from msgspec import Raw

from refetch.model.trace import Call
from refetch.reports.call_text import call_text


def shown(args: str | None, width: int = 100, name: str = "tool", raw: str | None = None) -> str:
    return call_text(Call(0, 1, name, Raw(args.encode()) if args else Raw(), raw_args=raw), width)


def test_arguments() -> None:
    assert shown('{"path":"a.py","limit":20,"all":true,"x":null}') == (
        'tool(path="a.py", limit=20, all=true, x=null)'
    )
    assert shown("{}") == shown("null") == "tool()"
    assert shown('["a",1]') == 'tool(["a",1])'
    assert shown('"text"') == 'tool("text")'
    assert shown('{"n":{"b":5.0,"a":[1]}}') == 'tool(n={"b":5,"a":[1]})'


def test_bodies_of_text_are_an_ellipsis() -> None:
    body = "x" * 50
    assert shown(f'{{"path":"a","content":"{body}"}}') == 'tool(path="a", …)'
    assert (
        shown(f'{{"old_string":"{body}","new_string":"{body}","path":"a"}}') == 'tool(…, path="a")'
    )
    assert shown('{"content":"short"}') == 'tool(content="short")'


def test_patterns_and_commands_are_no_bodies() -> None:
    command = "git log --oneline -n 20 -- src/refetch"
    assert shown(f'{{"command":"{command}"}}') == f'tool(command="{command}")'


def test_arguments_that_were_not_recorded_or_are_broken() -> None:
    assert shown(None) == "tool(?)"
    assert shown(None, raw='{"a": 1') == 'tool({"a": 1)'
    assert shown(None, raw='{"a": 1}') == "tool(a=1)"
    assert shown(None, raw="") == "tool()"


def test_nothing_active() -> None:
    text = shown('{"a":"\\u001b[31m\\u202e"}', name="to\x1bol")
    assert text.isprintable()
    assert "\\x1b" in text


def test_width() -> None:
    assert len(shown('{"path":"' + "a/" * 100 + '"}', 40)) == 40
