"""Containment of resources, and the index that answers for it without comparing pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.resources import (
    EVERYTHING,
    NEVER,
    Mark,
    WriteIndex,
    canonical_resource,
    others_write,
    overlaps,
    parse_resource,
)


@pytest.mark.parametrize(
    ("text", "cwd", "expected"),
    [
        ("file:/a/./b/../c", None, "file:/a/c"),
        ("file:c.py", "/a/b", "file:/a/b/c.py"),
        ("file:c.py", None, "file:c.py"),
        ("file:src/**", "/r", "file:/r/src/**"),
        ("file:**", None, "file:**"),
        ("file:/**", None, "file:/**"),
        ("url:HTTP://Example.com:80/a", None, "url:http://example.com/a"),
        ("row:users/1", "/r", "row:users/1"),
        ("no scheme", None, "no scheme"),
        (EVERYTHING, None, EVERYTHING),
    ],
)
def test_one_spelling(text: str, cwd: str | None, expected: str) -> None:
    assert canonical_resource(text, cwd) == expected
    assert canonical_resource(expected, cwd) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("file:/a/b", "file:/a/b", True),
        ("file:/a/b", "file:/a/bc", False),
        ("file:/a", "file:/a/b/c", True),
        ("file:/a/**", "file:/a/b", True),
        ("file:/a/**", "file:/b", False),
        ("file:/**", "file:/x", True),
        ("file:/A/B", "file:/a/b", True),  # some file systems fold the case
        ("file:b.py", "file:/a/b.py", True),  # a relative path may be anywhere
        ("file:a/b.py", "file:/x/a/b.py", True),
        ("file:a/b.py", "file:/x/b.py", False),
        ("file:../b.py", "file:/x/b.py", True),
        ("file:b.py", "file:c.py", False),
        ("row:users/1", "row:users/2", False),
        ("row:users", "row:users/2", True),
        ("row:users/1", "file:users/1", False),
        (EVERYTHING, "row:x", True),
        ("row:x", EVERYTHING, True),
    ],
)
def test_overlap_is_containment_in_either_direction(a: str, b: str, expected: bool) -> None:
    assert overlaps(a, b) is expected
    assert overlaps(b, a) is expected


def test_a_drive_is_a_root() -> None:
    assert parse_resource("file:C:/a").rooted
    assert not parse_resource("file:a").rooted


NAMES = st.sampled_from(["a", "b", "B", "c.py"])
PATHS = st.builds(
    lambda root, names, tail: f"file:{root}{'/'.join(names)}{tail}",
    st.sampled_from(["/", "", "../"]),
    st.lists(NAMES, min_size=1, max_size=3),
    st.sampled_from(["", "", "/**"]),
)
RESOURCES = st.one_of(PATHS, st.sampled_from(["row:t", "row:t/1", "row:t/2", "x", EVERYTHING]))


@given(st.lists(RESOURCES, max_size=12), RESOURCES)
def test_the_index_finds_the_last_overlapping_write(writes: list[str], asked: str) -> None:
    index = WriteIndex()
    latest = NEVER
    for pos, write in enumerate(map(canonical_resource, writes)):
        mark = Mark(pos, pos)
        index.put(write, mark)
        if overlaps(write, canonical_resource(asked)):
            latest = mark
    assert index.last(canonical_resource(asked)) == latest


@given(st.lists(RESOURCES, max_size=8), RESOURCES)
def test_asking_in_between_changes_no_answer(writes: list[str], asked: str) -> None:
    once, often = WriteIndex(), WriteIndex()
    for pos, write in enumerate(map(canonical_resource, writes)):
        for index in (once, often):
            index.put(write, Mark(pos, pos))
        often.last(canonical_resource(asked))
    assert once.last(canonical_resource(asked)) == often.last(canonical_resource(asked))


def test_writes_of_other_schemes() -> None:
    index = WriteIndex()
    index.put("file:/a", Mark(1, 1))
    index.put("row:t/1", Mark(2, 2), frozenset({"file"}))
    index.put("todo:x", Mark(3, 3))
    index.put("page:x", Mark(4, 4), None)
    rows, files = frozenset({"row"}), frozenset({"file"})
    assert index.last_of_other_scheme(rows, frozenset()) == Mark(3, 3)
    assert index.last_of_other_scheme(rows, frozenset({"todo"})) == Mark(1, 1)
    assert index.last_of_other_scheme(files, frozenset({"todo"})) == NEVER


@pytest.mark.parametrize(
    ("resource", "others"),
    [
        ("file:/var/log/syslog", True),
        ("file:/var/log", True),
        ("file:/proc/1/status", True),
        ("file:/run/x.pid", True),
        ("file:/tmp", True),
        ("file:app.log", True),
        ("file:/srv/Logs/APP.LOG", True),
        ("file:nohup.out", True),
        ("file:/tmp/a.py", False),
        ("file:var/log/a.py", False),
        ("file:/repo/proc/a.py", False),
        ("file:/running/a.py", False),
        ("file:a.log.py", False),
        ("file:catalog", False),
        ("file:CHANGELOG", False),
        ("file:src/**", False),
        ("row:app.log", False),
        ("url:http://h/a.log", False),
    ],
)
def test_files_that_running_programs_write(resource: str, others: bool) -> None:
    assert others_write(resource) is others
