"""Numbers as text, the way ECMAScript's Number::toString writes them.

Source of the rules: ECMA-262, "Number::toString (x, 10)". Python's ``repr`` finds the same shortest
digits that read back as the same double; only where the point and the exponent stand differs.
Integers are the exception on purpose: they keep their digits beyond 2**53, where ECMAScript would
round two different identifiers to one.
"""

from __future__ import annotations

from decimal import Decimal

_POINT_UP_TO = 21  # 1e20 is written out, 1e21 is not
_ZEROS_DOWN_TO = -7  # 0.000001 is written out, 1e-7 is not
_digits = int.__repr__  # whatever a subclass prints for itself


def number_text(value: int | float) -> str:
    """Text of a number: 5 and 5.0 give ``5``, 1e21 gives ``1e+21``, -0.0 gives ``0``.

    Integers keep all their digits. The values that JSON cannot hold give ``Infinity``,
    ``-Infinity`` and ``NaN``. ``True`` and ``False`` are numbers to Python and print as such;
    callers that mean booleans have to look first.
    """
    return float_text(value) if isinstance(value, float) else integer_text(value)


def integer_text(value: int) -> str:
    """All digits of an integer, however many there are."""
    try:
        return _digits(value)
    except ValueError:  # CPython prints no integer of more than some thousand digits
        return f"{Decimal(value):f}"


def float_text(value: float) -> str:
    """Text of a double as ECMAScript prints it."""
    text = float.__repr__(value)
    if text.endswith(".0"):
        return text[:-2] if text != "-0.0" else "0"
    mantissa, has_exponent, exponent_text = text.partition("e")
    if not has_exponent:
        return _NOT_FINITE.get(text, text)
    exponent = int(exponent_text)
    if not _ZEROS_DOWN_TO < exponent < _POINT_UP_TO:
        return f"{mantissa}e{exponent:+d}"
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return sign + digits.ljust(exponent + 1, "0")


_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def literal_text(literal: str) -> str:
    """Text of a number as it stands in JSON: ``5``, ``5.0`` and ``5e0`` give ``5``.

    Integer literals keep their digits (``-0`` gives ``0``); a literal beyond the range of a double
    (``1e999``) is kept as it is, so that two of them are equal only when written alike.

    Raises ValueError for a text that is no number.
    """
    if literal.removeprefix("-").isdecimal() and literal.isascii():
        return literal if literal != "-0" else "0"
    value = float(literal)
    text = float_text(value)
    return literal if text in _NOT_FINITE.values() else text
