# Every target makes the environment it needs; `make run` and `make test` work
# as the first command on a clean checkout.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
SESSIONS := .venv-sessions
ADAPTERS := .venv-adapters
BROKERS := redis-server nats-server
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
C_SOURCES := $(wildcard clients/python/antiphon_client/*/_compiled.c compiler_service/_compiled.c compiler_service/*/_compiled.c)
WORKERS ?= 2
KILLS ?= 50
CUTS ?= 1000
LIVES ?= 50
FLOOD ?= 20
SOAK ?= 3600
COUNT ?= 20000
LEASES ?= 100000
PROGRAMS ?= 5000
EXAMPLES ?= 10000
STOPS ?= 50
FAILOVERS ?= 10
PG_PROGRAMS ?= 2000
RETRIES ?= 10000
SNAPSHOTS ?= 200
WORK ?= append batch mailbox compile

export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
.PHONY: help setup compiled-parts run serve test adapters adapters-bench lint format lock proto proto-check proto-freeze bench bench-peers bench-brokers profile layout crash crash-exchange crash-watch chaos flood soak programs postgres crash-postgres failover properties fuzz retries determinism figures gateway polyglot clean
MAKEFLAGS += --no-print-directory

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with the locked dependencies (every target does this when needed).

$(STAMP): requirements.lock pyproject.toml $(C_SOURCES)
	@$(PYTHON) scripts/check_python.py
	@echo "Making the environment $(VENV) from requirements.lock (once; about a minute) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --requirement requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip check --disable-pip-version-check >&2
	@touch $@
	@$(MAKE) compiled-parts
	@echo "Environment ready." >&2

compiled-parts: ## Build what is compiled from C with the machine's compiler, if it has one (setup does it).
	@$(BIN)/python scripts/compiled_parts.py

run: $(STAMP) ## Start the pair, import a conversation, compile a turn, show both. FILE=path for your own transcripts.
	@$(BIN)/antiphon demo $(if $(FILE),"$(FILE)")

serve: $(STAMP) ## Keep the pair up on unix sockets until Ctrl-C. ARGS="..." is passed on.
	@$(BIN)/antiphon serve $(ARGS)

test: $(STAMP) ## Run the whole test suite. ARGS="..." is passed to pytest.
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(ARGS)

adapters: $(ADAPTERS)/.installed ## Test the adapters of agent frameworks with the frameworks' own packages.
	@$(ADAPTERS)/bin/python -m pytest -q tests/adapters $(ARGS)

adapters-bench: $(ADAPTERS)/.installed ## Load 1,000 items beside each framework's own SQLite session. ARGS="--rounds 9" is passed on.
	@PYTHONPATH=.:clients/python $(ADAPTERS)/bin/python -W ignore -m tests.adapters.bench $(ARGS)

$(ADAPTERS)/.installed: tests/adapters/requirements.lock
	@$(PYTHON) scripts/check_python.py
	@echo "Making the environment $(ADAPTERS) (once; a few minutes) ..." >&2
	@$(PYTHON) -m venv $(ADAPTERS)
	@$(ADAPTERS)/bin/python -m pip install -qq --disable-pip-version-check --no-deps --requirement $<
	@$(ADAPTERS)/bin/python -m pip check --disable-pip-version-check >&2
	@touch $@
	@echo "Adapters ready." >&2

lint: $(STAMP) ## Check style, types, protos, compatibility with the last release's protos, generated code, and security.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	cd protos && ../$(BIN)/buf lint
	cd protos && ../$(BIN)/buf format --diff --exit-code
	$(BIN)/python scripts/protos.py breaking
	@$(BIN)/python scripts/protos.py check
	$(BIN)/python scripts/compiled_parts.py check
	@$(BIN)/python scripts/security.py code
	@$(BIN)/python scripts/security.py dependencies

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

proto-freeze: $(STAMP) ## Record the contract as it stands as release VERSION=: its image, and bytes of every kind of message.
	@$(BIN)/python -m tests.contract.wire_fixtures record "$(VERSION)"

bench: $(STAMP) $(PEERS)/.installed $(SESSIONS)/.installed ## Measure, print every row with its ratio, write docs/figures: bench.json, a plot, figures.md. ARGS=--quick for a short run.
	@$(BIN)/python -m tests.bench $(ARGS)

bench-peers: $(PEERS)/.installed $(SESSIONS)/.installed ## Install the packages we are measured beside, into environments of their own (bench does it).

bench-brokers: ## Install the message brokers that mailboxes are measured beside, Debian's packages (root).
	@apt-get install --yes --no-install-recommends $(BROKERS)

$(PEERS)/.installed: tests/bench/peers/requirements.lock
$(SESSIONS)/.installed: tests/bench/peers/sessions.lock
$(PEERS)/.installed $(SESSIONS)/.installed:
	@$(PYTHON) scripts/check_python.py
	@echo "Making the environment $(@D) (once; a few minutes) ..." >&2
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install -qq --disable-pip-version-check --no-deps --requirement $<
	@$(@D)/bin/python -m pip check --disable-pip-version-check >&2
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

chaos: $(STAMP) ## Kill, pause, cut off and fill the disk of the history service in 50 lives (LIVES=). ARGS="--seed N" repeats one.
	@$(BIN)/python -m tests.crash.chaos --lives $(LIVES) $(ARGS)

flood: $(STAMP) ## Send the history service ten times the calls it serves at once, for 20 s (FLOOD=).
	@$(BIN)/python -m tests.load.flood --seconds $(FLOOD) $(ARGS)

soak: $(STAMP) ## Load both services with a bit of everything for an hour (SOAK=seconds); memory, log and p99 must stay.
	@$(BIN)/python -m tests.load.soak --seconds $(SOAK) $(ARGS)

programs: $(STAMP) ## Compare the stores and a model over 5,000 random programs (PROGRAMS=).
	@$(BIN)/python -m tests.conformance.programs --programs $(PROGRAMS)

postgres: $(STAMP) ## Run conformance and 2,000 random programs (PG_PROGRAMS=) on every PostgreSQL to be had, or on ANTIPHON_TEST_PG=DIR.
	@$(BIN)/python -m tests.support.postgres | while read -r folder; do \
		export ANTIPHON_TEST_PG="$$folder"; \
		"$$folder/postgres" --version && \
		$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile tests/conformance tests/unit/test_postgres_store.py tests/unit/test_postgres_encryption.py tests/e2e/test_replicas.py -k "postgres or replicas" && \
		$(BIN)/python -m tests.conformance.programs --store postgres --programs $(PG_PROGRAMS) || exit 1; \
	done

crash-postgres: $(STAMP) ## Stop PostgreSQL at once 50 times (STOPS=) during acknowledged appends.
	@$(BIN)/python -m tests.crash.postgres_stops --stops $(STOPS)

failover: $(STAMP) ## Lose the primary of three PostgreSQL servers 10 times (FAILOVERS=) during acknowledged appends, and promote a standby.
	@$(BIN)/python -m tests.crash.failovers --failovers $(FAILOVERS) $(ARGS)

properties: $(STAMP) ## Try what must hold for every compilation on 10,000 random broken histories (EXAMPLES=).
	@ANTIPHON_TEST_EXAMPLES=$(EXAMPLES) HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -q -n $(WORKERS) tests/unit/test_native_properties.py

retries: $(STAMP) ## Send 10,000 requests again (RETRIES=), also at once and across restarts, and race 32 writers on one branch.
	@$(BIN)/python -m tests.crash.retries --retries $(RETRIES)
	@$(BIN)/python -m tests.crash.racing --appends 100

determinism: $(STAMP) ## Compile 200 random snapshots (SNAPSHOTS=) in four processes; check the digests in Python and Go.
	@$(BIN)/python -m tests.polyglot.determinism --snapshots $(SNAPSHOTS)

figures: $(STAMP) ## Write docs/figures.md anew. ARGS=--measure runs every reliability harness in its long form first (hours).
	@$(BIN)/python -m tests.figures $(ARGS)

profile: $(STAMP) ## Tell where the CPU time of a row of the bench goes: WORK=append, batch, mailbox, compile. ARGS=--record writes docs/profiles.md.
	@$(BIN)/python -m tests.bench.profile $(WORK) $(ARGS)

layout: $(STAMP) ## Measure what an append, a fork and a purge cost as branches grow and multiply.
	@$(BIN)/python -m tests.bench.layout

fuzz: $(STAMP) ## Send each service 20,000 random and mutated requests (COUNT=).
	@$(BIN)/python -m tests.fuzz --count $(COUNT)

polyglot: $(STAMP) ## Run every language's client and the shared scenarios on one pair (root installs packages). ARGS="--only go" is passed on.
	@$(BIN)/python -m tests.polyglot $(ARGS)

gateway: $(STAMP) ## Run the example gateway, an OpenAI endpoint that keeps its conversations, with a stand-in for a provider.
	@$(BIN)/python clients/gateway/demo.py

clean: ## Remove environments and caches.
	rm -rf $(VENV) $(PEERS) $(SESSIONS) $(ADAPTERS) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
