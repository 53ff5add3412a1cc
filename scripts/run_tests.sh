#!/usr/bin/env bash
# run_tests.sh: everything that `make test` promises; the last line is "N passed, N failed".
#   release  GCC, optimised: every test, and the project's own checks
#   asan     clang 19 with address and undefined-behaviour sanitizers: every test but those labelled
#            "once", whose result cannot depend on the compiler
#   fuzz     each fuzzer of the asan build for 20 seconds
# All stages run even if one fails. TILEWISE_JOBS limits the compilers and tests at once.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/stages.sh

stage "release: GCC, every test"
cmake --preset release -DTILEWISE_BUILD_TESTS=ON -DTILEWISE_REQUIRE_TESTS=ON
build_without_warnings build/release
run_ctest build/release

stage "asan: clang 19, address and undefined-behaviour sanitizers"
cmake --preset asan
build_without_warnings build/asan
run_ctest build/asan --label-exclude once

stage "fuzz: 20 seconds each"
run_fuzzers build/asan/fuzz 20

finish
