"""What kind of failure the words of an error tell.

A tool that ran out of time may have done its work all the same (SPEC 3.4), so a timeout must not
pass for an error without effect.
"""

from __future__ import annotations

_OUT_OF_TIME = ("timed out", "timeout", "time-out", "deadline exceeded")


def failed_as(words: str | None) -> str:
    """The outcome of a failed call: "timeout" where its error speaks of one, else "error"."""
    said = (words or "").lower()
    return "timeout" if any(mark in said for mark in _OUT_OF_TIME) else "error"
