"""The report page in a real browser: click, filter, keyboard, hostile text, size, access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from tests.unit.reports.test_injection import HOSTILE, batch_of

from refetch.api import check
from refetch.model import Call, Trace
from refetch.replay.fixtures import run_fixture
from refetch.reports.batch import Batch, Checked
from refetch.reports.html.page import render
from refetch.reports.look import Look

Open = Callable[..., Any]


def page_of(*traces: Trace) -> str:
    return render(Batch([Checked(check(trace), trace) for trace in traces]), Look())


@pytest.fixture(scope="module")
def sloppy() -> str:
    return page_of(run_fixture("sloppy").trace, run_fixture("well-behaved").trace)


def selected(page: Any) -> str:
    return str(page.inner_text("#panel"))


def test_the_answer_comes_first(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    assert page.inner_text("h1") == "3 redundant of 13 calls (23 %)"
    assert page.locator(".row").count() == 5
    assert "RF001 exact-duplicate" in selected(page)


def test_a_click_selects_and_the_address_keeps_it(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    page.click(".row:has-text('stale-refetch')")
    assert "already answered in turn 2" in selected(page)
    assert page.evaluate("location.hash") == "#call-5"
    again = opened(sloppy, at="#call-8")
    assert "written-since" in selected(again)
    assert "#7 write_file" in selected(again)


def test_differences_in_the_arguments_are_marked(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    page.click(".row:has-text('semantic-duplicate')")
    assert page.locator("#panel mark").all_inner_texts() == ["5", '"5"']


def test_the_button_leads_to_what_is_repeated(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    page.click(".row:has-text('stale-refetch')")
    page.click("#panel button")
    assert "#2 read_file" in selected(page)


@pytest.mark.parametrize(
    ("field", "value", "rows"),
    [
        ("level", "flag", 3),
        ("level", "fine", 2),
        ("level", "all", 9),
        ("rule", "RF003", 1),
        ("tool", "read_file", 2),
        ("context", "0", 5),
    ],
)
def test_filters(opened: Open, sloppy: str, field: str, value: str, rows: int) -> None:
    page = opened(sloppy)
    page.select_option(f"#{field}", value)
    assert page.locator(".row").count() == rows


def test_search_and_another_trace(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    page.select_option("#level", "all")
    page.fill("#search", "README")
    assert page.locator(".row").count() == 1
    page.fill("#search", "")
    page.select_option("#trace", "1")
    assert "of 4 calls" in page.inner_text("#shown")


def test_the_keyboard_is_enough(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "scroll":
            break
    page.keyboard.press("End")
    assert page.evaluate("location.hash") == "#call-8"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("location.hash") == "#call-5"
    page.keyboard.press("Home")
    assert page.evaluate("location.hash") == "#call-1"


def test_the_timeline_can_be_clicked(opened: Open, sloppy: str) -> None:
    page = opened(sloppy)
    page.click("#timeline", position={"x": 90 + 5 * 14 + 5, "y": 45})
    assert page.evaluate("location.hash") == "#call-5"


@pytest.mark.parametrize("start", range(0, len(HOSTILE), 12))
def test_hostile_text_stays_text(opened: Open, start: int) -> None:
    texts = HOSTILE[start : start + 12]
    batches = [batch_of(text) for text in texts]
    whole = Batch(
        [one for batch in batches for one in batch.checked],
        errors=[problem for batch in batches for problem in batch.errors],
    )
    page = opened(render(whole, Look()))
    known = {
        "html", "head", "meta", "title", "style", "body", "header", "main", "section", "form",
        "label", "select", "option", "input", "div", "canvas", "p", "h1", "h2", "dl", "dt", "dd",
        "span", "pre", "mark", "button", "ul", "li", "script", "noscript",
    }  # fmt: skip
    for index in range(len(texts)):
        page.select_option("#trace", str(index))
        tags = page.evaluate("[...document.querySelectorAll('*')].map(e => e.localName)")
        assert set(tags) <= known
        assert page.evaluate("document.scripts.length") == 2
        assert page.locator("[onload], [onerror], [onclick], [onfocus], [href], [src]").count() == 0


@pytest.mark.parametrize(("width", "dark"), [(360, False), (360, True), (1200, True)])
def test_it_fits_and_nothing_is_hard_to_use(
    opened: Open, sloppy: str, width: int, dark: bool
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    page = opened(sloppy, width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The page's own policy forbids foreign scripts: the checker looks at a copy without it.
    lenient = opened(sloppy.replace("Content-Security-Policy", "x-none"), width=width, dark=dark)
    results = axe.Axe().run(lenient)
    assert results.violations_count == 0, results.generate_report()


def test_ten_thousand_calls_stay_few_rows(opened: Open) -> None:
    calls = [
        Call(n, n // 2, "read", Raw(b'{"p":%d}' % (n % 700)), ok=True, result=Raw(b'"x"'))
        for n in range(10_000)
    ]
    trace = Trace("long", list(calls), tools={"read": {"effect": "read", "resource": "file:{p}"}})
    page = opened(page_of(trace))
    page.select_option("#level", "all")
    assert "10000 of 10000" in page.inner_text("#shown")
    assert page.locator(".row").count() < 60
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "scroll":
            break
    for _ in range(10):
        page.keyboard.press("PageDown")
    assert page.locator(".row").count() < 60


def test_the_policy_allows_the_page_and_nothing_else(sloppy: str) -> None:
    assert "default-src 'none'" in sloppy
    assert "unsafe" not in sloppy
    assert "http://" not in sloppy
    assert "https://" not in sloppy


def test_the_page_without_its_data_is_small() -> None:
    assert len(render(Batch(), Look()).encode()) < 300_000


def test_the_data_cannot_end_its_element() -> None:
    text = render(batch_of("</script><!--\u2028]]>"), Look())
    block = text.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(block)
    assert msgspec.json.decode(block)["version"]
