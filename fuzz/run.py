"""Coverage-guided fuzzing of one reader, or of all one after the other.

    python fuzz/run.py FORMAT [--seconds 600]
    python fuzz/run.py --all [--seconds 60]

Needs `atheris`. The exit code is 0 where nothing was found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SEED_LIMIT = 60_000


def seeds(name: str) -> list[bytes]:
    """The samples of a format: kept ones, small ones, and real ones where they are at hand."""
    sys.path.insert(0, str(ROOT))
    from tests.readers.samples import SMALL, kept, shared

    found = [s.read() for s in (*SMALL, *kept(), *shared()) if s.format == name]
    return [small for data in found if len(small := shrunk(data)) <= SEED_LIMIT][:40]


def shrunk(data: bytes) -> bytes:
    """A sample with the same shape and little in it: short texts, short lists, few lines."""
    try:
        return json.dumps(_pruned(json.loads(data), 0)).encode()
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")[:30]
    try:
        return b"\n".join(json.dumps(_pruned(json.loads(ln), 0)).encode() for ln in lines if ln)
    except (ValueError, RecursionError):
        return data


def _pruned(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value[:300]
    if isinstance(value, list):
        return [_pruned(item, depth + 1) for item in value[: 4 if depth < 3 else 12]]
    if isinstance(value, dict):
        return {key: _pruned(item, depth + 1) for key, item in list(value.items())[:40]}
    return value


def fuzz(name: str, seconds: int) -> None:
    """Run inside the instrumented process; never returns."""
    import atheris

    with atheris.instrument_imports(include=["refetch"]):
        from refetch.api import check
        from refetch.model.errors import InputError
        from refetch.model.native import encode_native, read_native
        from refetch.readers import read_bytes

    def one(data: bytes) -> None:
        try:
            traces = read_bytes(data, "fuzz", name)
        except InputError as error:
            if "reader failed" in str(error):
                raise
            return
        for trace in traces[:20]:
            check(trace)
            read_native(encode_native(trace))

    corpus, found = HERE / "corpus" / name, HERE / "found"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds(name)):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = [
        f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=2048", f"-max_len={SEED_LIMIT}",
        f"-artifact_prefix={found}/{name}-", "-print_final_stats=1", "-verbosity=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *limits, str(corpus)], one)
    atheris.Fuzz()


def main() -> int:
    """Start one process for each format."""
    from refetch.readers import READERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", nargs="?", choices=[reader.name for reader in READERS])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        fuzz(options.format, options.seconds)
    names = [reader.name for reader in READERS] if options.all else [options.format]
    if names == [None]:
        parser.error("name a format, or --all")
    bad = []
    for name in names:
        command = [sys.executable, __file__, name, "--seconds", str(options.seconds), "--inside"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        stats = dict(
            line.removeprefix("stat::").replace(" ", "").split(":")
            for line in done.stderr.splitlines()
            if line.startswith("stat::")
        )
        runs = stats.get("number_of_executed_units", "?")
        print(
            f"{name:20} {options.seconds:5} s {runs:>10} inputs, exit {done.returncode}", flush=True
        )
        if done.returncode:
            bad.append(name)
            print(done.stderr[-3000:], flush=True)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
