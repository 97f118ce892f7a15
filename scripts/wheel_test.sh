#!/usr/bin/env bash
# Builds the wheel and runs the tests against it in a fresh environment, in a folder from which
# src/ cannot be reached: what is missing from the wheel is missing here.
# Usage: scripts/wheel_test.sh PYTHON [pytest arguments]
set -euo pipefail

python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH

"$python" -m venv "$scratch/venv"
bin=$scratch/venv/bin
"$bin/python" -m pip install --quiet build
"$bin/python" -m build --wheel --outdir "$scratch/dist" "$root" >"$scratch/build.log" 2>&1 ||
    { cat "$scratch/build.log"; exit 1; }
wheels=("$scratch"/dist/*.whl)
echo "built ${wheels[0]##*/}"
"$bin/python" -m pip install --quiet "${wheels[0]}[dev]"

mkdir "$scratch/project"
for part in tests examples docs scripts benchmarks mkdocs.yml pyproject.toml README.md; do
    if [ -e "$root/$part" ]; then
        cp -R "$root/$part" "$scratch/project/"
    fi
done
if [ -z "${REFETCH_SHARED:-}" ] && [ -d "$root/../shared" ]; then
    REFETCH_SHARED=$(cd "$root/../shared" && pwd)
    export REFETCH_SHARED
fi

cd "$scratch/project"
"$bin/python" - "$scratch" <<'CHECK'
import pathlib
import sys

import pytest_refetch
import refetch

scratch = pathlib.Path(sys.argv[1]).resolve()
for module in (refetch, pytest_refetch):
    place = pathlib.Path(module.__file__).resolve()
    if scratch not in place.parents:
        sys.exit(f"{module.__name__} was imported from {place}, not from the wheel")
if not (pathlib.Path(refetch.__file__).parent / "py.typed").is_file():
    sys.exit("the wheel has no py.typed")
CHECK
"$bin/python" -m pytest "$@"
