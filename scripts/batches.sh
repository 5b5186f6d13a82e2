#!/usr/bin/env bash
# How large should a write be? Loads the devops data with writes of several times the size that each store advises (stores/*/src/write_size.rs), in turns:
# all stores and layouts with one size, then with the next, and so round by round, every other round backwards. Run by hand on a quiet machine; all stores
# take about half an hour. Prints a Markdown table of medians over the rounds. Says where the advised size is more than a tenth from the best that leaves the
# clients of a server under 250 MB, and what larger writes would gain.
#
#   batches.sh [STORE[:LAYOUT]]...     all stores that are here by default, each with the layouts that are measured when none is named
#     PROGRAM=…       a program that is built already            SIZES="1/8 1/4 1/2 1 2 4"   times the advised size
#     ROUNDS=2        turns of each size                         SECONDS_EACH=4              length of a load, after which it is cut
#     WORKERS=16      clients that load                          HOURS=6                     data of 100 hosts that there is to load
#     RESULTS=FOLDER  keeps the results there (a new folder)     ROUNDS of 0 with RESULTS: only the table of results that are there
set -euo pipefail
shopt -s inherit_errexit nullglob
cd "$(dirname "$0")/.."

readonly PROGRAM=${PROGRAM:-$PWD/target/release/sensormark} ROUNDS=${ROUNDS:-2} SECONDS_EACH=${SECONDS_EACH:-4} WORKERS=${WORKERS:-16} HOURS=${HOURS:-6}
read -ra sizes <<<"${SIZES:-1/8 1/4 1/2 1 2 4}"
scratch=$(mktemp -d)
readonly scratch results=${RESULTS:-$scratch/results}
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "batches.sh: $1" >&2
  exit 1
}

# One size, on everything that was named.
measure() {
  local size=$1 folder times
  folder=$results/${size//\//of}
  times=$(awk -v size="$size" 'BEGIN { split(size, part, "/"); print part[1] / (part[2] ? part[2] : 1) }')
  local status=0
  "$PROGRAM" run devops --on "$on" --results "$folder" --progress quiet --tolerate-disturbance --set batch_times="$times" --set hosts=100 \
    --set hours="$HOURS" --set more_hours= --set workers="$WORKERS" --set load_seconds="$SECONDS_EACH" --set clients=1 --set queries=1 --set repetitions=1 \
    >/dev/null 2>"$scratch/said" || status=$?
  # 1: a trial is not valid, which the table leaves out and tells.
  ((status <= 1)) || { cat "$scratch/said" >&2; fail "the run with $size times the advised size ended with $status"; }
}

# A line for each valid trial: implementation, size, then readings a write, values a second, and µs a value of client and server, MB of the client at most.
# Nine readings, one a table, hold 101 values.
figures() {
  local trial
  for trial in "$results"/*/*/trials/*.json; do
    jq -r --arg size "$(basename "$(dirname "$(dirname "$(dirname "$trial")")")")" '
      . as $trial | (.implementation.title + " " + .implementation.layout_name) as $name
      | if .verdict.state != "valid" then "invalid\t\($name)\t\($size)\t\(.verdict | tostring | .[0:150])" else
          .loads[] | select(.writes) | . as $load | ([.classes[]] | map(.readings) | add) as $readings
          | ($readings * 101 / 9) as $values | ($trial.phases[] | select(.name == $load.phase) | .totals) as $used
          | select($readings > 0 and $used != null)
          | ["figure", $name, $size, $readings / ([.classes[]] | map(.operations) | add), $values / .seconds,
             $used.roles.trial.cpu_ns / 1e3 / $values, (if $used.roles.server then $used.roles.server.cpu_ns / 1e3 / $values else "-" end),
             $used.roles.trial.peak_resident_bytes / 1e6] | map(tostring) | join("\t")
        end' "$trial" || fail "$trial is not a trial's record"
  done
}

# Medians, the table, and what is off.
table() {
  sort -t $'\t' -k 2,2 -k 3,3 | awk -F '\t' -v order="${sizes[*]}" -v LIMIT=250 '
    function median(list, count,   values, i, j, held) {
      split(list, values, " ")
      for (i = 2; i <= count; i++) for (j = i; j > 1 && values[j - 1] + 0 > values[j] + 0; j--) { held = values[j]; values[j] = values[j - 1]; values[j - 1] = held }
      return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
    }
    $1 == "invalid" { left_out[++bad] = $2 ", " $3 " times: " $4; next }
    {
      if (!($2 in known)) { known[$2]; names[++many] = $2 }
      count[$2, $3]++
      for (column = 4; column <= 8; column++) lists[$2, $3, column] = lists[$2, $3, column] " " $column
      if ($7 == "-") embedded[$2]
    }
    END {
      print "| implementation | times the advised size | readings a write | M values/s | client CPU, µs a value | server CPU | client memory, MB | rounds |"
      print "| --- | --- | --- | --- | --- | --- | --- | --- |"
      sizes = split(order, size, " ")
      split("5 9 6", judged, " ")
      what[5] = "rate"; what[9] = "CPU of both sides"; what[6] = "the client\x27s CPU alone"
      for (n = 1; n <= many; n++) {
        name = names[n]; delete best
        for (s = 1; s <= sizes; s++) {
          key = size[s]; gsub("/", "of", key)
          if (!((name, key) in count)) continue
          for (column = 4; column <= 8; column++) got[column] = median(lists[name, key, column], count[name, key])
          printf "| %s | %s | %.0f | %.3f | %.4f | %s | %.1f | %d |\n", name, size[s], got[4], got[5] / 1e6, got[6], (name in embedded) ? "–" : sprintf("%.3f", got[7]), got[8], count[name, key]
          got[9] = got[6] + (name in embedded ? 0 : got[7])
          is_allowed = name in embedded || got[8] < LIMIT
          for (m = 1; m <= 3; m++) {
            column = judged[m]
            value = column == 5 ? 1 / got[5] : got[column]
            if (!((is_allowed, column) in best) || value < best[is_allowed, column]) {
              best[is_allowed, column] = value; where[is_allowed, column] = size[s]; memory[is_allowed, column] = got[8]
            }
            if (key == "1") ours[name, column] = value
          }
          if (key == "1") share = got[6] / got[9]
        }
        for (allowed = 1; allowed >= 0; allowed--)
          for (m = 1; m <= 3; m++) {
            column = judged[m]
            if (column == 6 && name in embedded) continue
            if (((name, column) in ours) && ((allowed, column) in best) && ours[name, column] > 1.1 * best[allowed, column]) {
              text = sprintf("- %s: %s is %.0f %% worse than with %s times the size (%.0f MB)", name, what[column], (ours[name, column] / best[allowed, column] - 1) * 100, where[allowed, column], memory[allowed, column])
              if (column == 6) text = text sprintf("; it is %.0f %% of both sides", share * 100)
              kind = column == 6 ? "client" : allowed
              lines[kind] = lines[kind] "\n" text
            }
          }
      }
      limit = "the best whose clients stay under " LIMIT " MB (embedded databases: of all)"
      if (lines[1] == "") print "\nEvery advised size is within 10 % of " limit ", in rate and in CPU of both sides."
      else print "\nMore than 10 % from " limit ":\n" lines[1]
      if (lines[0] != "") print "\nLarger writes that take more memory than that gain more than 10 %:\n" lines[0]
      if (lines["client"] != "") print "\nThe CPU of the client alone:\n" lines["client"]
      if (bad) { print "\nLeft out, not valid:\n"; for (i = 1; i <= bad; i++) print "- " left_out[i] }
    }'
}

command -v jq >/dev/null || fail "install the package jq"
((ROUNDS == 0)) || [[ -x $PROGRAM ]] || fail "$PROGRAM is not there: cargo build --release --locked --package sensormark-cli, or PROGRAM=…"
((ROUNDS == 0)) || [[ ! -e $results ]] || fail "$results is there already; name a new folder"
on=$(IFS=,; echo "${*:-all}")
for ((round = 0; round < ROUNDS; round++)); do
  for ((place = 0; place < ${#sizes[@]}; place++)); do
    measure "${sizes[round % 2 ? ${#sizes[@]} - 1 - place : place]}"
  done
done
figures >"$scratch/figures"
table <"$scratch/figures"
