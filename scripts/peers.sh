#!/usr/bin/env bash
# Single operations of 16 clients in closed loop against a load generator that the database's own people use, on the same server, the same table
# and the same statement, in 16 turns of both: pgbench (of Debian's postgresql package; psql and jq too) for PostgreSQL. Run by hand. Prints the ratio of operations a second, sensormark's to the peer's, with its 95 % interval from paired logarithms.
#
#   peers.sh                  PROGRAM=… with a program that is built already; SECONDS_EACH=5
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TURNS=16 STUDENT=2.131 SECONDS_EACH=${SECONDS_EACH:-5} PROGRAM=${PROGRAM:-$PWD/target/release/sensormark}
readonly CLIENTS=16 SERIES=1000 TICKS=100
[[ -x $PROGRAM ]] || cargo build --release --locked --package sensormark-cli
scratch=$(mktemp -d)
store=
cleanup() {
  [[ -z $store ]] || "$PROGRAM" servers stop "$store" >/dev/null
  rm -rf "$scratch"
}
trap cleanup EXIT

start() {
  store=$1
  "$PROGRAM" servers start "$store" --durability relaxed >"$scratch/started"
  run=$(sed -n 's/.*named \(.*\)/\1/p' "$scratch/started")
  folder=$(sed -n 's/^its folder.*: //p' "$scratch/started")
}

# The workload: what is loaded is what the peer's table holds; then either operation alone.
workload() {
  cat <<END
name = "peers"
layouts = ["individual"]
limits = ["throughput of $1 > 1"]
[series]
count = $SERIES
interval = "1s"
duration = "${TICKS}s"
[[tags]]
name = "sensor"
[[fields]]
name = "value"
shape = "random"
min = 0
max = 50
[load]
clients = 2
batch = 1000
[mixed]
duration = "${SECONDS_EACH}s"
check_one_in = 20
END
  if [[ $1 == writers ]]; then
    printf '[writers]\nclients = %d\nbatch = 1\n' "$CLIENTS"
  else
    printf '[[queries]]\nname = "%s"\nkind = "point"\nclients = %d\n' "$1" "$CLIENTS"
  fi
}

# Operations a second by sensormark.
ours() {
  rm -rf "$scratch/results"
  "$PROGRAM" run "$scratch/$1.toml" --on "$store=@$run" --durability relaxed --results "$scratch/results" --tolerate-disturbance \
    --progress quiet >/dev/null 2>"$scratch/said" || { cat "$scratch/said" >&2; return 1; }
  "$PROGRAM" report "$scratch"/results/* --format csv | awk -F, '/^limits,limits,.*,measured,/ { print $NF + 0 }'
}

# Both in turns, each first every other time.
compare() {
  local what=$1 turn ours theirs
  workload "$what" >"$scratch/$what.toml"
  for ((turn = 0; turn < TURNS; turn++)); do
    ((turn % 2)) || ours=$(ours "$what")
    theirs=$("theirs_$store" "$what")
    ((turn % 2 == 0)) || ours=$(ours "$what")
    echo "$ours $theirs"
  done >"$scratch/pairs"
  awk -v t="$STUDENT" -v name="$store $what" '
    { ratio = log($1 / $2); sum += ratio; squares += ratio * ratio; ours += $1; theirs += $2 }
    END {
      mean = sum / NR; half = t * sqrt((squares - NR * mean * mean) / (NR - 1) / NR)
      printf "%s: %.3f [%.3f, %.3f] of its peer (%.0f against %.0f operations a second, %d turns)\n", \
        name, exp(mean), exp(mean - half), exp(mean + half), ours / NR, theirs / NR, NR
    }' "$scratch/pairs"
}

# PostgreSQL: a database of pgbench's own with the table that sensormark makes, filled with as many readings.
prepare_postgresql() {
  url=$(jq -r .url "$folder/endpoint.json")
  peer=${url/postgres\?/sensormark_peer?}
  psql --quiet --set ON_ERROR_STOP=1 "$url" --command "CREATE DATABASE sensormark_peer TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
  psql --quiet --set ON_ERROR_STOP=1 "$peer" <<END
CREATE TABLE readings (sensor text NOT NULL, "time" int8 NOT NULL, value float8 NOT NULL);
INSERT INTO readings SELECT s::text, 1767225600000000000 + t::int8 * 1000000000, random()
  FROM generate_series(0, $TICKS - 1) t, generate_series(0, $SERIES - 1) s;
CREATE INDEX ON readings (sensor, "time");
VACUUM ANALYZE readings;
END
  cat >"$scratch/point.sql" <<END
\\set sensor random(0, $SERIES - 1)
\\set time 1767225600000000000 + 1000000000 * random(0, $TICKS - 1)
SELECT r."time", r."value" FROM "readings" r WHERE r."sensor" = :sensor AND r."time" = :time;
END
  cat >"$scratch/writers.sql" <<END
\\set sensor random(0, $SERIES - 1)
\\set time 1767225700000000000 + random(0, 1000000000000000)
INSERT INTO "readings" ("sensor", "time", "value") VALUES (:sensor, :time, 20.5);
END
}

theirs_postgresql() {
  # The class relaxed, which sensormark sets in each session.
  PGOPTIONS='-c synchronous_commit=off' pgbench --no-vacuum --protocol prepared --client "$CLIENTS" --jobs 2 --time "$SECONDS_EACH" --file "$scratch/$1.sql" "$peer" 2>/dev/null |
    awk '/^tps/ { print $3 }'
}

for database in "${@:-postgresql}"; do
  start "$database"
  "prepare_$database"
  compare point
  compare writers
  "$PROGRAM" servers stop "$database" >/dev/null
  store=
done
