"""Which calls ask the same: the equalities that metadata adds, and what is left for the view."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.identity import Equalities, Identity, identity_of, view_of
from refetch.model.trace import Call


def identity(args: Any, equalities: Equalities | None = None, **more: Any) -> Identity:
    cwd = more.pop("cwd", None)
    raw = msgspec.Raw(msgspec.json.encode(args))
    call = Call(0, 1, "tool", raw, cwd=cwd)
    return identity_of(call, args, equalities or Equalities(), **more)


def same(a: Any, b: Any, equalities: Equalities | None = None, **more: Any) -> bool:
    return identity(a, equalities, **more).key == identity(b, equalities, **more).key


@pytest.mark.parametrize(
    ("a", "b", "equalities", "name"),
    [
        ({"id": 5, "note": "x"}, {"id": 5}, Equalities(ignore=frozenset({"note"})), "ignore_args"),
        ({"n": 10, "q": "x"}, {"q": "x"}, Equalities(defaults={"n": 10}), "defaults"),
        ({"n": "10"}, {}, Equalities(defaults={"n": 10}), "defaults"),
        ({"p": "a/./b"}, {"p": "a/b"}, Equalities(paths=frozenset({"p"})), "path"),
        ({"p": ["a/./b"]}, {"p": ["a/b"]}, Equalities(paths=frozenset({"p"})), "path"),
        ({"u": "http://A/"}, {"u": "http://a/"}, Equalities(urls=frozenset({"u"})), "url"),
        ({"ids": [2, 1]}, {"ids": [1, 2]}, Equalities(unordered=frozenset({"ids"})), "unordered"),
    ],
)
def test_named_equalities(a: Any, b: Any, equalities: Equalities, name: str) -> None:
    assert same(a, b, equalities)
    assert name in identity(a, equalities).changed | identity(b, equalities).changed
    assert not same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ({"n": 5}, {"n": 5.0}),
        ({"n": 5}, {"n": "5"}),
        ({"q": " x "}, {"q": "x"}),
        (None, {}),
    ],
)
def test_normalization_needs_no_name(a: Any, b: Any) -> None:
    assert same(a, b)
    assert not identity(a).changed


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"q": "x"}, {"q": "X"}),
        ({"n": 5}, {"n": 5.1}),
        ({"n": True}, {"n": 1}),
        ({"n": "007"}, {"n": 7}),
        ({"command": "ls "}, {"command": "ls"}),
        ({"n": 10}, {"n": None}),
        ([1], [1, 1]),
    ],
)
def test_other_requests_stay_apart(a: Any, b: Any) -> None:
    assert not same(a, b, Equalities(defaults={"n": 10}))


def test_commentary_is_ignored_where_it_is_asked_for() -> None:
    a, b = {"q": "x", "description": "look"}, {"q": "x", "description": "again"}
    assert same(a, b, commentary=True)
    assert not same(a, b)


def test_an_argument_that_spells_the_resource_is_compared_as_a_path() -> None:
    resources = ("file:/r/a.py",)
    assert same({"p": "./a.py"}, {"p": "/r/a.py"}, resources=resources, cwd="/r")
    assert identity({"p": "./a.py"}, resources=resources, cwd="/r").changed == {"path"}


def test_long_texts_are_never_taken_for_a_path() -> None:
    text = "a\n" * 10_000
    found = identity({"p": "/r/a.py", "new": text}, resources=("file:/r/a.py",), cwd="/r")
    assert not found.changed


def test_what_is_left_names_the_view() -> None:
    resources = ("file:/r/a.py",)
    found = identity({"p": "/r/a.py", "offset": 5, "mode": "hex"}, resources=resources)
    assert found.rest == '{"mode":"hex"}'
    assert view_of("read", found) == 'read {"mode":"hex"}'
    assert view_of("read", identity({"p": "/r/a.py"}, resources=resources)) == "read"
    assert identity({"mode": "hex"}, rest=False).rest == ""


def test_the_working_directory_counts_where_it_is_given() -> None:
    assert identity({"c": "ls"}, place="/a").key != identity({"c": "ls"}, place="/b").key


def test_unknown_arguments_are_never_equal() -> None:
    found = identity_of(Call(0, 1, "t"), None)
    assert not found.known


@pytest.mark.parametrize("text", [b"{", b"nonsense", b"\xff"])
def test_text_that_is_no_json_still_tells_calls_apart(text: bytes) -> None:
    call, other = Call(0, 1, "t", msgspec.Raw(text)), Call(0, 1, "t", msgspec.Raw(text + b"x"))
    assert identity_of(call, None).key == identity_of(call, None).key
    assert identity_of(call, None).key != identity_of(other, None).key


NESTED: Any = {}
for _ in range(400):
    NESTED = {"a": NESTED}


def test_nesting_without_end_is_text() -> None:
    assert identity_of(Call(0, 1, "t", msgspec.Raw(b"x")), NESTED).normalized.startswith("text")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4))
def test_the_order_of_arguments_never_matters(args: dict[str, Any]) -> None:
    turned = dict(reversed(args.items()))
    tables = Equalities(ignore=frozenset("a"), paths=frozenset("b"), unordered=frozenset("c"))
    assert identity(args, tables).key == identity(turned, tables).key
    assert identity(args, tables).rest == identity(turned, tables).rest
