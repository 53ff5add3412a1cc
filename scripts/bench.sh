#!/usr/bin/env bash
# bench.sh [MACHINE]: products on this machine's CPU. Run it on a machine that does nothing else.
#   1. the parts of the packed product on their own (bench/micro; Google Benchmark's JSON in
#      build/release/bench/micro.json), where Google Benchmark is installed
#   2. the cubes of bench/suites up to 2048^3, by type and threads, beside OpenBLAS where it is
#      installed, and with a fused bias and gelu beside the same product without: into
#      bench/results/MACHINE/cpu_*.json ("tilewise.bench/1"); `make docs` makes README's table of them
#   3. the time that `tilewise explain` takes to answer
# MACHINE is the processor's name by default.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=${1:-$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1 | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-')}
results=bench/results/${machine:-cpu}
mkdir -p "$results"

cmake --preset release -DTILEWISE_BUILD_BENCH=ON >/dev/null
cmake --build build/release --parallel "${TILEWISE_JOBS:-$(nproc)}" --target tilewise_command
if ninja -C build/release -t query tilewise_bench_micro >/dev/null 2>&1; then
  cmake --build build/release --parallel "${TILEWISE_JOBS:-$(nproc)}" --target tilewise_bench_micro
  mkdir -p build/release/bench
  build/release/bench/micro/tilewise_bench_micro --benchmark_min_time=0.1 \
    --benchmark_out=build/release/bench/micro.json --benchmark_out_format=json
else
  echo "bench: Google Benchmark is not installed; its part is skipped" >&2
fi

against=()
if ldconfig -p | grep -q 'libopenblas\.so'; then
  against=(--against openblas)
else
  echo "bench: OpenBLAS is not installed; nothing stands beside the products" >&2
fi

# OpenBLAS chooses its kernels by itself, whatever the caller's environment says. But one that is older
# than the processor falls back to kernels of 2004: then it is told which of its newer ones run here.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
own_choice=$(python3 -c 'import ctypes
name = ctypes.CDLL("libopenblas.so.0").openblas_get_corename
name.restype = ctypes.c_char_p
print(name().decode())' 2>/dev/null || true)
if [[ $own_choice == Prescott ]]; then
  if grep -qw avx512vl /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=SkylakeX
  elif grep -qw avx2 /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=Haswell
  fi
fi

# bench NAME OPTION...
bench() {
  local name=$1
  shift
    build/release/tilewise bench --suite bench/suites/cubes.csv --device cpu --max-gflop 20 "$@" \
    -o "$results/$name.json"
}

bench cpu_f32 "${against[@]}"
bench cpu_f32_one_thread --threads 1 "${against[@]}"
bench cpu_f64 --dtype f64 "${against[@]}"
bench cpu_f64_one_thread --dtype f64 --threads 1 "${against[@]}"
bench cpu_bf16 --dtype bf16
bench cpu_bf16_one_thread --dtype bf16 --threads 1
bench cpu_f32_bias_gelu --epilogue 'gelu(acc + bias[n])' --seconds 2
bench cpu_f32_bias_gelu_one_thread --epilogue 'gelu(acc + bias[n])' --seconds 2 --threads 1
python3 scripts/time_explain.py build/release/tilewise
echo "written: $results/cpu_*.json"
