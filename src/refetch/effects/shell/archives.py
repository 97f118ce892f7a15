"""Archives, compression and patches: the mode decides whether they list, unpack or pack."""

from __future__ import annotations

import posixpath

from refetch.effects.shell.call import Call
from refetch.effects.shell.effect import READS, WORK_TREE, WRITES
from refetch.effects.shell.outcome import FILTERS, Opaque, Outcome
from refetch.effects.shell.words import Glob

_TAR_VALUE = frozenset(
    "-f --file -C --directory --exclude -T --files-from -X --exclude-from --strip-components".split()
)
_TAR_VALUE_LETTERS = frozenset("fCTXbKNgHIFLV")
_TAR_LONG = {
    "--extract": "x",
    "--get": "x",
    "--create": "c",
    "--list": "t",
    "--append": "r",
    "--update": "u",
    "--concatenate": "A",
    "--to-stdout": "O",
    "--gzip": "z",
    "--bzip2": "j",
    "--xz": "J",
    "--zstd": "z",
    "--verbose": "v",
    "--preserve-permissions": "p",
    "--keep-old-files": "k",
    "--auto-compress": "a",
    "--diff": "d",
    "--compare": "d",
    "--same-owner": "p",
    "--no-same-owner": "p",
    "--dereference": "h",
    "--no-recursion": "z",
    "--wildcards": "z",
    "--overwrite": "z",
    "--numeric-owner": "z",
    "--strip-components": "z",
    "--exclude": "z",
    "--file": "f",
    "--directory": "C",
    "--files-from": "T",
    "--exclude-from": "X",
    "--warning": "z",
    "--no-same-permissions": "p",
    "--exclude-vcs": "z",
    "--transform": "z",
    "--format": "z",
    "--totals": "z",
    "--absolute-names": "P",
}
_TAR_LETTERS = frozenset("xctruAdOzjJvpkahPmlSwWZfCTXbKNgHofU")


class _Tar:
    """What the words of a tar command say: mode letters, options with values, members."""

    def __init__(self, args: list[str]) -> None:
        self.letters: set[str] = set()
        self.values: list[tuple[str, str]] = []
        self.members: list[str] = []
        rest = list(args)
        if rest and not rest[0].startswith("-"):
            rest[0] = "-" + rest[0]
            self.cluster(rest, old_style=True)
        while rest:
            if rest[0].startswith("--") and len(rest[0]) > 2:
                self.long(rest)
            elif rest[0].startswith("-") and len(rest[0]) > 1 and rest[0] != "--":
                self.cluster(rest, old_style=False)
            else:
                self.members.append(rest.pop(0))

    def long(self, rest: list[str]) -> None:
        name, equals, value = rest.pop(0).partition("=")
        if name not in _TAR_LONG:
            raise Opaque(f"tar {name}")
        letter = _TAR_LONG[name]
        self.letters.add(letter)
        if not equals and name in _TAR_VALUE:
            value = rest.pop(0) if rest else ""
        if letter in _TAR_VALUE_LETTERS:
            self.values.append((letter, value))

    def cluster(self, rest: list[str], *, old_style: bool) -> None:
        word = rest.pop(0)
        for index in range(1, len(word)):
            letter = word[index]
            if letter not in _TAR_LETTERS:
                raise Opaque(f"tar -{letter}")
            self.letters.add(letter)
            if letter in _TAR_VALUE_LETTERS:
                if not old_style and word[index + 1 :]:
                    self.values.append((letter, word[index + 1 :]))
                    return
                self.values.append((letter, rest.pop(0) if rest else ""))
                if not old_style:
                    return

    def value(self, letter: str) -> str:
        return next((value for name, value in self.values if name == letter), "")


def tar(call: Call) -> Outcome:
    """x unpacks a tree, c writes the archive, t lists."""
    words = _Tar(call.args)
    outcome = Outcome(stage=call.stage())
    archive = words.value("f")
    modes = words.letters & set("xctruAd")
    if len(modes) != 1:
        raise Opaque("tar in a mode that is not clear")
    mode = modes.pop()
    if ":" in archive:
        raise Opaque("tar of another host")
    if mode in "txd":
        call.add_read(outcome, archive or "-", _archive_view(mode, words, outcome.stage))
        if call.piped and archive in ("", "-"):
            outcome.intake = FILTERS
        if mode == "x" and "O" not in words.letters:
            outcome.write(call.tree(words.value("C") or "."))
        return _read_only(outcome)
    if "T" in words.letters:
        raise Opaque("tar -T")
    folder = words.value("C")
    for member in words.members:
        outcome.read(
            call.file_or_tree(posixpath.join(folder, member) if folder else member), "input:tar"
        )
    if archive and archive != "-":
        call.add_write(outcome, archive)
    return _read_only(outcome)


def _archive_view(mode: str, words: _Tar, stage: str) -> str:
    if mode == "t":
        return f"listing:{stage}"
    return f"matches:{stage}" if "O" in words.letters else "input:tar"


def _read_only(outcome: Outcome) -> Outcome:
    if not outcome.reads and not outcome.writes:
        outcome.kinds.add(READS)
    return outcome


def unzip(call: Call) -> Outcome:
    """``-l``, ``-t``, ``-v``, ``-p`` read the archive; else a tree is written."""
    parsed = call.parse()
    outcome = Outcome(stage=call.stage())
    if not parsed.operands:
        raise Opaque("unzip without an archive")
    archive = parsed.operands[0]
    if parsed.has(frozenset(("-l", "-v", "-t", "-Z", "-z"))):
        call.add_read(outcome, archive, f"listing:{outcome.stage}")
    elif parsed.has(frozenset(("-p", "-c"))):
        call.add_read(outcome, archive, f"matches:{outcome.stage}")
    else:
        call.add_read(outcome, archive, "input:unzip")
        outcome.write(call.tree(next(iter(parsed.values("-d")), ".")))
    return outcome


def zip_archive(call: Call) -> Outcome:
    """``zip ARCHIVE FILE…`` writes the archive."""
    parsed = call.parse()
    outcome = Outcome(WRITES, stage=call.stage())
    call.apply_acts(parsed, outcome)
    if not parsed.operands:
        raise Opaque("zip without an archive")
    archive, *members = parsed.operands
    for member in members:
        outcome.read(call.file_or_tree(member), call.view("input:zip", member))
    if archive != "-":
        call.add_write(outcome, archive if looks_named(archive) else archive + ".zip")
    return outcome


def looks_named(archive: str) -> bool:
    """Whether zip leaves the name alone: it adds ``.zip`` to one without an extension."""
    return "." in posixpath.basename(archive)


def compress(call: Call) -> Outcome:
    """gzip and its kind replace a file by another, unless they print."""
    parsed = call.parse()
    outcome = Outcome(stage=call.stage())
    to_output = parsed.has(
        frozenset(("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"))
    )
    output = parsed.values("-o")
    if not parsed.operands:
        if call.piped:
            outcome.intake = FILTERS
        outcome.kinds.add("neutral")
        return outcome
    for path in parsed.operands:
        if to_output:
            call.add_read(outcome, path, f"matches:{outcome.stage}")
        elif output:
            call.add_read(outcome, path, "input:copy")
            call.add_write(outcome, output[0])
        else:
            # The new name only differs by its suffix, which each program chooses for itself.
            outcome.write(call.file(path))
            outcome.write(call.file(Glob(posixpath.join(posixpath.dirname(path) or ".", "*"))))
    return outcome


def patch(call: Call) -> Outcome:
    """``patch FILE PATCH`` changes that file; without one, whatever the patch names."""
    parsed = call.parse()
    outcome = Outcome(stage=call.stage())
    operands = parsed.operands
    given = parsed.values("-i", "--input") + operands[1:2]
    for path in given:
        call.add_read(outcome, path, "input:patch")
    folder = next(iter(parsed.values("-d", "--directory")), "")
    if call.piped and not given:
        outcome.intake = FILTERS
    if parsed.has(frozenset(("--dry-run", "-C", "--check"))):
        outcome.kinds.add(READS)
        return outcome
    for path in parsed.values("-o", "--output") + parsed.values("-r", "--reject-file"):
        call.add_write(outcome, posixpath.join(folder, path) if folder else path)
    if operands and not parsed.values("-o", "--output"):
        call.add_write(outcome, posixpath.join(folder, operands[0]) if folder else operands[0])
    elif not operands:
        outcome.write(call.tree(folder) if folder else call.tree(".") if call.cwd else WORK_TREE)
    return outcome
