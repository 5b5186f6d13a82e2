# The two commands of the README are `run` and `test`; `verify` takes longer and is run by hand.
.PHONY: run build check test servers format deny lint unit page docs drill fuzz verify long-run packages bench clean

CARGO ?= cargo

# With the embedded store alone: half of the build is drivers of servers.
run: ## Build with the embedded default, measure it, print a ranking
	$(CARGO) build --release --locked --package sensormark-cli --no-default-features --features sqlite
	./target/release/sensormark run machine-tool

build: ## Build with all databases
	$(CARGO) build --release --locked --package sensormark-cli

test: format unit ## Install what is needed, then every check

check: format lint ## Within minutes once built: format, lint, unit tests and SQLite's suite
	python3 scripts/run-tests.py --check

# Tests on other hosts are ignored, with the reason, where the second line cannot install.
servers:
	bash scripts/install-servers.sh
	-bash scripts/install-servers.sh openssh slurm pgbouncer

format:
	$(CARGO) fmt --all --check

# Builds cargo-deny in target/tools; ignored, with the reason, where no registry can be reached. The workflow Dependencies runs it with advisories.
deny: ## Licences, sources and known vulnerabilities of all crates
	bash scripts/check-dependencies.sh

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings

# One broken store does not hide what the others say. The slowest suites run in part; SENSORMARK_SLOW=1 runs all of them. Servers are installed while it builds, lint and docs compile beside suites that wait.
unit:
	python3 scripts/run-tests.py servers lint docs page

page: ## The report's page in headless Chromium
	bash scripts/install-servers.sh chromium
	bash scripts/test-page.sh

docs: ## The pages as a site in target/site, and the crates' documentation
	bash scripts/build-site.sh
	RUSTDOCFLAGS="--deny warnings --allow rustdoc::private-intra-doc-links" $(CARGO) doc --locked --workspace --no-deps

# Other interruptions: make drill SEED=7. A step that failed is named with the command that shows it again.
drill: ## A thousand interruptions at random moments; keep the result in docs/notes/verification.md
	SENSORMARK_DRILL=$(or $(STEPS),1150) SENSORMARK_DRILL_SEED=$(or $(SEED),1) $(CARGO) test --locked --workspace --test drill

fuzz: ## Hostile input for everything that reads, FUZZ_SECONDS each; keep the result in docs/notes/verification.md
	SENSORMARK_FUZZ_SECONDS=$(or $(FUZZ_SECONDS),3600) SENSORMARK_FUZZ_SEED=$(or $(SEED),1) $(CARGO) test --locked --workspace --test fuzz --lib --bins -- --test-threads 1 --nocapture hostile records samples histograms workload_files recordings weights lines_of_roles

verify: deny ## What takes longer than tests may; keeps its result in docs/notes/verification.md
	bash scripts/verify.sh
	bash scripts/verify-servers.sh
	bash scripts/packages.sh

long-run: build ## Eight hours of steady load (HOURS=8): nothing of ours may grow; keep the result in docs/notes/long-run.md
	python3 scripts/long-run.py target/release/sensormark $(or $(HOURS),8) sqlite postgresql influxdb

packages: ## Archive, Debian package, wheel and list of crates, each installed and run where nothing of ours is
	bash scripts/packages.sh

bench: ## Criterion benches; figures in docs/results/speed.md
	$(CARGO) bench --locked --workspace

clean:
	$(CARGO) clean
