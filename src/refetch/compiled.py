"""The compiled part of another package, without the Python around it.

Some packages do at import what nobody here asks for: one reads three vocabularies (a second long),
one loads the machinery of temporary files (a twentieth of a whole check).
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any


def compiled_part(package: str, name: str) -> Any:
    """The module `package.name`, with nothing else of the package imported.

    Raises:
        ImportError: not installed, or laid out otherwise.
    """
    full = f"{package}.{name}"
    found = find_spec(package)
    if found is not None and full in sys.modules:
        return sys.modules[full]
    folders = found.submodule_search_locations if found else None
    compiled = PathFinder.find_spec(full, folders) if folders else None
    if compiled is None or compiled.loader is None:
        raise ImportError(full)
    module = module_from_spec(compiled)
    compiled.loader.exec_module(module)
    return module
