#!/usr/bin/env bash
# A long run: the shape of devops at a steady rate on several stores at once, watched from outside. Shows whether memory, descriptors, threads and disk of
# sensormark stay flat, the pacing holds, estimates come true, and reports answer while it runs; one run is interrupted. Plots go to docs/notes/long-run/,
# figures to docs/notes/long-run.md. Part of what make verify leaves to a night: make long-run.
#
#   long-run.sh                                      8 hours
#   MINUTES=90 long-run.sh sqlite:1 postgresql:2     other times, stores, and how many trials share the time
#   long-run.sh draw FOLDER                          plots and figures of a run, one that still goes on too
#   PROGRAM=… FOLDER=… INTERRUPT=… INTERRUPT_MINUTE=…  a program that is built already, a new folder to keep, which run is interrupted and when
set -euo pipefail
cd "$(dirname "$0")/.."

# A new version comes with a new run: plots of two versions differ.
readonly MATPLOTLIB=3.11.2

draw() {
  local place=target/long-run
  [[ -x $place/bin/python ]] || python3 -m venv "$place"
  "$place/bin/pip" install --quiet --no-input --only-binary=:all: "matplotlib==$MATPLOTLIB"
  "$place/bin/python" scripts/long-run-plots.py "$1" docs/notes
}

if [[ ${1:-} == draw ]]; then
  draw "${2:?which folder?}"
  exit
fi

minutes=${MINUTES:-$((${HOURS:-8} * 60))}
program=${PROGRAM:-$PWD/target/release/sensormark}
folder=${FOLDER:-$(mktemp -d)/long-run}
[[ -n ${PROGRAM:-} ]] || cargo build --release --locked --package sensormark-cli
(($# > 0)) || set -- postgresql:2 influxdb:5 sqlite:1
echo "Results and samples are in $folder; for plots before the end: scripts/long-run.sh draw $folder"
python3 scripts/long-run.py --program "$program" --workload scripts/long-run.toml --folder "$folder" --minutes "$minutes" \
  --interrupt "${INTERRUPT:-influxdb}" --interrupt-minute "${INTERRUPT_MINUTE:-$((minutes * 11 / 13))}" "$@"
draw "$folder"
