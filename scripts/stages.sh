# Sourced by run_tests.sh and run_checks.sh: stages that count what passed and failed.
jobs=${TILEWISE_JOBS:-$(nproc)}
passed=0
failed=0
skipped=0
stage_name=
mkdir -p build

# stage NAME: closes the stage before it, with its time, and opens the next.
stage() {
  if [[ -n $stage_name ]]; then echo "== $stage_name: $((SECONDS - stage_start)) s"; fi
  stage_name=$1
  stage_start=$SECONDS
  if [[ -n $stage_name ]]; then echo "== $stage_name"; fi
}

# build_without_warnings BUILD_FOLDER: a build that fails ends everything; a warning counts as one
# failed check. (Not -Werror: a newer compiler's new warning should not stop a user's build.)
build_without_warnings() {
  cmake --build "$1" --parallel "$jobs" | tee "$1/build.log"
  if grep -E ': warning: ' "$1/build.log" >&2; then
    echo "FAILED: warnings in $1"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}

# run_ctest BUILD_FOLDER [OPTION...]: a stage that finds no test has failed.
run_ctest() {
  local folder=$1 tests failures not_run
  shift
  rm -f "$folder/tests.xml"
  ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure --timeout 600 \
    --output-junit tests.xml "$@" || true
  tests=$(junit_count "$folder" tests)
  failures=$(junit_count "$folder" failures)
  not_run=$(($(junit_count "$folder" skipped) + $(junit_count "$folder" disabled)))
  if ((tests == 0)); then
    echo "no test was run in $folder" >&2
    failures=1 tests=1
  fi
  passed=$((passed + tests - failures - not_run))
  failed=$((failed + failures))
  skipped=$((skipped + not_run))
}

# junit_count BUILD_FOLDER ATTRIBUTE: of the one <testsuite> that ctest writes; 0 if there is none.
junit_count() {
  local value=
  if [[ -f $1/tests.xml ]]; then
    value=$(grep -m1 -o "[[:space:]]$2=\"[0-9]*\"" "$1/tests.xml" | grep -o '[0-9]*' || true)
  fi
  echo "${value:-0}"
}

# run_fuzzers FOLDER SECONDS: each program in it, from the seeds in tests/fuzz/corpus/<name>/, $jobs at
# a time. What a fuzzer says is in FOLDER/<name>.log, what it finds in FOLDER/<name>-findings/.
run_fuzzers() {
  local folder name fuzzers=()
  folder=$(realpath "$1")
  for name in "$folder"/*; do
    if [[ -f $name && -x $name ]]; then fuzzers+=("$(basename "$name")"); fi
  done
  if ((${#fuzzers[@]} == 0)); then
    count_command "fuzzers in $folder" false
    return
  fi
  rm -f "$folder"/*.passed
  export -f run_fuzzer
  printf '%s\n' "${fuzzers[@]}" |
    xargs -P "$jobs" -I NAME bash -c 'run_fuzzer "$@"' - "$folder" NAME "$2" || true
  for name in "${fuzzers[@]}"; do
    cat "$folder/$name.log"
    count_command "fuzz $name" test -f "$folder/$name.passed"
  done
}

# run_fuzzer FOLDER NAME SECONDS. All paths are absolute: the fuzzer of the command works in a folder
# of its own.
run_fuzzer() {
  local fuzzer=$1/$2 seeds=$PWD/tests/fuzz/corpus/$2
  mkdir -p "$fuzzer-corpus" "$fuzzer-findings"
  local corpora=("$fuzzer-corpus")
  if [[ -d $seeds ]]; then corpora+=("$seeds"); fi
  "$fuzzer" -max_total_time="$3" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 \
    -artifact_prefix="$fuzzer-findings/" "${corpora[@]}" >"$fuzzer.log" 2>&1 && touch "$fuzzer.passed"
}

# count_command NAME COMMAND...: one passed or failed.
count_command() {
  local name=$1
  shift
  if "$@"; then
    echo "passed: $name"
    passed=$((passed + 1))
  else
    echo "FAILED: $name ($*)"
    failed=$((failed + 1))
  fi
}

finish() {
  stage ""
  if ((skipped)); then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  exit $((failed > 0))
}
