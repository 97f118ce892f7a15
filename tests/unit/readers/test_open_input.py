"""Files, folders, globs, archives, and everything on a disk that is no trace."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from refetch.model.errors import InputError
from refetch.readers import find_inputs, read_path, read_paths
from refetch.readers.decompress import CutOffError, decompressed, members
from refetch.readers.open_input import Loaded

NATIVE = b'{"refetch":1,"run":"r"}\n{"type":"call","seq":0,"turn":1,"name":"x","args":null}\n'


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def only(loaded: list[Loaded]) -> Loaded:
    assert len(loaded) == 1
    return loaded[0]


def messages(loaded: list[Loaded]) -> list[str]:
    return [problem.message for one in loaded for problem in one.problems]


def test_a_file_by_name(tmp_path: Path) -> None:
    file = tmp_path / "whatever.txt"
    file.write_bytes(NATIVE)
    (trace,) = read_path(file)
    assert (trace.run, trace.source) == ("r", str(file))


@pytest.mark.parametrize("packer", [gzip, bz2, lzma], ids=lambda packer: packer.__name__)
def test_compressed(tmp_path: Path, packer: Any) -> None:
    data = packer.compress(NATIVE)
    file = tmp_path / "named-anyhow"
    file.write_bytes(data)
    assert read_path(file)[0].run == "r"
    file.write_bytes(data[:9] + b"\xff" * 20 + data[29:])
    (loaded,) = read_paths([file])
    assert "damaged" in loaded.problems[0].message


LONG = b'{"refetch":1,"run":"r"}\n' + b"".join(
    b'{"type":"call","seq":%d,"turn":1,"name":"x","args":{"a":"%s"}}\n'
    % (seq, hashlib.sha512(b"%d" % seq).hexdigest().encode())
    for seq in range(20_000)
)


@pytest.mark.parametrize("packer", [gzip, bz2, lzma], ids=lambda packer: packer.__name__)
@pytest.mark.parametrize("zip_it", [False, True], ids=["alone", "in a zip"])
def test_what_stands_before_a_cut_is_read(tmp_path: Path, packer: Any, zip_it: bool) -> None:
    cut = packer.compress(LONG)
    cut = cut[: len(cut) * 2 // 3]
    file = tmp_path / "cut"
    file.write_bytes(zipped(member=cut) if zip_it else cut)
    (loaded,) = read_paths([file])
    (trace,) = loaded.traces
    assert 1000 < len(trace.events) < 20_000
    assert "is cut off" in loaded.problems[0].message
    assert loaded.problems[0].source.startswith(str(file))
    source = str(file)
    with pytest.raises(CutOffError) as caught:
        decompressed(cut, source)
    assert LONG.startswith(caught.value.content)


def test_zstd(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    file = tmp_path / "x"
    file.write_bytes(zstandard.compress(NATIVE))
    assert read_path(file)[0].run == "r"
    file.write_bytes(zstandard.compress(NATIVE)[:-3])
    assert only(list(read_paths([file]))).traces == []


def test_zstd_without_its_library_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    file = tmp_path / "x"
    file.write_bytes(b"\x28\xb5\x2f\xfd rest")
    (loaded,) = read_paths([file])
    assert "refetch[zstd]" in loaded.problems[0].message


def test_zip_members_are_read_and_others_counted(tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    inside = {"a/one.jsonl": NATIVE, "two.gz": gzip.compress(NATIVE), "notes.md": b"# notes"}
    file.write_bytes(zipped(**inside))
    (loaded,) = read_paths([file])
    assert [t.source for t in loaded.traces] == [f"{file}::a/one.jsonl", f"{file}::two.gz"]
    assert loaded.skipped == 1
    assert loaded.problems == []
    file.write_bytes(zipped(**{"notes.md": b"# notes"}))
    assert messages(list(read_paths([file]))) == ["no traces in this archive"]
    file.write_bytes(zipped(**{"notes.md": b"# notes"})[:-30])
    assert "damaged ZIP" in messages(list(read_paths([file])))[0]


def test_archives_that_expand_without_end_are_refused() -> None:
    bomb = gzip.compress(b"\0" * (80 * 1024 * 1024))
    with pytest.raises(InputError, match="expands beyond 200 times"):
        decompressed(bomb, "bomb.gz")
    with pytest.raises(InputError, match="expands beyond 200 times"):
        list(members(zipped(big=b"\0" * (80 * 1024 * 1024)), "bomb.zip"))


def nested(depth: int) -> bytes:
    data = zipped(**{"x.jsonl": NATIVE})
    for _ in range(depth - 1):
        data = zipped(**{"in.zip": data})
    return data


def test_all_that_a_file_expands_to_counts_together() -> None:
    thirty = gzip.compress(b"\0" * (30 * 1024 * 1024))
    frames = gzip.compress(b"\0" * 2000) * 36_000
    assert len(decompressed(frames, "once.gz")) == 72_000_000
    with pytest.raises(InputError, match="expands beyond 200 times"):
        decompressed(gzip.compress(frames), "twice.gz")
    with pytest.raises(InputError, match="expands beyond 200 times"):
        list(members(zipped(a=thirty, b=thirty, c=thirty), "many.zip"))
    inner = zipped(a=b"\0" * (30 << 20), b=b"\0" * (30 << 20))
    with pytest.raises(InputError, match="expands beyond 200 times"):
        read_bytes_of(zipped(**{"1.zip": inner, "2.zip": inner}))


def read_bytes_of(data: bytes) -> list[Loaded]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.zip"
        file.write_bytes(data)
        loaded = list(read_paths([file]))
        if not any(one.traces for one in loaded):
            read_path(file)
        return loaded


def test_archives_within_archives_end() -> None:
    assert len(only(read_bytes_of(nested(3))).traces) == 1
    with pytest.raises(InputError, match="3 archives around this one"):
        read_bytes_of(nested(4))


@pytest.mark.parametrize("broken", ["encrypted", "checksum", "method", "gz"])
def test_a_member_that_cannot_be_unpacked_hides_no_other(broken: str) -> None:
    content = b"\x1f\x8b broken" if broken == "gz" else NATIVE
    data = bytearray(zipped(**{"a.jsonl": NATIVE, "bad": content, "z.jsonl": NATIVE}))
    at = [spot for spot in range(len(data)) if data[spot : spot + 4] == b"PK\x01\x02"][1]
    start = int.from_bytes(data[at + 42 : at + 46], "little")
    for spot in (at + 2, start):
        if broken == "encrypted":
            data[spot + 6] |= 1
        elif broken == "method":
            data[spot + 8] = 99
        elif broken == "checksum":
            data[spot + 14] ^= 255
    loaded = only(read_bytes_of(bytes(data)))
    assert [trace.source.rpartition("::")[2] for trace in loaded.traces] == ["a.jsonl", "z.jsonl"]
    assert [problem.source.rpartition("::")[2] for problem in loaded.problems] == ["bad"]


def test_a_large_but_honest_file_is_not_refused() -> None:
    content = b"\0" * (20 * 1024 * 1024)
    assert len(decompressed(gzip.compress(content), "x")) == len(content)


def test_a_folder_skips_what_is_no_trace_and_reports_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.jsonl").write_bytes(NATIVE)
    (tmp_path / "a.jsonl").write_bytes(NATIVE)
    (tmp_path / "notes.md").write_bytes(b"# notes")
    (tmp_path / "data.json").write_bytes(b'{"some":"settings"}')
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "old.jsonl").write_bytes(b'{"refetch":99,"run":"r"}\n')
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.jsonl").write_bytes(NATIVE)
    loaded = list(read_paths([tmp_path]))
    assert [t.source for one in loaded for t in one.traces] == [
        str(tmp_path / "a.jsonl"),
        str(tmp_path / "b" / "two.jsonl"),
    ]
    assert sum(one.skipped for one in loaded) == 3
    assert [m[:25] for m in messages(loaded)] == ["refetch trace version 99 "]


@pytest.mark.parametrize("content", [b"", b"# notes", b'{"some":"settings"}', b"\x00\xff"])
def test_a_file_named_by_hand_must_be_a_trace(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    (loaded,) = read_paths([file])
    assert (loaded.traces, len(loaded.problems), loaded.skipped) == ([], 1, 0)
    with pytest.raises(InputError):
        read_path(file)


def test_an_empty_folder(tmp_path: Path) -> None:
    assert list(read_paths([tmp_path])) == []
    with pytest.raises(InputError, match="no traces in this folder"):
        read_path(tmp_path)


def test_globs_and_missing_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c[1].jsonl"):
        (tmp_path / name).write_bytes(NATIVE)
    found = find_inputs([f"{tmp_path}/[ab].jsonl", f"{tmp_path}/b.jsonl", f"{tmp_path}/c[1].jsonl"])
    assert [Path(u.paths[0]).name for u in found.units] == ["a.jsonl", "b.jsonl", "c[1].jsonl"]
    found = find_inputs([f"{tmp_path}/*.zip", f"{tmp_path}/none"])
    assert [p.message for p in found.problems] == [
        "no file matches this pattern",
        "no such file",
    ]


def test_folders_named_like_files_and_links_in_circles(tmp_path: Path) -> None:
    folder = tmp_path / "trace.jsonl"
    folder.mkdir()
    (folder / "a").write_bytes(NATIVE)
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    (folder / "broken").symlink_to(tmp_path / "nowhere")
    (folder / "self").symlink_to(folder / "self")
    loaded = list(read_paths([tmp_path]))
    assert sum(len(one.traces) for one in loaded) == 1
    assert sum(one.skipped for one in loaded) == 2


def test_links_in_circles_end_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("in/a.jsonl", ".b.jsonl", "c.jsonl"):
        (tmp_path / name).write_bytes(NATIVE)
    for number in range(6):
        (tmp_path / f"up{number}").symlink_to(tmp_path, target_is_directory=True)

    def names(pattern: str) -> list[str]:
        found = find_inputs([f"{tmp_path}/{pattern}"])
        return [str(Path(unit.paths[0]).relative_to(tmp_path)) for unit in found.units]

    assert names("**/*.jsonl") == ["c.jsonl", "in/a.jsonl"]
    assert names("**/in/**/**/a*") == ["in/a.jsonl"]
    assert names("**") == ["c.jsonl", "in/a.jsonl", "up0/.b.jsonl"]
    assert names("**/nothing*") == []


def test_patterns_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in[1]").mkdir()
    for name in ("in[1]/a.jsonl", "c.jsonl"):
        (tmp_path / name).write_bytes(NATIVE)
    monkeypatch.chdir(tmp_path)
    for pattern in ("**/*.jsonl", "**", "./**/*.jsonl", "*"):
        found = find_inputs([pattern]).units
        assert [Path(unit.paths[0]) for unit in found] == [Path("c.jsonl"), Path("in[1]/a.jsonl")]


def test_a_file_reached_by_several_ways_is_taken_once(tmp_path: Path) -> None:
    real = tmp_path / "runs" / "1"
    (real / "s" / "subagents").mkdir(parents=True)
    for name in ("s.jsonl", "s/subagents/agent-1.jsonl"):
        (real / name).write_bytes(NATIVE)
    (tmp_path / "runs" / "latest").symlink_to(real, target_is_directory=True)
    (tmp_path / "link.jsonl").symlink_to(real / "s.jsonl")
    ways: tuple[list[Path | str], ...] = (
        [tmp_path],
        [real / "s.jsonl", tmp_path],
        [f"{tmp_path}/runs/*"],
        [f"{real}/s.jsonl", f"{real}/../1/s.jsonl", tmp_path / "link.jsonl", real],
    )
    for paths in ways:
        units = find_inputs(paths).units
        assert sum(len(unit.paths) for unit in units) == 2, paths


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_never_blocks(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert messages(list(read_paths([pipe]))) == ["is a named pipe"]
    (loaded,) = read_paths([tmp_path])
    assert (loaded.skipped, loaded.problems) == (1, [])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads anything")
def test_permission_denied(tmp_path: Path) -> None:
    file = tmp_path / "locked.jsonl"
    file.write_bytes(NATIVE)
    file.chmod(0)
    (tmp_path / "open.jsonl").write_bytes(NATIVE)
    loaded = list(read_paths([tmp_path]))
    assert sum(len(one.traces) for one in loaded) == 1
    assert messages(loaded) == ["Permission denied"]


def test_an_error_of_the_system_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(NATIVE)

    def refuse(*_args: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert messages(list(read_paths([file]))) == ["Permission denied"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(NATIVE))))
    (trace,) = read_path("-")
    assert (trace.run, trace.source) == ("r", "-")


def test_a_folder_of_real_traces(shared_dir: Path) -> None:
    loaded = list(read_paths([shared_dir / "traces" / "claude-code"]))
    assert sum(len(one.traces) for one in loaded) == len(loaded) > 30
    assert messages(loaded) == []
