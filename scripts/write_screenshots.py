"""Writes docs/images: the terminal and the report page, as the README shows them.

Needs the extra `dev` and a Chromium on the PATH. Pictures depend on the fonts of the machine, so
that no test compares them.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS = 100
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 16px; background: {background}; color: {foreground};
  width: max-content }}
pre {{ margin: 0; font: 14px/1.35 "DejaVu Sans Mono", monospace }}
{stylesheet}
</style><pre>{code}</pre>"""


def refetch(*arguments: str) -> str:
    """What a command prints in a terminal with colours."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "refetch", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "PATH": "", "PYTHONUTF8": "1"},
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.stdout


def terminal_page(output: str) -> str:
    """The output of a command as HTML."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(output), soft_wrap=True)
    return console.export_html(theme=MONOKAI, code_format=TERMINAL)


def picture(browser: Any, page: Path, image: Path, *, selector: str, click: str = "") -> None:
    """A picture of one element of a page."""
    tab = browser.new_page(viewport={"width": 1180, "height": 820}, device_scale_factor=1.5)
    tab.goto(page.as_uri())
    if click:
        tab.locator(click).first.click()
    if selector == "window":
        tab.screenshot(path=image)
    else:
        tab.locator(selector).screenshot(path=image)


def main() -> None:
    """Write both pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("no chromium on the PATH")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        terminal = folder / "terminal.html"
        terminal.write_text(terminal_page(refetch("check", "sloppy")), encoding="utf-8")
        report = folder / "report.html"
        refetch("report", "examples/traces", "-o", str(report))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        picture(browser, terminal, IMAGES / "terminal.png", selector="body")
        picture(
            browser,
            report,
            IMAGES / "report.png",
            selector="window",
            click=".row:has-text('stale-refetch')",
        )
        browser.close()


if __name__ == "__main__":
    main()
