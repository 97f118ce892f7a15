"""curl and wget: the answer is volatile; what is saved or sent is a write."""

from __future__ import annotations

import posixpath

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import VOLATILE
from refetch.effects.shell.outcome import Opaque, Outcome

REMOTE = "net:**"
"""What a request that is no plain look may change: anything behind the network."""

_CURL_SENDS = frozenset(
    """-d --data --data-raw --data-binary --data-ascii --data-urlencode --json -F --form
    --form-string -T --upload-file -Q
    --quote""".split()
)
_CURL_SAVES = frozenset(
    "-o --output -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc".split()
)
_CURL_OPAQUE = frozenset(
    "-K --config --output-dir --next --remote-name-all -J --remote-header-name".split()
)
_LOOKS = frozenset(("GET", "HEAD", "OPTIONS"))


def curl(call: Call) -> Outcome:
    """A GET is a poll; a body or another method changes the other side."""
    parsed = call.parse()
    outcome = Outcome(VOLATILE, stage=call.stage())
    names = {name for name, _ in parsed.options}
    long_unknown = [
        n
        for n in names
        if n.startswith("--")
        and any(
            full.startswith(n) and full != n for full in _CURL_SAVES | _CURL_OPAQUE | _CURL_SENDS
        )
        and n not in _CURL_SENDS | _CURL_SAVES
    ]
    if names & _CURL_OPAQUE or long_unknown:
        raise Opaque("curl with options that are not followed")
    if any(word.startswith(("file:", "telnet:", "ftp:", "smtp")) for word in parsed.operands):
        raise Opaque("curl with another protocol")
    method = (parsed.values("-X", "--request") or [""])[-1].upper()
    sends = bool(names & _CURL_SENDS) and not names & {"-G", "--get"}
    if sends or (method and method not in _LOOKS):
        outcome.write(REMOTE)
    for name, value in parsed.options:
        if name in _CURL_SAVES and value not in ("-", "%"):
            call.add_write(outcome, value or "")
        elif name in ("-O", "--remote-name"):
            for url in parsed.operands or [""]:
                call.add_write(outcome, posixpath.basename(url.partition("?")[0]))
    outcome.poll = not outcome.writes
    return outcome


def wget(call: Call) -> Outcome:
    """Saves below the directory, unless ``-O -`` prints or ``--spider`` only looks."""
    parsed = call.parse()
    outcome = Outcome(VOLATILE, stage=call.stage())
    call.apply_acts(parsed, outcome)
    for value in parsed.values("-o", "-a", "--output-file", "--append-output", "--save-cookies"):
        call.add_write(outcome, value)
    saved = parsed.values("-O", "--output-document")
    if parsed.values("--post-data", "--post-file", "--body-data", "--body-file", "--method"):
        outcome.write(REMOTE)
    if saved:
        for value in saved:
            if value != "-":
                call.add_write(outcome, value)
    elif not parsed.has(frozenset(("--spider",))):
        outcome.write(call.tree(next(iter(parsed.values("-P", "--directory-prefix")), ".")), "any")
    outcome.background = parsed.has(frozenset(("-b", "--background")))
    outcome.poll = not outcome.writes
    return outcome
