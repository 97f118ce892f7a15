"""Text from traces becomes harmless."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.reports.escape import escaped, escaped_json

HOSTILE = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\link",
    "\x9b31m",
    "a\rb",
    "a\x08b",
    "a\x00b",
    "line\nnext",
    "\u202eevil",
    "\u2066isolate\u2069",
    "zero\u200bwidth",
    "\ufeffbom",
    "\u2028separator",
    "\U000e0041tag",
    "\udcffhalf",
    "\x7fdelete",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_active_is_left(text: str) -> None:
    shown = escaped(text)
    assert "\\" in shown
    assert all(char.isprintable() for char in shown)


def test_the_spelling() -> None:
    assert escaped("\x1b[0m\n\t\r") == "\\x1b[0m\\n\\t\\r"
    assert escaped("\u202e\U000e0041") == "\\u202e\\U000e0041"


@pytest.mark.parametrize(
    "text", ["", "plain", "Grüße", "配置.json", "a b", "✗ ✎ ✓", "C:\\x", "👍🏽"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert escaped(text) == text


def test_newlines_can_stay() -> None:
    assert escaped("a\nb\x1b", keep_newlines=True) == "a\nb\\x1b"


@given(st.text(st.characters(codec=None)))
def test_no_control_character_survives(text: str) -> None:
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in escaped(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_json_is_harmless_and_means_the_same(text: str) -> None:
    shown = escaped_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == {text: [text]}


@given(st.text())
def test_json_of_any_text_is_harmless_and_means_the_same(text: str) -> None:
    shown = escaped_json(json.dumps(text, ensure_ascii=False))
    assert escaped(shown) == shown
    assert json.loads(shown) == text
