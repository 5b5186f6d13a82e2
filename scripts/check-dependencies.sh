#!/usr/bin/env bash
# Holds the crates that sensormark is made of to deny.toml: licences, sources, bans, and known vulnerabilities where their database can be had.
#
# cargo-deny comes from crates.io in the version below, into target/tools. It is not optimised: that would take longer than its checks. It is ignored only where the registry cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CARGO=${CARGO:-cargo} CARGO_DENY='0.20.2' TOOLS=$PWD/target/tools
readonly DENY=$TOOLS/bin/cargo-deny

if [[ $("$DENY" --version 2>/dev/null) != "cargo-deny $CARGO_DENY" ]]; then
    if ! "$CARGO" info --quiet "cargo-deny@$CARGO_DENY" --registry crates-io >/dev/null 2>&1; then
        echo "ignored: cargo-deny $CARGO_DENY is not here, and the registry crates.io cannot be reached"
        exit 0
    fi
    "$CARGO" install --locked --quiet --debug --root "$TOOLS" "cargo-deny@$CARGO_DENY"
fi
# Crates of the other target are read too, and need not be here yet.
"$CARGO" fetch --locked --quiet
"$DENY" --locked --offline check licenses bans sources
# The database is a Git repository on GitHub. Without a way there, nothing can be said of vulnerabilities.
if ! timeout 120 "$DENY" fetch db; then
    echo "ignored: advisories, because their database (github.com/rustsec/advisory-db) cannot be fetched"
    exit 0
fi
"$DENY" --locked check --disable-fetch advisories
