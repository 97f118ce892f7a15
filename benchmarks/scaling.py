"""Whether one pass stays linear, and what one command costs.

    python benchmarks/scaling.py [--rounds 3]

`judge`: time per call on traces of 2,000 and of 200,000 calls of one kind, with and without the
ledger of acquitted repeats; the memory that the judge adds. `commands`: the shell reader on real-
looking command lines, first and second time.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import time
import tracemalloc

import msgspec

from refetch.effects import shell_calls
from refetch.judge import Options
from refetch.judge.judge import judge_trace
from refetch.model.trace import Call, Event, Trace

SMALL, LARGE = 2_000, 200_000
COMMANDS = """
git status --short
git log --oneline -5 -- src/app.py
cd src && grep -rn "def main" --include=*.py . | head -20
sed -n '10,80p' src/app.py
python -m pytest -q tests/test_app.py 2>&1 | tail -15
find . -name '*.toml' -not -path './node_modules/*' | xargs wc -l
cat > notes.txt <<'EOF'
rm -rf build && mkdir -p build && cmake -S . -B build
npm install --save-dev typescript && npx tsc --noEmit
for f in *.md; do wc -w "$f"; done
curl -sS https://example.com/api/items?page=2 -o items.json
docker compose ps && docker logs web --tail 50
""".strip().splitlines()


def trace_of(calls: int, seed: int = 1) -> Trace:
    """Reads, searches, edits and commands over a fixed set of files, one to three a turn."""
    chance = random.Random(seed)
    events: list[Event] = []
    turn = 0
    for seq in range(calls):
        turn += chance.random() < 0.6
        path = f"src/m{chance.randrange(6)}/f{chance.randrange(7)}.py"
        kind = chance.random()
        if kind < 0.5:
            args: dict[str, object] = {"file_path": path}
            if kind < 0.2:
                args |= {"offset": chance.randrange(200), "limit": 50}
            name = "Read"
        elif kind < 0.65:
            name, args = "Grep", {"pattern": f"word{chance.randrange(50)}", "path": "src"}
        elif kind < 0.85:
            name, args = "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}
        else:
            name, args = "Bash", {"command": chance.choice(COMMANDS)}
        raw = msgspec.Raw(msgspec.json.encode(args))
        result = msgspec.Raw(b'"r%d"' % chance.randrange(3))
        events.append(Call(seq, turn, name, raw, ok=True, outcome="ok", result=result))
    return Trace("scaling", events, harness="claude-code")


def microseconds(trace: Trace, options: Options) -> float:
    """Time per call of one judgement."""
    gc.collect()
    started = time.perf_counter()
    judge_trace(trace, options)
    return (time.perf_counter() - started) / len(trace.events) * 1e6


def added_memory(trace: Trace, options: Options) -> float:
    """Peak MB that judging allocates."""
    tracemalloc.start()
    judge_trace(trace, options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def compare_lengths(rounds: int) -> None:
    """The table of lengths."""
    small, large = trace_of(SMALL), trace_of(LARGE)
    print(f"\n{'judge, us a call':24}{SMALL:>10,}{LARGE:>10,}{'ratio':>8}{'MB at the top':>16}")
    for label, options in (
        ("with the ledger", Options()),
        ("without", Options(ledger=False)),
    ):
        judge_trace(small, options)
        short = min(microseconds(small, options) for _ in range(3 * rounds))
        long = min(microseconds(large, options) for _ in range(rounds))
        memory = added_memory(large, options)
        print(f"{label:24}{short:10.1f}{long:10.1f}{long / short:7.2f}x{memory:16.0f}")


def compare_commands(rounds: int) -> None:
    """The table of commands."""
    shell_calls.read_command(COMMANDS[0], "/warm")
    fresh: list[float] = []
    again: list[float] = []
    for index in range(50 * rounds):
        for times, folder in ((fresh, f"/repo{index}"), (again, "/warm")):
            for command in COMMANDS:
                started = time.perf_counter()
                shell_calls.read_command(command, folder)
                times.append((time.perf_counter() - started) * 1e6)
    print(f"\n{'one command, us':24}{'median':>10}{'9 in 10':>10}")
    for label, times in (("first time", fresh), ("cached", again)):
        slow = statistics.quantiles(times, n=10)[8]
        print(f"{label:24}{statistics.median(times):10.1f}{slow:10.1f}")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    compare_lengths(options.rounds)
    compare_commands(options.rounds)


if __name__ == "__main__":
    main()
