# Two commands are enough on a machine with git, make and Python 3.11 or newer:
#   make run     the main job: the study of the paper in short, with a report
#   make test    the whole test suite
# Both make .venv inside the checkout and install what they need, pinned by constraints.txt.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
OLDEST := .venv-oldest
CLIENTS := .venv-clients
PYTEST_ARGS ?=
# Processes of the test suite: one for each core, each with one thread.  nproc obeys OMP_NUM_THREADS.
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2> /dev/null || getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
PYTEST := -m pytest -n $(JOBS) --dist loadgroup
CAMPAIGN ?= --minutes 10

# The data sets of the paper, where a folder with them lies beside the checkout.
ifndef LINCENT_DATA
ifneq ($(wildcard ../shared/data/.),)
export LINCENT_DATA := $(abspath ../shared/data)
endif
endif

# Tests start processes, and each of them would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

# One thread per numerical library: the tests are small, and two cores are soon oversubscribed.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help run check test coverage test-oldest clients lint format types wheel bench campaign docs check-docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.ready-run ## the main job: the paper's study in short, from data sets that need no network
	$(BIN)/lincent reproduce --quick -o results/quick

test: $(VENV)/.ready-test ## the whole test suite (PYTEST_ARGS="-k name" narrows it)
	$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

coverage: $(VENV)/.ready-test ## the whole test suite with branch coverage, of its subprocesses and workers too
	rm -rf .coverage-data && mkdir .coverage-data
	$(BIN)/python $(PYTEST) --cov --cov-report=html:.coverage-data/html --cov-report=term $(PYTEST_ARGS)

# Problems, sources, imports and LCC itself: what most changes break first.
QUICK := tests/test_architecture.py tests/problems tests/sources/test_dense.py tests/sources/test_signed_rows.py tests/sources/test_source.py tests/solvers/newton tests/features tests/estimators/test_linear.py

check: $(VENV)/.ready-test ## before every commit, under a minute: lint, types, the fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -x -m "not slow" $(QUICK)

test-oldest: $(OLDEST)/.ready ## scikit-learn's estimator checks on the oldest supported scikit-learn
	$(OLDEST)/bin/python $(PYTEST) tests/test_sklearn_contract.py $(PYTEST_ARGS)

clients: $(CLIENTS)/.ready ## other packages at work with lincent (shap, mlflow, ...); writes the table of "Works with"
	$(CLIENTS)/bin/python -m pytest -q -p no:cacheprovider -c clients/pytest.ini clients doc/works_with.md --write-page doc/measured/works_with.md

lint: $(VENV)/.ready-test ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.ready-test ## ruff: apply fixes and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.ready-test ## mypy, strict on problems, solvers and sources
	$(BIN)/mypy

wheel: $(VENV)/.ready-run ## build the wheel into dist/, and its bill of materials (CycloneDX)
	rm -rf dist
	$(PIP) wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python .ci/sbom.py dist/lincent-*.whl

bench: $(VENV)/.ready-test ## fit times beside scikit-learn's (benchmarks/bench_*.py), with all cores
	@for script in benchmarks/bench_*.py; do \
		[ -e "$$script" ] || { echo "no benchmarks/bench_*.py yet"; exit 0; }; \
		echo "== $$script"; env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS $(BIN)/python "$$script" || exit 1; \
	done

campaign: $(VENV)/.ready-test ## random trials of every promise, 10 minutes (CAMPAIGN="--minutes 2 --only programs")
	PYTHONPATH=.:tests $(BIN)/python -m campaigns $(CAMPAIGN)
	PYTHONPATH=. $(BIN)/python -m campaigns.page

docs: $(VENV)/.ready-docs ## build the site into doc/_build/html: pages, gallery, tutorials; warnings are errors
	$(BIN)/python -m sphinx -b html -j 2 -W --keep-going -q doc doc/_build/html

# axe-core is looked for with npm; without it the browser tests say that they did not judge accessibility.
AXE := 4.14.0
check-docs: docs $(VENV)/.ready-test ## the built site: links, headings, texts, browsers, accessibility
	@[ -e doc/_build/axe/axe.min.js ] || { command -v npm > /dev/null && npm install --silent --no-save --prefix doc/_build/axe-core axe-core@$(AXE) && mkdir -p doc/_build/axe && cp doc/_build/axe-core/node_modules/axe-core/axe.min.js doc/_build/axe/; } || echo "axe-core could not be installed"
	$(BIN)/python -m pytest -q doc/checks $(PYTEST_ARGS)

clean: ## remove environments, builds and caches
	rm -rf $(VENV) $(OLDEST) $(CLIENTS) dist build doc/_build doc/gallery doc/api doc/jupyter_execute doc/sg_execution_times.rst
	rm -rf .coverage-data .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples doc -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments. A stamp file says that one is ready; it is redone when the pins change.

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "lincent needs Python 3.11 or newer, and $(PYTHON) is %d.%d: name another one with make PYTHON=..." % v[:2])'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.ready-run: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e ".[baselines,app,paper]"
	touch $@

$(VENV)/.ready-test: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e ".[all,test,lint]"
	touch $@ $(VENV)/.ready-run

$(VENV)/.ready-docs: $(VENV)/.ready-run pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e ".[app,dask,docs]"
	touch $@

$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 13) else "test-oldest needs Python 3.11 or 3.12: older scikit-learn has no wheels for this one.")'
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip --disable-pip-version-check install --quiet -c constraints-oldest.txt -e ".[baselines]" pytest pytest-xdist hypothesis pandas
	touch $@

$(CLIENTS)/.ready: pyproject.toml constraints-clients.txt
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip --disable-pip-version-check install --quiet -c constraints-clients.txt -e ".[clients]"
	touch $@
