# Set-up and the main job. `make help` lists all targets.

SCALE ?=#   one of the scales in config/config.yaml; if empty, the one set there
CORES ?= all#   cores for snakemake
PYTHON ?=#   interpreter that .venv is made with; if empty, the first that is new enough
BYTECODE ?= --no-compile#   compiling all packages takes half of pip's time; Python compiles modules at first import

# Time that everything takes at a scale, on two cores.
ABOUT_smoke := 1 to 3 minutes
ABOUT_paper := 7 to 15 minutes
CHOSEN = $(or $(strip $(SCALE)),$(shell sed -n 's/^scale: *\([A-Za-z0-9_]*\).*/\1/p' config/config.yaml))
FIRST ?= figures/$(CHOSEN)/range/fig02.png

unexport PYTHONDONTWRITEBYTECODE# if it were exported, every job would compile the package from its sources
# The shell inserts the folder's name: make would interpret a quote, dollar sign or backtick in it.
, := ,
HERE := $$(pwd -P)
BIN := .venv/bin
RUN := PATH="$(HERE)/$(BIN):$$PATH"
PIP := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off $(BYTECODE)
SNAKEMAKE := $(RUN) snakemake --cores $(strip $(CORES)) $(if $(strip $(SCALE)),--config scale=$(strip $(SCALE)))
CANDIDATES := $(if $(PYTHON),'$(PYTHON)',python3 python3.13 python3.12 python3.11 python3.14 python)
stop = { echo "$(1)" >&2; exit 1; }
# The environment is made again if it was moved, if its Python no longer exists, or if it was left unfinished.
AGAIN := $(shell [ "$$(cat .venv/where 2> /dev/null)" = "$$(pwd -P)" ] && $(BIN)/python -c '' > /dev/null 2>&1 || echo again)

.PHONY: all first setup test test-slow lint style types check-study bench same reference docs lock clean help again

all: setup ## set-up, then every figure and table and the report (SCALE=smoke for a quick look)
	@echo "Making everything at scale $(CHOSEN): about $(or $(ABOUT_$(CHOSEN)),an unknown time) on two cores, less if there are results already."
	@$(SNAKEMAKE)
	@echo "The report: $(HERE)/results/$(CHOSEN)/report/index.html"

first: setup ## a first figure: range-restricted bounds of 100 data sets (half a minute; FIRST=<file> for another one)
	@$(SNAKEMAKE) -- $(FIRST)
	@echo "The figure: $(HERE)/$(FIRST)"

setup: .venv/complete config/KEYS.md ## install the Python packages and CmdStan, once; later only a check of a second
	@$(BIN)/python -m formalsynth_workflow.jobs.locked || { \
	  echo "These were installed after set-up, so set-up starts again."; rm .venv/complete; make --no-print-directory .venv/complete; }
	@$(BIN)/python -m formalsynth.stan.install --record .cmdstan > /dev/null
	@[ .venv/told -nt .venv/complete ] || { touch .venv/told; echo "Set-up is complete."; }

config/KEYS.md: .venv/complete $(wildcard workflow/lib/*/*/*.py workflow/lib/*/*/*/*.py)
	@$(BIN)/python -m formalsynth_workflow.plan.schemas && touch $@ # schemas of config for editors, and tables of its keys

.venv/complete: requirements.txt pyproject.toml workflow/pyproject.toml release/pyproject.toml $(AGAIN)
	@case "$(HERE)" in *:*) $(call stop,A virtual environment cannot be created in a folder with a colon in its path: move the project elsewhere.);; esac
	@[ ! -e .venv ] || [ -e .venv/where ] || $(call stop,There is a .venv here that make did not create: move it away or delete it$(,) and run make again.)
	@if [ -e $@ ] && [ -z '$(AGAIN)' ]; then echo "Bringing .venv up to requirements.txt"; rm -f $@ .venv/for_tests; exit; fi; \
	for python in $(CANDIDATES) ''; do "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && break; done; \
	[ "$$python" ] || $(call stop,Python 3.11 or newer is needed and none was found: install it$(,) or name it with make PYTHON=<path>.); \
	"$$python" -c 'import ensurepip, venv' 2> /dev/null || \
	  $(call stop,$$python cannot create virtual environments: install its venv module (Debian and Ubuntu: apt-get install python3-venv).); \
	echo "Setting up .venv with $$("$$python" --version) from requirements.txt (about a minute, once)"; \
	rm -rf .venv && mkdir .venv && echo "$(HERE)" > .venv/where && "$$python" -m venv .venv
	@{ $(PIP) --require-hashes -r requirements.txt && $(PIP) --no-deps --no-build-isolation -e . -e workflow -e release; } > .venv/pip.log 2>&1 && touch $@ || { \
	  grep '^ERROR' .venv/pip.log | head -n 3 >&2; why='is there a network?'; \
	  ! grep -q 'No space left\|Disk quota' .venv/pip.log || why='the disk is full, or that of TMPDIR'; \
	  ! grep -q 'DO NOT MATCH THE HASHES' .venv/pip.log || \
	    why='a download differs from requirements.txt: try again, and do not use it if the difference persists'; \
	  $(call stop,The Python packages could not be installed ($$why); see .venv/pip.log. Downloads are kept for the next make.); }

.venv/for_tests: requirements-dev.txt .venv/complete | setup
	@echo "Installing the packages for tests and style checks, from requirements-dev.txt"
	@$(PIP) --require-hashes -r requirements-dev.txt > .venv/pip-dev.log 2>&1 || { tail -n 3 .venv/pip-dev.log >&2; exit 1; }
	@touch $@

test: setup .venv/for_tests ## set-up, then the tests, except the slow ones (PYTEST=... for options of pytest)
	@$(RUN) OMP_NUM_THREADS=1 python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations=30 $(PYTEST)

test-slow: setup .venv/for_tests ## set-up, then the slow tests: kills, full disks, a cluster, CmdStan from its sources (about ten minutes)
	@$(RUN) OMP_NUM_THREADS=1 python -m pytest -m slow --durations=0 -n 3 --dist worksteal $(PYTEST) # some of them wait for a cluster

STYLE := "ruff check ." "ruff format --check ." lint-imports \
  "lint-imports --config workflow/pyproject.toml" "lint-imports --config release/pyproject.toml" \
  "snakefmt --check Snakefile workflow/Snakefile workflow/rules" \
  "snakemake --lint" "python -m dev.reference --check" "python -m dev.weight" "python -m dev.cards" \
  "python -m dev.words" "python -m dev.prose" "python -m dev.numbers"
lint: style types ## check style, types, words, numbers in documents, imports, generated files, and lines of code
style: setup .venv/for_tests
	@export $(RUN); for check in $(STYLE); do $$check || exit 1; done
types: setup .venv/for_tests
	@$(RUN) mypy

check-study: setup ## check that everything that a study of your own registers keeps to its contract (STUDY=<file>)
	@[ '$(STUDY)' ] || $(call stop,Say which: make check-study STUDY=<file>.)
	@$(RUN) python -m formalsynth_workflow.plan.contracts '$(STUDY)'

bench: setup ## compare our fits with others', and measure the workflow's own cost (about an hour; PYMC=<python with pymc and nutpie>)
	@export $(RUN) OMP_NUM_THREADS=1; set -e; python bench/fits.py $(if $(PYMC),--pymc '$(PYMC)'); \
	python bench/many.py; python bench/large.py; python bench/outside.py; python bench/sufficient_statistics.py; \
	python bench/release_coverage.py; python bench/release_verdict.py

same: setup ## check that the tables are the same as those of another working folder (BEFORE=<folder>, PAPERS="range zcdp" for some)
	@[ '$(BEFORE)' ] || $(call stop,Say what to compare with: make same BEFORE=<folder of another run>.)
	@$(RUN) python -m dev.same '$(BEFORE)' $(PAPERS) --scale $(CHOSEN)

reference: setup ## keep the small part of a run at scale paper in docs/
	@$(RUN) python -m dev.reference --keep

SHARED = $(wildcard results/$(CHOSEN)/share)
docs: setup .venv/for_tests ## write the site of documents, with the report from snakemake share if it is there (SITE=site)
	@$(RUN) python -m sphinx --fail-on-warning --keep-going --quiet -c docs $(if $(SHARED),-A report=report/index.html) . $(or $(SITE),site)
	@$(if $(SHARED),rm -rf $(or $(SITE),site)/report && cp -R $(SHARED) $(or $(SITE),site)/report)
	@echo "The site: $(or $(SITE),site)/index.html"

LOCKING := uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate --quiet
DISTRIBUTIONS := --no-emit-package formalsynth pyproject.toml workflow/pyproject.toml release/pyproject.toml
lock: ## write requirements.txt and requirements-dev.txt from pyproject.toml; needs uv (LOCK=--upgrade for the newest versions)
	$(LOCKING) $(LOCK) --extra cluster --extra dev --extra formats $(DISTRIBUTIONS) --output-file requirements-dev.txt
	$(LOCKING) --constraint requirements-dev.txt --extra cluster $(DISTRIBUTIONS) --output-file requirements.txt
	echo cyclonedx-bom | $(LOCKING) $(LOCK) --constraint requirements.txt - --output-file .github/sbom.txt

clean: ## remove the workflow's output; keep packages and CmdStan
	rm -rf results figures logs benchmarks

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile
