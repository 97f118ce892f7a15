"""refetch.keys.text"""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.keys.text import WHITE_SPACE, trim


def test_the_set_is_the_one_of_the_standard() -> None:
    # ECMA-262: TAB, VT, FF, ZWNBSP and every Space_Separator; LF, CR, LS and PS.
    spaces = {chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) == "Zs"}
    assert set(WHITE_SPACE) == spaces | set("\t\v\f\ufeff\n\r\u2028\u2029")


def test_node_trims_the_same_characters() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js; the set is compared with the standard in any case")
    script = (
        "const found = [];"
        "for (let c = 0; c < 65536; c++) if (String.fromCharCode(c).trim() === '') found.push(c);"
        "console.log(JSON.stringify(found))"
    )
    done = subprocess.run([node, "-e", script], capture_output=True, check=True)
    assert json.loads(done.stdout) == sorted(map(ord, WHITE_SPACE))


@pytest.mark.parametrize("kept", ["\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u200b", "\u180e", "\0"])
def test_what_only_python_or_nobody_calls_white_space_stays(kept: str) -> None:
    assert trim(kept + "a" + kept) == kept + "a" + kept


@pytest.mark.parametrize("gone", list(WHITE_SPACE))
def test_white_space_goes_at_the_ends_only(gone: str) -> None:
    assert trim(gone + gone + "a" + gone + "b" + gone) == "a" + gone + "b"


@given(st.text())
def test_trimming_twice_is_trimming_once(text: str) -> None:
    assert trim(trim(text)) == trim(text)
