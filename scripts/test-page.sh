#!/usr/bin/env bash
# Tests of the report's page in headless Chromium, on runs that are made for them. Needs node, npm and chromium (install-servers.sh
# chromium); says so and fails where one is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PLACE="$PWD/target/page-tests"
readonly SOURCE=crates/sensormark-cli/tests/page
export PROGRAM="$PWD/target/debug/sensormark"

for tool in node npm chromium; do
    command -v "$tool" >/dev/null || { echo "test-page.sh: $tool is not here; see CONTRIBUTING.md" >&2; exit 1; }
done
[[ -x $PROGRAM ]] || { echo 'test-page.sh: run make unit first, which builds the program' >&2; exit 1; }

mkdir -p "$PLACE"
rm -rf "$PLACE"/{results,studies,scratch}
mkdir -p "$PLACE/scratch"
cp "$SOURCE"/{package.json,package-lock.json,page.test.mjs} "$PLACE"
(cd "$PLACE" && npm ci --silent --no-fund --no-audit)

# measure WORKLOAD IMPLEMENTATION RESULTS [FURTHER…]
measure() {
    local status=0
    "$PROGRAM" run "$1" --on "$2" --results "$3" "${@:4}" --tolerate-disturbance --progress=quiet >/dev/null || status=$?
    # 1: a trial is not valid, which a busy machine may bring about; the page is tested all the same.
    ((status <= 1)) || exit "$status"
}

measure "$SOURCE/own.toml" sqlite "$PLACE/results"
for workload in machine-tool sensor-operations devops billing iot-platform; do
    further=()
    case $workload in
        machine-tool) on=sqlite:individual,sqlite:individual-clustered ;;
        # devops shows what grows.
        billing | sensor-operations) on=sqlite further=(--set grown=0) ;;
        iot-platform) on=sqlite:summary further=(--set grown=0) ;;
        *) on=sqlite ;;
    esac
    measure "$workload" "$on" "$PLACE/studies" "${further[@]}"
done
RESULTS=$(echo "$PLACE"/results/*/)
CHROMIUM=$(command -v chromium)
export RESULTS CHROMIUM STUDIES="$PLACE/studies" SCRATCH="$PLACE/scratch"
cd "$PLACE" && exec node --test ${ONLY:+--test-name-pattern "$ONLY"} page.test.mjs
