# Set-up and the main job. `make help` lists all targets.

SCALE ?=#   one of the scales in config/config.yaml; if empty, the one set there
CORES ?= all#   cores for snakemake
PYTHON ?=#   interpreter that .venv is made with; if empty, the first that is new enough

# Time that everything takes at a scale, on two cores.
ABOUT_smoke := 1 to 3 minutes
ABOUT_paper := 7 to 15 minutes
CHOSEN = $(or $(strip $(SCALE)),$(shell sed -n 's/^scale: *\([A-Za-z0-9_]*\).*/\1/p' config/config.yaml))

# If it were exported, every job would compile the package from its sources.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
COMPLETE := $(VENV)/complete
FOR_TESTS := $(VENV)/for_tests
TOLD := $(VENV)/told
KEYS := config/KEYS.md
# Here and below, the shell inserts the folder's name: make would interpret a quote, dollar sign or backtick in it.
HERE := $$(pwd -P)
RUN := PATH="$(HERE)/$(BIN):$$PATH"
CANDIDATES := $(if $(PYTHON),'$(PYTHON)',python3 python3.13 python3.12 python3.11 python3.14 python)
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
# Compiling all packages to bytecode takes half of pip's time; Python compiles a module when it is first imported. Containers compile.
BYTECODE ?= --no-compile
PIP := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off $(BYTECODE)
FIRST ?= figures/$(CHOSEN)/range/fig02.png
SNAKEMAKE := $(RUN) snakemake --cores $(strip $(CORES)) $(if $(strip $(SCALE)),--config scale=$(strip $(SCALE)))

# The environment is made again if it was moved (its scripts contain its path), if its Python no longer exists, or if it was left
# unfinished: pip can mistake a partly installed package for a complete one. Only a finished environment gets the stamp.
AGAIN := $(shell [ "$$(cat $(VENV)/where 2> /dev/null)" = "$$(pwd -P)" ] && $(BIN)/python -c '' > /dev/null 2>&1 || echo again)

.PHONY: all first setup test test-slow lint mutants check-study bench compare changes agree steady same share site summary reference lock sbom clean help again

all: setup ## set-up, then every figure and table and the report (SCALE=smoke for a quick look)
	@echo "Making everything at scale $(CHOSEN): about $(or $(ABOUT_$(CHOSEN)),an unknown time) on two cores, less if there are results already."
	@$(SNAKEMAKE)
	@echo "The report: $(HERE)/results/$(CHOSEN)/report/index.html"

first: setup ## a first figure: range-restricted bounds of 100 data sets (half a minute; FIRST=<file> for another one)
	@$(SNAKEMAKE) -- $(FIRST)
	@echo "The figure: $(HERE)/$(FIRST)"

setup: $(COMPLETE) $(KEYS) ## install the Python packages and CmdStan, once; later only a check of a second
	@$(BIN)/python -m formalsynth.jobs.locked || { \
	  echo "These were installed after set-up, so set-up starts again."; rm $(COMPLETE); make --no-print-directory $(COMPLETE); }
	@$(BIN)/python -m formalsynth.stan.install --record .cmdstan > /dev/null
	@# Loops are compiled in the background, for machines that share the cache but have no compiler.
	@[ $(TOLD) -nt $(COMPLETE) ] || { \
	  $(BIN)/python -m formalsynth.core.compiled > $(VENV)/loops.log 2>&1 & touch $(TOLD); echo "Set-up is complete."; }

# Schemas of config for editors, and tables of its keys.
$(KEYS): $(COMPLETE) $(wildcard workflow/lib/formalsynth/*/*.py workflow/lib/formalsynth/*/*/*.py)
	@$(BIN)/python -m formalsynth.plan.schemas
	@touch $(KEYS)

$(COMPLETE): requirements.txt pyproject.toml $(AGAIN)
	@if [ ! -e $(COMPLETE) ] || [ -n '$(AGAIN)' ]; then \
	  if [ -e $(VENV) ] && [ ! -e $(VENV)/where ]; then \
	    echo "There is a $(VENV) here that make did not create: move it away or delete it, and run make again." >&2; exit 1; \
	  fi; \
	  case "$(HERE)" in *:*) \
	    echo "A virtual environment cannot be created in a folder with a colon in its path: move the project elsewhere." >&2; exit 1;; \
	  esac; \
	  rm -rf $(VENV); found=''; \
	  for python in $(CANDIDATES); do \
	    if "$$python" -c '$(NEW_ENOUGH)' 2> /dev/null; then found=$$python; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "Python 3.11 or newer is needed and none was found: install it, or name it with make PYTHON=<path>." >&2; exit 1; \
	  fi; \
	  if ! "$$found" -c 'import ensurepip, venv' 2> /dev/null; then \
	    echo "$$found cannot create virtual environments: install its venv module (Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 1; \
	  fi; \
	  echo "Setting up $(VENV) with $$("$$found" --version) from requirements.txt (about a minute, once)"; \
	  mkdir $(VENV) && echo "$(HERE)" > $(VENV)/where && "$$found" -m venv $(VENV); \
	else \
	  echo "Bringing $(VENV) up to requirements.txt"; rm -f $(COMPLETE) $(FOR_TESTS); \
	fi
	@# CmdStan is built while the packages are installed; setup checks it and reports failures.
	@if [ ! -e .cmdstan ]; then \
	  PYTHONPATH=workflow/lib $(BIN)/python -m formalsynth.stan.install --record .cmdstan > $(VENV)/cmdstan.log 2>&1 & \
	fi; \
	{ $(PIP) --require-hashes -r requirements.txt && $(PIP) --no-deps --no-build-isolation -e .; } > $(VENV)/pip.log 2>&1 \
	  || { grep '^ERROR' $(VENV)/pip.log | head -n 3 >&2; \
	       case "$$(cat $(VENV)/pip.log)" in \
	         *'No space left'*|*'Disk quota'*) why='the disk is full, or that of TMPDIR';; \
	         *'DO NOT MATCH THE HASHES'*) why='a download differs from requirements.txt: try again, and do not use it if the difference persists';; \
	         *) why='is there a network?';; \
	       esac; \
	       echo "The Python packages could not be installed ($$why); see $(VENV)/pip.log. Downloads are kept for the next make." >&2; \
	       exit 1; }
	@touch $(COMPLETE)

$(FOR_TESTS): requirements-dev.txt $(COMPLETE)
	@echo "Installing the packages for tests and style checks, from requirements-dev.txt"
	@$(PIP) --require-hashes -r requirements-dev.txt > $(VENV)/pip-dev.log 2>&1 || { tail -n 3 $(VENV)/pip-dev.log >&2; exit 1; }
	@touch $(FOR_TESTS)

test: setup $(FOR_TESTS) ## set-up, then the tests, except the slow ones (PYTEST=... for options of pytest)
	@$(RUN) OMP_NUM_THREADS=1 python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(PYTEST)

test-slow: setup $(FOR_TESTS) ## set-up, then the slow tests: kills, full disks, a cluster, CmdStan from its sources (about ten minutes)
	@$(RUN) OMP_NUM_THREADS=1 python -m pytest -m slow --durations=0 -n 2 --dist worksteal $(PYTEST)

lint: setup $(FOR_TESTS) ## check style and types of the code, wording of code and texts, English of documents and captions, numbers in documents, imports between packages, style of the rules, whether generated files are up to date, and lines of code
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy
	@$(RUN) lint-imports
	@$(RUN) snakefmt --check Snakefile workflow/Snakefile workflow/rules
	@$(RUN) snakemake --lint
	@$(RUN) python -m dev.reference --check
	@$(RUN) python -m dev.weight
	@$(RUN) python -m dev.words
	@$(RUN) python -m dev.prose
	@$(RUN) python -m dev.numbers

check-study: setup ## check that everything that a study of your own registers keeps to its contract (STUDY=<file>)
	@if [ -z '$(STUDY)' ]; then echo "Say which: make check-study STUDY=<file>." >&2; exit 2; fi
	@$(RUN) python -m formalsynth.plan.contracts '$(STUDY)'

mutants: setup $(FOR_TESTS) ## check that the tests notice changes to the code that privacy depends on (half an hour; MUTANTS=... for its options)
	@$(RUN) python -m dev.mutants $(MUTANTS)

bench: setup ## compare our fits with others', and measure the workflow's own cost (about half an hour; PYMC=<python with pymc and nutpie>)
	@$(RUN) OMP_NUM_THREADS=1 python bench/fits.py $(if $(PYMC),--pymc '$(PYMC)') --write
	@$(RUN) OMP_NUM_THREADS=1 python bench/served.py
	@$(RUN) python bench/workflow.py
	@$(RUN) python bench/many.py --write
	@$(RUN) OMP_NUM_THREADS=1 python bench/large.py --write
	@$(RUN) python bench/spread.py
	@$(RUN) OMP_NUM_THREADS=1 python bench/outside.py

compare: setup ## check that the verdicts of a run at scale paper match those of the reference run
	@$(RUN) python -m dev.reference --compare

changes: setup ## list every verdict that differs from an earlier ledger, and why (BEFORE=<claims.csv>, AFTER=<claims.csv> for another later one)
	@if [ -z '$(BEFORE)' ]; then echo "Say what to compare with: make changes BEFORE=<claims.csv of an earlier run>." >&2; exit 2; fi
	@$(RUN) python -m dev.ledgers changes '$(BEFORE)' '$(or $(AFTER),results/$(CHOSEN)/claims.csv)'

agree: setup ## print the share of verdicts that several ledgers have in common (LEDGERS="<claims.csv> <claims.csv> ..."; STEADY=<steadiness.csv> for steady ones)
	@if [ -z '$(LEDGERS)' ]; then echo 'Say which: make agree LEDGERS="<claims.csv> <claims.csv> ...".' >&2; exit 2; fi
	@$(RUN) python -m dev.ledgers agree $(LEDGERS) $(if $(STEADY),--steady '$(STEADY)')

steady: setup ## list the verdicts of a run that other replicates may change (some minutes, after a run at scale paper)
	@$(RUN) python -m dev.steady

summary: setup ## write two pages on the reference run, as PDF (FILE=summary.pdf)
	@$(RUN) python -m dev.summary $(or $(FILE),summary.pdf)

share: setup ## write the part of the report that may be sent to others, below 15 MB (of a run at SCALE=...)
	@$(SNAKEMAKE) -- share
	@echo "To be sent: $(HERE)/results/$(CHOSEN)/share; its index.html lists the omitted files with the reasons."

site: setup $(FOR_TESTS) ## write a website of a run: the report that may be sent, the documents and the summary (SITE=site)
	@$(SNAKEMAKE) -- share
	@$(RUN) python -m dev.site $(or $(SITE),site) results/$(CHOSEN)/share
	@$(RUN) python -m dev.summary $(or $(SITE),site)/summary.pdf
	@echo "The site: $(or $(SITE),site)/index.html"

same: setup ## check that the tables are the same as those of another working folder (BEFORE=<folder>, PAPERS="range zcdp" for some)
	@if [ -z '$(BEFORE)' ]; then echo "Say what to compare with: make same BEFORE=<folder of another run>." >&2; exit 2; fi
	@$(RUN) python -m dev.same '$(BEFORE)' $(PAPERS) --scale $(CHOSEN)

reference: setup ## keep the small part of a run at scale paper in docs/
	@$(RUN) python -m dev.reference --keep

LOCKING := uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate --quiet
lock: ## write requirements.txt and requirements-dev.txt from pyproject.toml; needs uv (LOCK=--upgrade for the newest versions)
	$(LOCKING) $(LOCK) --extra cluster --extra dev --extra release pyproject.toml --output-file requirements-dev.txt
	$(LOCKING) --constraint requirements-dev.txt --extra cluster --extra release pyproject.toml --output-file requirements.txt
	echo cyclonedx-bom | $(LOCKING) $(LOCK) --constraint requirements.txt - --output-file .github/sbom.txt

sbom: $(COMPLETE) ## write sbom.json: a software bill of materials for the packages in requirements.txt, with checksums
	@$(PIP) --quiet --require-hashes -r .github/sbom.txt
	@$(BIN)/cyclonedx-py requirements requirements.txt --pyproject pyproject.toml --output-reproducible --output-file sbom.json

clean: ## remove the workflow's output; keep packages and CmdStan
	rm -rf results figures logs benchmarks

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile
