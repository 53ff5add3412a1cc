#!/usr/bin/env bash
# device_bundle.sh BUILD FOLDER: puts the command, the GPU tests, the programs and scripts that a
# profiler and a sanitizer are put around, kernels/, schedules/ and the suites into one folder that
# can be carried to a machine with a GPU and an equal or newer C library. BUILD is a folder that
# CMake built (targets tilewise_command, gpu_host_test, gpu_plan_test, gpu_product_test,
# gpu_lost_context_test, gpu_rungs); FOLDER is replaced. There:
#
#   TILEWISE_KERNELS=FOLDER/kernels            lets a kernel be edited without a rebuild
#   FOLDER/check_counters.py FOLDER OUTPUT     predictions beside Nsight Compute's counters
#   FOLDER/sanitize.sh FOLDER OUTPUT           compute-sanitizer over every rung
set -euo pipefail
if [ $# -ne 2 ]; then
  echo "usage: scripts/device_bundle.sh BUILD FOLDER" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
folder=$2
max_mib=60

rm -rf "$folder"
mkdir -p "$folder"
strip -o "$folder/tilewise" "$build/tilewise"
for test in gpu_host_test gpu_plan_test gpu_product_test gpu_lost_context_test gpu_rungs; do
  if [ ! -x "$build/tests/gpu/$test" ]; then
    echo "device_bundle: $build has no tests/gpu/$test; build it first" >&2
    exit 1
  fi
  strip -o "$folder/$test" "$build/tests/gpu/$test"
done
cp "$root/tests/gpu/check_counters.py" "$root/tests/gpu/sanitize.sh" "$folder/"
cp -r "$root/kernels" "$root/schedules" "$root/bench/suites" "$folder/"

mib=$(du -sm "$folder" | cut -f1)
if [ "$mib" -gt $max_mib ]; then
  echo "device_bundle: $folder has $mib MiB, more than $max_mib" >&2
  exit 1
fi
echo "device_bundle: $folder, $mib MiB"
