#!/usr/bin/env bash
# Like against like: pairs of runs of one workload on one store, in turns, each pair compared as `sensormark compare` does. Says what share of the figures is
# called different before the correction for how many are tested (5 % are by chance alone), and in how many pairs any figure is called better or worse by
# the corrected rule. With --slow 0.9 the second run of each pair has a tenth of the server's processor time taken away, and it counts in how many pairs that
# is found. For a quiet machine: a trial of a disturbed host is measured again, and left out if that does not help. Run by hand. Needs jq, and for --slow root.
#
# With --in-turns yes each pair is one run instead, of two servers that take turns, compared as `sensormark compare RUN` does. So a machine whose own speed varies
# from minute to minute shows a change that it hides between runs. --slow 1 is like against like.
#
#   same.sh [--store postgresql] [--pairs 40] [--repetitions 5] [--slow 0.9] [--in-turns yes] [--threshold PERCENT] [--results FOLDER]
#   PROGRAM=… with a program that is built already
#   SET="single=6000 multi=100000 clients=4" for other sizes of the workload sensor-operations
#   OPTIONS="--durability relaxed" for other options of the runs; relaxed, because a database that waits for the disk does not miss a tenth of a processor
#
# sensormark starts the servers, since it takes the processor time of one that it did not start for a disturbance. With --slow the server of both runs is held in
# a control group, so that its cost is in both: in the first run it has CORES of a processor's time (0.5, so that clients keep it busy), in the second its share of that.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

readonly PROGRAM=${PROGRAM:-$PWD/target/release/sensormark} SET=${SET:-single=6000 multi=100000 clients=4}
readonly OPTIONS=${OPTIONS:---durability relaxed}
readonly CORES=${CORES:-0.5} PERIOD_US=10000
store=postgresql pairs=40 repetitions=5 slow='' in_turns='' results='' threshold=''
group='' launcher=()

fail() {
  echo "same.sh: $1" >&2
  exit 1
}

while (($#)); do
  (($# > 1)) || fail "$1 takes a value"
  case $1 in
    --store) store=$2 ;;
    --pairs) pairs=$2 ;;
    --repetitions) repetitions=$2 ;;
    --slow) slow=$2 ;;
    --in-turns) in_turns=$2 ;;
    --threshold) threshold=$2 ;;
    --results) results=$2 ;;
    *) fail "there is no option $1: see the head of this file" ;;
  esac
  shift 2
done
command -v jq >/dev/null || fail "jq is not on PATH: apt-get install jq"
[[ -x $PROGRAM ]] || fail "$PROGRAM is not there: cargo build --release, or PROGRAM=…"
[[ -z $slow || $slow =~ ^(0\.[0-9]+|1)$ ]] || fail "--slow $slow: give a share of the processor's time, such as 0.9"
[[ $in_turns =~ ^(yes)?$ ]] || fail "--in-turns $in_turns: say yes, or leave it out"
[[ -z $in_turns || -n $slow ]] || fail "--in-turns yes takes --slow"
scratch=$(mktemp -d)
results=${results:-$scratch/results}

cleanup() {
  [[ -z $group ]] || rmdir "$group" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT

# Makes a control group, and a setsid that joins it before it becomes the real one. sensormark starts servers by setsid; the runs alone see this one in its place.
hold() {
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control || echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
    group=/sys/fs/cgroup/sensormark-same-$$
  else
    group=/sys/fs/cgroup/cpu/sensormark-same-$$
  fi
  mkdir "$group" || fail "no control group can be made here, which --slow takes"
  real=$(readlink -f "$(command -v setsid)")
  cp "$real" "$scratch/real-setsid"
  printf '#!/bin/sh\necho $$ >%s/cgroup.procs\nexec %s/real-setsid "$@"\n' "$group" "$scratch" >"$scratch/setsid"
  chmod 755 "$scratch/setsid"
  # shellcheck disable=SC2016
  launcher=(unshare --mount bash -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$scratch/setsid" "$real")
}

# Gives the server this share of the processor time that it has at first.
share() {
  local quota
  quota=$(awk -v share="$1" -v cores="$CORES" -v period=$PERIOD_US 'BEGIN { printf "%d", share * cores * period }')
  if [[ -f $group/cpu.max ]]; then
    echo "$quota $PERIOD_US" >"$group/cpu.max"
  else
    echo "$PERIOD_US" >"$group/cpu.cfs_period_us"
    echo "$quota" >"$group/cpu.cfs_quota_us"
  fi
}

# Measures these stores once; leaves the run's folder in `run`, and what was said in `told`.
measure() {
  local folder=$results/$1 numbers=() number
  for number in $SET; do numbers+=(--set "$number"); done
  # shellcheck disable=SC2086
  "${launcher[@]}" "$PROGRAM" run sensor-operations --on "$2" $OPTIONS --set index=with --set sweep=false --set grown=0 "${numbers[@]}" --set repetitions="$repetitions" \
    --results "$folder" --progress=plain 2>&1 >"$scratch/result" | follow >"$scratch/told" || ((PIPESTATUS[0] == 1)) || fail "run $1: $(tail -5 "$scratch/told")"
  run=$(find "$folder" -mindepth 1 -maxdepth 1 -type d | head -1)
}

# Passes on what a run says, and gives the server its share when a trial of one of two servers begins ("[3/16] PostgreSQL #b individual: …").
follow() {
  local line
  while IFS= read -r line; do
    echo "$line"
    case $line in
      "["*"/"*"] "*" #a "*) share 1 ;;
      "["*"/"*"] "*" #b "*) share "$slow" ;;
    esac
  done
}

[[ -z $slow ]] || hold
[[ -z $slow ]] || share 1
measure warm-up "$store:individual"
for ((pair = 1; pair <= pairs; pair++)); do
  if [[ -n $in_turns ]]; then
    measure "$pair" "$store#a:individual,$store#b:individual"
    compared=("$run")
  else
    [[ -z $slow ]] || share 1
    measure "$pair-first" "$store:individual"
    compared=("$run")
    [[ -z $slow ]] || share "$slow"
    measure "$pair-second" "$store:individual"
    compared+=("$run" ${threshold:+--threshold "$threshold"})
  fi
  # A trial of a disturbed host is inconclusive, and what is not valid in a run is not compared.
  "$PROGRAM" compare "${compared[@]}" --format json >"$scratch/told" || {
    echo "pair $pair of $pairs is left out: nothing in it can be compared" >&2
    continue
  }
  mv "$scratch/told" "$scratch/pair-$pair.json"
  echo "pair $pair of $pairs" >&2
done

compgen -G "$scratch/pair-*.json" >/dev/null || fail "no pair could be compared: is the machine quiet?"
# Of each pair's table "tests": ratio, p, corrected p, detectable change, verdict.
jq -r --slurp --arg slow "$slow" '
  def tests: [.sections[].blocks[] | select(.kind == "table" and .id == "tests") | .rows[]];
  [.[] | tests] as $pairs
  | [$pairs[][] | select(.[3].value != null)] as $tested
  | [$pairs[] | map(select(.[6].text == "better" or .[6].text == "worse")) | select(length > 0)] as $found
  # In turns the second server may happen to lead; then the first is better.
  | [$pairs[] | map(select(.[6].text == (if .[0].text | contains("#a ") then "better" else "worse" end))) | select(length > 0)] as $worse
  | [$pairs[][] | select(.[6].text | startswith("not decided"))] as $disturbed
  | ($tested | map(select(.[3].value < 0.05)) | length) as $different
  | ($tested | map(.[2].value | log | fabs) | sort) as $apart
  | ($tested | map(.[5].value | select(. != null)) | sort) as $detectable
  | if ($tested | length) == 0 then "no figure was tested"
    else
      "\($pairs | length) pairs, \($tested | length) figures tested, \($disturbed | length) not decided because the host was disturbed",
      "called different before correction: \($different) (\(1000 * $different / ($tested | length) | round / 10) %)",
      "pairs with any figure called better or worse after correction: \($found | length) (\(1000 * ($found | length) / ($pairs | length) | round / 10) %)",
      "how far apart like figures were: median \($apart[($apart | length) / 2 | floor] | exp - 1 | . * 1000 | round / 10) %, 95th percentile \($apart[($apart | length) * 0.95 | floor] | exp - 1 | . * 1000 | round / 10) %",
      (if ($detectable | length) > 0 then "would have seen: median \($detectable[($detectable | length) / 2 | floor] | . * 10 | round / 10) %" else empty end),
      (if $slow != "" then "with \($slow) of the processor time, something was called worse in \($worse | length) of \($pairs | length) pairs" else empty end),
      "figures called different before correction, by name:",
      ($tested | group_by(.[1].text)[] | {name: .[0][1].text, all: length, different: (map(select(.[3].value < 0.05)) | length)} | select(.different > 0) | "  \(.name): \(.different) of \(.all)")
    end' "$scratch"/pair-*.json
