"""`refetch convert`: where files go, what is never overwritten, what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from tests.unit.cli.runner import run as call

from refetch.readers import read_path

RUN = (
    b'{"refetch":1,"run":"%s","later_field":[1]}\n'
    b'{"type":"call","seq":0,"turn":1,"name":"get","args":{"id":5.0},"ok":true,"new":{"x":1}}\n'
)


def run(*args: str | Path) -> Result:
    return call("convert", *args)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(RUN % b"r1")
    return path


def test_native_to_native_is_the_identity(trace: Path, tmp_path: Path) -> None:
    assert run(trace, "-o", tmp_path / "out.jsonl").exit_code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == trace.read_bytes()


@pytest.mark.parametrize(
    ("output", "to", "format_name"),
    [
        ("x.atif.json", None, "atif"),
        ("x.otlp.json", None, "otel-genai"),
        ("x.json", "atif", "atif"),
        ("x.json", None, "native"),
        ("deep/er/x.jsonl", "otlp", "otel-genai"),
    ],
)
def test_the_format_is_named_or_told_by_the_file(
    trace: Path, tmp_path: Path, output: str, to: str | None, format_name: str
) -> None:
    options = ["--to", to] if to else []
    assert run(trace, "-o", tmp_path / output, *options).exit_code == 0
    (found,) = read_path(tmp_path / output)
    assert (found.format, found.run, found.calls[0].name) == (format_name, "r1", "get")


def test_standard_output(trace: Path) -> None:
    done = run(trace, "-o", "-", "--to", "atif")
    assert json.loads(done.stdout)["schema_version"] == "ATIF-v1.8"


def test_nothing_is_overwritten_unasked(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.jsonl"
    target.write_text("precious")
    done = run(trace, "-o", target)
    assert done.exit_code == 2
    assert "exists already" in done.stderr
    assert target.read_text() == "precious"
    assert run(trace, "-o", target, "--force").exit_code == 0
    assert target.read_bytes() == trace.read_bytes()


def test_an_input_is_never_its_own_output(trace: Path) -> None:
    before = trace.read_bytes()
    assert run(trace, "-o", trace).exit_code == 2
    assert trace.read_bytes() == before


def test_several_runs_go_into_a_folder_under_safe_names(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name, run_id in (("a", b"../../etc/x"), ("b", b"same"), ("c", b"same"), ("d", b"..")):
        (source / f"{name}.jsonl").write_bytes(RUN % run_id)
    out = tmp_path / "out"
    assert run(source, "-o", out, "--to", "native").exit_code == 0
    assert sorted(p.name for p in out.iterdir()) == [
        "etc_x.jsonl", "run.jsonl", "same-2.jsonl", "same.jsonl",
    ]  # fmt: skip
    refused = run(source, "-o", tmp_path / "one.jsonl")
    assert refused.exit_code == 2
    assert "4 runs" in refused.stderr
    assert run(source, "-o", tmp_path / "all.otlp.json").exit_code == 0
    assert len(read_path(tmp_path / "all.otlp.json")) == 4


def test_losses_are_told(trace: Path, tmp_path: Path) -> None:
    done = run(trace, "-o", tmp_path / "x.otlp.json")
    assert "1 x times that were not recorded (0)" in done.stderr


def test_broken_parts_are_told_and_the_rest_is_converted(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(RUN % b"r" + b"{broken\n")
    done = run(source, tmp_path / "gone.jsonl", "-o", tmp_path / "x.atif.json")
    assert done.exit_code == 2
    assert "in.jsonl:3" in done.stderr
    assert "gone.jsonl" in done.stderr
    assert len(read_path(tmp_path / "x.atif.json")[0].calls) == 1


def test_no_traces_no_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    assert run(tmp_path, "-o", tmp_path / "x.jsonl").exit_code == 2
    assert not (tmp_path / "x.jsonl").exists()
