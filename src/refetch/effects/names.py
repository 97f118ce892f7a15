"""What the name of an undeclared tool suggests (SPEC 2): its verb, a gesture, a poll.

Words are compared whole, never as parts of other words: `get_estate` holds no state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

READ_VERBS = frozenset(
    "get list read search find check fetch view show describe count can is".split()
)
PURE_VERBS = frozenset(("calculate", "convert"))
WRITE_VERBS = frozenset(
    """create update modify delete cancel book return exchange toggle reset set add remove send run
    transfer""".split()
)
GESTURES = frozenset(
    """press type click scroll wait undo redo next back step roll generate sample spawn task
    agent""".split()
)
WAITING_WORDS = frozenset(
    """status state progress wait poll check health ready queue inbox log latest current now
    time""".split()
)
MOVING_WORDS = frozenset(("unread", "incoming", "live", "screenshot"))
"""Like the waiting words of the specification: what is asked for moves by itself."""
CONSUMING_VERBS = frozenset("pop dequeue claim receive acquire lease reserve draw shuffle".split())
"""Each call takes another one."""
WAITS = frozenset(("wait", "sleep", "delay"))
CREATING_VERBS = frozenset(
    """create add send post insert book new append publish push submit register upload schedule
    enqueue""".split()
)
ACTION_ARGUMENTS = ("action", "op", "operation", "command", "method", "mode")
"""Arguments that may hold the verb of a tool with many."""

_GESTURE_NOUNS = frozenset(("type", "task", "agent", "step"))
"""Gestures that are nouns behind another verb: `get_task` looks, `create_task` creates."""
_PLURALS = {"logs": "log", "queues": "queue", "checks": "check", "statuses": "status"}
_CHECK_MOVES = frozenset(("in", "out", "off"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_CALL_NUMBER = re.compile(r":\d+$")
_SHORT_ACTION = re.compile(r"[\w.-]{1,40}")


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a tool's own name in lower case, without the name of its server or module.

    Splits snake_case, kebab-case, camelCase, PascalCase, SHOUTING_CASE, and behind the last `__`,
    `.`, `/` or `:`. The number that some models append (`get_user:0`) is no part of a name.
    """
    own = re.split(r"__|[./:]", _CALL_NUMBER.sub("", name.strip()).rstrip("_./:"))[-1]
    return tuple(word.lower() for word in _WORD.findall(own))


def effect_of_name(name: str) -> str | None:
    """The effect that the first word of a name tells: "read", "pure", "write", or None.

    A reading verb joined to another one (`get_or_create`, `find_and_replace`) tells nothing, nor
    does `check_in`, which is no look.
    """
    words = words_of(name)
    if not words:
        return None
    first = words[0]
    if first in WRITE_VERBS:
        return "write"
    if first in PURE_VERBS:
        return None if _joined(words) else "pure"
    if first not in READ_VERBS or _joined(words):
        return None
    if first == "check" and len(words) > 1 and words[1] in _CHECK_MOVES:
        return None
    return "read"


def is_repeatable_name(name: str) -> bool:
    """Whether repeats of such a tool are intended: relative input, sampling, sub-agents."""
    words = words_of(name)
    if not words:
        return False
    if words[0] in CONSUMING_VERBS or "random" in words:
        return True
    found = GESTURES.intersection(words)
    looked_at = effect_of_name(name) is not None and words[0] != "run"
    return bool(found - _GESTURE_NOUNS if looked_at else found)


def is_poll_name(name: str, args_action: str | None = None) -> bool:
    """Whether a tool looks at something that moves by itself, by its name or its action.

    Args:
        name: the tool.
        args_action: the value of its action argument (see `action_of`); anything but a short word
            is no action and is not looked at.
    """
    words = set(words_of(name))
    if args_action is not None and _SHORT_ACTION.fullmatch(args_action):
        words.update(words_of(args_action))
    singular = {_PLURALS.get(word, word) for word in words}
    return not singular.isdisjoint(WAITING_WORDS | MOVING_WORDS)


def is_waiting_name(name: str) -> bool:
    """Whether a tool lets time pass, so that anything may have changed behind it."""
    words = words_of(name)
    return not WAITS.isdisjoint(words) and words[0] not in READ_VERBS


def is_toggling_name(name: str) -> bool:
    """Whether a tool turns something over, so that its repeat undoes it."""
    words = words_of(name)
    return bool(words) and words[0] == "toggle"


def is_creating_name(name: str) -> bool:
    """Whether a tool makes a new thing each time, so that one call cannot undo another."""
    words = words_of(name)
    return bool(words) and words[0] in CREATING_VERBS


def action_of(args: Mapping[str, Any]) -> str | None:
    """The short word in an action argument, or None: a command line is no action."""
    for argument in ACTION_ARGUMENTS:
        value = args.get(argument)
        if isinstance(value, str) and _SHORT_ACTION.fullmatch(value):
            return value
    return None


def _joined(words: tuple[str, ...]) -> bool:
    return "and" in words[1:-1] or "or" in words[1:-1]
