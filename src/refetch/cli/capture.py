"""`refetch capture`: a trace turned into a fixture, so that it stays as a test."""

from __future__ import annotations

from typing import Any

import click

from refetch.cli import choices
from refetch.cli.checking import check_paths, only_run
from refetch.cli.errors import report_problems
from refetch.cli.flags import flags
from refetch.cli.output import sources_of
from refetch.cli.writing import put_file, refuse_inputs
from refetch.judge import Options
from refetch.model.errors import UsageError
from refetch.replay.capture import capture, encode_fixture
from refetch.reports.batch import Batch, Checked
from refetch.reports.escape import escaped
from refetch.reports.json_report import encode


@click.command("capture")
@click.argument("path", metavar="TRACE")
@flags("capture")
@click.pass_context
def command(ctx: click.Context, /, path: str, output: str | None, **given: Any) -> None:
    """Turn a trace into a fixture that `refetch replay` and pytest run as a test.

    The fixture holds the calls, the recorded results, and the findings as `expect`. Secrets are
    replaced; what was replaced is said on standard error.
    """
    if given["no_redact"] and given["redact"]:
        raise UsageError("--no-redact and --redact exclude each other")
    settings, user = choices.configured(ctx)
    batch = check_paths(
        [path],
        options=Options(ledger=False),
        user=user,
        settings=settings,
        input_format=given["input_format"],
        needs=("all",),
    )
    report_problems(batch)
    if not batch.checked:
        ctx.exit(2)
    only_run(batch, given["run"])
    one = _single(batch)
    assert one.trace is not None
    redact: bool | list[str] = list(given["redact"]) or not given["no_redact"]
    fixture = capture(one.trace, one.report.findings, redact=redact)
    if given["name"]:
        fixture["name"] = given["name"]
    if output is not None and output != "-":
        refuse_inputs(output, [path, *sources_of(batch)])
    put_file(output or "-", encode_fixture(fixture), force=given["force"])
    if given["format"] == "json":
        click.echo(encode(_told(one, fixture, output), indent=2), err=output is None)
    else:
        click.echo(_sentence(one, fixture, output), err=True)
    ctx.exit(2 if batch.errors else 0)


def _single(batch: Batch) -> Checked:
    if len(batch.checked) > 1:
        runs = ", ".join(escaped(one.report.run) for one in batch.checked[:8])
        more = f" and {len(batch.checked) - 8} more" if len(batch.checked) > 8 else ""
        raise UsageError(f"{len(batch.checked)} traces; name one with --run: {runs}{more}")
    return batch.checked[0]


def _told(one: Checked, fixture: dict[str, Any], output: str | None) -> dict[str, Any]:
    return {
        "fixture": output,
        "name": fixture["name"],
        "calls": one.report.calls,
        "expect": len(fixture["expect"]),
        "redacted": fixture.get("redacted", {}),
    }


def _sentence(one: Checked, fixture: dict[str, Any], output: str | None) -> str:
    findings = len(fixture["expect"])
    noun = "finding" if findings == 1 else "findings"
    text = f"captured {one.report.calls} calls, {findings} {noun} expected"
    redacted = ", ".join(f"{kind} {n}" for kind, n in fixture.get("redacted", {}).items())
    text += f"; redacted: {redacted}" if redacted else ""
    if "redacted" not in fixture:
        text += "; nothing was redacted: look for secrets before you share it"
    return text + (f"\nreplay it: refetch replay {escaped(output)}" if output else "")
