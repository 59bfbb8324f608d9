# Every target makes the environment it needs; `make run` and `make test` work
# as the first command on a clean checkout.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
KILLS ?= 50
CUTS ?= 1000
COUNT ?= 20000
LEASES ?= 100000
PROGRAMS ?= 5000
EXAMPLES ?= 10000

export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
.PHONY: help setup run serve test lint format lock proto proto-check proto-freeze bench bench-peers layout crash crash-exchange crash-watch programs properties fuzz clean
MAKEFLAGS += --no-print-directory

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with the locked dependencies (every target does this when needed).

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) scripts/check_python.py
	@echo "Making the environment $(VENV) from requirements.lock (once; about a minute) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --requirement requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
	@echo "Environment ready." >&2

run: $(STAMP) ## Start the pair, import a conversation, compile a turn, show both. FILE=path for your own transcripts.
	@$(BIN)/antiphon demo $(if $(FILE),"$(FILE)")

serve: $(STAMP) ## Keep the pair up on unix sockets until Ctrl-C. ARGS="..." is passed on.
	@$(BIN)/antiphon serve $(ARGS)

test: $(STAMP) ## Run the whole test suite. ARGS="..." is passed to pytest.
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(ARGS)

lint: $(STAMP) ## Check style, types, protos, compatibility with the frozen protos, and generated code.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	cd protos && ../$(BIN)/buf lint
	cd protos && ../$(BIN)/buf format --diff --exit-code
	cd protos && ../$(BIN)/buf breaking --against baseline.binpb
	@$(BIN)/python scripts/protos.py check

format: $(STAMP) ## Rewrite code and protos in the project's style.
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	cd protos && ../$(BIN)/buf format --write

lock: $(STAMP) ## Choose the newest versions pyproject.toml allows and write them to requirements.lock.
	CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --upgrade --extra dev --allow-unsafe --strip-extras \
		--annotation-style line --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file requirements.lock pyproject.toml

proto: $(STAMP) ## Generate the Python stubs from the protos.
	@$(BIN)/python scripts/protos.py generate

proto-check: $(STAMP) ## Fail if the committed stubs are not what the protos give.
	@$(BIN)/python scripts/protos.py check

proto-freeze: $(STAMP) ## Make the protos as they stand the baseline that `make lint` holds them to.
	@$(BIN)/python scripts/protos.py freeze

bench: $(STAMP) $(PEERS)/.installed ## Measure, print every row with its ratio, write docs/figures/bench.json. ARGS=--quick for a short run.
	@$(BIN)/python -m tests.bench $(ARGS)

bench-peers: $(PEERS)/.installed ## Install the packages we are measured beside, into an environment of their own (bench does it).

$(PEERS)/.installed: tests/bench/peers/requirements.lock
	@$(PYTHON) scripts/check_python.py
	@echo "Making the environment $(PEERS) (once; a few minutes) ..." >&2
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check --no-deps --requirement $<
	@touch $@
	@echo "Peers ready." >&2

crash: $(STAMP) ## Kill the history service 50 times (KILLS=) and cut its power 1,000 times (CUTS=) during acknowledged writes.
	@$(BIN)/python -m tests.crash.kills --kills $(KILLS)
	@$(BIN)/python -m tests.crash.power_cuts --cuts $(CUTS)

crash-exchange: $(STAMP) ## Kill consumers and services at random under 100,000 leased messages (LEASES=), and Collect at every step.
	@$(BIN)/python -m tests.crash.exchange_leases --messages $(LEASES)
	@$(BIN)/python -m pytest -q tests/crash/test_exchange_kills.py
	@$(BIN)/python -m tests.crash.exchange_collect
	@$(BIN)/python -m tests.crash.exchange_collect --operation collect_all --every 2
	@$(BIN)/python -m tests.crash.exchange_collect --operation send --every 2
	@$(BIN)/python -m tests.crash.exchange_collect --operation unregister

crash-watch: $(STAMP) ## Kill a watcher 100 times during 10,000 writes.
	@$(BIN)/python -m tests.crash.watch_kills --kills 100 --writes 10000

programs: $(STAMP) ## Compare the stores and a model over 5,000 random programs (PROGRAMS=).
	@$(BIN)/python -m tests.conformance.programs --programs $(PROGRAMS)

properties: $(STAMP) ## Try what must hold for every compilation on 10,000 random broken histories (EXAMPLES=).
	@ANTIPHON_TEST_EXAMPLES=$(EXAMPLES) HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -q -n $(WORKERS) tests/unit/test_native_properties.py

layout: $(STAMP) ## Measure what an append, a fork and a purge cost as branches grow and multiply.
	@$(BIN)/python -m tests.bench.layout

fuzz: $(STAMP) ## Send each service 20,000 random and mutated requests (COUNT=).
	@$(BIN)/python -m tests.fuzz --count $(COUNT)

clean: ## Remove environments and caches.
	rm -rf $(VENV) $(PEERS) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
