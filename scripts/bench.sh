#!/usr/bin/env bash
# bench.sh [MACHINE]: the cubes of bench/suites on this machine's CPU, up to 2048^3, into
# bench/results/MACHINE/cpu_*.json ("tilewise.bench/1"). `make docs` makes the table in README of them.
# Then the time that `tilewise explain` takes to answer.
# Run it on a machine that does nothing else. MACHINE is the processor's name by default.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=${1:-$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1 | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-')}
results=bench/results/${machine:-cpu}
mkdir -p "$results"

# bench NAME OPTION...
bench() {
  local name=$1
  shift
  build/release/tilewise bench --suite bench/suites/cubes.csv --device cpu --max-gflop 20 "$@" \
    -o "$results/$name.json"
}

bench cpu_f32
bench cpu_f32_one_thread --threads 1
bench cpu_f64 --dtype f64
bench cpu_bf16 --dtype bf16
python3 scripts/time_explain.py build/release/tilewise
echo "written: $results/cpu_*.json"
