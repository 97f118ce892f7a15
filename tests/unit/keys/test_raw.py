"""refetch.keys.raw"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from refetch.keys.json_text import UnreadableArguments
from refetch.keys.raw import raw_key, stringify


@pytest.mark.parametrize("raw", ['{"id": 5}', '{"id":5 }', "", "not json", '{"a":1,"a":2}', " "])
def test_what_was_sent_is_kept_to_the_byte(raw: str) -> None:
    assert raw_key("get_user", raw, {"id": "ignored"}) == f"get_user({raw})"


@pytest.mark.parametrize(
    ("args", "key"),
    [
        ({"id": 5}, 'f({"id":5})'),
        ({"id": "5"}, 'f({"id":"5"})'),
        ({"id": 5.0}, 'f({"id":5})'),
        ({"z": 1, "a": 2}, 'f({"z":1,"a":2})'),
        ({"b": 1, "2": 2, "1": 3}, 'f({"b":1,"2":2,"1":3})'),
        ({"n": 9007199254740993}, 'f({"n":9007199254740993})'),
        ({"n": -(2**63) - 1}, 'f({"n":-9223372036854775809})'),
        ({"n": 1e21, "m": -0.0, "k": 1e-7}, 'f({"n":1e+21,"m":0,"k":1e-7})'),
        ({"s": " a ", "t": True, "n": None}, 'f({"s":" a ","t":true,"n":null})'),
        ({"s": "\u2028\x7f\x01\ud800"}, 'f({"s":"\u2028\x7f\\u0001\\ud800"})'),
        ([1, [2.5]], "f([1,[2.5]])"),
        ("text", 'f("text")'),
        ({}, "f({})"),
        (None, "f(null)"),
    ],
)
def test_parsed_arguments_print_as_json_stringify_does(args: object, key: str) -> None:
    assert raw_key("f", None, args) == key


def test_numbers_beyond_json_stay_apart() -> None:
    values = [float("inf"), float("-inf"), float("nan"), None]
    assert len({raw_key("f", None, [value]) for value in values}) == 4


def test_unreadable_arguments_are_a_clean_error() -> None:
    with pytest.raises(UnreadableArguments):
        raw_key("f", None, {"a": object()})


SAMPLES: list[Any] = [
    {"a": [1, -0.0, 1e21, 1e-7, 123456789012345680000.0, 0.1 + 0.2]},
    {"é": "\u2028\u2029\ufeff", "": '\\"/\b\f\n\r\t\v'},
    {"lone": "\ud800x\udc00", "pair": "\U0001f600", "\udfff": []},
    {"nested": {"empty": {}, "list": [[], [{}]]}, "t": [True, False, None]},
    *({"c": chr(code)} for code in range(0x100)),
]


def test_node_prints_the_same() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    script = (
        "const a = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(a.map((x) => JSON.stringify(x))))"
    )
    done = subprocess.run(
        [node, "-e", script], input=json.dumps(SAMPLES).encode(), capture_output=True, check=True
    )
    assert [stringify(sample) for sample in SAMPLES] == json.loads(done.stdout)
