"""Hostile text from a trace through every report: nothing of it becomes active."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from refetch.api import check
from refetch.cost import costed
from refetch.model import Call, Problem, Trace
from refetch.reports.batch import Batch, Checked, spelled
from refetch.reports.look import Look
from refetch.reports.registry import FORMATS, Format

HOSTILE = [
    # HTML and script
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<iframe src=javascript:alert(1)>",
    "<a href='javascript:alert(1)'>x</a>", "<body onload=alert(1)>", "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>", "<meta http-equiv=refresh content=0>",
    "<base href=//evil.example/>", "<form action=//evil.example><input>", "<!--", "-->", "<![CDATA[", "]]>",
    "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "\" autofocus onfocus=\"alert(1)",
    "&lt;script&gt;", "&#60;script&#62;", "<math><mtext></mtext></math>", "<details open ontoggle=alert(1)>",
    "<template><script>1</script></template>", "<noscript><p title=\"</noscript><img src=x onerror=1>\">",
    # addresses and styles
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:msgbox(1)",
    "file:///etc/passwd", "url(javascript:alert(1))", "expression(alert(1))", "@import '//evil.example'",
    # Markdown
    "[x](javascript:alert(1))", "![x](https://evil.example/p.png)", "[x]: //evil.example", "`code`",
    "``` \nfence\n```", "| cell | cell |", "# heading", "**bold**", "@somebody", "#123",
    "https://evil.example/", "<https://evil.example>", "- [ ] task", "~~gone~~", "$$x$$", ":smile:",
    # terminals
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;https://evil.example\x1b\\link", "\x1b[2J",
    "\x9b31m", "\r overwritten", "\x07", "\b\b\b", "\x00", "\u202etxt.exe", "\u2066x\u2069", "\ufeff",
    # tables
    "=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "=HYPERLINK(\"//evil.example\")", "%0A=1",
    # XML
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>", "&y;", "<?xml-stylesheet href='x'?>",
    "\ufffe", "\uffff", "\x0b",
    # workflow commands
    "::error::x", "::set-output name=a::b", "::add-mask::x", "\n::error::x", "%0A::error::x",
    "##[error]x", "::stop-commands::x", "\n::save-state name=a::b", "::endgroup::",
]  # fmt: skip


def batch_of(text: str) -> Batch:
    """The text wherever a trace can put one."""
    safe = text.encode("utf-8", "replace").decode()
    args = Raw(msgspec.json.encode({"p": safe, safe: 1}))
    tools = {safe: {"effect": "read", "resource": "x:{p}"}}
    call = Call(0, 1, safe, args, context=safe, call_id=safe, ok=True, result=Raw(b'"x"'))
    again = msgspec.structs.replace(call, seq=1, turn=2)
    trace = Trace(safe, [call, again], source=safe, tools=tools, task=safe, model=safe)
    report = spelled(costed(check(trace, budget=1), trace), trace)
    assert report.flags
    return Batch([Checked(report, trace)], errors=[Problem(safe, safe, 3, safe, safe, safe)])


def test_the_corpus_is_large() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) >= 60


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_no_control_character_gets_through(form: Format, index: int) -> None:
    text = form.render(batch_of(HOSTILE[index]), Look())
    if form.name in ("json", "jsonl"):
        for line in text.splitlines() if form.name == "jsonl" else [text]:
            json.loads(line)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]", text)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not attrs

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def form_named(name: str) -> Format:
    return next(form for form in FORMATS if form.name == name)


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_markdown_holds_no_tag_link_or_mention_of_a_trace(index: int) -> None:
    text = form_named("markdown").render(batch_of(HOSTILE[index]), Look())
    tags = _Tags()
    tags.feed(text)
    assert tags.tags <= {"code", "br"}
    outside = re.sub(r"<code>[^<]*</code>", "", text)
    assert HOSTILE[index].strip() not in outside or len(HOSTILE[index].strip()) < 3
    inside = "".join(re.findall(r"<code>([^<]*)</code>", text))
    assert not set("<>`*[]@#|~$:!_") & set(re.sub(r"&#\d+;", "", inside))


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_xml_stays_well_formed_and_holds_our_elements_alone(index: int) -> None:
    root = ET.fromstring(form_named("junit").render(batch_of(HOSTILE[index]), Look()))
    known = {"testsuites", "testsuite", "testcase", "failure", "error", "system-out"}
    assert {element.tag for element in root.iter()} <= known


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_each_annotation_is_one_command(index: int) -> None:
    text = form_named("github").render(batch_of(HOSTILE[index]), Look())
    for line in text.splitlines():
        assert re.fullmatch(r"::(error|notice) [^\n]*?title=[^:,]*::[^\n]*", line), line
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize("name", ["csv", "csv-calls"])
@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_no_cell_is_a_formula(index: int, name: str) -> None:
    rows = list(csv.reader(io.StringIO(form_named(name).render(batch_of(HOSTILE[index]), Look()))))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(("=", "+", "@", "|", "%", "\t", "\r")), cell
        assert not cell.startswith("-") or re.fullmatch(r"-?[\d.e+-]+", cell), cell


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_sarif_keeps_its_shape(index: int) -> None:
    document: Any = json.loads(form_named("sarif").render(batch_of(HOSTILE[index]), Look()))
    (run,) = document["runs"]
    assert set(document) == {"$schema", "version", "runs"}
    assert set(run) == {"tool", "invocations", "results"}
    codes = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert codes[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "note")
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9/._~%:-]*", uri)
        assert not uri.startswith("javascript:")
