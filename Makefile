# Every target sets up what it needs: a virtual environment in .venv, installed from this checkout.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
FUZZ_SECONDS ?= 60

.PHONY: demo test lint bench fuzz clean

.venv/base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e .
	touch $@

.venv/test: .venv/base
	$(BIN)/python -m pip install --quiet -e ".[test,lint,bench]"
	touch $@

demo: .venv/base
	$(BIN)/graphgrain demo

test: .venv/test lint
	$(BIN)/python -m pytest -n $(WORKERS)

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fuzz: .venv/test
	$(BIN)/python scripts/fuzz_readers.py --seconds $(FUZZ_SECONDS)

bench: .venv/test
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.competitors
	$(BIN)/python -m benchmarks.machines
	$(BIN)/python -m benchmarks.startup

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
