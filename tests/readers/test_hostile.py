"""Files that nobody should meet, through the program itself: named, and the others checked."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from tests.unit.cli.runner import run

GOOD = (
    b'{"refetch":1,"run":"good"}\n'
    b'{"type":"call","seq":0,"turn":1,"name":"get","args":{"id":1},"ok":true,"result":"x"}\n'
)
CALL = b'{"type":"call","seq":%d,"turn":1,"name":"get","args":%s,"ok":true,"result":"x"}\n'
HEAD = b'{"refetch":1,"run":"r"}\n'


def zipped(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def check(*paths: Path) -> Result:
    return run("check", "--no-color", *paths)


CONTENTS: dict[str, bytes] = {
    "invalid UTF-8": HEAD + CALL % (0, b'{"a":"\xff\xfe"}'),
    "NUL bytes": b"\x00" * 4096,
    "NUL in a line": HEAD + CALL % (0, b'{"a":"\x00"}'),
    "nesting without end": HEAD + CALL % (0, b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "a list without end": b"[" * 100_000,
    "an open object": b'{"messages":[{"role":"assistant","tool_calls":[' * 500,
    "a number of 10,000 digits": HEAD + CALL % (0, b'{"n":' + b"9" * 10_000 + b"}"),
    "a number beyond doubles": HEAD + CALL % (0, b'{"n":1e999999}'),
    "a key twice": HEAD + CALL % (0, b'{"a":1,"a":2}'),
    "half a character": HEAD + CALL % (0, rb'{"a":"\ud800"}'),
    "a cut line": HEAD + CALL % (0, b'{"a":1}') + b'{"type":"call","seq":1,"tu',
    "a sequence number beyond 64 bits": HEAD + CALL % (10**30, b"{}"),
    "a negative number": HEAD + CALL % (-5, b"{}"),
    "an empty file": b"",
    "blank lines": b"\n\n \n",
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "CRLF": GOOD.replace(b"\n", b"\r\n"),
    "not JSON": b"hello world\n" * 20,
    "HTML": b"<html><script>alert(1)</script></html>",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "a database of something else": b"SQLite format 3\x00" + b"\x00" * 84,
    "a cut archive": b"PK\x03\x04" + b"\x00" * 30,
    "gzip of nothing": gzip.compress(b""),
    "cut gzip": gzip.compress(GOOD)[:-9],
    "cut bzip2": bz2.compress(GOOD)[:-9],
    "cut xz": lzma.compress(GOOD)[:-9],
    "xz in gzip in bzip2": bz2.compress(gzip.compress(lzma.compress(GOOD))),
    "numbers for names": HEAD + b'{"type":"call","seq":0,"turn":1,"name":5}\n',
    "an unknown event": HEAD + b'{"type":"dance","seq":0}\n',
    "a header of another release": b'{"refetch":99,"run":"r"}\n',
    "only a header": HEAD,
    "null": b"null",
    "a number": b"7",
    "a string": b'"text"',
    "an empty list": b"[]",
    "an empty object": b"{}",
    "lists in lists": b"[[[[1]]]]",
    "glued objects": GOOD.replace(b"\n", b""),
    "escape codes in names": HEAD + CALL % (0, rb'{"a":"\u001b]0;x\u0007\u001b[31m"}'),
}
READABLE = (
    "invalid UTF-8",
    "a byte order mark",
    "UTF-16",
    "CRLF",
    "a number of 10,000 digits",
    "a number beyond doubles",
    "a key twice",
    "half a character",
    "only a header",
    "escape codes in names",
    "a negative number",
    "a sequence number beyond 64 bits",
)


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_is_read_or_named_and_the_others_are_checked(name: str, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.json", tmp_path / "good.jsonl"
    bad.write_bytes(CONTENTS[name])
    good.write_bytes(GOOD)
    done = check(bad, good)
    assert done.exit_code == (0 if name in READABLE else 2), done.stderr
    assert "Traceback" not in done.output
    assert "internal error" not in done.output
    if name not in READABLE:
        assert "bad.json" in done.stderr
    assert "no traces found" not in done.stdout
    assert "\x1b" not in done.output
    machine = run("check", "--format", "json", bad, good)
    assert machine.exit_code == done.exit_code
    document = json.loads(machine.stdout)
    assert str(good) in [trace["source"] for trace in document["traces"]]
    assert bool(document["errors"]) == (name not in READABLE)


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def _loop(folder: Path) -> Path:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    return folder / "a"


def _broken_link(folder: Path) -> Path:
    (folder / "link").symlink_to(folder / "nowhere")
    return folder / "link"


def _folder_like_a_file(folder: Path) -> Path:
    (folder / "trace.jsonl").mkdir()
    return folder / "trace.jsonl"


def _folder_of_itself(folder: Path) -> Path:
    (folder / "inside").mkdir()
    (folder / "inside" / "again").symlink_to(folder / "inside")
    return folder / "inside"


def _bomb(folder: Path) -> Path:
    (folder / "bomb.gz").write_bytes(gzip.compress(b"\0" * (90 << 20)))
    return folder / "bomb.gz"


def _zip_bomb(folder: Path) -> Path:
    zipped(folder / "bomb.zip", big=b"\0" * (90 << 20))
    return folder / "bomb.zip"


def _secret(folder: Path) -> Path:
    path = folder / "secret.jsonl"
    path.write_bytes(GOOD)
    path.chmod(0)
    return path


PLACES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a pipe": (_fifo, "named pipe"),
    "links in a circle": (_loop, "link"),
    "a link to nowhere": (_broken_link, ""),
    "nothing there": (lambda folder: folder / "gone.jsonl", "no such file"),
    "a bomb": (_bomb, "expands beyond"),
    "a bomb in an archive": (_zip_bomb, "expands beyond"),
    "a device": (lambda folder: Path("/dev/zero"), "device"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such files")
@pytest.mark.parametrize("name", PLACES)
def test_a_place_that_is_no_file_is_named(name: str, tmp_path: Path) -> None:
    make, words = PLACES[name]
    place = make(tmp_path)
    good = tmp_path / "good.jsonl"
    good.write_bytes(GOOD)
    done = check(place, good)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.output
    assert "good" in done.stdout or "1 call" in done.stdout


@pytest.mark.parametrize("make", [_folder_like_a_file, _folder_of_itself])
def test_a_folder_is_walked_once(make: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = make(tmp_path)
    (folder / "good.jsonl").write_bytes(GOOD)
    done = check(folder)
    assert done.exit_code == 0
    assert "1 call" in done.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads anything")
def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    done = check(_secret(tmp_path))
    assert done.exit_code == 2
    assert "Permission denied" in done.stderr


@pytest.mark.slow
def test_a_line_of_two_hundred_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(HEAD + b'{"type":"call","seq":0,"turn":1,"name":"get","result":"')
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b'","ok":true}\n' + CALL % (1, b"{}"))
    done = check(path)
    assert done.exit_code == 0, done.stderr
    assert "2 calls" in done.stdout
