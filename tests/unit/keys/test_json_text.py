"""refetch.keys.json_text"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import types
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.keys.json_text import (
    MAX_DEPTH,
    NumberLiteral,
    UnreadableArguments,
    decode_json,
    encodable,
    encode_json,
    quote,
    string_keys,
    utf16_order,
)


def printed(value: object, *, sort_keys: bool = False) -> str:
    return encode_json(encodable(value, sort_keys=sort_keys))


@pytest.mark.parametrize("form", [bytes, str, msgspec.Raw])
def test_reads_bytes_text_and_raw_alike(form: type) -> None:
    text = '{"a":[1,2.5,"x",null,true]}'
    raw = text if form is str else form(text.encode())
    assert decode_json(raw) == {"a": [1, 2.5, "x", None, True]}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":1,"b":2,"a":"\\ud800"}', {"a": "\ud800", "b": 2}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"tab\there"', "tab\there"),
        ('"\ud800"', "\ud800"),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"[1e999,-1e999,1.5,7]", [NumberLiteral("1e999"), NumberLiteral("-1e999"), 1.5, 7]),
        (b"NaN", NumberLiteral("NaN")),
        (b"-Infinity", NumberLiteral("-Infinity")),
    ],
)
def test_reads_what_recorders_write(raw: bytes | str, value: object) -> None:
    assert decode_json(raw) == value


def test_integers_of_any_length_are_read_and_written() -> None:
    digits = "123456789" * 1200
    assert printed(decode_json(digits.encode())) == digits
    assert printed({"n": decode_json("-" + digits)}) == f'{{"n":-{digits}}}'


@pytest.mark.parametrize(
    "raw", [b"{", b"", b"{'a':1}", b'"\xff"', b"[1,]", b"1 2", b"\xef\xbb\xbf{}", b"undefined"]
)
def test_what_is_no_json_is_a_clean_error(raw: bytes) -> None:
    with pytest.raises(UnreadableArguments, match="no JSON"):
        decode_json(raw)


@pytest.mark.parametrize("inner", [b"", b'"\\ud800",', b"1e999,"])
def test_deep_nesting_is_a_clean_error(inner: bytes) -> None:
    with pytest.raises(UnreadableArguments, match=r"deeper|no JSON"):
        decode_json(b"[" + inner + b"[" * 100_000 + b"]" * 100_001)


def nested(depth: int, *, objects: bool) -> Any:
    value: Any = "leaf"
    for _ in range(depth):
        value = {"a": value} if objects else [value]
    return value


@pytest.mark.parametrize("objects", [True, False])
def test_the_depth_limit_is_exact(objects: bool) -> None:
    deepest = nested(MAX_DEPTH + 1, objects=objects)
    assert json.loads(printed(deepest)) == deepest
    with pytest.raises(UnreadableArguments, match="deeper than 256"):
        printed(nested(MAX_DEPTH + 2, objects=objects))


def test_data_that_contains_itself_is_a_clean_error() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(UnreadableArguments):
        printed(loop)
    with pytest.raises(UnreadableArguments):
        printed({"set": {Odd(loop)}})


@dataclasses.dataclass(frozen=True)
class Odd:
    inside: object

    def __hash__(self) -> int:
        return 1


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Direction(enum.Enum):
    UP = "up"


class Ratio(float):
    pass


class Names(list[str]):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, 2), "[1,2]"),
        (Names(["a"]), '["a"]'),
        (Colour.RED, '"red"'),
        (Level.LOW, "1"),
        (Direction.UP, '"up"'),
        (Ratio(5.0), "5"),
        (types.MappingProxyType({"b": 1, "a": 2.0}), '{"b":1,"a":2}'),
        ({3, 1, 2}, "[1,2,3]"),
        (Odd(5.0), '{"inside":5}'),
        (datetime.date(2025, 1, 2), '"2025-01-02"'),
        (decimal.Decimal("1.50"), '"1.50"'),
        (msgspec.Raw(b'{"a": 5.0}'), '{"a":5}'),
        ({1: "a", 2.5: "b", None: "d"}, '{"1":"a","2.5":"b","null":"d"}'),
        ({False: 0, Colour.RED: 1}, '{"false":0,"red":1}'),
    ],
)
def test_what_a_program_passes_as_arguments(value: object, text: str) -> None:
    assert printed(value) == text


@pytest.mark.parametrize("value", [object(), {"a": object()}, {(1, 2): 3}, [range(3)], {"f": len}])
def test_an_object_without_json_form_is_a_clean_error(value: object) -> None:
    with pytest.raises(UnreadableArguments, match="JSON form"):
        printed(value)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('a"b\\c/', '"a\\"b\\\\c/"'),
        ("\b\f\n\r\t\x01\x1f\x7f", '"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f"'),
        ("\u2028é\U0001f600", '"\u2028é\U0001f600"'),
        ("a\ud800b", '"a\\ud800b"'),
        ("\udfff", '"\\udfff"'),
        ("\ud83d\ude00", '"\U0001f600"'),
        ("\ude00\ud83d", '"\\ude00\\ud83d"'),
    ],
)
def test_strings_are_quoted_as_json_stringify_does(text: str, quoted: str) -> None:
    assert quote(text) == quoted
    assert printed({"k": [text, 1, None]}) == f'{{"k":[{quoted},1,null]}}'


def test_a_lone_surrogate_may_stand_in_a_key() -> None:
    assert printed({"\ud800": 5.0, "a": {}}) == '{"\\ud800":5,"a":{}}'


def code_units(key: str) -> list[int]:
    """The obvious way: a string as ECMAScript stores it."""
    units: list[int] = []
    for char in key:
        point = ord(char)
        if point >= 0x10000:
            units += [0xD800 + ((point - 0x10000) >> 10), 0xDC00 + ((point - 0x10000) & 0x3FF)]
        else:
            units.append(point)
    return units


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))
KEYS = st.one_of(ANY_TEXT, st.text(alphabet="ab\ue000\uffff\U00010000\U0010ffff\ud800"))


@given(st.lists(KEYS))
def test_keys_stand_in_the_order_of_their_code_units(keys: list[str]) -> None:
    members = dict.fromkeys(keys, 0)
    assert utf16_order(members) == sorted(members, key=code_units)


def test_code_unit_order_differs_from_code_point_order() -> None:
    assert utf16_order({"\uffff": 0, "\U00010000": 0}) == ["\U00010000", "\uffff"]


def test_plain_keys_are_not_copied() -> None:
    members = {"a": 1}
    assert string_keys(members) is members


JSON_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=8,
)


@given(JSON_DATA)
def test_what_is_printed_reads_back_as_the_same(value: object) -> None:
    def joined(item: Any) -> Any:
        """Surrogate pairs as the characters they are; json merges them on reading."""
        return json.loads(json.dumps(item))

    assert joined(decode_json(printed(value))) == joined(value)


@given(JSON_DATA)
def test_both_writers_print_the_same(value: object) -> None:
    plain = printed(value)
    # A lone surrogate forces the slow writer on the very same data.
    assert printed([value, "\ud800"]) == f'[{plain},"\\ud800"]'
