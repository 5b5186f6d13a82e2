#!/usr/bin/env bash
# Cassandra's cluster of three members, the one that sensormark starts: devops and sensor-operations at quick scale, and drills in which a member is killed (SIGKILL) while clients write. Run
# by hand (make verify). The result of each run, with its date, replaces its row in docs/results/clusters.md.
#
#   PARTS='load drill'                which of the two, both by default
#   PROGRAM=…                         a program that is built already
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PAGE=docs/results/clusters.md PARTS=${PARTS:-load drill} PROGRAM=${PROGRAM:-$PWD/target/release/sensormark}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

command -v jq >/dev/null || {
  echo 'verify-clusters.sh: install the package jq' >&2
  exit 1
}

# What a run's trials came to, as the cells of a row: verdict, outage, acknowledged, of these stored, lost, in doubt, of these stored.
cells() {
  jq -rs '
    def sum(f): map(f) | add;
    def verdict: group_by(.verdict.state) | map("\(length) \(.[0].verdict.state)") | join(", ");
    def reasons: map(.verdict.reasons // [] | .[].text | split("\n")[0]) | unique | if length > 0 then ": " + join("; ") else "" end;
    def outage: map(.figures.outage_seconds.value // empty) | if length > 0 then "\(max * 10 | round / 10) s" else "" end;
    [ verdict + reasons, outage, sum(.ledger.acknowledged // 0), sum((.ledger.acknowledged // 0) - (.ledger.lost // 0)), sum(.ledger.lost // 0),
      sum(.ledger.in_doubt // 0), sum((.ledger.in_doubt // 0) - (.ledger.in_doubt_not_stored // 0)) ]
    | map(tostring | gsub("\\|"; "/")) | join(" | ")' "$@"
}

# Replaces the row of a run in the table, or adds it.
keep() {
  local row="| $1 | $(date -u +%Y-%m-%d) | $2 |"
  echo "$row"
  grep -vF "| $1 |" "$PAGE" >"$scratch/page"
  echo "$row" >>"$scratch/page"
  cp "$scratch/page" "$PAGE"
}

# A run of one layout: what it is called, database, level, and the program's further arguments.
measure() {
  local what=$1 store=$2 level=$3 status=0 trials
  shift 3
  rm -rf "$scratch/results"
  "$PROGRAM" run "$@" --on "$store:individual" --cluster 3 --consistency "$level" --tolerate-disturbance --progress quiet --results "$scratch/results" \
    >"$scratch/said" 2>&1 || status=$?
  trials=("$scratch"/results/*/trials/*.json)
  if [[ -f ${trials[0]} ]]; then
    keep "$store | $level | $what" "$(cells "${trials[@]}")"
  else
    keep "$store | $level | $what" "not measured: $(grep -m1 'sensormark:' "$scratch/said" || tail -n1 "$scratch/said") | | | | | |"
    status=1
  fi
  [[ $status -eq 0 ]] || failed=1
}

load() {
  measure sensor-operations "$1" "$2" sensor-operations
  measure devops "$1" "$2" devops
}

# In class durable each acknowledged write has to survive, whatever the level promises.
drill() {
  local victim=$3
  measure "loss of a member, $victim" "$1" "$2" durability --durability durable --set "kill=$victim"
}

[[ -x $PROGRAM ]] || cargo build --release --locked --package sensormark-cli
if [[ $PARTS == *load* ]]; then
  load cassandra quorum
  load cassandra one
fi
if [[ $PARTS == *drill* ]]; then
  for victim in primary replica; do
    drill cassandra quorum "$victim"
  done
  # All copies are needed, so that nothing is written while one is away.
  drill cassandra all replica
fi
exit "$failed"
