#!/usr/bin/env bash
# check_neon.sh ROOT OUTPUT: the CPU's part compiles for aarch64, its kernels with NEON, without a
# warning. A cross build by CMake, so that the branches of the build files are tried too; nothing is
# linked or run.
# Exit 77 (skipped) with a sentence where the compiler or the headers are missing.
set -euo pipefail
root=$1
output=$2
compiler=clang++-19
triple=aarch64-linux-gnu

if ! command -v "$compiler" >/dev/null; then
  echo "check_neon: skipped, $compiler is not here"
  exit 77
fi
if ! echo '#include <expected>
#include <string>' | "$compiler" --target=$triple -std=c++23 -x c++ -fsyntax-only - 2>/dev/null; then
  echo "check_neon: skipped, no C++ library for $triple (Debian: libstdc++-12-dev-arm64-cross)"
  exit 77
fi

# Nothing can be linked without a linker for aarch64: CMake's own trials are libraries.
cmake -S "$root" -B "$output" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
  -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=$compiler -DCMAKE_CXX_COMPILER_TARGET=$triple \
  -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DCMAKE_CXX_FLAGS=-Werror \
  -DTILEWISE_BUILD_TESTS=OFF -DTILEWISE_BUILD_CLI=OFF -DTILEWISE_INSTALL=OFF >"$output.log"

objects=()
while read -r file; do
  objects+=("CMakeFiles/tilewise.dir/${file#"$root"/}.o")
done < <(find "$root"/src/cpu -maxdepth 1 -name '*.cpp' | sort)
objects+=(CMakeFiles/tilewise.dir/src/report/compensated_sum.cpp.o)
cmake --build "$output" --target tilewise_kernels_neon "${objects[@]}"
echo "check_neon: the NEON kernels and ${#objects[@]} files"
