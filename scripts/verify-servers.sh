#!/usr/bin/env bash
# All tests with those that `make test` leaves out, on the real servers, in an hour or two. Run by hand (make verify); the result becomes docs/notes/verification-servers.md.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly LOG=target/servers.log PAGE=docs/notes/verification-servers.md

mkdir -p target
status=0
SENSORMARK_SLOW=1 python3 scripts/run-tests.py servers 2>&1 | tee "$LOG" || status=$?

{
  echo '# Verification on servers'
  echo
  echo "Note of $(date -u +%Y-%m-%d): all tests at $(git rev-parse --short HEAD)$(git diff --quiet HEAD -- . ':!docs' || echo ' with changes'). What is ignored says why in the suite's output: a server that"
  echo 'is not installed, or a capability that is stated.'
  echo
  echo '| suite | passed | failed | ignored | took |'
  echo '| --- | ---: | ---: | ---: | ---: |'
  # One row a suite: which it is, and libtest's own closing line.
  awk '/^     Running / { suite = substr($0, 14) } /^test result:/ { printf "| %s | %d | %d | %d | %s |\n", suite, $4, $6, $8, $NF }' "$LOG"
} >"$PAGE.new"
mv "$PAGE.new" "$PAGE"
exit "$status"
