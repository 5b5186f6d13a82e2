#!/usr/bin/env bash
# What takes longer than tests may: 100 short clean trials that must not be condemned. Run by hand (make verify) on an otherwise
# idle machine; the result, with its date, goes to docs/verification.md.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked --package sensormark-cli
program=$PWD/target/release/sensormark
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Each run has 4 trials on SQLite (two layouts, write and read); 25 runs make 100.
clean_trials() {
  local valid=0 condemned=0 inconclusive=0 run
  for run in $(seq 1 25); do
    "$program" run machine-tool --on sqlite:individual/bulk,sqlite:bulk/bulk --set warmup_seconds=0.5 --set measured_seconds=3.5 \
      --set reads=3 --seed "$run" --results "$scratch/clean" --progress quiet >/dev/null || true
  done
  valid=$(cat "$scratch"/clean/*/trials/*.json | grep -c '"state": "valid"' || true)
  condemned=$(cat "$scratch"/clean/*/trials/*.json | grep -c '"state": "invalid"' || true)
  inconclusive=$(cat "$scratch"/clean/*/trials/*.json | grep -c '"state": "inconclusive"' || true)
  echo "clean trials: $valid valid, $condemned condemned, $inconclusive inconclusive attempts (host disturbed; measured again)"
  [ "$condemned" -eq 0 ]
}

{
  echo "# Verification"
  echo
  echo "Last run of \`make verify\`: $(date -u +%Y-%m-%d), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs), $(nproc) cores, Linux $(uname -r | cut -d- -f1)."
  echo
  clean_trials || true
} | tee docs/verification.md
grep -q ', 0 condemned' docs/verification.md
