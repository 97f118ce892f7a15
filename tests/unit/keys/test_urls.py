"""refetch.keys.urls"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.keys.urls import canonical_url


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://Example.COM/A", "http://example.com/A"),
        ("http://example.com", "http://example.com/"),
        ("http://example.com:80/a", "http://example.com/a"),
        ("https://example.com:443", "https://example.com/"),
        ("ws://h:80", "ws://h/"),
        ("wss://H:443/x", "wss://h/x"),
        ("http://example.com:/a", "http://example.com/a"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com#top", "https://example.com/#top"),
        ("https://Me:Secret@Example.com:443/a", "https://Me:Secret@example.com/a"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("http://BÜcher.example/", "http://bÜcher.example/"),
    ],
)
def test_the_three_differences_that_mean_nothing(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h/a", "https://h/a"),
        ("http://h/a", "http://h/a/"),
        ("http://h/a", "http://h/A"),
        ("http://h/?a=1&b=2", "http://h/?b=2&a=1"),
        ("http://h/?a=1", "http://h/?A=1"),
        ("http://h/a", "http://h/a#part"),
        ("http://h/a", "http://h/a?"),
        ("http://h/a/../b", "http://h/b"),
        ("http://h//a", "http://h/a"),
        ("http://h/%7Ea", "http://h/~a"),
        ("http://h:443/", "http://h/"),
        ("https://h:80/", "https://h/"),
        ("http://h:8080/", "http://h/"),
        ("http://www.h/", "http://h/"),
        ("http://h./", "http://h/"),
        ("http://u@h/", "http://h/"),
        ("http://U@h/", "http://u@h/"),
    ],
)
def test_every_other_difference_stays(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com",
        "HTTP:/h",
        "HTTP:///path",
        "HTTP://h/a b",
        " HTTP://h/",
        "HTTP://h/\n",
        "HTTP://h\\a",
        "HTTP://H:port/",
        "HTTP://H:80:80/",
        "HTTP://[::1/",
        "HTTP://H\x00/",
        "S3://Bucket/Key",
        "ftp://H:21",
        "file:///C:/a",
        "mailto:A@B",
        "/etc/HTTP://h",
    ],
)
def test_anything_else_is_returned_as_it_is(text: str) -> None:
    assert canonical_url(text) == text


URLISH = st.one_of(
    st.text(),
    st.text(alphabet="htpsHT:/@?#[]aA.80 %"),
    st.builds("http://{}".format, st.text(alphabet="aA:8[]@/?#.0é")),
)


@given(URLISH)
def test_a_second_time_changes_nothing(url: str) -> None:
    assert canonical_url(canonical_url(url)) == canonical_url(url)
