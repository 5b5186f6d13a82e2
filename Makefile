# The two commands of the README are `run` and `test`; `verify` takes longer and is run by hand.
.PHONY: run build test servers format lint unit page docs verify packages bench clean

CARGO ?= cargo

# With the embedded store alone: half of the build is drivers of servers.
run: ## Build with the embedded default, measure it, print a ranking
	$(CARGO) build --release --locked --package sensormark-cli --no-default-features --features sqlite
	./target/release/sensormark run machine-tool

build: ## Build with all databases
	$(CARGO) build --release --locked --package sensormark-cli

test: servers format lint unit page docs ## Install what is needed, then every check

servers:
	bash scripts/install-servers.sh

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings

# --no-fail-fast: one broken store must not hide what the others say. The slowest suites run in part; SENSORMARK_SLOW=1 runs all of them.
unit:
	$(CARGO) test --locked --workspace --no-fail-fast

page: ## The report's page in headless Chromium
	bash scripts/install-servers.sh chromium
	bash scripts/test-page.sh

docs:
	RUSTDOCFLAGS="--deny warnings --allow rustdoc::private-intra-doc-links" $(CARGO) doc --locked --workspace --no-deps

verify: ## What takes longer than tests may; keeps its result in docs/verification.md
	bash scripts/verify.sh
	bash scripts/verify-servers.sh
	bash scripts/packages.sh

packages: ## Archive, Debian package and wheel, each installed and run where nothing of ours is
	bash scripts/packages.sh

bench: ## Criterion benches; figures in docs/speed.md
	$(CARGO) bench --locked --workspace

clean:
	$(CARGO) clean
