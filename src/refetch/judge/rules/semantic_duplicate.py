"""The same call in another spelling, twice in one turn.

The two calls differ as text, but are equal by construction: the order of keys, `5` and `"5"` and
`5.0`, blanks around a string, commentary arguments, declared defaults, or two spellings of one path
or address.

## Why it matters
It is the duplicate that a comparison of texts overlooks, and it costs the same.

## Flagged
- `get_user({"id":5})` and `get_user({"id":"5"})` in one turn.
- `list({"a":1,"b":2})` and `list({"b":2,"a":1})`.
- `read_file({"path":"./a.py"})` and `read_file({"path":"a.py"})` where the argument names the file.

## Not flagged
- `"00713"` and `713`, `"7e2"` and `700`: text is never parsed into numbers.
- `true` and `"true"`, `null` and `"null"`.
- `README.md` and `readme.md`; two Unicode forms of one name.
- Two searches in different words, even if they mean the same.
- Arguments named content, text, pattern, command and the like, when only white space differs.
- Results that are known to differ: then the tool did tell the calls apart.

## If it is wrong for a tool
Declare `verbatim = ["argument"]` for arguments in which every character counts.
"""

from __future__ import annotations

from refetch.judge.question import Question
from refetch.judge.rule import FLAG, Charge, Rule
from refetch.judge.rules.exact_duplicate import in_turn

WORDS = {
    "ignore_args": "commentary arguments",
    "defaults": "a default spelled out",
    "path": "two spellings of one path",
    "url": "two spellings of one address",
    "unordered": "the order of a list",
    "normalization": "key order, number form or blanks",
}


def decide(question: Question) -> Charge | None:
    """Same context and turn, equal keys, other bytes."""
    if question.turn_mate is None or question.entry.spelling in question.turn_mate.spelled:
        return None
    charge = in_turn(question, question.turn_mate)
    if charge is None:
        return None
    return Charge(
        charge.first,
        "same turn; equal apart from "
        + ", ".join(WORDS[n] for n in question.equal_by(charge.first)),
        level=charge.level,
        confidence=charge.confidence,
        side_effect=charge.side_effect,
        blame=charge.blame,
    )


RULE = Rule("RF002", "semantic-duplicate", FLAG, __doc__ or "", decide)
