#!/usr/bin/env bash
# Holds the crates that sensormark is made of to deny.toml: licences, sources, bans, and known vulnerabilities where their database can be had.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo deny --version >/dev/null 2>&1; then
    echo "ignored: cargo-deny is not installed; cargo install --locked cargo-deny"
    exit 0
fi
cargo deny --locked --offline check licenses bans sources
# The database is a Git repository on GitHub. Without a way there, nothing can be said of vulnerabilities.
if ! timeout 120 cargo deny fetch db; then
    echo "ignored: advisories, because their database (github.com/rustsec/advisory-db) cannot be fetched"
    exit 0
fi
cargo deny --locked check --disable-fetch advisories
