"""How a report is to look: what the terminal can show, and how much the user asked for."""

from __future__ import annotations

import msgspec


class Look(msgspec.Struct, frozen=True):
    """Width in columns; `ascii`: the encoding lacks ✗ ✎ ✓; `why`: list every acquittal.

    `top`: how many traces a table and how many findings of a rule a text shows; 0 shows all.
    """

    width: int = 100
    color: bool = False
    ascii: bool = False
    why: bool = False
    top: int = 20
