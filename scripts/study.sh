#!/usr/bin/env bash
# The five studies by their own protocol (--scale study), lengths shortened by the factors that stand here, where the study's own take hours or days. Keeps
# each result with its page in a folder of its own. Run by hand on a quiet machine; all five take about an hour. docs/results/overview.md tells what came out.
#
#   study.sh [WORKLOAD]...     all five by default
#     PROGRAM=…        a program that is built already
#     RESULTS=FOLDER   where the results go, docs/results by default; a workload's folder is replaced when its run has ended well
#
# GridDB, of billing, is measured where it is installed (docs/notes/griddb.md).
set -euo pipefail
shopt -s inherit_errexit nullglob
cd "$(dirname "$0")/.."

readonly PROGRAM=${PROGRAM:-$PWD/target/release/sensormark} RESULTS=${RESULTS:-$PWD/docs/results}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "study.sh: $1" >&2
  exit 1
}

# The databases of each study, and its shortened lengths. A factor is ours to the study's.
arguments() {
  case $1 in
    # 5 s of warm-up, 15 s of writing and 45 cycle reads: 1/60.
    machine-tool) echo "--on mariadb,mongodb,influxdb
      --set warmup_seconds=5 --set measured_seconds=15 --set reads=45" ;;
    # 10,000 single and 100,000 multi readings: 1/100. A phase is cut after 5 s instead of 10 minutes. Three repetitions, so that claims are decided.
    sensor-operations) echo "--on postgresql,mongodb,cassandra --set single=10000 --set multi=100000 --set limit_seconds=5 --set repetitions=3" ;;
    # 3 hours of data instead of 24, then 6 instead of 48 to 96; 20 questions of each kind instead of 1,000.
    devops) echo "--on influxdb,mongodb --set hours=3 --set more_hours=6 --set workers=1,16 --set clients=1,8 --set queries=20 --set long_minutes=90 --set mean_minutes=180" ;;
    # A month instead of a year, 320 meters instead of 1,600 to 6,400; the ingest with 160 meters is the study's but for its length.
    billing) echo "--on griddb,mariadb --set bill_month=1 --set records=744 --set devices=320 --set repetitions=3" ;;
    # 73 days instead of 438, 5 questions of each kind instead of 20, 3 repetitions instead of 5.
    iot-platform) echo "--on mongodb,influxdb --set days=73 --set spans=1,7,30,60 --set questions=5 --set messages=2000 --set repetitions=3" ;;
    *) fail "there is no workload $1" ;;
  esac
}

(($#)) || set -- machine-tool sensor-operations devops billing iot-platform
for workload; do
  read -rd '' -a given < <(arguments "$workload") || true
  [[ ${#given[@]} -gt 0 ]] || exit 1
  status=0
  # From there, so that no path of this machine is kept.
  (cd "$scratch" && "$PROGRAM" run "$workload" --scale study "${given[@]}" --results "$workload") >"$scratch/said" || status=$?
  # 1: a trial is not valid, which the page tells.
  ((status <= 1)) || fail "$workload ended with $status"
  runs=("$scratch/$workload"/*/)
  # What each second and each sample was is large, and the trials' records and the page tell what came of it.
  rm -rf "${runs[0]}"/{samples,files,figures} "${runs[0]}"/trials/*.journal
  mkdir -p "$RESULTS"
  rm -rf "${RESULTS:?}/$workload"
  mv "${runs[0]}" "$RESULTS/$workload"
  echo "$workload: exit $status, $(find "$RESULTS/$workload/trials" -name '*.json' | wc -l) trials, $((SECONDS / 60)) min so far"
done
