"""The one list of report formats. To add one: a module with `render`, and its line in `FORMATS`."""

from __future__ import annotations

from importlib import import_module

import msgspec

from refetch.model.errors import UsageError
from refetch.reports.batch import Batch
from refetch.reports.look import Look


class Format(msgspec.Struct, frozen=True):
    """A report format; its module is imported when it is first asked for.

    `needs` beside the verdicts: "one" the trace, where there is a single one; "keys" the raw keys
    of acquitted calls; "all" every trace; "" nothing. `suffixes`: file names that mean this format.
    """

    name: str
    title: str
    module: str
    needs: str = ""
    suffixes: tuple[str, ...] = ()
    function: str = "render"

    def render(self, batch: Batch, look: Look) -> str:
        """The whole report as text, line feed at the end."""
        text: str = getattr(import_module(self.module), self.function)(batch, look)
        return text


_HERE = "refetch.reports"
FORMATS: tuple[Format, ...] = (
    Format("text", "for people, in a terminal", f"{_HERE}.text", "one", (".txt",)),
    Format("json", "one JSON document", f"{_HERE}.json_report", "keys", (".json",)),
    Format("jsonl", "one line of JSON a trace", f"{_HERE}.jsonl_report", "keys", (".jsonl",)),
    Format("sarif", "SARIF 2.1.0, for code scanning", f"{_HERE}.sarif", "", (".sarif",)),
    Format("junit", "JUnit XML, for CI", f"{_HERE}.junit", "", (".xml",)),
    Format("github", "annotations of GitHub Actions", f"{_HERE}.github"),
    Format("markdown", "a comment or a step summary", f"{_HERE}.markdown", "", (".md",)),
    Format("csv", "the findings as CSV", f"{_HERE}.tables", "", (".csv",), "render_findings"),
    Format("html", "a page that opens from disk", f"{_HERE}.html.page", "all", (".html", ".htm")),
    Format("csv-calls", "the calls as CSV", f"{_HERE}.tables", "all", (), "render_calls"),
)


def format_names() -> list[str]:
    """What `--format` accepts."""
    return [known.name for known in FORMATS]


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        UsageError: no such format.
    """
    for known in FORMATS:
        if known.name == name:
            return known
    raise UsageError(f"unknown format {name!r}; known: {', '.join(format_names())}")


def format_of_file(path: str) -> Format | None:
    """The format that a file name asks for by its suffix, or None."""
    lower = path.lower()
    fitting = [known for known in FORMATS if lower.endswith(known.suffixes or ("\0",))]
    return fitting[0] if fitting else None
