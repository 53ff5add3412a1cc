#!/usr/bin/env bash
# check_wasm.sh OBJECTS COMPILER: the pure parts, compiled to WebAssembly for the explorer without
# exceptions and RTTI (cmake/wasm.cmake), need nothing but each other and the WASI library.
set -euo pipefail
objects=()
for part in epilogue schedule model simulate; do objects+=("$1"/"$part"_*.o); done
"$2" --target=wasm32-wasi -mexec-model=reactor -Wl,--no-gc-sections "${objects[@]}" -o "$1/pure.wasm" || {
  echo "check_wasm: the pure parts need something that is not one of them"
  exit 1
}
echo "check_wasm: ${#objects[@]} files"
