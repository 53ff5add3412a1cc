#!/usr/bin/env bash
# explore.sh: builds the command with the explorer's module, writes build/explorer.html and opens it where
# there is a desktop; else says where it is.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

cmake --preset release >build/configure.log || { cat build/configure.log; exit 1; }
scripts/build.sh
build/release/tilewise explore -o build/explorer.html
scripts/open_page.sh build/explorer.html
