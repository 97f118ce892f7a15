"""Secrets: what is found, what is left alone, and that equal stays equal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.model import UsageError
from refetch.replay.redaction import BY_KEY, PATTERNS, Redactor

KEY = "sk-ant-" + "api03-abcdefghij0123456789"

SECRETS = [
    ("anthropic-key", f"use {KEY} now", KEY),
    ("openai-key", "sk-proj-abcdefghijklmnopqrstuv12", "sk-proj-abcdefghijklmnopqrstuv12"),
    ("aws-access-key", "id AKIAABCDEFGHIJKLMNOP.", "AKIAABCDEFGHIJKLMNOP"),
    ("google-key", "AIza" + "a1B2c" * 7, "AIza" + "a1B2c" * 7),
    ("github-token", "ghp_" + "a1" * 18, "ghp_" + "a1" * 18),
    ("gitlab-token", "glpat-" + "ab12-" * 4, "glpat-" + "ab12-" * 4),
    ("slack-token", "xoxb-123456789012-abc", "xoxb-123456789012-abc"),
    ("stripe-key", "sk_live_" + "a1b2" * 5, "sk_live_" + "a1b2" * 5),
    ("npm-token", "npm_" + "a1" * 18, "npm_" + "a1" * 18),
    ("pypi-token", "pypi-" + "Ag" * 25, "pypi-" + "Ag" * 25),
    ("huggingface-token", "hf_" + "a1" * 17, "hf_" + "a1" * 17),
    (
        "json-web-token",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    ),
    ("authorization-header", "Authorization: Bearer abcdef0123456789XYZ", "abcdef0123456789XYZ"),
    ("authorization-header", "authorization: basic dXNlcjpwYXNzd29yZDE=", "dXNlcjpwYXNzd29yZDE="),
    ("url-password", "postgres://app:s3cr%40t@db/x", "s3cr%40t"),
    (
        "private-key",
        "-----BEGIN RSA PRIVATE KEY-----\nMII\nabc\n-----END RSA PRIVATE KEY-----",
        "MII",
    ),
    ("private-key", "-----BEGIN PRIVATE KEY-----\nMIIcut off", "MIIcut off"),
    ("assigned-secret", "export DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
    ("assigned-secret", '{\\"client_secret\\": \\"abc123def\\"}', "abc123def"),
    ("assigned-secret", "api-key: q1w2e3r4t5", "q1w2e3r4t5"),
]


@pytest.mark.parametrize(("name", "text", "secret"), SECRETS)
def test_found_and_counted_by_name(name: str, text: str, secret: str) -> None:
    redactor = Redactor()
    cleaned = redactor.text(text)
    assert secret not in cleaned
    assert f"REDACTED-{name}-1" in cleaned
    assert redactor.counts == {name: 1}


def test_every_pattern_is_tested() -> None:
    assert {name for name, _, _ in SECRETS} | {"email"} == {p.name for p in PATTERNS}


@pytest.mark.parametrize(
    "text",
    [
        "password = getpass()",
        "TOKEN=$(cat token.txt)",
        "secret: ${SECRET_NAME}",
        "https://example.org/a:b@c",
        "git@github.com:org/repo.git",
        "max_tokens=4096 page_token=abcdefgh",
        "the password is asked for later",
        "sk-learn and task-force-of-many-people",
        "basic understanding of authentication",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "mail someone@example.org",
        "monkey: bananas123",
    ],
)
def test_left_alone(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text
    assert not redactor.counts


def test_one_secret_one_placeholder_wherever_it_stands() -> None:
    redactor = Redactor()
    data = redactor.value({"a": [KEY, f"x {KEY}"], "b": KEY + "other", KEY: 1, "n": 5, "t": True})
    one, two = "REDACTED-anthropic-key-1", "REDACTED-anthropic-key-2"
    assert data == {"a": [one, f"x {one}"], "b": two, one: 1, "n": 5, "t": True}


def test_values_under_telling_keys() -> None:
    redactor = Redactor()
    data: dict[str, Any] = {
        "password": "a b",
        "apiKey": "short",
        "Authorization": "Token x",
        "token": "t",
        "dbPassword": "${DB_PASSWORD}",
        "secret": "",
        "pwd": 5,
        "page_token": "next",
        "tokens": "many",
        "nested": {"password": "a b"},
    }
    assert redactor.value(data) == {
        "password": "REDACTED-named-secret-1",
        "apiKey": "REDACTED-named-secret-2",
        "Authorization": "REDACTED-named-secret-3",
        "token": "REDACTED-named-secret-4",
        "dbPassword": "${DB_PASSWORD}",
        "secret": "",
        "pwd": 5,
        "page_token": "next",
        "tokens": "many",
        "nested": {"password": "REDACTED-named-secret-1"},
    }
    assert redactor.counts == {BY_KEY: 5}


def test_arguments_as_text_hide_the_same_secrets() -> None:
    redactor = Redactor()
    raw = json.dumps({"password": 'a "b" é', "key": KEY}, ensure_ascii=False)
    data = redactor.value({"raw_args": raw, "args": json.loads(raw), "call": f"login({raw})"})
    expected = '{"password": "REDACTED-named-secret-1", "key": "REDACTED-anthropic-key-1"}'
    assert data["raw_args"] == expected
    assert data["args"] == json.loads(expected)
    assert data["call"] == f"login({expected})"
    assert redactor.value({"raw_args": "{broken " + KEY})["raw_args"].endswith("key-1")


def test_a_key_in_json_text_is_the_key_it_spells() -> None:
    pem = "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----"
    redactor = Redactor()
    first, second = redactor.text(pem), redactor.text(json.dumps(pem))
    assert second == json.dumps(first)


def test_only_what_is_named_or_nothing() -> None:
    text = f"someone@example.org {KEY}"
    assert Redactor(["email"]).text(text) == f"REDACTED-email-1 {KEY}"
    assert Redactor(False).text(text) == text
    assert Redactor([BY_KEY]).value({"password": KEY}) == {"password": "REDACTED-named-secret-1"}
    with pytest.raises(UsageError, match="unknown pattern to redact: 'mail'; known: private-key"):
        Redactor(["mail"])


@given(st.lists(st.sampled_from([text for _, text, _ in SECRETS]), max_size=6))
def test_redacting_twice_changes_nothing(texts: list[str]) -> None:
    once = Redactor().value(texts)
    assert Redactor().value(once) == once


@given(st.lists(st.sampled_from([text for _, text, _ in SECRETS]), max_size=6))
def test_equal_texts_stay_equal_and_unequal_ones_unequal(texts: list[str]) -> None:
    cleaned = Redactor().value(texts)
    for i, one in enumerate(texts):
        for j, other in enumerate(texts):
            assert (cleaned[i] == cleaned[j]) == (one == other)
