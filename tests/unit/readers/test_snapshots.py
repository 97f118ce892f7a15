"""One session in several files is counted once, and nothing else is left out."""

from __future__ import annotations

from pathlib import Path

from tests.unit.readers.claude_records import answered, asked, lines

from refetch.readers import read_bytes, read_paths
from refetch.readers.snapshots import families, without_snapshots

READ = ("toolu_0123456789", "Read", {"file_path": "/w/a"})
OTHER = ("toolu_9876543210", "Read", {"file_path": "/w/b"})
FIRST = [asked("a0", "msg_0123456789", READ), answered("r0", READ[0], "text")]
SECOND = [asked("a1", "msg_1123456789", OTHER), answered("r1", OTHER[0], "text")]


def sources(folder: Path) -> tuple[list[str], int]:
    loaded = list(read_paths([folder]))
    names = [Path(trace.source).name for one in loaded for trace in one.traces]
    return names, sum(one.skipped for one in loaded)


def test_a_checkpoint_is_left_out_whichever_file_comes_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(*FIRST))
    (tmp_path / "b.jsonl").write_bytes(lines(*FIRST, *SECOND))
    (tmp_path / "c.jsonl").write_bytes(lines(*FIRST[:1]))
    assert sources(tmp_path) == (["b.jsonl"], 2)


def test_of_equals_the_first_stays(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(lines(*FIRST))
    assert sources(tmp_path) == (["a.jsonl"], 1)


def test_a_fork_with_calls_of_its_own_stays(tmp_path: Path) -> None:
    fork = asked("x", "msg_2123456789", ("toolu_5555555555", "Read", {}))
    (tmp_path / "a.jsonl").write_bytes(lines(*FIRST, *SECOND))
    (tmp_path / "b.jsonl").write_bytes(lines(*FIRST, fork))
    assert sources(tmp_path) == (["a.jsonl", "b.jsonl"], 0)


def test_equal_ids_with_other_arguments_or_results_are_other_calls(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(*FIRST, *SECOND))
    changed = [FIRST[0], answered("r0", READ[0], "other text")]
    (tmp_path / "b.jsonl").write_bytes(lines(*changed))
    asked_else = asked("a0", "msg_0123456789", (READ[0], "Read", {"file_path": "/w/z"}))
    (tmp_path / "c.jsonl").write_bytes(lines(asked_else))
    assert sources(tmp_path) == (["a.jsonl", "b.jsonl", "c.jsonl"], 0)


def test_traces_without_calls_or_ids_are_never_left_out() -> None:
    (empty,) = read_bytes(lines(asked("a", "m")))
    nameless = asked("a", "m")
    nameless["message"]["content"] = [{"type": "tool_use", "name": "Read", "input": {}}]
    (without_id,) = read_bytes(lines(nameless))
    given = [empty, empty, without_id, without_id]
    assert without_snapshots(given) == (given, 0)


def test_families_share_the_first_id_that_a_provider_gave(tmp_path: Path) -> None:
    contents = [lines(*FIRST), b"no id here", lines(*SECOND), lines(*FIRST, *SECOND), b""]
    paths = []
    for index, content in enumerate(contents):
        paths.append(str(tmp_path / str(index)))
        Path(paths[-1]).write_bytes(content)
    assert families([*paths, str(tmp_path), "-"]) == [[0, 3], [1], [2], [4], [5], [6]]
    assert families(paths[:1]) == [[0]]
