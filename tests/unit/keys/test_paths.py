"""refetch.keys.paths"""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.keys.paths import fold_path, lexical_path


@pytest.mark.parametrize(
    ("path", "lexical"),
    [
        ("./a", "a"),
        ("a//b", "a/b"),
        ("a/../b", "b"),
        ("a/", "a"),
        ("a/./b/.", "a/b"),
        (".", "."),
        ("./", "."),
        ("a/..", "."),
        ("..", ".."),
        ("../a", "../a"),
        ("../../a/../b", "../../b"),
        ("a/../../b", "../b"),
        ("/", "/"),
        ("//a", "/a"),
        ("/a/../../b", "/b"),
        ("/..", "/"),
        ("~", "~"),
        ("~/", "~"),
        ("~/a/../b", "~/b"),
        ("~/..", "~/.."),
        ("~ann/a//b", "~ann/a/b"),
        ("a b/ c", "a b/ c"),
        ("C:\\a\\..\\b\\", "C:\\b"),
        ("C:\\..\\a", "C:\\a"),
        ("C:/a/./b", "C:/a/b"),
        ("C:\\a/b", "C:\\a\\b"),
        ("\\\\server\\share\\..\\a", "\\\\server\\share\\a"),
        (".\\src\\a", "src\\a"),
        ("\\a\\..\\b", "\\b"),
        ("..\\a", "..\\a"),
    ],
)
def test_spellings_of_one_path(path: str, lexical: str) -> None:
    assert lexical_path(path) == lexical


@pytest.mark.parametrize(
    ("path", "cwd", "lexical"),
    [
        ("a", "/w", "/w/a"),
        ("./a/", "/w/", "/w/a"),
        ("../a", "/w", "/a"),
        ("../../../a", "/w", "/a"),
        (".", "/w", "/w"),
        ("/a", "/w", "/a"),
        ("~/a", "/w", "~/a"),
        ("a", "w", "w/a"),
        ("a", "~/w", "~/w/a"),
        ("a", "", "a"),
        ("$X/a", "/w", "/w/$X/a"),
        ("a\\b", "/w", "/w/a\\b"),
        ("\\a", "/w", "/w/\\a"),
        ("a\\b", "C:\\w", "C:\\w\\a\\b"),
        ("a/b", "C:\\w", "C:\\w\\a\\b"),
        ("a/b", "C:/w", "C:/w/a/b"),
        ("..\\b", "src\\a", "src\\b"),
        ("C:\\a", "/w", "C:\\a"),
        ("\\a", "C:\\w", "\\a"),
        ("a", "vscode://host/w", "vscode://host/w/a"),
        ("a/", "C:", "C:/a"),
    ],
)
def test_relative_paths_are_taken_against_the_working_directory(
    path: str, cwd: str, lexical: str
) -> None:
    assert lexical_path(path, cwd) == lexical


@pytest.mark.parametrize(
    "path",
    [
        "",
        "https://host//a/../b",
        "file:///a//b",
        "\\\\?\\C:\\a\\..\\b",
        "\\\\.\\pipe\\x",
        "C:a\\..\\b",
        "C:",
    ],
)
def test_what_is_no_plain_path_stays_as_it_is(path: str) -> None:
    assert lexical_path(path) == path
    assert lexical_path(path, "/w") == path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "A"),
        ("a", "/a"),
        ("a", "../a"),
        ("a", "b/a"),
        ("é", "e\u0301"),
        ("a", "a "),
        ("a/b", "a\\b"),
        (".\\a", "./a"),
        (".\\a", "a"),
        ("C:\\a", "C:/a"),
        ("C:\\a", "c:\\a"),
        ("C:/a", "/a"),
        ("C:/a", "./C:/a"),
        ("~/a", "./~/a"),
        ("~", "x/../~"),
        ("src/**/../a", "src/a"),
        ("$DIR/../a", "a"),
        ("{a,b/c}/../d", "{a,d"),
        ("a\\..\\b", "b"),
        ("", "."),
        ("https://h/a", "https:/h/a"),
    ],
)
def test_paths_that_are_not_certainly_the_same_stay_apart(one: str, other: str) -> None:
    assert lexical_path(one) != lexical_path(other)


@pytest.mark.parametrize("path", ["a", "./a", "a/../b", "a\\b", "."])
def test_the_same_relative_path_in_two_places_is_two_paths(path: str) -> None:
    for one, other in (("/w", "/v"), ("~/w", "~/v"), ("C:\\w", "C:\\v"), ("$A", "$B")):
        assert lexical_path(path, one) != lexical_path(path, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/A.py", "src\\a.PY"),
        ("é", "e\u0301"),
        ("É", "e\u0301"),
        ("STRASSE", "straße"),
        ("./a", "a/"),
        (".\\a", "a"),
        ("C:\\Work\\a", "c:/work/a"),
        ("C:\\a", "/c/a"),
        ("C:\\a", "/mnt/c/a"),
        ("a\\..\\b/c", "b/c"),
        ("\\\\s\\sh\\..\\x", "\\\\s\\sh\\x"),
        ("\u1e9e", "ss"),
    ],
)
def test_paths_that_may_be_the_same_fold_together(one: str, other: str) -> None:
    assert fold_path(one) == fold_path(other)


@pytest.mark.parametrize(
    ("one", "other"), [("a", "b"), ("a/b", "a"), ("/a", "a"), ("../a", "a"), ("/mnt/cc/a", "/cc/a")]
)
def test_other_paths_do_not_fold_together(one: str, other: str) -> None:
    assert fold_path(one) != fold_path(other)


SEGMENTS = st.sampled_from(["a", "b", "..", ".", "", "~", "C:", "é", "*", "$x", "a\\b", "mnt"])
PATHS = st.one_of(
    st.text(),
    st.text(alphabet="ab/\\.~:C$*{"),
    st.lists(SEGMENTS, max_size=6).map("/".join),
    st.lists(SEGMENTS, max_size=6).map("\\".join),
)
PLAIN = st.lists(st.sampled_from(["a", "b", "..", ".", ""]), max_size=8).map("/".join)


@given(PATHS, st.one_of(st.none(), PATHS))
def test_a_second_time_changes_nothing(path: str, cwd: str | None) -> None:
    once = lexical_path(path, cwd)
    assert lexical_path(once) == once


@given(PATHS)
def test_folding_twice_is_folding_once(path: str) -> None:
    assert fold_path(fold_path(path)) == fold_path(path)


@given(PATHS, PATHS)
def test_what_is_certainly_the_same_may_be_the_same(one: str, other: str) -> None:
    if lexical_path(one) == lexical_path(other):
        assert fold_path(one) == fold_path(other)


@given(PLAIN)
def test_plain_posix_paths_agree_with_the_standard_library(path: str) -> None:
    # A single difference: POSIX lets two leading slashes mean something else, here they do not.
    expected = posixpath.normpath(path).replace("//", "/") if path else ""
    assert lexical_path(path) == expected


@given(PLAIN.filter(bool))
def test_joining_agrees_with_the_standard_library(path: str) -> None:
    expected = posixpath.normpath(posixpath.join("/v/w", path)).replace("//", "/")
    assert lexical_path(path, "/v/w") == expected
