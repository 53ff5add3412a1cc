#!/usr/bin/env bash
# build.sh: builds the command, build/release/tilewise. TILEWISE_JOBS limits the compilers at once.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! -f build/release/build.ninja || CMakePresets.json -nt build/release/CMakeCache.txt ]]; then
  cmake --preset release
fi
cmake --build build/release --parallel "${TILEWISE_JOBS:-$(nproc)}" --target tilewise_command
