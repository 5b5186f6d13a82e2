#!/usr/bin/env bash
# What takes longer than tests may: 200 short clean trials of several workloads none of which may be called invalid, and a store against itself and against
# itself slowed by 5 %, and ten minutes of random cases for each store. Run by hand (make verify) on an otherwise idle machine. The result of each part,
# with its date, goes to docs/notes/verification.md.
#
#   verify.sh [clean] [alike] [random]     all without an argument
#   PROGRAM=… verify.sh clean     with a program that is built already
set -euo pipefail
cd "$(dirname "$0")/.."

readonly RESULTS=docs/notes/verification.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Replaces the row of a part in the table of results, or adds it.
keep() {
  local part=$1 result=$2 model
  model=$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs)
  local row="| $part | $(date -u +%Y-%m-%d) | $model, $(nproc) cores, Linux $(uname -r | cut -d- -f1), load $(cut -d' ' -f1 /proc/loadavg) | $result |"
  echo "$row"
  grep -v "^| $part |" "$RESULTS" >"$scratch/results"
  echo "$row" >>"$scratch/results"
  cp "$scratch/results" "$RESULTS"
}

# How many records, of all attempts, have this verdict.
count() {
  cat "$scratch"/clean/*/trials/*.json | grep -c "^    \"state\": \"$1\"" || true
}

clean() {
  local program=${PROGRAM:-$PWD/target/release/sensormark} run
  [[ -n ${PROGRAM:-} ]] || cargo build --release --locked --package sensormark-cli
  measure() {
    "$program" run "$@" --results "$scratch/clean" --progress quiet >/dev/null 2>>"$scratch/said" || true
  }
  # 12 runs of the user's own workload with 9 trials each, 8 of sensor-operations with 5, 8 of machine-tool with 6 (writes and reads of three
  # layouts), 8 of devops with 2: 212. A run that cannot be started would leave too few.
  for run in $(seq 1 12); do
    measure crates/sensormark-cli/tests/page/own.toml --on sqlite --seed "$run"
    ((run > 8)) || measure sensor-operations --on sqlite --seed "$run" --set single=60 --set multi=400 --set batch=50 --set sensors=7 --set clients=1,3 --set grown=0 \
      --set statements=all
    ((run > 8)) || measure machine-tool --on sqlite:individual/bulk,sqlite:individual-clustered/bulk,sqlite:bulk/bulk --seed "$run" --set warmup_seconds=0.5 --set measured_seconds=3.5 --set reads=3 --set history_seconds=2
    ((run > 8)) || measure devops --on sqlite:individual,sqlite:individual-clustered --seed "$run" --set hosts=4 --set hours=0.25 --set more_hours=0.5 --set workers=1,2 --set clients=1,2 \
      --set queries=12 --set batch=60 --set short_minutes=5 --set long_minutes=11 --set mean_minutes=12 --set mean_step_minutes=4 --set several_hosts=3
  done
  local trials valid invalid inconclusive
  trials=$(ls "$scratch"/clean/*/trials/*.json | sed -E 's/-a[0-9]+\.json$//' | sort -u | wc -l)
  valid=$(count valid) invalid=$(count invalid) inconclusive=$(count inconclusive)
  keep 'clean trials' "$trials trials: $valid valid, $invalid invalid, $inconclusive attempts inconclusive (host disturbed: repeated up to twice)"
  [[ $invalid -eq 0 && $trials -ge 200 ]]
}

# The test's own lines are the result. With real-time scheduling, where that is allowed, other programs on the machine take no turns in between.
alike() {
  local first=() status=0
  ! chrt --fifo 1 true 2>/dev/null || first=(chrt --fifo 1)
  cargo test --locked --workspace --test engine --no-run
  "${first[@]}" cargo test --locked --workspace --test engine alike -- --ignored --nocapture >"$scratch/alike" || status=$?
  keep 'A against A' "$(grep '^A against A' "$scratch/alike" | paste -sd';' | sed 's/;/; /g')"
  return "$status"
}

# Each store says itself which cases it was tried with.
random() {
  local status=0
  SENSORMARK_PROPERTY_SECONDS=${SENSORMARK_PROPERTY_SECONDS:-600} \
    cargo test --locked --workspace --no-fail-fast --test conformance C-R-01 >"$scratch/random" || status=$?
  keep 'random cases' "$(grep '^random cases of' "$scratch/random" | sed 's/^random cases of //' | paste -sd';' | sed 's/;/; /g')"
  return "$status"
}

failed=0
for part in "${@:-clean}" $([[ $# -gt 0 ]] || echo alike random); do
  "$part" || failed=1
done
exit "$failed"
