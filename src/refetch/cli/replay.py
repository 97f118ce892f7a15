"""`refetch replay`: fixtures run as tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from refetch.cli import choices
from refetch.cli.flags import flags
from refetch.cli.output import look_of, write_document, write_text
from refetch.judge import Options
from refetch.model.errors import RefetchError
from refetch.model.finding import Finding
from refetch.replay.replaying import ReplayResult, replay_fixture
from refetch.reports.escape import escaped
from refetch.reports.json_report import encode
from refetch.reports.look import Look
from refetch.reports.paint import Paint
from refetch.reports.text import joined
from refetch.reports.text_findings import finding_lines


@click.command("replay")
@click.argument("fixtures", nargs=-1, required=True, metavar="FIXTURE…")
@flags("replay")
@click.pass_context
def command(ctx: click.Context, /, fixtures: tuple[str, ...], **given: Any) -> None:
    """Run fixtures and compare their findings with what they expect.

    Passes when the findings are exactly the expected ones; with --agent, when none is new. Exit
    code: 0 all passed, 1 some did not, 2 a fixture or the agent is broken.
    """
    settings, user = choices.configured(ctx)
    if given["agent"] is not None and str(Path.cwd()) not in sys.path:
        # As `python -m` does: an agent is named from the folder people stand in.
        sys.path.insert(0, str(Path.cwd()))
    look = look_of(given["color"])
    code = 0
    documents = []
    for fixture in fixtures:
        try:
            result = replay_fixture(
                fixture,
                given["agent"],
                lambda t: settings.judged(t, user, Options(ledger=False)).findings,
            )
        except RefetchError as error:
            click.echo(f"error: {escaped(str(error))}", err=True)
            code = 2
            continue
        code = max(code, int(not result.passed))
        if given["format"] == "json":
            documents.append(_document(fixture, result))
        else:
            write_text(sys.stdout, joined(_lines(fixture, result, look), look))
    if given["format"] == "json":
        write_document(sys.stdout, encode(documents, indent=2) + "\n")
    ctx.exit(code)


def _lines(fixture: str, result: ReplayResult, look: Look) -> Iterator[str]:
    paint = Paint(look)
    verdict = paint("passed", "green") if result.passed else paint("FAILED", "bold", "red")
    counts = [_count(len(result.matched), "as expected")]
    counts += [_count(len(result.new), "new")] if result.new else []
    counts += [_count(len(result.vanished), "vanished")] if result.vanished else []
    yield f"{verdict} {escaped(fixture)}: {', '.join(counts)}"
    if result.new:
        yield from finding_lines(result.new, look)
    if result.vanished:
        yield ""
        yield paint("expected, but no longer there", "bold")
    for item in result.vanished:
        about = item.call or ", ".join(f"#{seq}" for seq in item.calls or ())
        pair = f"#{item.first} → #{item.repeat} " if item.repeat is not None else ""
        yield escaped(f"  {item.code} {pair}{about}")


def _count(count: int, what: str) -> str:
    return f"{count} finding{'s' * (count != 1)} {what}"


def _document(fixture: str, result: ReplayResult) -> dict[str, Any]:
    def plain(findings: list[Finding]) -> list[dict[str, Any]]:
        return [finding.to_dict() for finding in findings]

    return {
        "fixture": fixture,
        "passed": result.passed,
        "with_agent": result.with_agent,
        "new": plain(result.new),
        "matched": plain(result.matched),
        "vanished": msgspec.to_builtins(result.vanished),
    }
