# Needs Python 3.11 or newer and make; everything else is installed into .venv.
#
#   make demo        the program at work on its own examples
#   make test        all tests, with the coverage gate
#   make lint        ruff, mypy, import-linter, the documentation
#   make wheel-test  the tests against the built wheel
#   make bench       speed, as ratios side by side (needs node)
#   make clean       remove what the above made

SHELL := /bin/sh
BIN := .venv/bin
PYTEST_ARGS ?= -n auto

.DELETE_ON_ERROR:
.PHONY: demo test lint format wheel-test bench clean

.venv/bin/python:
	@python=$$(sh scripts/find_python.sh) && echo "using $$($$python -V)" && $$python -m venv .venv

.venv/.installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/.installed

# Exit 1 of "check" says that there are findings, which is what the examples are for.
demo: .venv/.installed
	$(BIN)/refetch demo
	$(BIN)/refetch check examples/traces || test $$? -eq 1

# "coverage run" starts measuring before pytest loads the plugin that is under test.
test: .venv/.installed-dev
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PYTEST_ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o coverage.json
	$(BIN)/coverage report
	$(BIN)/python scripts/coverage_gate.py coverage.json

lint: .venv/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --site-dir build/site

format: .venv/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

wheel-test: .venv/bin/python
	bash scripts/wheel_test.sh $(BIN)/python $(PYTEST_ARGS)

bench: .venv/.installed-dev
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv build dist htmlcov coverage.json .coverage .coverage.* .hypothesis \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
