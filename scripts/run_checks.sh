#!/usr/bin/env bash
# run_checks.sh: the longer gates behind `make check`; the last line is "N passed, N failed".
#   tsan      clang 19 with the thread sanitizer: every test but those labelled "once"
#   tidy      clang-tidy 19 over src/, with the settings and reasons of .clang-tidy
#   coverage  the tests again, and the share of lines that ran by folder
#   fuzz      each fuzzer for five minutes
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/stages.sh

stage "tsan: clang 19, thread sanitizer"
cmake --preset tsan
cmake --build build/tsan --parallel "$jobs"
run_ctest build/tsan --label-exclude once

stage "tidy: clang-tidy 19"
cmake --preset clang >/dev/null
cmake --build build/clang --target tilewise_version  # the one generated header
count_command "clang-tidy over src/" \
  bash -c 'git ls-files -z -- "src/*.cpp" | xargs -0 -P "$0" -n 1 clang-tidy-19 --quiet -p build/clang' \
  "$jobs"

stage "coverage: the lines of each folder that the tests run"
cmake --preset coverage
cmake --build build/coverage --parallel "$jobs"
find build/coverage -name '*.gcda' -delete
run_ctest build/coverage --label-exclude once
count_command "coverage" scripts/coverage.py build/coverage

stage "fuzz: five minutes each"
cmake --preset fuzz
cmake --build build/fuzz --parallel "$jobs"
run_fuzzers build/fuzz/fuzz 300

finish
