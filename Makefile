# Runs under GNU make 3.81 (macOS) and later. Settings:
#   make PYTHON=python3.12 …     the interpreter that .venv is made with
#   make PYTEST_ARGS='-k where'  what else pytest is told
#   make A2M_EVAL_DIR=… bench    the folder of the judged sets
#   make SEED=7 MESSAGES=9 soak  the same messages again; the seed is printed with the command
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
MESSAGES ?= 500000
SEED ?= $(shell date +%s)

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
BENCH = A2M_EVAL_DIR='$(A2M_EVAL_DIR)' PYTHONPATH=tests/support $(BIN)/python
CREATED := $(VENV)/.created
FOR_TEST := $(VENV)/.installed-test
FOR_DEMO := $(VENV)/.installed-demo

# What the tests install is more than the demo needs, so either may come first.
FOR_DEMO_OR_MORE = $(if $(wildcard $(FOR_TEST)),$(FOR_TEST),$(FOR_DEMO))

.PHONY: help venv demo test lint types soak bench clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

venv: $(FOR_TEST) ## .venv with everything that developing needs

demo: $(FOR_DEMO_OR_MORE) ## a small real corpus, served and asked three questions
	$(BIN)/a2m-gateway demo

test: lint types ## lint, types and all tests
	$(BIN)/pytest $(PYTEST_ARGS)

lint: $(FOR_TEST) ## ruff, rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(FOR_TEST) ## mypy --strict
	$(BIN)/mypy

soak: $(FOR_TEST) ## the fuzz tests for longer
	A2M_FUZZ_MESSAGES=$(MESSAGES) A2M_FUZZ_SEED=$(SEED) $(BIN)/pytest -k fuzz $(PYTEST_ARGS)

bench: $(FOR_TEST) ## the 20,000 passages and the overhead over a raw client
	@$(BENCH) benchmarks/corpora.py
	@$(BENCH) benchmarks/served.py; served=$$?; \
	$(BENCH) benchmarks/overhead.py && exit $$served

clean: ## remove .venv, caches and builds
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A venv that failed half-way leaves no stamp and is made again.
$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'a2m-gateway needs Python 3.11 or later, and $(PYTHON) is not:' >&2; \
	  echo 'install one, then name it: make PYTHON=python3.12 $(MAKECMDGOALS)' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo '$(PYTHON) can make no virtual environment.' >&2; \
	  echo 'On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(FOR_TEST): pyproject.toml $(CREATED)
	$(PIP) install -e '.[test]'
	@touch $@

$(FOR_DEMO): pyproject.toml $(CREATED)
	$(PIP) install -e '.[qdrant]'
	@touch $@
