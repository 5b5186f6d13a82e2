#!/usr/bin/env bash
# Builds the program for 64-bit ARM on another machine, and runs it there under emulation: its version, and a small workload on SQLite with every answer checked.
# Rates under emulation say nothing of a board. FEATURES=sqlite leaves the other databases out.
#
# Needs rustup target add aarch64-unknown-linux-gnu, and the packages g++-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user-static and binfmt-support, by which the
# kernel runs the program's own processes under emulation too.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
features=(${FEATURES:+--no-default-features --features "$FEATURES"})
profile=${PROFILE:-release}
cargo build --locked --profile "$profile" --target aarch64-unknown-linux-gnu --package sensormark-cli "${features[@]}"
folder=${CARGO_TARGET_DIR:-target}/aarch64-unknown-linux-gnu/${profile/dev/debug}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$folder/sensormark" --version
"$folder/sensormark" init "$scratch/plant.toml" --example
"$folder/sensormark" run "$scratch/plant.toml" --on sqlite:individual --set mixed.duration=2s --set 'limits=lost = 0,wrong answers = 0' \
  --tolerate-disturbance --results "$scratch/results"
