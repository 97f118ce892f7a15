"""What a writer gives back."""

from __future__ import annotations

from collections import Counter

import msgspec


class Written(msgspec.Struct):
    """A file's content, and what the format had no place for: how often, by what."""

    data: bytes
    losses: Counter[str] = msgspec.field(default_factory=Counter)
