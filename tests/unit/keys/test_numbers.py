"""refetch.keys.numbers, measured against Node's own answers."""

from __future__ import annotations

import json
import lzma
import math
import shutil
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.keys.numbers import float_text, integer_text, literal_text, number_text

TABLE = Path(__file__).parents[2] / "data" / "ecmascript_numbers.txt.xz"

Answers = list[tuple[str, str]]


@pytest.fixture(scope="module")
def answers() -> Answers:
    """(JSON literal, what Node printed for it)."""
    lines = lzma.decompress(TABLE.read_bytes()).decode().splitlines()
    return [(literal, text) for literal, _, text in (line.partition("\t") for line in lines)]


def test_literals_read_as_node_prints_them(answers: Answers) -> None:
    assert len(answers) >= 10_000
    wrong = [(lit, node, literal_text(lit)) for lit, node in answers if literal_text(lit) != node]
    assert wrong == []


def test_python_floats_print_as_node_prints_them(answers: Answers) -> None:
    wrong = [
        (lit, node, number_text(float(lit)))
        for lit, node in answers
        if number_text(float(lit)) != node
    ]
    assert wrong == []


def test_the_table_is_what_the_node_at_hand_says(answers: Answers) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js; the recorded table is compared in any case")
    script = (
        "const a = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(a.map((x) => String(Number(x)))))"
    )
    literals = json.dumps([literal for literal, _ in answers])
    done = subprocess.run([node, "-e", script], input=literals.encode(), capture_output=True)
    assert json.loads(done.stdout) == [text for _, text in answers]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (-0.0, "0"),
        (0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (-1.5e300, "-1.5e+300"),
        (0.000001, "0.000001"),
        (-0.000001, "-0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (2**53 + 1, "9007199254740993"),
        (-(2**64) - 1, "-18446744073709551617"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_python_numbers(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("5e0", "5"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("9007199254740993", "9007199254740993"),
        ("-9007199254740993", "-9007199254740993"),
        ("1000000000000000000000", "1000000000000000000000"),
        ("1e21", "1e+21"),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
        ("1e9999", "1e9999"),
    ],
)
def test_json_literals(literal: str, text: str) -> None:
    assert literal_text(literal) == text


@pytest.mark.parametrize("text", ["", "-", "five", "0x10", "1_0.0e", "1,5"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="could not convert"):
        literal_text(text)


def test_integers_of_any_length_keep_their_digits() -> None:
    digits = "9" * 10_000
    assert literal_text(digits) == digits
    assert integer_text(10**10_000 - 1) == digits
    assert number_text(-(10**10_000 - 1)) == "-" + digits


def test_a_subclass_prints_its_number_and_not_its_name() -> None:
    class Page(IntEnum):
        FIRST = 1

        def __repr__(self) -> str:
            return "first page"

    assert number_text(Page.FIRST) == "1"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_reads_back_as_the_same_double(value: float) -> None:
    assert float(float_text(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_second_reading_changes_nothing(value: float) -> None:
    once = literal_text(repr(value))
    assert literal_text(once) == once


@given(st.integers(), st.integers())
def test_different_integers_have_different_texts(one: int, other: int) -> None:
    assert (number_text(one) == number_text(other)) == (one == other)


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_an_integer_prints_as_the_float_of_the_same_value(value: int) -> None:
    assert number_text(float(value)) == number_text(value)
