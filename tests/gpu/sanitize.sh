#!/usr/bin/env bash
# sanitize.sh FOLDER OUTPUT [SECONDS]: compute-sanitizer over every rung on the odd grid of shapes,
# on a machine with a GPU. FOLDER holds gpu_rungs; OUTPUT receives sanitizer.json, sanitizer.txt and
# a log a process. synccheck and memcheck run over all of the grid, racecheck and initcheck, which are
# ten times slower, over 36 shapes in which any two dimensions take every two extents. SECONDS: the
# most that one process spends on its part (default 150); a part that is not finished is a failure.
# Also: the requests that a rung must refuse, and the two broken variants of rung 03, which racecheck
# and the results must catch.
# Exit code 0; 1 where a tool found something or a part was not finished; 3 without the tool.
set -uo pipefail
if [ $# -lt 2 ]; then
  echo "usage: sanitize.sh FOLDER OUTPUT [SECONDS]" >&2
  exit 2
fi
folder=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
seconds=${3:-150}
if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize: compute-sanitizer was not found" >&2
  exit 3
fi

tools=(racecheck memcheck synccheck initcheck)  # the slowest first
# Schedules that share a process; those that take longest first.
groups=(
  "mma"
  "mma_tf32"
  "wgmma_pipeline wgmma_pipeline_ping_pong"
  "tuned_f32"
  "wgmma_pipeline_tf32 wgmma_fp8 wgmma_fp8_promoted"
  "wgmma wmma"
  "column_tile" "column_tile_merged" "square_tile" "square_tile_merged"
  "shared_tile" "shared_tile_merged" "naive_rows" "naive"
  "vector_loads" "conflict_free" "conflict_free_swizzle"
  "double_buffer warp_tile"
)
listed=$(printf '%s\n' "${groups[@]}" | tr ' ' '\n' | sort)
named=$("$folder/gpu_rungs" list | sort)
if [ "$listed" != "$named" ]; then
  echo "sanitize: the groups are not the named GPU schedules:" >&2
  diff <(echo "$listed") <(echo "$named") >&2
  exit 1
fi

start=$(date +%s)
"$folder/gpu_rungs" compile >"$output/compile.log" 2>&1 || { tail -5 "$output/compile.log"; exit 1; }
echo "compiled after $(($(date +%s) - start)) s"

# One process: TOOL, number of the group, its schedules. Writes a line of JSON.
check() {
  local tool=$1 group=$2 log="$output/$1-$2.log" data=whole shapes=all code begin
  shift 2
  if [ "$tool" = initcheck ]; then data=elements; fi
  if [ "$tool" = initcheck ] || [ "$tool" = racecheck ]; then shapes=pairs; fi
  begin=$(date +%s)
  compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
    "$folder/gpu_rungs" grid "$seconds" "$data" "$shapes" "$@" >"$log" 2>&1
  code=$?
  local products summary done_of clean=true
  products=$(grep -o 'grid: .*' "$log" || echo "grid: 0 of 0 products, 0 wrong")
  summary=$(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | tail -1 | sed 's/^=* *//')
  done_of=$(sed -E 's/grid: ([0-9]+) of ([0-9]+) .*/\1 \2/' <<<"$products")
  if [ $code -ne 0 ] || [ -z "$summary" ] || [ "${done_of% *}" != "${done_of#* }" ] ||
    [ "${done_of% *}" = 0 ]; then clean=false; fi
  printf '{"tool": "%s", "schedules": "%s", "products": %d, "of": %d, "exit_code": %d, "summary": "%s", "seconds": %d, "clean": %s}\n' \
    "$tool" "$*" "${done_of% *}" "${done_of#* }" "$code" "$summary" "$(($(date +%s) - begin))" "$clean" \
    >"$output/$tool-$group.json"
}
export -f check
export folder output seconds

for tool in "${tools[@]}"; do
  for i in "${!groups[@]}"; do
    echo "$tool $i ${groups[$i]}"
  done
done | xargs -P "$(nproc)" -I{} bash -c 'check {}'

# What must be refused is, and what is broken is caught.
"$folder/gpu_rungs" refusals >"$output/refusals.log" 2>&1
refusals=$?
"$folder/gpu_rungs" broken >"$output/broken.log" 2>&1
compute-sanitizer --tool racecheck --error-exitcode 9 --print-limit 20 "$folder/gpu_rungs" broken \
  >"$output/broken-racecheck.log" 2>&1
race=$?
wrong=$(grep -c ': [1-9][0-9]* of' "$output/broken.log")
caught=true
if [ $race -ne 9 ] || [ "$wrong" -ne 2 ]; then caught=false; fi

parts=$(cat "$output"/{racecheck,memcheck,synccheck,initcheck}-[0-9]*.json)
{
  echo '{"schema": "tilewise.sanitizer/1", "parts": ['
  sed '$!s/$/,/' <<<"$parts"
  printf '], "refusals": "%s", "broken": "%s", "broken_caught": %s, "seconds": %d}\n' \
    "$(tail -1 "$output/refusals.log")" "$(tr '\n' ';' <"$output/broken.log")" "$caught" \
    "$(($(date +%s) - start))"
} >"$output/sanitizer.json"
{
  sed -E 's/.*"tool": "([a-z]*)", "schedules": "([^"]*)", "products": ([0-9]*), "of": ([0-9]*), .*"summary": "([^"]*)", "seconds": ([0-9]*), "clean": ([a-z]*).*/\1|\3 of \4|\6 s|\7|\5|\2/' \
    <<<"$parts" | tr '|' '\t'
  tail -1 "$output/refusals.log"
  cat "$output/broken.log"
  grep SUMMARY "$output/broken-racecheck.log" | tail -1
} | tee "$output/sanitizer.txt"
echo "sanitize: $(($(date +%s) - start)) s"
if grep -q '"clean": false' <<<"$parts" || [ $refusals -ne 0 ] || [ $caught != true ]; then
  echo "sanitize: something was found or not finished"
  exit 1
fi
