#!/usr/bin/env bash
# explore.sh: builds the command with the explorer's module, writes build/explorer.html and opens it where
# there is a desktop; else says where it is.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

cmake --preset release >build/configure.log || { cat build/configure.log; exit 1; }
scripts/build.sh
build/release/tilewise explore -o build/explorer.html
page=$PWD/build/explorer.html
if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] && command -v xdg-open >/dev/null; then
  xdg-open "$page"
else
  echo "The page is build/explorer.html: open it in a browser (file://$page)."
fi
