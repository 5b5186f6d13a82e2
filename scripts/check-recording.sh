#!/bin/sh
# Checks a recording's figures (rows, sums, extremes, means, hourly means) against SQLite's own reading of the same file.
#
#   scripts/check-recording.sh FILE.csv FIGURES
#
# FIGURES is what crates/sensormark-data/tests/recording/figures.rs writes, whose test calls this. Nothing of sensormark takes part in the
# other side: sqlite3 reads the CSV and computes. Times are year-month-day or day.month.year, without a zone. Exit code 77: a tool is missing.
set -eu

recording=$1
for tool in sqlite3 awk; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "not checked: $tool is not installed (Debian: apt-get install $tool)" >&2
        exit 77
    fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$2" "$scratch/ours"

cell() { awk -F'\t' -v key="$1" -v cell="$2" '$1 == key { print $cell; exit }' "$scratch/ours"; }
delimiter=$(cell delimiter 2)
time=$(cell time 2)
case $(cell time 3) in
year-month-day) seconds="unixepoch(c$time)" ;;
day-month-year) seconds="unixepoch(substr(c$time,7,4)||'-'||substr(c$time,4,2)||'-'||substr(c$time,1,2)||substr(c$time,11))" ;;
*)
    echo "not checked: this script does not read times of format $(cell time 3)" >&2
    exit 77
    ;;
esac

# The second line has a cell for each column, the header may not.
columns=$(sed -n 2p "$recording" | awk -F"$delimiter" '{ for (i = 1; i <= NF; i++) printf "%sc%d", (i > 1 ? "," : ""), i }')
number() { echo "(CASE WHEN upper(c$1) IN ('','NA','N/A','NULL','NAN') THEN NULL ELSE CAST(c$1 AS REAL) END)"; }
{
    echo "CREATE TABLE r($columns);"
    echo ".mode csv"
    echo ".separator \"$delimiter\""
    echo ".import --skip 1 '$recording' r"
    echo ".mode tabs"
    echo "SELECT 'rows', count(*) FROM r;"
    awk -F'\t' '$1 == "column" { print $2, $3 }' "$scratch/ours" | while read -r column name; do
        value=$(number "$column")
        echo "SELECT 'column', $column, '$name', count($value), printf('%!.17g', sum($value)), printf('%!.17g', min($value)), printf('%!.17g', max($value)), printf('%!.17g', avg($value)) FROM r;"
    done
    value=$(number "$(cell column 2)")
    echo "SELECT 'hour', $seconds / 3600 * 3600 AS hour, printf('%!.17g', avg($value)) FROM r GROUP BY hour HAVING count($value) > 0 ORDER BY hour;"
} >"$scratch/script"
sqlite3 "$scratch/database" <"$scratch/script" >"$scratch/theirs"

awk -F'\t' '
    $1 == "delimiter" || $1 == "time" { next }
    NR == FNR { theirs[++wanted] = $0; next }
    {
        found++
        cells = split(theirs[found], other, "\t")
        if (cells != NF || other[1] != $1) { print "figure " found ": " $0 " here, " theirs[found] " there"; bad++; next }
        for (i = 2; i <= NF; i++) {
            figures++
            if ($i == other[i]) continue
            size = ($i + 0 < 0 ? -$i : $i + 0)
            difference = $i - other[i]; if (difference < 0) difference = -difference
            relative = (size > 0 ? difference / size : difference)
            if (relative > largest) largest = relative
            if (relative > 1e-9 || $i "" == "") { print $1 " " $2 " " $3 ": " $i " here, " other[i] " there"; bad++ }
        }
    }
    END {
        if (found != wanted) { print found " lines of figures here, " wanted " there"; bad++ }
        printf "%d lines, %d figures compared, largest relative difference %.2g, %d disagree\n", found, figures, largest, bad
        exit bad > 0
    }' "$scratch/theirs" "$scratch/ours"
