"""find and fd: names below directories; actions that run or write make them more than that."""

from __future__ import annotations

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import READS, VOLATILE
from refetch.effects.shell.outcome import Opaque, Outcome
from refetch.effects.shell.words import looks_like_file, stage_text

_NO_VALUE = frozenset(
    """-print -print0 -prune -quit -not -a -and -o -or -depth -d -xdev -mount -follow -true -false
    -empty -executable
    -readable -writable -nouser -nogroup -daystart -noleaf -warn -nowarn -ls -delete
    -ignore_readdir_race
    -noignore_readdir_race""".split()
)
_VALUE = frozenset(
    """-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype
    -maxdepth
    -mindepth -lname -ilname -fstype -samefile -inum -links -perm -user -group -uid -gid -size
    -mtime
    -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -used -context -printf""".split()
)
# A change of content may change the answer, so it is more than a list of names.
_DETAILS = frozenset(
    """-empty -executable -readable -writable -nouser -nogroup -ls -perm -user -group -uid -gid
    -size
    -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -used -inum -links -samefile
    -context
    -printf""".split()
)
_AGES = frozenset("-mtime -atime -ctime -mmin -amin -cmin -used".split())


def find(call: Call) -> Outcome:
    """Roots first, then the expression; ``-delete`` and ``-fprint`` write, ``-exec`` and
    ``-ok`` run.
    """
    args = call.args
    position = 0
    while position < len(args) and args[position] in ("-H", "-L", "-P"):
        position += 1
    start = position
    while position < len(args) and not args[position].startswith(("-", "(", "!", ")")):
        position += 1
    roots = args[start:position] or ["."]
    tests = args[position:]
    details, writes = _expression(tests)
    outcome = Outcome(READS)
    if any(word in _AGES or (word.startswith("-newer") and word.endswith("t")) for word in tests):
        outcome.kinds.add(VOLATILE)  # "in the last five minutes" moves on
    outcome.stage = stage_text([call.name, *args[:start], *tests])
    view = f"{'listing' if details else 'names'}:{outcome.stage}"
    for root in roots:
        outcome.read(call.tree(root), call.view(view, root))
        if "" in writes:
            outcome.write(call.tree(root), "remove")
    for path in writes:
        if path:
            call.add_write(outcome, path)
    return outcome


def _expression(tests: list[str]) -> tuple[bool, list[str]]:
    """Whether more than names decide or show, and the files written ("": whatever is found)."""
    details = False
    writes: list[str] = []
    position = 0
    while position < len(tests):
        word = tests[position]
        position += 1
        details = details or word in _DETAILS or word.startswith("-newer")
        if word in ("(", ")", "!", ","):
            continue
        if word == "-delete":
            writes.append("")
        elif word in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            if position >= len(tests):
                raise Opaque(f"find {word}")
            writes.append(tests[position])
            position += 2 if word == "-fprintf" else 1
        elif word in _VALUE or word.startswith("-newer"):
            position += 1
        elif word not in _NO_VALUE and not word.startswith("-O"):
            raise Opaque(f"find {word}")
    return details, writes


def fd(call: Call) -> Outcome:
    """A pattern, then directories; ``--exec`` runs commands."""
    parsed = call.parse()
    outcome = Outcome(READS)
    acts = call.apply_acts(parsed, outcome)
    roots = parsed.operands[1:] + parsed.values("--base-directory", "--search-path")
    outcome.stage = call.stage(parsed.operands[1:])
    view = f"{'listing' if 'details' in acts else 'names'}:{outcome.stage}"
    for root in roots or ["."]:
        resource = call.file(root) if looks_like_file(root) else call.tree(root)
        outcome.read(resource, call.view(view, root))
    return outcome
