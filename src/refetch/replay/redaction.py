"""Secrets out of fixtures: named patterns, and one placeholder a secret: equal stays equal."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

from refetch.model.errors import UsageError


class Pattern(NamedTuple):
    """A kind of secret. The group `secret` is replaced, or the whole match where there is none.

    `hints`: a text that holds none of them cannot match, which is cheaper to ask.
    """

    name: str
    finds: re.Pattern[str]
    hints: tuple[str, ...]
    by_default: bool = True


def _pattern(name: str, finds: str, *hints: str, by_default: bool = True) -> Pattern:
    return Pattern(name, re.compile(finds), hints, by_default)


_VALUE = r"(?P<secret>[A-Za-z0-9_~!@%^*+/=.-]{6,})"
_KEY_WORDS = (
    r"(?:password|passwd|passphrase|pwd|secret|credential|api[_-]?key|access[_-]?key|"
    r"private[_-]?key|secret[_-]?key|(?:access|auth|refresh|id|bearer|session)[_-]?token)"
)

PATTERNS: tuple[Pattern, ...] = (
    _pattern(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
        "PRIVATE KEY",
    ),
    _pattern("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{16,}", "sk-ant-"),
    _pattern("openai-key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}", "sk-"),
    _pattern("aws-access-key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", "AKIA", "ASIA"),
    _pattern("google-key", r"\bAIza[0-9A-Za-z_-]{35}", "AIza"),
    _pattern(
        "github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    ),
    _pattern("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}", "glpat-"),
    _pattern("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "xox"),
    _pattern("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", "k_live_", "k_test_"),
    _pattern("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b", "npm_"),
    _pattern("pypi-token", r"\bpypi-[A-Za-z0-9_-]{40,}", "pypi-"),
    _pattern("huggingface-token", r"\bhf_[A-Za-z0-9]{30,}\b", "hf_"),
    _pattern(
        "json-web-token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", "eyJ"
    ),
    _pattern(
        "authorization-header",
        r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)",
        "earer", "asic", "EARER", "ASIC",
    ),
    _pattern(
        "url-password", r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@'\"]*:(?P<secret>[^\s:/@'\"$]+)@", "://"
    ),
    _pattern(
        "assigned-secret",
        rf"(?i){_KEY_WORDS}\\?[\"']?\s*[=:]\s*\\?[\"']?{_VALUE}(?![A-Za-z0-9_.]*\()",
        "=", ":",
    ),
    _pattern(
        "email", r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b", "@",
        by_default=False,
    ),
)  # fmt: skip
"""What is looked for, in this order. `email` only where it is asked for by name."""

_BY_KEY = re.compile(rf"(?i)(?:{_KEY_WORDS}|^authorization|^token)$")
BY_KEY = "named-secret"
"""The whole text under a key such as `password`, `api_key` or `authorization`."""

_JSON_TEXT = frozenset(("raw_args", "args_text", "result_text", "call"))
"""Keys of a fixture under which JSON stands as text."""

_DONE = re.compile(r"^REDACTED-[a-z-]+-\d+$")


def pattern_names() -> list[str]:
    """What `--redact` accepts."""
    return [pattern.name for pattern in PATTERNS]


class Redactor:
    """Replaces secrets; `counts` says how many of each kind.

    The same secret gets the same placeholder. It is one plain word, so that it changes neither a
    URL nor how a shell reads a command.
    """

    def __init__(self, redact: bool | Collection[str] = True) -> None:
        names = pattern_names()
        if not isinstance(redact, bool):
            for name in redact:
                if name not in names and name != BY_KEY:
                    known = ", ".join([*names, BY_KEY])
                    raise UsageError(f"unknown pattern to redact: {name!r}; known: {known}")
        self._patterns = [
            pattern
            for pattern in PATTERNS
            if (pattern.by_default and redact is True)
            or (not isinstance(redact, bool) and pattern.name in redact)
        ]
        self._by_key = redact is True or (not isinstance(redact, bool) and BY_KEY in redact)
        self._placeholders: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A text without its secrets."""
        for pattern in self._patterns:
            if any(hint in text for hint in pattern.hints):
                text = pattern.finds.sub(functools.partial(self._swap, pattern), text)
        return text

    def value(self, value: Any) -> Any:
        """JSON data without its secrets, in its texts and in its keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._under(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return value

    def _under(self, key: str, item: Any) -> Any:
        if not isinstance(item, str):
            return self.value(item)
        if key in _JSON_TEXT:
            return self._in_json(item)
        cleaned = self.text(item)
        if not self._by_key or not item.strip() or not _BY_KEY.search(key):
            return cleaned
        if cleaned != item or item.lstrip().startswith(("$", "{{")):
            return cleaned
        placeholder = self._named[item] = self._placeholder(BY_KEY, item)
        return placeholder

    def _in_json(self, text: str) -> str:
        """Arguments as text: what a key of theirs gives away is a whole JSON string there."""
        try:
            self.value(json.loads(text))
        except (ValueError, RecursionError):
            pass
        for secret, placeholder in self._named.items():
            for ascii_only in (False, True):
                text = text.replace(json.dumps(secret, ensure_ascii=ascii_only), f'"{placeholder}"')
        return self.text(text)

    def _swap(self, pattern: Pattern, match: re.Match[str]) -> str:
        whole = match[0]
        if "secret" not in pattern.finds.groupindex:
            return self._placeholder(pattern.name, whole)
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return whole[:start] + self._placeholder(pattern.name, match["secret"]) + whole[end:]

    def _placeholder(self, name: str, secret: str) -> str:
        if _DONE.match(secret):
            return secret
        secret = _unescaped(secret)
        self.counts[name] += 1
        known = self._placeholders.get(secret)
        if known is None:
            self._numbers[name] += 1
            known = self._placeholders[secret] = f"REDACTED-{name}-{self._numbers[name]}"
        return known


def _unescaped(secret: str) -> str:
    """A secret as it is, where it was found inside JSON text and is written with escapes."""
    if "\\" not in secret:
        return secret
    try:
        plain = json.loads(f'"{secret}"')
    except ValueError:
        return secret
    return plain if isinstance(plain, str) else secret
