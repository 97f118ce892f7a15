"""Writing and reading native traces: what any caller may hand in comes back, one event a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from refetch.model.errors import InputError
from refetch.model.native import (
    Header,
    NativeWriter,
    encode_line,
    encode_native,
    lines_of,
    read_native,
)
from refetch.model.tool import ToolMeta
from refetch.model.trace import (
    Call,
    ContextLoss,
    ContextStart,
    Event,
    Request,
    Result,
    Trace,
    UserMessage,
    Write,
)

HEADER = b'{"refetch":1,"run":"r"}\n'


def back(event: Event) -> Event:
    line = encode_line(event)
    assert b"\n" not in line
    (read,) = read_native(HEADER + line + b"\n").events
    return read


EVENTS: list[Event] = [
    Call(0, 1, "read", Raw(b'{"path":"a"}'), raw_args='{"path": "a"}', ok=True, outcome="ok"),
    Call(1, 1, "read", result=Raw(b'"text"'), resource=["file:a", "file:b"], region="all"),
    Call(
        2, 2, "x", Raw(b"null"), region={"unit": "line", "from": 1, "to": 5}, started=1.5, cwd="/"
    ),
    Call(3, 2, "x", truncated=True, unchanged=True, background=True, origin="harness-retry"),
    ContextLoss(3, "trim", "child", [0, 1]),
    ContextStart("child", 3),
    Write("file:a", 3),
    UserMessage(3),
    Request(1, usage={"input_tokens": 5}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_each_kind_of_event_comes_back(event: Event) -> None:
    assert back(event) == event


@pytest.mark.parametrize("name", ["args", "result"])
@pytest.mark.parametrize("empty", [Raw(), Raw(b"")])
def test_any_empty_text_is_left_out(name: str, empty: Raw) -> None:
    call = msgspec.structs.replace(Call(0, 1, "x"), **{name: empty})
    assert encode_line(call) == b'{"type":"call","seq":0,"turn":1,"name":"x"}'
    assert not bytes(getattr(back(call), name))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b'{\n  "a": 1\r\n}', {"a": 1}),
        (b"[1,\n2]", [1, 2]),
        (b'{"a": "x\\ny"}', {"a": "x\ny"}),
        (b"not json", "not json"),
        (b'{"a":', '{"a":'),
        (b'"a\nb"', '"a\nb"'),
        (b'{"a":1} {"b":2}', '{"a":1} {"b":2}'),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b'["\xff"]', ["\ufffd"]),
        (b'[\n"\xff"]', ["\ufffd"]),
        (b"[NaN]", "[NaN]"),
        (b"   ", "   "),
    ],
)
def test_recorded_text_never_breaks_its_line(text: bytes, kept: Any) -> None:
    for name in ("args", "result"):
        call = msgspec.structs.replace(Call(0, 1, "x"), **{name: Raw(text)})
        assert json.loads(bytes(getattr(back(call), name))) == kept


@pytest.mark.parametrize(
    "text",
    [
        b"9" * 5000,
        b"[" * 900 + b"]" * 900,
        b'{"a":1e400, "b" : 5.0}',
        b'{"b":1,"b":2}',
        b"  7",
        b'"\\u00e9"',
    ],
)
def test_sound_text_stays_to_the_byte(text: bytes) -> None:
    for error in (None, "half \ud800"):
        call = back(Call(0, 1, "x", Raw(text), error=error))
        assert isinstance(call, Call)
        assert bytes(call.args) == text.strip()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\U0001f600\ud83d", "\U0001f600\ufffd"),
        ("\\ud800 \ud800", "\\ud800 \ufffd"),
    ],
)
def test_lone_surrogates_are_written_and_read_as_the_replacement_character(
    text: str, read: str
) -> None:
    call = back(Call(0, 1, "x", Raw(b'{"n":5}'), error=text))
    assert call == Call(0, 1, "x", Raw(b'{"n":5}'), error=read)


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        (
            Call(0, 1, "\ud800", resource=["\udfff"], region={"a": ["\ud800"]}, started=1.5),
            Call(0, 1, "\ufffd", resource=["\ufffd"], region={"a": ["\ufffd"]}, started=1.5),
        ),
        (ContextLoss(3, "trim", "\ud800", [0]), ContextLoss(3, "trim", "\ufffd", [0])),
        (ContextStart("\ud800", 3, True), ContextStart("\ufffd", 3, True)),
        (Write("file:\ud800", 3), Write("file:\ufffd", 3)),
        (UserMessage(3, "\ud800"), UserMessage(3, "\ufffd")),
        (Request(1, usage={"\ud800": 5}), Request(1, usage={"\ufffd": 5})),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_kind_of_event_is_lost_to_half_a_character(broken: Event, whole: Event) -> None:
    assert back(broken) == whole


def test_a_header_with_half_a_character() -> None:
    tools = {"\ud800": {"ttl": 5.0}, "x": ToolMeta(mutates=True)}
    trace = read_native(encode_native(Trace("r\ud800", [], tools=tools)))
    assert trace.run == "r\ufffd"
    assert trace.tools == {"\ufffd": {"ttl": 5.0}, "x": {"mutates": True}}
    assert read_native(rb'{"refetch":1,"run":"\udc00"}').run == "\ufffd"


@pytest.mark.parametrize("name", ["error", "result"])
def test_a_result_row_is_written_like_a_call(name: str) -> None:
    row = msgspec.structs.replace(Result(0), **{name: "\ud800" if name == "error" else Raw(b"")})
    line = encode_line(row)
    (call,) = read_native(HEADER + encode_line(Call(0, 1, "x")) + b"\n" + line).calls
    assert (call.error, bytes(call.result)) == ("\ufffd" if name == "error" else None, b"")


def test_a_surrogate_escape_in_a_line_of_another_writer() -> None:
    trace = read_native(
        HEADER + rb'{"type":"call","seq":4,"turn":1,"name":"x","error":"\udc00A\u0041"}'
    )
    assert [call.error for call in trace.calls] == ["\ufffdAA"]
    assert trace.lines == {4: 2}
    assert not trace.problems


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        (b'{"type":"call","seq":"x","turn":1,"name":"n"}', "$.seq", "int"),
        (b'{"type":"call","turn":1,"name":"n"}', None, None),
        (b'{"type":"dance"}', "$.type", None),
        (b"{", None, None),
        (b"\xff", None, None),
        (b"[" * 100_000, "$", "object"),
        (b'{"type":"call","seq":1,"turn":1,"name":"\\ud800","ok":7}', None, None),
    ],
)
def test_a_broken_line_is_named_and_the_others_are_kept(
    line: bytes, path: str | None, expected: str | None
) -> None:
    good = encode_line(EVENTS[0])
    trace = read_native(HEADER + line + b"\n" + good + b"\n", "f")
    (problem,) = trace.problems
    assert (problem.source, problem.line) == ("f", 2)
    assert path is None or problem.path == path
    assert problem.expected == expected
    assert trace.events == [EVENTS[0]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b'{"refetch":2,"run":"r"}', "version 2"),
        (b'{"refetch":1}', "run"),
        (b"[1]", "expected"),
    ],
)
def test_a_header_that_is_none(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_native(data, "f")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
).map(lambda value: Raw(json.dumps(value).encode()))
CALLS = st.builds(
    Call,
    seq=st.integers(0, 99),
    turn=st.integers(0, 9),
    name=TEXTS,
    args=JSON,
    result=JSON,
    raw_args=st.none() | TEXTS,
    error=st.none() | TEXTS,
    context=st.sampled_from(["main", "child"]),
    ok=st.none() | st.booleans(),
    exit_code=st.none() | st.integers(-1, 255),
    resource=st.none() | TEXTS | st.lists(TEXTS, max_size=2),
    region=st.sampled_from([None, "all", {"unit": "line", "from": 1}]),
    ttl=st.none() | st.floats(0, 9),
)


@given(st.lists(CALLS | st.sampled_from(EVENTS), max_size=6), TEXTS)
def test_writing_and_reading_give_the_same_trace(events: list[Event], run: str) -> None:
    trace = Trace(run, events, task="t", model="m", harness="h", tools={"x": {"mutates": True}})
    again = read_native(encode_native(trace))
    assert again.events == events
    assert (again.run, again.task, again.model, again.harness) == (run, "t", "m", "h")
    assert again.tools == trace.tools
    assert encode_native(again) == encode_native(trace)


@given(st.lists(CALLS | st.sampled_from(EVENTS), max_size=4))
def test_streaming_writes_what_writing_at_once_does(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event]
) -> None:
    path = tmp_path_factory.mktemp("stream") / "t.jsonl"
    writer = NativeWriter(path, Header(1, "r"))
    for event in events:
        writer.write(event)
    writer.close()
    writer.write(Call(0, 0, "late"))
    assert path.read_bytes() == encode_native(Trace("r", list(events)))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"a\r\n\r\nb", [(1, b"a\r"), (3, b"b")]),
        (b"a\n\nb\n", [(1, b"a"), (3, b"b")]),
    ],
)
def test_lines_are_numbered_as_an_editor_does(data: bytes, lines: list[tuple[int, bytes]]) -> None:
    assert [(number, bytes(line)) for number, line in lines_of(data)] == lines
    assert [(n, bytes(line)) for n, line in lines_of(memoryview(data))] == lines


def test_a_file_that_is_written_can_be_read_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = NativeWriter(path, Header(1, "r"))
    for count, event in enumerate(EVENTS, 1):
        writer.write(event)
        assert len(read_native(path.read_bytes()).events) == count
    writer.close()


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"  \n", b"\t \r\n", b" \n\n \n"])
def test_blank_lines_say_nothing(blank: bytes) -> None:
    lines = [b'{"refetch":1,"run":"r"}\n', b'{"type":"call","seq":0,"turn":1,"name":"x"}\n']
    data = blank.join([b"", *lines, b""])
    trace = read_native(data)
    assert (len(trace.calls), trace.problems) == (1, [])
    assert trace.lines == {0: 2 + 2 * blank.count(b"\n")}
