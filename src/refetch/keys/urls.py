"""Addresses that RFC 3986 calls equivalent, and only those three differences (6.2.2.1, 6.2.3)."""

from __future__ import annotations

import re

_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}

# White space, control characters and backslashes stand in no valid URL, and programs disagree on
# what to make of them.
_URL = re.compile(
    r"""(?P<scheme>[A-Za-z]+)://
        (?P<user>(?:[^/?\#@\s\\]*@)?)
        (?P<host>\[[0-9A-Fa-f:.]+\]|[^/?\#@:\[\]\s\\\x00-\x20\x7f]+)
        (?::(?P<port>[0-9]*))?
        (?P<path>[^?\#\s\\\x00-\x20\x7f]*)
        (?P<rest>[^\s\\\x00-\x20\x7f]*)""",
    re.VERBOSE,
)


def canonical_url(url: str) -> str:
    """The URL with scheme and host in lower case, no default port, and ``/`` for an empty path.

    Nothing else changes: queries are not sorted, trailing slashes, dot segments, escapes and the
    fragment stay. Only http, https, ws and wss have a host whose case certainly means nothing; any
    other text, valid or not, is returned as it is.
    """
    match = _URL.fullmatch(url)
    if match is None:
        return url
    scheme = match["scheme"].lower()
    default = _DEFAULT_PORTS.get(scheme)
    if default is None or (match["path"] and not match["path"].startswith("/")):
        return url
    port = "" if match["port"] in (None, "", default) else f":{match['port']}"
    host = _lower_ascii(match["host"])
    return f"{scheme}://{match['user']}{host}{port}{match['path'] or '/'}{match['rest']}"


def _lower_ascii(host: str) -> str:
    """Lower case for ASCII only; what an international name folds to is left to a resolver."""
    return host.lower() if host.isascii() else re.sub("[A-Z]+", lambda run: run[0].lower(), host)
