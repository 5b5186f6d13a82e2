#!/usr/bin/env bash
# Loads the devops data set into one InfluxDB 1.8 server with three loaders, in turns: sensormark, influxdb-comparisons and TSBS, each plain and packed by
# gzip. The server has InfluxDB's own settings, on loopback, without accounts, because the other two have none. Each load begins with an empty database.
# The others read a file that was made before; sensormark makes its data while it loads. Run by hand. Prints medians and the ratios of each turn.
#
#   loaders.sh     PROGRAM=… HOSTS=100 HOURS=1 WORKERS=2 TURNS=5
#
# On PATH: influxd; bulk_data_gen and bulk_load_influx (influxdb-comparisons 28eaa08); tsbs_generate_data and tsbs_load_influx (TSBS 37fced7); jq; curl.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

readonly PROGRAM=${PROGRAM:-$PWD/target/release/sensormark} HOSTS=${HOSTS:-100} HOURS=${HOURS:-1} WORKERS=${WORKERS:-2} TURNS=${TURNS:-5}
readonly START=2018-01-01T00:00:00Z
readonly DATABASE=sensormark_peer
scratch=$(mktemp -d)
server=

fail() {
  echo "loaders.sh: $1" >&2
  exit 1
}

cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  [[ -z $server ]] || wait "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT

for program in influxd bulk_data_gen bulk_load_influx tsbs_generate_data tsbs_load_influx jq curl; do
  command -v "$program" >/dev/null || fail "$program is not on PATH"
done
[[ -x $PROGRAM ]] || fail "there is no program $PROGRAM: make build"

free_port() {
  local port
  for ((port = 18086; port < 18186; port++)); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  fail 'no port is free'
}

start_server() {
  local port rpc
  port=$(free_port)
  rpc=$((port + 200))
  cat >"$scratch/influxdb.conf" <<END
reporting-disabled = true
bind-address = "127.0.0.1:$rpc"
[meta]
dir = "$scratch/meta"
[data]
dir = "$scratch/data"
wal-dir = "$scratch/wal"
query-log-enabled = false
[http]
bind-address = "127.0.0.1:$port"
log-enabled = false
END
  influxd -config "$scratch/influxdb.conf" >"$scratch/influxd.log" 2>&1 &
  server=$!
  url=http://127.0.0.1:$port
  for _ in {1..100}; do
    curl --silent --fail "$url/ping" && return
    sleep 0.1
  done
  fail "influxd does not answer: $(tail -n 3 "$scratch/influxd.log")"
}

drop() {
  curl --silent --fail --request POST "$url/query" --data-urlencode "q=DROP DATABASE $DATABASE" >/dev/null
}

# Values of the set in a file: 101 a host every 10 s.
readonly VALUES=$(jq -n "$HOSTS * $HOURS * 360 * 101")

# "RATE CPU": values a second, and CPU-seconds of the client a million values.
sensormark() {
  local layout=individual
  [[ $1 == plain ]] || layout=individual-gzip
  rm -rf "$scratch/results"
  "$PROGRAM" run devops --on "influxdb:$layout=$url/" --set hosts="$HOSTS" --set hours="$HOURS" --set workers="$WORKERS" --set queries=1 --set clients=1 \
    --set more_hours= --set load_seconds=0 --results "$scratch/results" --tolerate-disturbance --progress quiet >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; return 1; }
  jq -r --arg phase "load-$WORKERS" --argjson values "$VALUES" '
    (.loads[] | select(.phase == $phase).seconds) as $seconds
    | (.phases[] | select(.name == $phase).totals.roles.trial.cpu_ns) as $cpu
    | "\($values / $seconds) \($cpu / 1e3 / $values)"' "$scratch"/results/*/trials/*.json
}

# The same of a command that loads a file: its own CPU time, and its running time without its start, which is milliseconds.
timed() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" >"$scratch/said" 2>&1; } 2>"$scratch/time" || { cat "$scratch/said" >&2; return 1; }
  awk -v values="$VALUES" '{ print values / $1, ($2 + $3) * 1e6 / values }' "$scratch/time"
  drop
}

comparisons() {
  timed bulk_load_influx -urls "$url" -workers "$WORKERS" -file "$scratch/comparisons" -db "$DATABASE" -gzip="$2" -progress-interval 1h
}

tsbs() {
  timed tsbs_load_influx --urls "$url" --workers "$WORKERS" --file "$scratch/tsbs" --db-name "$DATABASE" --gzip="$2" --reporting-period 1h
}

end=$(date --utc --date "$START + $HOURS hours" +%Y-%m-%dT%H:%M:%SZ)
bulk_data_gen -use-case devops -scale-var "$HOSTS" -seed 123 -timestamp-start "$START" -timestamp-end "$end" -sampling-interval 10s \
  -format influx-bulk >"$scratch/comparisons" 2>/dev/null
tsbs_generate_data --use-case devops --scale "$HOSTS" --seed 123 --timestamp-start "$START" --timestamp-end "$end" --log-interval 10s \
  --format influx >"$scratch/tsbs" 2>/dev/null
start_server

loaders=(sensormark comparisons tsbs)
for ((turn = 0; turn < TURNS; turn++)); do
  for packing in plain gzip; do
    for place in 0 1 2; do
      loader=${loaders[(place + turn) % 3]}
      gzip=true
      [[ $packing == gzip ]] || gzip=false
      echo "$packing $loader $turn $("$loader" "$packing" "$gzip")"
    done
  done
done >"$scratch/turns"

awk -v hosts="$HOSTS" -v hours="$HOURS" -v workers="$WORKERS" '
  function median(list, count,   i, j, kept) {
    for (i = 1; i < count; i++) for (j = i; j > 0 && list[j - 1] > list[j]; j--) { kept = list[j]; list[j] = list[j - 1]; list[j - 1] = kept }
    return count % 2 ? list[int(count / 2)] : (list[count / 2 - 1] + list[count / 2]) / 2
  }
  { rate[$1, $2, $3] = $4; cpu[$1, $2, $3] = $5; turns = $3 + 1 }
  END {
    printf "InfluxDB, devops, %s hosts, %s h, %s workers, %d turns; medians\n\n", hosts, hours, workers, turns
    print "| packing | loader | M values/s | client CPU-s a million values | sensormark: rate to it | sensormark: CPU to it |"
    print "| --- | --- | --- | --- | --- | --- |"
    split("plain gzip", packings, " "); split("sensormark comparisons tsbs", names, " ")
    for (p = 1; p <= 2; p++) for (n = 1; n <= 3; n++) {
      packing = packings[p]; name = names[n]
      for (t = 0; t < turns; t++) {
        r[t] = rate[packing, name, t] / 1e6; c[t] = cpu[packing, name, t]
        faster[t] = rate[packing, "sensormark", t] / rate[packing, name, t]; leaner[t] = cpu[packing, "sensormark", t] / cpu[packing, name, t]
      }
      printf "| %s | %s | %.3f | %.4f | %.2f | %.2f |\n", packing, name, median(r, turns), median(c, turns), median(faster, turns), median(leaner, turns)
    }
  }' "$scratch/turns"
