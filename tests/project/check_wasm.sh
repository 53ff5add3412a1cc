#!/usr/bin/env bash
# check_wasm.sh ROOT OUTPUT: the pure parts compile to WebAssembly, without exceptions and RTTI, and
# need nothing but each other and the WASI library.
# Exit 77 (skipped) with a sentence where the compiler or the WASI library is missing.
set -euo pipefail
root=$1
output=$2
compiler=clang++-19

if ! command -v "$compiler" >/dev/null; then
  echo "check_wasm: skipped, $compiler is not here"
  exit 77
fi
flags=(--target=wasm32-wasi -std=c++23 -Oz -fno-exceptions -fno-rtti -fvisibility=hidden
  -Wall -Wextra -Werror -I "$root/include" -I "$root/src" -I "$root/kernels")
if ! echo '#include <expected>
#include <string>' | "$compiler" "${flags[@]}" -x c++ -fsyntax-only - 2>/dev/null; then
  echo "check_wasm: skipped, no C++ library for wasm32-wasi" \
    "(Debian: wasi-libc libc++-19-dev-wasm32 libclang-rt-19-dev-wasm32)"
  exit 77
fi

launcher=()
if command -v ccache >/dev/null; then launcher=(ccache); fi
mkdir -p "$output"
objects=()
count=0
failed=0
while read -r file; do
  object=$output/$(echo "${file#"$root"/src/}" | tr / _).o
  if ! "${launcher[@]}" "$compiler" "${flags[@]}" -c "$file" -o "$object"; then
    echo "check_wasm: ${file#"$root"/} does not compile to WebAssembly"
    failed=1
  fi
  objects+=("$object")
  count=$((count + 1))
done < <(find "$root"/src/{epilogue,schedule,model,simulate} -name '*.cpp' 2>/dev/null | sort)
if ((count == 0)); then failed=1; fi
if ((failed == 0)) && ! "$compiler" --target=wasm32-wasi -mexec-model=reactor -Wl,--no-gc-sections \
  "${objects[@]}" -o "$output/pure.wasm"; then
  echo "check_wasm: the pure parts need something that is not one of them"
  failed=1
fi
echo "check_wasm: $count files"
exit $failed
