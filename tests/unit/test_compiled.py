"""Compiled parts of other packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from refetch.compiled import compiled_part


def test_the_package_around_it_is_not_imported() -> None:
    code = (
        "import sys; from refetch.compiled import compiled_part\n"
        "assert compiled_part('tree_sitter_bash', '_binding').language()\n"
        "assert 'tree_sitter_bash' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_part_that_was_imported_already_is_the_same() -> None:
    import tree_sitter_bash

    binding = sys.modules["tree_sitter_bash._binding"]
    assert compiled_part("tree_sitter_bash", "_binding") is binding
    assert tree_sitter_bash.language is binding.language


@pytest.mark.parametrize(
    ("package", "name"),
    [("no_such_package", "x"), ("tree_sitter_bash", "no_such_part"), ("sys", "x")],
)
def test_what_is_not_there_is_an_import_error(package: str, name: str) -> None:
    with pytest.raises(ImportError):
        compiled_part(package, name)
