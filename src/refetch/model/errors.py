"""Errors a person can act on: each names the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a mistyped word comes close to, for the hint of an error."""
    import difflib

    return next(iter(difflib.get_close_matches(word, list(known), n=1)), None)


class RefetchError(Exception):
    """Base of everything `refetch` raises on purpose. `slug` is the anchor on the messages page."""

    slug = "error"


class InputError(RefetchError):
    """An input that cannot be read, or breaks its format.

    Args:
        source: the file (or "-") as the user named it. message: one sentence without the place.
        line: 1-based line in the file, where there is one. path: place inside the document as
        `$.path`. expected, found: what the format asks for and what stands there.
    """

    slug = "input"

    def __init__(
        self,
        source: str,
        message: str,
        *,
        line: int | None = None,
        path: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        self.source = source
        self.message = message
        self.line = line
        self.path = path
        self.expected = expected
        self.found = found
        super().__init__(str(self))

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        inner = f"{self.path}: " if self.path else ""
        return f"{place}: {inner}{self.message}"


class UsageError(RefetchError):
    """Wrong flags, options or configuration."""

    slug = "usage"


class FixtureError(RefetchError):
    """A scripted-model fixture that is broken or ran out of steps."""

    slug = "fixture"


class MissingExtraError(RefetchError):
    """A feature whose optional dependency is not installed; the message names the extra."""

    slug = "missing-extra"

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs an optional dependency: pip install 'refetch[{extra}]'")
