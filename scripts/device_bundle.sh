#!/usr/bin/env bash
# device_bundle.sh BUILD FOLDER: puts the command, the GPU tests, kernels/ and the suites into one
# folder that can be carried to a machine with a GPU and an equal or newer C library.
# BUILD is a folder that CMake built; FOLDER is replaced. There: TILEWISE_KERNELS=FOLDER/kernels
# lets a kernel be edited without a rebuild.
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
for test in gpu_host_test gpu_plan_test gpu_product_test gpu_lost_context_test; do
  if [ -x "$build/tests/gpu/$test" ]; then strip -o "$folder/$test" "$build/tests/gpu/$test"; fi
done
cp -r "$root/kernels" "$root/schedules" "$root/bench/suites" "$folder/"

mib=$(du -sm "$folder" | cut -f1)
if [ "$mib" -gt $max_mib ]; then
  echo "device_bundle: $folder has $mib MiB, more than $max_mib" >&2
  exit 1
fi
echo "device_bundle: $folder, $mib MiB"
