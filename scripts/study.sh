#!/usr/bin/env bash
# The five studies by their own protocol (--scale study), lengths shortened by the factors that stand here, where the study's own take days. Keeps
# each result with its page in a folder of its own. Run by hand on a quiet machine; all five take a night. docs/results/overview.md tells what came out.
#
#   study.sh [WORKLOAD]...     all five by default
#     FACTOR=6         shortens all lengths by so much more: the five then take about an hour, and claims about a year stay open
#     PROGRAM=…        a program that is built already
#     RESULTS=FOLDER   where the results go, docs/results by default; a workload's folder is replaced when its run has ended well
#
# GridDB, of billing, is measured where it is installed (docs/reference/databases.md).
set -euo pipefail
shopt -s inherit_errexit nullglob
cd "$(dirname "$0")/.."

readonly PROGRAM=${PROGRAM:-$PWD/target/release/sensormark} RESULTS=${RESULTS:-$PWD/docs/results} FACTOR=${FACTOR:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "study.sh: $1" >&2
  exit 1
}

# A length divided by FACTOR, and no less than is said.
shorter() {
  local length=$(($1 / FACTOR))
  echo $((length > $2 ? length : $2))
}

# The databases of each study, and its shortened lengths. A factor is ours to the study's. Three repetitions or more, so that claims are decided.
arguments() {
  local length
  case $1 in
    # 30 s of warm-up, 90 s of writing and 270 cycle reads: 1/10.
    machine-tool)
      length=$(shorter 90 15)
      echo "--on mariadb,mongodb,influxdb --set warmup_seconds=$(shorter 30 5) --set measured_seconds=$length --set history_seconds=0 --set reads=$((3 * length)) --set repetitions=3"
      ;;
    # 100,000 single and 1,000,000 multi readings: 1/10. A phase is cut after 30 s instead of 10 minutes.
    sensor-operations)
      echo "--on postgresql,mongodb,cassandra --set single=$(shorter 100000 10000) --set multi=$(shorter 1000 100)000
        --set limit_seconds=$(shorter 30 5) --set repetitions=3"
      ;;
    # The study's 24 hours, then 48 instead of 48 to 96; 200 questions of each kind instead of 1,000.
    devops)
      length=$(shorter 24 2)
      echo "--on influxdb,mongodb --set hours=$length --set more_hours=$((2 * length)) --set workers=1,16 --set clients=1,8 --set queries=$(shorter 200 20)
        --set long_minutes=$((30 * length)) --set mean_minutes=$((60 * length)) --set repetitions=3"
      ;;
    # A year as the study, 320 and 1,280 meters instead of 1,600 to 6,400; the ingest with 160 meters is the study's. A month where it is shortened.
    billing)
      length=$(shorter 8760 744)
      echo "--on griddb,mariadb --set records=$length --set devices=320,1280 --set repetitions=3"
      ((length == 8760)) || echo "--set bill_month=1"
      ;;
    # All as the study.
    iot-platform)
      length=$(shorter 438 30)
      echo "--on mongodb,influxdb --set days=$length --set questions=$(shorter 20 5) --set messages=$(shorter 20000 1000)"
      ((length >= 365)) || echo "--set spans=1,7,30 --set repetitions=3"
      ;;
    *) fail "there is no workload $1" ;;
  esac
}

[[ $FACTOR =~ ^[1-9][0-9]*$ ]] || fail "FACTOR=$FACTOR is not a whole number from 1 on"
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
