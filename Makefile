# Snapscope's commands. Each does its own set-up on a machine that has Python 3.11+ and nothing else: the environment
# goes to .venv and is stamped there, so a second run starts at once. Nothing is written outside this directory but
# what `snapscope` itself keeps for the user (see README.md).

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PINNED := pyproject.toml constraints.txt
INSTALL := PYTHONWARNINGS=ignore $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --constraint constraints.txt
# One line for each package, its size and how many there are; then what failed, and whether anything did.
SHOWN = 2>&1 || echo 'pip failed'; } | awk '/^ *Downloading .*[0-9] [kMG]?B/ && !/metadata/ \
	{sub(/.*\//, "", $$2); printf "  %3d  %s %s %s\n", ++n, $$2, $$3, $$4} /^Building wheel|^Installing collected/ \
	{print "  " $$1 " " $$2 " " $$3 " …"; if ($$1 == "Installing") n = NF - 3} \
	/^ERROR|^  *error|^WARNING/ {print} /^pip failed$$/ {bad = 1} {fflush()} END {exit bad}'
MINUTES ?= 10
DEMO := demo

# The user's own warehouse, and the package its kind of store needs.
WAREHOUSE ?=
export SNAPSCOPE_OPEN := $(value WAREHOUSE)
scheme := $(if $(findstring ://,$(WAREHOUSE)),$(firstword $(subst ://, ,$(WAREHOUSE))))
store := $(strip $(if $(filter s3 s3a,$(scheme)),s3) $(if $(filter gs gcs,$(scheme)),gcs) \
	$(if $(filter abfs abfss az adl,$(scheme)),azure) $(if $(filter oss,$(scheme)),oss) $(if $(filter hdfs,$(scheme)),hdfs))

.PHONY: help run env check test deep lint types layers structure fast format proof proof-table bench docs pictures screenshots messages pins clean

help: ## what can be said to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

# --- set-up ----------------------------------------------------------------------------------------------------------

$(BIN)/python:
	@for python in "$$PYTHON" python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  [ -n "$$python" ] || continue; \
	  "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  echo "Making .venv with $$("$$python" --version)."; exec "$$python" -m venv --clear $(VENV); \
	done; \
	echo "No Python 3.11 or newer with venv was found. Install one (Debian: python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1

$(VENV)/.ready-run: $(PINNED) | $(BIN)/python
	@echo "Installing Snapscope into .venv: once, about 1.2 GB, PySpark above all."
	@{ $(INSTALL) --editable . $(SHOWN)
	@touch $@

$(VENV)/.ready-dev: $(PINNED) | $(BIN)/python
	@echo "Installing Snapscope and its tools into .venv: once, about 1.3 GB, PySpark above all."
	@{ $(INSTALL) --editable '.[dev]' $(SHOWN)
	@touch $@ $(VENV)/.ready-run

$(VENV)/.ready-store-%: $(PINNED) | $(VENV)/.ready-run
	@{ $(INSTALL) --editable '.[$*]' $(SHOWN)
	@touch $@

env: $(VENV)/.ready-dev ## the environment for development in .venv

# --- the product -----------------------------------------------------------------------------------------------------

run: $(VENV)/.ready-run $(if $(store),$(VENV)/.ready-store-$(store)) ## the dashboard: on a demo, or WAREHOUSE=path-or-url [WRITE=1]
	@if [ -n "$$SNAPSCOPE_OPEN" ]; then exec $(BIN)/snapscope serve "$$SNAPSCOPE_OPEN" $(if $(WRITE),--write); fi; \
	exec $(BIN)/snapscope serve --demo $(DEMO)

# --- the tests -------------------------------------------------------------------------------------------------------

check: lint ## before every commit: lint, format, types, layers, fast tests (about 2 minutes)
	@$(MAKE) --jobs 2 types fast

test: LEFT_OUT ?= most cases of long tests (make deep runs them), long proofs (make proof MINUTES=n)
test: lint types ## what CI runs: everything but long proofs and most cases of long tests
	@SNAPSCOPE_LEFT_OUT="$(LEFT_OUT)" \
	  tests/in_memory $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 40 --durations-min 5 \
	    --cov --cov-report=

deep: ## make test with all cases and twice the examples (more than two hours)
	@SNAPSCOPE_DEEP=2 $(MAKE) test LEFT_OUT='long proofs (make proof MINUTES=n)'

lint: $(VENV)/.ready-dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo 'make format would change the files above.' >&2; exit 1; }

types: $(VENV)/.ready-dev
	@$(BIN)/mypy --no-error-summary

layers: $(VENV)/.ready-dev
	@$(BIN)/python -m pytest -q tests/test_architecture.py

structure: $(VENV)/.ready-dev ## counts what makes the code hard to enter; fails where a count grows
	@$(BIN)/python -m tests.structure

fast: $(VENV)/.ready-dev
	@SNAPSCOPE_LEFT_OUT='slow, Spark, engine and browser tests, most examples of properties, all but three cases of each test (make test runs them)' \
	  SNAPSCOPE_DEEP=0.2 \
	  tests/in_memory $(BIN)/python -m pytest -q --numprocesses $$(($$(nproc) + 1)) -m 'not (slow or spark or engines or browser)'

format: $(VENV)/.ready-dev ## rewrite the code into its one form
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

messages: $(VENV)/.ready-dev ## bring dashboard/languages/*.po up to date with the texts of the code
	@$(BIN)/python -m tests.catalogues

proof: $(VENV)/.ready-dev ## long proofs for MINUTES=n, resumable; writes proof.json
	@$(BIN)/python -m tests.proof --minutes $(MINUTES)

proof-table: $(VENV)/.ready-dev ## writes the table in docs/proofs.md from proof.json
	@$(BIN)/python -m tests.proof --table

bench: $(VENV)/.ready-dev ## every benchmarks/*.py, then one table of ratios
	@status=0; rows=$$(mktemp); export SNAPSCOPE_BENCH_ROWS=$$rows; $(BIN)/python benchmarks/support/ratios.py start "$$rows"; \
	for bench in benchmarks/*.py; do \
	  echo "== $$bench"; $(BIN)/python "$$bench" || status=1; \
	done; \
	echo; $(BIN)/python benchmarks/support/ratios.py table "$$rows" || status=1; rm -f "$$rows"; exit $$status

docs: $(VENV)/.ready-dev ## the documentation, built into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo 'Open site/index.html.'

pictures: $(VENV)/.ready-dev ## the README's pictures, from the demo in a browser
	@[ -e $(DEMO)/.snapscope-demo ] || $(BIN)/snapscope demo $(DEMO)
	@PYTHONPATH=. $(BIN)/python .readme/pictures.py $(DEMO)

screenshots: $(VENV)/.ready-dev ## every page in both themes, languages and widths, compared with the set before
	@[ -e $(DEMO)/.snapscope-demo ] || $(BIN)/snapscope demo $(DEMO)
	@$(BIN)/python -m tests.screenshots $(DEMO) screenshots

# --- upkeep ----------------------------------------------------------------------------------------------------------

pins: ## resolve constraints.txt anew in a clean environment
	@$(MAKE) $(BIN)/python
	@rm -rf $(VENV)-pins && $(BIN)/python -m venv $(VENV)-pins
	@$(VENV)-pins/bin/pip install --quiet --disable-pip-version-check '.[dev,s3,gcs,azure,oss,hdfs]'
	@{ sed -n '/^#/p' constraints.txt; $(VENV)-pins/bin/pip freeze --exclude snapscope; } > constraints.new
	@mv constraints.new constraints.txt && rm -rf $(VENV)-pins build snapscope.egg-info

clean: ## remove what make made: environment, caches, the demo
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist site snapscope.egg-info
	@if [ -e $(DEMO)/.snapscope-demo ] || [ -e $(DEMO)/.snapscope-demo.building ]; then rm -rf $(DEMO); fi
	@find core dashboard snapscope tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
