"""Files are written whole or not at all, and never in place of what was read."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.runner import clean, refetching, run

from refetch.cli.writing import refuse_inputs, write_file
from refetch.model.errors import UsageError

unix = pytest.mark.skipif(os.name != "posix", reason="devices and permissions of Unix")


def test_a_new_file_and_an_old_one(tmp_path: Path) -> None:
    file = tmp_path / "r"
    write_file(str(file), b"one")
    file.chmod(0o640)
    write_file(str(file), b"two")
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o777 == 0o640 or os.name != "posix"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("existed", [True, False])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existed: bool
) -> None:
    file = tmp_path / "r"
    if existed:
        file.write_bytes(b"old")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="r: cannot be written: No space left"):
        write_file(str(file), b"new")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"] * existed


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EPERM, errno.EACCES, errno.EXDEV])
def test_a_file_that_cannot_be_replaced_is_written_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def pinned(*_: Any) -> None:
        raise OSError(number, "no")

    file = tmp_path / "r"
    file.write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", pinned)
    write_file(str(file), b"new")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"new"]


@unix
def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "hard").hardlink_to(tmp_path / "real")
    (tmp_path / "soft").symlink_to("real")
    (tmp_path / "dangling").symlink_to("later")
    for name in ("soft", "dangling", "hard"):
        write_file(str(tmp_path / name), name.encode())
    assert (tmp_path / "later").read_bytes() == b"dangling"
    assert (tmp_path / "real").read_bytes() == b"hard"
    assert (tmp_path / "soft").is_symlink()


@unix
def test_places_that_take_no_file_beside(tmp_path: Path) -> None:
    long = tmp_path / ("n" * 255)
    write_file(str(long), b"x")
    assert long.read_bytes() == b"x"
    write_file(os.devnull, b"x")
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("place", ["", ".", "none/x", "file/x", "nul\0byte", "n" * 300])
def test_places_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(b"")
    with pytest.raises(UsageError, match="cannot be written: "):
        write_file(place, b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_any_name_of_an_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.zip", "odd::name"):
        Path(name).write_bytes(b"")
    for output in ("a.jsonl", "./a.jsonl", str(tmp_path / "a.jsonl"), "b.zip", "odd::name"):
        with pytest.raises(UsageError, match="is an input"):
            refuse_inputs(output, ["-", "gone", "a.jsonl", "b.zip::in/a.jsonl", "odd::name"])
    refuse_inputs("c.jsonl", ["a.jsonl"])
    refuse_inputs("b.zip", ["a.jsonl", "nul\0"])


@pytest.mark.parametrize(
    "words",
    [
        ("check", "in", "-o", "{}"),
        ("check", "{}", "-o", "json={}"),
        ("check", "in", "--write-known", "{}"),
        ("report", "in", "-o", "{}"),
        ("capture", "{}", "-o", "{}"),
        ("capture", "in", "-o", "{}"),
        ("convert", "{}", "-o", "{}"),
        ("convert", "in", "-o", "{}"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["t.jsonl", "t.gz", "broken.jsonl"])
def test_no_command_overwrites_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    data = refetching().encode()
    data = gzip.compress(data) if name == "t.gz" else data
    data += b'{"type":"call","seq":"x"}\n' * (name == "broken.jsonl")
    file = Path("in", name)
    file.write_bytes(data)
    told = run(*(word.format(file) for word in words))
    assert told.exit_code == 2
    assert file.read_bytes() == data
    assert [path.name for path in Path("in").iterdir()] == [name]
    assert "is an input" in told.stderr or "exists already" in told.stderr


@pytest.mark.parametrize("words", ["convert t.jsonl -o", "capture t.jsonl -o"])
def test_what_somebody_may_have_changed_is_replaced_only_by_force(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text(clean())
    Path("mine.json").write_text("precious")
    refused = run(*words.split(), "mine.json")
    assert refused.exit_code == 2
    assert "exists already (--force replaces it)" in refused.stderr
    assert Path("mine.json").read_text() == "precious"
    assert run(*words.split(), "mine.json", "--force").exit_code == 0
    assert Path("mine.json").read_text() != "precious"


@pytest.mark.parametrize("words", ["check t.jsonl --dollars=nan", "run t.jsonl --timeout=nan"])
def test_nan_is_no_number(words: str) -> None:
    done = run(*words.split())
    assert done.exit_code == 2
    assert "no number" in done.stderr
