"""What a sub-agent reads again, of its parent's and of its own (SPEC 8)."""

from __future__ import annotations

import pytest

from refetch.api import check
from refetch.model.native import read_native

READ = (
    '{"type":"call","seq":%d,"turn":%d,"name":"read","args":{"path":"a"},"context":"%s","ok":true,'
    '"resource":"file:a","mutates":false,"result":"x"}'
)
TASK = '{"type":"call","seq":1,"turn":2,"name":"task","args":{},"ok":true}'


@pytest.mark.parametrize("inherits", ["true", "false"])
def test_a_first_read_of_what_the_parent_knows_is_never_flagged(inherits: str) -> None:
    child = f'{{"type":"context","context":"sub","parent_call":1,"inherits":{inherits}}}'
    lines = ['{"refetch":1,"run":"r"}', READ % (0, 1, "main"), TASK, child, READ % (2, 9, "sub")]
    report = check(read_native("\n".join(lines).encode()))
    assert [(f.code, f.level) for f in report.findings] == [("RF103", "advice")]


def test_the_childs_second_read_is() -> None:
    child = '{"type":"context","context":"sub","parent_call":1}'
    lines = ['{"refetch":1,"run":"r"}', TASK, child, READ % (2, 1, "sub"), READ % (3, 2, "sub")]
    report = check(read_native("\n".join(lines).encode()))
    assert [finding.code for finding in report.findings] == ["RF003"]
