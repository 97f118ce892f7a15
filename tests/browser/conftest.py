"""A real headless Chromium, Debian's or any on the PATH; without one these tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-quic"
).split()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page from disk; anything it logs, and any request it makes, fails the test."""
    pages: list[Any] = []
    complaints: list[str] = []

    def open_page(text: str, *, width: int = 1200, dark: bool = False, at: str = "") -> Any:
        file = tmp_path / f"report-{len(pages)}.html"
        file.write_text(text, encoding="utf-8")
        page = browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: _only(request.url, file.as_uri(), complaints))
        page.goto(file.as_uri() + at)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []


def _only(url: str, own: str, complaints: list[str]) -> None:
    if not url.startswith(own):
        complaints.append(f"asked for {url}")
