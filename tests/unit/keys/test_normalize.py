"""refetch.keys.normalize"""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.keys.json_text import MAX_DEPTH, UnreadableArguments
from refetch.keys.normalize import (
    VERBATIM_DEFAULT,
    normalize_args,
    normalize_json,
    normalized_key,
)

EQUAL: list[tuple[str, str]] = [
    ('{"id":5}', '{"id":"5"}'),
    ('{"id":5}', '{"id":5.0}'),
    ('{"id":5}', '{"id":5e0}'),
    ('{"id":5}', '{"id":" 5\\n"}'),
    ('{"id":0}', '{"id":-0}'),
    ('{"id":-0.0}', '{"id":"0"}'),
    ('{"id":1e21}', '{"id":"1e+21"}'),
    ('{"id":0.0000001}', '{"id":"1e-7"}'),
    ('{"id":100000000000000000000}', '{"id":1e20}'),
    ('{"id":9007199254740993}', '{"id":"9007199254740993"}'),
    ('{"a":1,"b":2}', '{ "b" : 2, "a" : 1 }'),
    ('{"a":{"x":1,"y":[1,2]}}', '{"a":{"y":["1","2"],"x":"1"}}'),
    ('{"q":"a"}', '{"q":"\\ufeff\\u00a0a\\u2028"}'),
    ('{"q":"\\u0061\\/"}', '{"q":"a/"}'),
    ('{"a":1,"a":2}', '{"a":2}'),
    ('{"text":5}', '{"text":5.0}'),
    ("{}", "null"),
    ("{}", ""),
    ("{}", " \n"),
    ("[1,2]", '["1"," 2"]'),
]

DIFFERENT: list[tuple[str, str]] = [
    ('{"id":"00713"}', '{"id":713}'),
    ('{"id":"00713"}', '{"id":"713"}'),
    ('{"id":"7e2"}', '{"id":700}'),
    ('{"id":"5.0"}', '{"id":5}'),
    ('{"id":"+5"}', '{"id":5}'),
    ('{"id":"1,000"}', '{"id":1000}'),
    ('{"id":"0x10"}', '{"id":16}'),
    ('{"id":9007199254740993}', '{"id":9007199254740992}'),
    ('{"id":12345678901234567890123}', '{"id":12345678901234567890124}'),
    ('{"id":1e999}', '{"id":1e9999}'),
    ('{"id":1e999}', '{"id":-1e999}'),
    ('{"a":true}', '{"a":"true"}'),
    ('{"a":true}', '{"a":1}'),
    ('{"a":false}', '{"a":0}'),
    ('{"a":false}', '{"a":""}'),
    ('{"a":null}', '{"a":"null"}'),
    ('{"a":null}', '{"a":0}'),
    ('{"a":null}', "{}"),
    ('{"a":""}', "{}"),
    ('{"a":[]}', '{"a":{}}'),
    ('{"a":[1,2]}', '{"a":[2,1]}'),
    ('{"a":[1]}', '{"a":1}'),
    ('{"a":"[1]"}', '{"a":[1]}'),
    ('{"a":"{}"}', '{"a":{}}'),
    ('{"a":"Paris"}', '{"a":"paris"}'),
    ('{"A":1}', '{"a":1}'),
    ('{" a":1}', '{"a":1}'),
    ('{"a":"\\u00e9"}', '{"a":"e\\u0301"}'),
    ('{"a":"\\uff15"}', '{"a":"5"}'),
    ('{"a":"x  y"}', '{"a":"x y"}'),
    ('{"a":"\\u0085x"}', '{"a":"x"}'),
    ('{"a":"\\u001cx"}', '{"a":"x"}'),
    ('{"a":"\\ud800"}', '{"a":"\\ud801"}'),
    ('{"a":"\\ud800"}', '{"a":"\\\\ud800"}'),
    ('{"text":" x"}', '{"text":"x"}'),
    ('{"text":5}', '{"text":"5"}'),
    ('{"command":"ls "}', '{"command":"ls"}'),
    ('{"edits":[{"old_string":"x "}]}', '{"edits":[{"old_string":"x"}]}'),
    ('{"content":{"deep":[" x"]}}', '{"content":{"deep":["x"]}}'),
    ('{"content":[1]}', '{"content":["1"]}'),
    ('{"content":9007199254740993}', '{"content":9007199254740992}'),
    ("[]", "{}"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_by_construction(one: str, other: str) -> None:
    assert normalize_json(one) == normalize_json(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_never_equal(one: str, other: str) -> None:
    assert normalize_json(one) != normalize_json(other)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (None, "{}"),
        ({}, "{}"),
        ({"b": 5.0, "a": " x "}, '{"a":"x","b":"5"}'),
        ({"t": True, "f": False, "n": None}, '{"f":false,"n":null,"t":true}'),
        ({"\uffff": 1, "\U00010000": 2}, '{"\U00010000":"2","\uffff":"1"}'),
        ({"content": {"b": 5.0, "a": " x "}}, '{"content":{"a":" x ","b":5}}'),
        ({"edits": [{"new": 1, "at": 1}]}, '{"edits":[{"at":"1","new":1}]}'),
        ({"n": 10**30, "text": 10**30}, f'{{"n":"{10**30}","text":{10**30}}}'),
        ({"a": (1, 2)}, '{"a":["1","2"]}'),
        ({1: "x", 2.0: "y"}, '{"1":"x","2":"y"}'),
        ({"a": "\ud800 "}, '{"a":"\\ud800"}'),
        ([1, " a "], '["1","a"]'),
        (" a ", '"a"'),
    ],
)
def test_the_canonical_text(args: object, text: str) -> None:
    assert normalize_args(args) == text


def test_the_key_is_the_name_and_the_canonical_text() -> None:
    assert normalized_key("get_user", {"id": 5}) == 'get_user({"id":"5"})'
    assert normalized_key("list", None) == "list({})"
    assert normalized_key("f", {"x": " a"}, verbatim={"x"}) == 'f({"x":" a"})'


def test_verbatim_arguments_can_be_named() -> None:
    assert normalize_args({"x": " a", "text": " b"}, verbatim={"x"}) == '{"text":"b","x":" a"}'
    assert normalize_json(b'{"text":" b"}', verbatim=()) == '{"text":"b"}'


def test_the_default_verbatim_arguments_are_those_of_the_specification() -> None:
    named = (
        "content, text, old_string, new_string, old, new, pattern, regex, code, command, script, "
        "body, patch, diff"
    )
    assert set(named.split(", ")) == VERBATIM_DEFAULT


@pytest.mark.parametrize("form", [bytes, str, msgspec.Raw])
def test_json_is_taken_in_any_form(form: type) -> None:
    text = '{"b": 5.0, "a": " x "}'
    raw = text if form is str else form(text.encode())
    assert normalize_json(raw) == '{"a":"x","b":"5"}'


@pytest.mark.parametrize("raw", ["{", "get_user", b'{"a":"\xff"}', "{" * 100_000, "[" * 100_000])
def test_unreadable_json_is_a_clean_error(raw: str | bytes) -> None:
    with pytest.raises(UnreadableArguments):
        normalize_json(raw)
    assert issubclass(UnreadableArguments, ValueError)


def test_ten_thousand_digits_are_compared_digit_by_digit() -> None:
    digits = "7" * 10_000
    for name in ("id", "text"):
        one, other = (f'{{"{name}":{digits}{last}}}' for last in "12")
        assert digits in normalize_json(one)
        assert normalize_json(one) != normalize_json(other)
    assert normalize_json(f'{{"id":{digits}}}') == normalize_json(f'{{"id":"{digits}"}}')


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"a": x}, lambda x: (x,)])
@pytest.mark.parametrize("outer", ["a", "content"])
def test_deep_nesting_is_a_clean_error(wrap: Any, outer: str) -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH + 10):
        value = wrap(value)
    with pytest.raises(UnreadableArguments, match="deeper"):
        normalize_args({outer: value})


def test_the_arguments_are_not_changed() -> None:
    args = {"b": [" x ", {"z": 5.0, "a": 1}], "a": " y "}
    before = json.dumps(args)
    normalize_args(args)
    assert json.dumps(args) == before


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=" \t\ufeff\x85a5.e0é\U00010000", max_size=5)
)
NAMES = st.sampled_from(["a", "b", "id", "text", "content", "é", "\uffff", "\U00010000"])
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)
ARGS = st.dictionaries(NAMES, DATA, max_size=5)


@given(ARGS)
def test_the_canonical_text_is_its_own_canonical_text(args: dict[str, Any]) -> None:
    once = normalize_args(args)
    assert normalize_json(once) == once


@given(ARGS)
def test_json_and_data_agree(args: dict[str, Any]) -> None:
    assert normalize_json(json.dumps(args)) == normalize_args(args)
    assert normalize_json(json.dumps(args, ensure_ascii=False).encode()) == normalize_args(args)


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(item, chance)) for key, item in value.items()]
        chance.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        return [shuffled(item, chance) for item in value]
    return value


@given(ARGS, st.randoms(use_true_random=False))
def test_the_order_of_keys_means_nothing(args: dict[str, Any], chance: random.Random) -> None:
    assert normalize_args(shuffled(args, chance)) == normalize_args(args)


@given(st.none() | st.booleans(), st.text() | st.integers() | st.floats(allow_nan=False))
def test_booleans_and_null_equal_nothing_else(constant: bool | None, other: object) -> None:
    for name in ("a", "text"):
        assert normalize_args({name: constant}) != normalize_args({name: other})


@given(st.text(), st.text())
def test_verbatim_strings_are_equal_only_to_themselves(one: str, other: str) -> None:
    equal = normalize_args({"text": one}) == normalize_args({"text": other})
    assert equal == (one == other)


@given(ARGS)
def test_the_text_is_json(args: dict[str, Any]) -> None:
    assert json.loads(normalize_args(args)).keys() == args.keys()
