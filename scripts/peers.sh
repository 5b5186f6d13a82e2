#!/usr/bin/env bash
# Single operations of 16 clients in closed loop against a load generator that the database's own people use, on the same server, with the same table, the
# same rows and the same statement, in 16 turns of both after one that does not count: pgbench for PostgreSQL (of Debian's postgresql package; psql too),
# latte for Cassandra (cargo install latte-cli@0.29.0 --locked). Run by hand. Prints the ratio of operations a second, sensormark's to the peer's, with its
# 95 % interval from paired logarithms.
#
#   peers.sh [postgresql] [cassandra]    PROGRAM=… with a program that is built already; SECONDS_EACH=5; TURNS=16 (2 to 16)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

readonly TURNS=${TURNS:-16} SECONDS_EACH=${SECONDS_EACH:-5} PROGRAM=${PROGRAM:-$PWD/target/release/sensormark}
readonly CLIENTS=16 SERIES=1000 TICKS=100 START=1767225600000000000 SECOND=1000000000
# Student's factor of a 95 % interval, by one less than the number of turns.
readonly STUDENT=(0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131)
# Of Cassandra's layouts the one whose client keeps no list of the buckets of time that it has written to, so that an insert is one statement.
declare -rA LAYOUTS=([postgresql]=individual [cassandra]=individual-partition-per-series)
# Threads of a peer: as many as sensormark has, one a processor, each with equally many clients.
threads=$(nproc)
while ((CLIENTS % threads)); do ((threads -= 1)); done
scratch=$(mktemp -d)
store=

fail() {
  echo "peers.sh: $1" >&2
  exit 1
}

need() {
  command -v "$1" >/dev/null || fail "$1 is not on PATH: $2"
}

cleanup() {
  [[ -z $store ]] || "$PROGRAM" servers stop "$store" >/dev/null
  rm -rf "$scratch"
}
trap cleanup EXIT

start() {
  store=$1
  "$PROGRAM" servers start "$store" --durability relaxed >"$scratch/started"
  process=$(sed -n 's/.* process \([0-9]*\),.*/\1/p' "$scratch/started")
  run=$(sed -n 's/.*named \(.*\)/\1/p' "$scratch/started")
  url=$(jq -r .url "$(sed -n 's/^its folder.*: //p' "$scratch/started")/endpoint.json")
  # The peer gets the account through its environment: everybody can read command lines.
  [[ $url =~ ://([^:]*):([^@]*)@([^:/]*):([0-9]+)/ ]] || fail "the URL of $store is not of the form that is expected"
  user=${BASH_REMATCH[1]} password=${BASH_REMATCH[2]} host=${BASH_REMATCH[3]} port=${BASH_REMATCH[4]}
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
  "$PROGRAM" run "$scratch/$1.toml" --on "$store:${LAYOUTS[$store]}=@$run" --durability relaxed --results "$scratch/results" --tolerate-disturbance \
    --progress quiet >/dev/null 2>"$scratch/said" || { cat "$scratch/said" >&2; return 1; }
  "$PROGRAM" report "$scratch"/results --format csv | awk -F, '/^limits,limits,.*,measured,/ { print $NF + 0 }'
}

# Both in turns, each first every other time.
compare() {
  local what=$1 turn ours theirs
  workload "$what" >"$scratch/$what.toml"
  for ((turn = -1; turn < TURNS; turn++)); do
    ((turn % 2)) || ours=$(ours "$what")
    theirs=$("theirs_$store" "$what")
    ((turn % 2 == 0)) || ours=$(ours "$what")
    ((turn < 0)) || echo "$ours $theirs"
  done >"$scratch/pairs"
  awk -v t="${STUDENT[TURNS - 1]}" -v name="$store $what" '
    !($1 > 0 && $2 > 0) { print "peers.sh: a turn without a figure: " $0 >"/dev/stderr"; exit failed = 1 }
    { ratio = log($1 / $2); sum += ratio; squares += ratio * ratio; ours += $1; theirs += $2 }
    END {
      if (failed) exit 1
      mean = sum / NR; half = t * sqrt((squares - NR * mean * mean) / (NR - 1) / NR)
      printf "%s: %.3f [%.3f, %.3f] of its peer (%.0f against %.0f operations a second, %d turns)\n", \
        name, exp(mean), exp(mean - half), exp(mean + half), ours / NR, theirs / NR, NR
    }' "$scratch/pairs"
}

# PostgreSQL: a database of pgbench's own.
prepare_postgresql() {
  export PGHOST=$host PGPORT=$port PGUSER=$user PGPASSWORD=$password PGSSLMODE=disable
  psql --quiet --dbname postgres --set ON_ERROR_STOP=1 \
    --command "CREATE DATABASE sensormark_peer TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
  cat >"$scratch/point.sql" <<END
\\set sensor random(0, $SERIES - 1)
\\set time $START + $SECOND * random(0, $TICKS - 1)
SELECT r."time", r."value" FROM "readings" r WHERE r."sensor" = :sensor AND r."time" = :time;
END
  # Rows as sensormark writes them: tick by tick, a reading of each sensor, the next client with the next one.
  cat >"$scratch/writers.sql" <<END
\\set row :row + $CLIENTS
\\set sensor (:row + :client_id) % $SERIES
\\set time $START + $SECOND * ((:row + :client_id) / $SERIES)
INSERT INTO "readings" ("sensor", "time", "value") VALUES (:sensor, :time, 20.5);
END
}

# In each turn the table is made, filled and settled as sensormark does it for its own.
theirs_postgresql() {
  psql --quiet --dbname sensormark_peer --set ON_ERROR_STOP=1 >/dev/null <<END
SET client_min_messages = warning;
DROP TABLE IF EXISTS readings;
CREATE TABLE readings (sensor text NOT NULL, "time" int8 NOT NULL, value float8 NOT NULL);
CREATE INDEX ON readings (sensor, "time");
INSERT INTO readings SELECT s::text, $START + t::int8 * $SECOND, random() FROM generate_series(0, $TICKS - 1) t, generate_series(0, $SERIES - 1) s;
VACUUM (ANALYZE);
CHECKPOINT;
END
  # The class relaxed, which sensormark sets in each session.
  PGOPTIONS='-c synchronous_commit=off' pgbench --no-vacuum --protocol prepared --client "$CLIENTS" --jobs "$threads" --time "$SECONDS_EACH" \
    --define row=$((SERIES * TICKS - CLIENTS)) --file "$scratch/$1.sql" sensormark_peer 2>/dev/null |
    awk '/^tps/ { print $3 }'
}

# Cassandra: a keyspace of latte's own, flushed after it is filled, as sensormark does it. Nothing is written to it while points are read.
prepare_cassandra() {
  export CASSANDRA_USER=$user CASSANDRA_PASSWORD=$password LATTE_LOG_DIR=$scratch
  cat >"$scratch/peer.rn" <<'END'
use latte::*;

const SERIES = latte::param!("series", 1);
const TICKS = latte::param!("ticks", 1);
const START = latte::param!("start", 0);
const SECOND = latte::param!("second", 1);
const EMPTY = latte::param!("empty", false);

pub async fn schema(db) {
    db.execute(`CREATE KEYSPACE sensormark_peer WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`).await?;
    db.execute(`CREATE TABLE sensormark_peer."readings" ("_series" int, "_bucket" bigint, "_time" bigint, "value" double, PRIMARY KEY (("_series", "_bucket"), "_time")) WITH gc_grace_seconds = 0`).await?;
}

pub async fn prepare(db) {
    if EMPTY {
        db.execute(`TRUNCATE sensormark_peer."readings"`).await?;
    }
    db.load_cycle_count = SERIES * TICKS;
    db.prepare("insert", `INSERT INTO sensormark_peer."readings" ("_series", "_bucket", "_time", "value") VALUES (?, ?, ?, ?)`).await?;
    db.prepare("point", `SELECT "_time", "value" FROM sensormark_peer."readings" WHERE "_series" = ? AND "_bucket" = ? AND "_time" = ?`).await?;
}

async fn insert(db, row) {
    db.execute_prepared("insert", [row % SERIES, 0, START + SECOND * (row / SERIES), uniform(row, 0.0, 50.0)]).await
}

pub async fn load(db, row) {
    insert(db, row).await
}

pub async fn writers(db, i) {
    insert(db, SERIES * TICKS + i).await
}

pub async fn point(db, i) {
    let time = START + SECOND * (hash2(i, 1) % TICKS);
    db.execute_prepared("point", [hash(i) % SERIES, 0, time]).await
}
END
  latte_cassandra schema
  latte_cassandra load --quiet --threads "$threads" --concurrency 32
  nodetool flush sensormark_peer
}

# A command of latte's with the workload; what it says is shown when it fails.
latte_cassandra() {
  local command=$1
  shift
  latte "$command" "$@" --consistency LOCAL_ONE --retries 0 --connections "$CLIENTS" -P series="$SERIES" -P ticks="$TICKS" -P start="$START" -P second="$SECOND" \
    "$scratch/peer.rn" "$host:$port" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; return 1; }
}

# nodetool, run with the Java and the jars that the server runs with.
nodetool() {
  local -a server options=()
  local number
  mapfile -td '' server <"/proc/$process/cmdline"
  for number in "${!server[@]}"; do
    case ${server[number]} in
      --add-*) options+=("${server[number]}") ;;
      -cp) options+=(-cp "${server[number + 1]}") ;;
    esac
  done
  "${server[0]}" "${options[@]}" -Xmx64M -Duser.home="$scratch" org.apache.cassandra.tools.NodeTool -h "$host" -p "${url##*jmx=}" "$@" 2>/dev/null
}

theirs_cassandra() {
  local empty=true
  [[ $1 == writers ]] || empty=false
  latte_cassandra run --quiet --functions "$1" --threads "$threads" --concurrency $((CLIENTS / threads)) --warmup 0 --duration "${SECONDS_EACH}s" \
    --output "$scratch/latte.json" -P empty="$empty"
  # Failed requests count for latte; here they fail, as does a question that did not find its one row.
  jq --exit-status --arg what "$1" '.result
    | if ([.log[].req_error_count] | add) > 0 or .row_count != (if $what == "point" then .request_count else 0 end)
      then error("latte had failures: \(.errors), \(.row_count) rows of \(.request_count) requests") else .request_count / .elapsed_time_s end' "$scratch/latte.json"
}

((TURNS >= 2 && TURNS <= ${#STUDENT[@]})) || fail "TURNS is 2 to ${#STUDENT[@]}"
need jq "install the package jq"
for database in "${@:-postgresql}"; do
  case $database in
    postgresql) need psql "install the package postgresql-client" && need pgbench "install the package postgresql" ;;
    cassandra) need latte "cargo install latte-cli@0.29.0 --locked" ;;
    *) fail "$database has no peer here; postgresql and cassandra have one" ;;
  esac
done
[[ -x $PROGRAM ]] || cargo build --release --locked --package sensormark-cli
for database in "${@:-postgresql}"; do
  start "$database"
  "prepare_$database"
  compare point
  compare writers
  "$PROGRAM" servers stop "$database" >/dev/null
  store=
done
