#!/usr/bin/env bash
# Every store's whole conformance suite and all tests of failures, on the real servers: what `make test` runs in part, since it takes the better part of an
# hour. Run by hand (make verify); the result becomes docs/notes/verification-servers.md.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly CARGO=${CARGO:-cargo} LOG=target/servers.log PAGE=docs/notes/verification-servers.md

mkdir -p target
status=0
SENSORMARK_SLOW=1 "$CARGO" test --locked --workspace --no-fail-fast --test conformance --test failures 2>&1 | tee "$LOG" || status=$?

# One row a suite: which it is, and libtest's own closing line.
rows() {
  awk '
    /Running tests\/failures/ { suite = "failures through the program" }
    /^conformance of / { suite = $0 }
    /^test result:/ { printf "| %s | %d | %d | %d | %s |\n", suite, $4, $6, $8, $NF }
  ' "$LOG"
}

{
  echo '# Verification on servers'
  echo
  echo "Note of $(date -u +%Y-%m-%d): the whole suites at $(git rev-parse --short HEAD)$(git diff --quiet HEAD -- . ':!docs' || echo ' with changes'). What is ignored says why in the suite's output: a server that"
  echo 'is not installed, or a capability that is stated.'
  echo
  echo '| suite | passed | failed | ignored | took |'
  echo '| --- | ---: | ---: | ---: | ---: |'
  rows
} >"$PAGE.new"
mv "$PAGE.new" "$PAGE"
exit "$status"
