"""Running the command line in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from refetch.cli.program import program

PROJECT = Path(__file__).resolve().parents[3]
EXAMPLES = PROJECT / "examples" / "traces"
_PLAIN = {"COLUMNS": None, "NO_COLOR": None, "FORCE_COLOR": None}


def run(*args: object, stdin: str | bytes | None = None, **env: str) -> Result:
    """Run `refetch ARGS`; a crash of the program fails the test with its own traceback."""
    runner = CliRunner(env={**_PLAIN, **env})
    result = runner.invoke(program, [str(arg) for arg in args], input=stdin, prog_name="refetch")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def document(*args: object) -> Any:
    """The JSON that a command prints."""
    return json.loads(run(*args).stdout)


def native(*records: dict[str, Any], run_id: str = "r", **header: Any) -> str:
    """A trace in the native format."""
    rows = [{"refetch": 1, "run": run_id, **header}, *records]
    return "".join(json.dumps(row) + "\n" for row in rows)


def call(seq: int, turn: int, name: str, args: Any = None, **fields: Any) -> dict[str, Any]:
    """One call record, ended ok."""
    return {
        "type": "call", "seq": seq, "turn": turn, "name": name, "args": args, "ok": True, **fields
    }  # fmt: skip


READ = {"read": {"effect": "read", "resource": "file:{path}"}}


def refetching(run_id: str = "r") -> str:
    """A trace with one stale re-fetch."""
    first = call(0, 1, "read", {"path": "a"}, result="text")
    return native(first, {**first, "seq": 1, "turn": 2}, run_id=run_id, tools=READ)


def clean(run_id: str = "c") -> str:
    """A trace without findings."""
    calls = (call(seq, seq + 1, "read", {"path": path}) for seq, path in enumerate("ab"))
    return native(*calls, run_id=run_id, tools=READ)
