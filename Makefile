# The two commands of the README are `run` and `test`; `verify` takes longer and is run by hand.
.PHONY: run test servers format lint unit page conformance-pending docs verify bench clean

CARGO ?= cargo

run: ## Build, measure the embedded default, print a ranking
	$(CARGO) build --release --locked --package sensormark-cli
	./target/release/sensormark run machine-tool

test: servers format lint unit page docs ## Install what is needed, then every check

servers:
	bash scripts/install-servers.sh

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings

# Stores whose conformance suite is not yet known to pass as a whole; everything else of theirs is checked by `test`.
PENDING := sensormark-mongodb sensormark-cassandra sensormark-influxdb sensormark-griddb

# --no-fail-fast: one broken store must not hide what the others say.
unit:
	$(CARGO) test --locked --workspace --no-fail-fast $(PENDING:%=--exclude %)
	$(CARGO) test --locked --lib $(PENDING:%=--package %)

page: ## The report's page in headless Chromium
	bash scripts/install-servers.sh chromium
	bash scripts/test-page.sh

conformance-pending: ## The conformance suites that `test` leaves out
	$(CARGO) test --locked --no-fail-fast $(PENDING:%=--package %)

docs:
	RUSTDOCFLAGS="--deny warnings --allow rustdoc::private-intra-doc-links" $(CARGO) doc --locked --workspace --no-deps

verify: ## What takes longer than tests may; keeps its result in docs/verification.md
	bash scripts/verify.sh
	SENSORMARK_SLOW=1 $(CARGO) test --locked --workspace --test failures

bench: ## Criterion benches; figures in docs/speed.md
	$(CARGO) bench --locked --workspace

clean:
	$(CARGO) clean
