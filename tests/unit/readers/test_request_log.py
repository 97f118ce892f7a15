"""Which requests of a log belong together, and what is new in each."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.readers.request_log import (
    Exchange,
    Item,
    Step,
    arguments_key,
    content_key,
    follow,
)


def item(kind: Literal["call", "result", "model", "person"], key: str | None) -> Item:
    return Item(kind, None if key is None else (kind, key), key, {}, "$", None)


def call(key: str) -> Item:
    return item("call", key)


def result(key: str) -> Item:
    return item("result", key)


def person(words: str) -> Item:
    return item("person", words)


def exchange(sent: list[Item], *answered: Item, **fields: Any) -> Exchange:
    return Exchange(sent, list(answered), **fields)


def shape(groups: list[list[Step]]) -> list[list[tuple[int, int, int]]]:
    """(conversation, new items, results no longer sent) of each step, by trace."""
    return [[(s.thread, len(s.new), len(s.gone)) for s in steps] for steps in groups]


GO = person("go")


def test_a_history_is_told_once() -> None:
    log = [
        exchange([GO], call("a")),
        exchange([GO, call("a"), result("a")], call("b")),
        exchange([GO, call("a"), result("a"), call("b"), result("b")], item("model", None)),
    ]
    assert shape(follow(log)) == [[(0, 1, 0), (0, 1, 0), (0, 1, 0)]]


def test_the_same_item_twice_in_one_history_is_two() -> None:
    sent = [GO, call("a"), result("a"), call("a"), result("a")]
    assert shape(follow([exchange(sent)])) == [[(0, 5, 0)]]
    again = exchange([*sent, GO], call("b"))
    assert shape(follow([exchange(sent), again])) == [[(0, 5, 0), (0, 1, 0)]]


def test_a_shortened_history_is_known_by_the_calls_that_it_answers() -> None:
    log = [
        exchange([GO], call("a")),
        exchange([GO, call("a"), result("a")], call("b"), call("c")),
        exchange([person("summary"), call("b"), call("c"), result("b"), result("c")]),
    ]
    assert shape(follow(log)) == [[(0, 1, 0), (0, 1, 0), (0, 3, 1)]]


def test_one_call_of_two_is_not_enough() -> None:
    log = [
        exchange([GO], call("a"), call("b")),
        exchange([person("other"), call("a"), result("a")]),
    ]
    assert shape(follow(log)) == [[(0, 1, 0)], [(1, 3, 0)]]


def test_the_same_beginning_is_no_link_of_itself() -> None:
    """Two conversations with one prompt: the second request begins anew."""
    log = [exchange([GO], call("a")), exchange([GO], call("b"))]
    assert shape(follow(log)) == [[(0, 1, 0)], [(1, 1, 0)]]


def test_a_request_without_an_answer_was_sent_again() -> None:
    assert shape(follow([exchange([GO]), exchange([GO], call("a"))])) == [[(0, 1, 0), (0, 0, 0)]]


def test_what_a_fork_repeats_is_told_once() -> None:
    log = [
        exchange([GO], call("a")),
        exchange([GO, call("a"), result("a")], call("b")),
        exchange([GO, call("a"), item("model", None), result("a"), person("other")], call("c")),
    ]
    (one,), (fork,) = follow(log[:1]), follow(log)[1]
    assert [step.new for step in one] == [[GO]]
    assert fork.new == [GO, person("other")]


def test_an_exchange_with_a_known_id_is_a_copy() -> None:
    one = exchange([GO], call("a"), own="r1")
    assert shape(follow([one, one])) == [[(0, 1, 0)]]


def test_the_provider_remembers() -> None:
    log = [
        exchange([GO], call("a"), own="r1"),
        exchange([result("a"), GO], call("b"), own="r2", previous="r1"),
        exchange([result("a")], call("c"), own="r3", previous="r1"),
        exchange([result("b")], own="r4", previous="r2"),
        exchange([GO], own="r9", previous="of another log"),
    ]
    steps = shape(follow(log))
    assert steps == [[(0, 1, 0), (0, 2, 0), (1, 1, 0), (0, 1, 0)], [(2, 1, 0)]]


def test_overlapping_conversations_are_one_trace_unless_their_runs_differ() -> None:
    def log(*runs: str | None) -> list[Exchange]:
        one, two = [person("one")], [person("two")]
        return [
            exchange(one, call("a"), run=runs[0]),
            exchange(two, call("b"), run=runs[1]),
            exchange([*one, call("a"), result("a")], run=runs[0]),
            exchange([*two, call("b"), result("b")], run=runs[1]),
        ]

    assert [len(steps) for steps in follow(log(None, None))] == [4]
    assert [len(steps) for steps in follow(log("x", "y"))] == [2, 2]
    assert [len(steps) for steps in follow(log("x", "x"))] == [4]


def test_no_exchanges_are_no_traces() -> None:
    assert follow([]) == []


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (b'{"a": 1, "b": [2]}', b'{"b":[2],"a":1}', True),
        (b'{"a": 1}', b'{"a": 2}', False),
        (b'{"a": 1}', b'{"a": "1"}', False),
        (b'{"a":', b'{"a":', True),
        (b"", b"null", False),
    ],
)
def test_arguments_however_they_are_spelled(one: bytes, other: bytes, equal: bool) -> None:
    assert (arguments_key(Raw(one)) == arguments_key(Raw(other))) is equal


def test_cache_marks_are_no_difference() -> None:
    plain = Raw(b'[{"type": "text", "text": "x"}]')
    marked = b'[{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]'
    assert content_key(Raw(marked)) == content_key(plain)
    assert content_key(Raw(marked.replace(b"x", b"y"))) != content_key(plain)


@given(st.lists(st.sampled_from("abcde"), max_size=12), st.data())
def test_any_growing_history_tells_every_item_once(keys: list[str], data: st.DataObject) -> None:
    """However a log cuts a conversation into requests, the new items are the conversation."""
    history = [GO, *(one for key in keys for one in (call(key), result(key)))]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(keys)))))
    log = [exchange(history[: 1 + 2 * cut]) for cut in cuts]
    (steps,) = follow(log) or ([],)
    told = [one for step in steps for one in step.new]
    assert told == (history[: 1 + 2 * cuts[-1]] if cuts else [])
    assert not any(step.gone for step in steps)
