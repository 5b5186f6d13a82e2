#!/usr/bin/env bash
# Builds what releases hand out, into target/packages: an archive, a Debian package and a Python wheel, all with the same program,
# the list of its crates (a software bill of materials in CycloneDX's form), and their checksums. Then installs each where nothing of ours is, and runs it there. The crates are packed as for a registry before.
#
#   packages.sh [crates] [build] [test]     all without an argument
#
# Needs cargo, python3 with venv, and for the tests debootstrap (apt-get has it) and root, or sudo without a password. Tools come from
# crates.io and PyPI, in the versions below. CARGO=… names another cargo.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CARGO=${CARGO:-cargo} CARGO_DEB='3.8.0' MATURIN='1.16.0'
readonly OUT=$PWD/target/packages PROGRAM=$PWD/target/release/sensormark
# The release that the Debian package is tested on. MIRROR=… names another source of it than debootstrap's own.
readonly SUITE=${SUITE:-bookworm} MIRROR=${MIRROR:-}
scratch=$(mktemp -d)
chmod 755 "$scratch"

as_root() { if [[ $EUID -eq 0 ]]; then "$@"; else sudo -n "$@"; fi; }

clean_up() {
  if [[ -d $scratch/root ]]; then as_root rm -rf --one-file-system "$scratch/root"; fi
  rm -rf "$scratch"
}
trap clean_up EXIT

# --- crates --------------------------------------------------------------------
# All of them, in the order of their dependencies. One is compiled from its package alone; all would take as long as a build.
crates() {
  "$CARGO" package --workspace --no-verify --locked --allow-dirty --quiet
  "$CARGO" package --package sensormark-store --locked --allow-dirty --quiet
  echo 'The crates can be packed.'
}

# --- build ---------------------------------------------------------------------
build() {
  rm -rf "$OUT"
  mkdir -p "$OUT/share/man" "$OUT/share/completions"
  "$CARGO" build --release --locked --package sensormark-cli
  version=$("$PROGRAM" --version | cut -d' ' -f2)
  "$PROGRAM" man "$OUT/share/man"
  "$PROGRAM" completions bash >"$OUT/share/completions/sensormark.bash"
  "$PROGRAM" completions zsh >"$OUT/share/completions/_sensormark"
  "$PROGRAM" completions fish >"$OUT/share/completions/sensormark.fish"
  archive
  debian_package
  wheel
  bill_of_materials "$OUT"/*.whl "$PWD" >"$OUT/sensormark-$version-$(host).cdx.json"
  (cd "$OUT" && sha256sum -- *.tar.gz *.deb *.whl *.cdx.json | tee SHA256SUMS)
}

host() { rustc -vV | sed -n 's/^host: //p'; }

# bill_of_materials WHEEL SOURCES: what the program is made of, by name, version, licence and checksum. maturin puts the list into the wheel, made by cargo-cyclonedx.
# Where the sources lay is nobody's business.
bill_of_materials() {
  python3 - "$@" <<'TEXT'
import sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/sboms/sensormark-cli.cyclonedx.json")]
    text = wheel.read(name).decode()
print(text.replace(f"file://{sys.argv[2]}/", "file:").replace(f"{sys.argv[2]}/", ""))
TEXT
}

archive() {
  local name folder
  name=sensormark-$version-$(host)
  folder=$scratch/$name
  mkdir "$folder"
  install -m 755 "$PROGRAM" "$folder/sensormark"
  strip "$folder/sensormark"
  cp -r README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$OUT/share/man" "$OUT/share/completions" "$folder/"
  tar --create --gzip --owner=0 --group=0 --numeric-owner --sort=name --file "$OUT/$name.tar.gz" --directory "$scratch" "$name"
}

debian_package() {
  local tools=$PWD/target/tools
  if [[ $("$tools/bin/cargo-deb" --version 2>/dev/null) != *"$CARGO_DEB"* ]]; then
    "$CARGO" install --locked --quiet --root "$tools" "cargo-deb@$CARGO_DEB"
  fi
  "$tools/bin/cargo-deb" deb --no-build --locked --package sensormark-cli --output "$OUT/"
}

# maturin builds by itself; what was built above, it takes.
wheel() {
  python3 -m venv "$scratch/maturin"
  "$scratch/maturin/bin/pip" install --quiet "maturin==$MATURIN"
  (cd python && "$scratch/maturin/bin/maturin" build --release --locked --out "$OUT")
}

# --- test ----------------------------------------------------------------------
# The archive: unpacked into an empty folder.
test_archive() {
  mkdir "$scratch/unpacked"
  tar --extract --file "$OUT"/*.tar.gz --directory "$scratch/unpacked" --strip-components=1
  "$scratch/unpacked/sensormark" --version
  measure "$scratch/archive" "$scratch/unpacked/sensormark"
}

# The Debian package: in a Debian that has nothing but its essential packages.
test_debian_package() {
  local root=$scratch/root
  command -v debootstrap >/dev/null || {
    echo 'debootstrap is not here; install it: apt-get install debootstrap' >&2
    return 1
  }
  as_root debootstrap --variant=minbase "$SUITE" "$root" ${MIRROR:+"$MIRROR"} >"$scratch/debootstrap.log" || {
    tail -n 12 "$scratch/debootstrap.log" >&2
    return 1
  }
  as_root cp "$OUT"/*.deb "$root/tmp/"
  as_root cp /etc/resolv.conf "$root/etc/"
  as_root unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /bin/sh -eu <<'TEXT'
apt-get install --quiet --yes --no-install-recommends /tmp/*.deb
test -x /usr/bin/sensormark
test -s /usr/share/man/man1/sensormark-run.1.gz
test -s /usr/share/bash-completion/completions/sensormark
sensormark doctor | grep SQLite
sensormark install-servers strace
test -x /usr/bin/strace
cd /tmp
sensormark run machine-tool --set measured_seconds=4 --results results
sensormark report results | grep 'SQLite'
apt-get remove --quiet --yes sensormark
! test -e /usr/bin/sensormark
TEXT
}

# The wheel: in a fresh virtual environment, without the caller's variables.
test_wheel() {
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet "$OUT"/*.whl
  measure "$scratch/wheel" "$scratch/venv/bin/sensormark"
  SENSORMARK_TEST_RUN=$(echo "$scratch"/wheel/results/*/) "$scratch/venv/bin/python" python/tests/test_load.py
}

# test_bill_of_materials LIST SOURCES: it names each crate that Cargo puts into the program, with its licence and, from a registry, its checksum. It names no place of this machine.
test_bill_of_materials() {
  "$CARGO" tree --locked --manifest-path "$2/Cargo.toml" --package sensormark-cli --edges normal --prefix none --format '{p}' >"$scratch/crates"
  python3 - "$1" "$2" "$scratch/crates" <<'TEXT'
import json, pathlib, sys

text = pathlib.Path(sys.argv[1]).read_text()
assert sys.argv[2] not in text, "it names the folder of the sources"
bill = json.loads(text)
assert bill["bomFormat"] == "CycloneDX", bill["bomFormat"]
program = bill["metadata"]["component"]
assert program["name"] == "sensormark-cli", program
crates = {(one["name"], one["version"]): one for one in [program, *bill["components"]]}
lines = pathlib.Path(sys.argv[3]).read_text().splitlines()
wanted = {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, filter(None, lines))}
assert len(wanted) > 100, lines
missing = sorted(wanted - crates.keys())
assert not missing, f"not listed: {missing}"
for name, one in crates.items():
    assert one.get("licenses"), f"no licence: {name}"
    assert one.get("hashes") or "path+file:" in one["bom-ref"], f"no checksum: {name}"
print(f"The bill of materials lists {len(crates)} crates, all {len(wanted)} of the program among them.")
TEXT
}

# measure FOLDER PROGRAM: doctor, and a quick run, in a folder of its own.
measure() {
  mkdir "$1"
  (
    cd "$1"
    clean=(env -i HOME="$1" PATH=/usr/bin:/bin "$2")
    "${clean[@]}" doctor | grep SQLite
    "${clean[@]}" run machine-tool --on sqlite:bulk --set measured_seconds=4 --results results
  )
}

tests() {
  test_bill_of_materials "$OUT"/*.cdx.json "$PWD"
  test_archive
  test_wheel
  test_debian_package
  echo "The archive, the wheel, the Debian package and the bill of materials work."
}

if [[ $# -eq 0 ]]; then set -- crates build test; fi
for part in "$@"; do
  case $part in
    crates) crates ;;
    build) build ;;
    test) tests ;;
    *) echo "unknown part: $part (known: crates build test)" >&2; exit 2 ;;
  esac
done
