# Every target sets up what it needs: a virtual environment in .venv, installed from this checkout.
PYTHON ?= python3
BIN := .venv/bin
# One more than the cores of a small machine: many tests wait for processes and browsers.
WORKERS ?= 3
# A file is one worker's; files in the order of pyproject.toml, the long documents first.
PARALLEL = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Tests start hundreds of processes: what Python compiles is kept.
export PYTHONDONTWRITEBYTECODE :=
FUZZ_SECONDS ?= 60

EXTRAS := chem,plot,deep,parquet,dask

.PHONY: demo test check test-slow lint pyright bench paper bench-scale fuzz docs coverage package test-sdist test-oldest test-prereleases clean

$(BIN)/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/base: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

# Dependency groups need pip 25.1, so pip itself is brought up to date first.
.venv/test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -e ".[$(EXTRAS)]" --group test --group lint --group bench
	touch $@

demo: .venv/base
	$(BIN)/graphgrain demo

# Types are checked beside the tests: neither waits for the other.
test: .venv/test
	$(MAKE) --no-print-directory -j2 lint check

check: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL)

# Browsers, kills, limited memory and the paper's runs
test-slow: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL) -m slow

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/readme_code.py build/readme.py
	$(BIN)/mypy

# The README's code for another type checker, in strict mode
pyright: .venv/test
	$(BIN)/python -m pip install --quiet pyright
	$(BIN)/python scripts/readme_code.py build/readme.py
	$(BIN)/pyright --pythonpath $(BIN)/python build/readme.py

fuzz: .venv/test
	$(BIN)/python scripts/fuzz_readers.py --seconds $(FUZZ_SECONDS)

bench: .venv/test
	$(BIN)/python -m benchmarks
	$(BIN)/python -m experiments.competitors
	$(BIN)/python -m benchmarks.machines
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.fit_times

# The paper's three tables beside ours, and its figures: its nine data sets of up to 800 graphs, all
# nine kernels, one repetition. The whole, which resumes where it was stopped:
#   .venv/bin/python -m experiments paper --repeats 10
PAPER := KKI,PTC_MM,PTC_FR,BZR_MD,COX2_MD,DHFR_MD,BZR,COX2,DHFR
paper: .venv/test
	$(BIN)/python -m experiments paper --datasets $(PAPER) --repeats 1

# Molecules to features at two sizes beside fingerprints, the reader, and Dask's scheduler. An
# environment of its own: scikit-fingerprints wants other versions than we do.
bench-scale:
	test -x .venv-scale/bin/python || $(PYTHON) -m venv .venv-scale
	.venv-scale/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-scale/bin/python -m pip install --quiet -e ".[chem,dask]" --group bench-scale
	.venv-scale/bin/python -m benchmarks.reader --all
	.venv-scale/bin/python -m benchmarks.scale
	.venv-scale/bin/python -m benchmarks.scheduler

.venv/docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -e ".[chem,plot]" --group docs
	touch $@

# The site, offline, without a single warning: docs/_build/html/index.html
docs: .venv/docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# What the tests reach; the rest is listed line by line
coverage: .venv/test
	NUMBA_DISABLE_JIT=0 $(BIN)/python -m pytest $(PARALLEL) --cov=graphgrain --cov-report=term-missing:skip-covered

# Wheel and source distribution in dist/, checked
package: .venv/test
	$(BIN)/python -m pip install --quiet build twine
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	test $$(cat dist/*.whl | wc -c) -lt 2000000

# The source distribution is enough to run its own tests
test-sdist: package
	rm -rf build/sdist
	mkdir -p build/sdist
	tar xzf dist/*.tar.gz -C build/sdist --strip-components=1
	$(PYTHON) -m venv build/sdist/.venv
	cd build/sdist && .venv/bin/python -m pip install --quiet --upgrade "pip>=25.1" && .venv/bin/python -m pip install --quiet -e ".[$(EXTRAS)]" --group test && .venv/bin/python -m pytest $(PARALLEL)

# The tests with the lowest version of every direct dependency that pyproject.toml allows
test-oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest --resolution lowest-direct -e ".[$(EXTRAS)]" --group test
	.venv-oldest/bin/python -m pytest $(PARALLEL)

test-prereleases:
	test -x .venv-next/bin/python || $(PYTHON) -m venv .venv-next
	.venv-next/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-next/bin/python -m pip install --quiet --pre --upgrade -e ".[$(EXTRAS)]" --group test
	.venv-next/bin/python -m pytest $(PARALLEL)

clean:
	rm -rf .venv .venv-scale .venv-oldest .venv-next docs/_build docs/gallery docs/reference/generated docs/changelog.md build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
