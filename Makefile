# make demo · make test · make lint · make bench
#
# Everything lives in one virtual environment. Both can be chosen:  make demo PYTHON=python3.12 VENV=my-venv

PYTHON ?= python3
VENV ?= .venv
PRESET ?= smollm2-135m
QUESTIONS ?= benchmarks/questions.jsonl
METHODS ?= sssd,transformers-generate
STORE ?= base
RESULTS ?= benchmarks/results/standard_$(PRESET).json
TESTS ?=

RUN := $(VENV)/bin/python

.PHONY: demo test lint bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/.run-time
	@$(RUN) -m sssd_demo fetch $(PRESET)
	@$(RUN) -m sssd_demo serve --preset $(PRESET)

# A file of tests has a core to itself: two that computed with all threads at once would only wait for each other.
# Without Chromium the browser journeys are skipped, and the summary says how to get it.
test: $(VENV)/.development
	OMP_NUM_THREADS=1 $(RUN) -m pytest -n logical --maxprocesses 4 --dist loadfile $(TESTS)

lint: $(VENV)/.development
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

bench: $(VENV)/.run-time
	@$(RUN) -m sssd_demo fetch $(PRESET)
	@$(RUN) -m sssd_demo bench --preset $(PRESET) --questions $(QUESTIONS) --methods $(METHODS) --datastore $(STORE) \
	  --out $(RESULTS)

clean:
	rm -rf .mypy_cache .pytest_cache .ruff_cache

# A stamp is newer than its requirements once they are installed, so an unchanged file costs nothing.
$(VENV)/.run-time: requirements.txt | $(RUN)
	@echo "Installing what is needed; the first time takes a few minutes."
	$(RUN) -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/.development: requirements-dev.txt requirements.txt | $(RUN)
	@echo "Installing what is needed; the first time takes a few minutes."
	$(RUN) -m pip install --quiet -r requirements-dev.txt
	@touch $@ $(VENV)/.run-time

$(RUN):
	@command -v $(PYTHON) >/dev/null || \
	  { echo "$(PYTHON) was not found. Install Python 3.11 or newer, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv module. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
