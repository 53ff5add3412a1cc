#!/usr/bin/env bash
# build_wheel.sh ARCHIVE FOLDER [PYTHON]: a wheel of the Python package in FOLDER, linked with a
# libtilewise.a that was built before, so that only the bindings are compiled; and the package itself in
# FOLDER/site, for PYTHONPATH. PYTHON has the packages of scripts/requirements.txt (build/venv's does).
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: scripts/build_wheel.sh ARCHIVE FOLDER [PYTHON]" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
archive=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
python=${3:-$root/build/venv/bin/python}

rm -f "$folder"/*.whl
TILEWISE_ARCHIVE=$archive "$python" -m pip wheel "$root" --quiet --disable-pip-version-check \
  --no-build-isolation --no-deps --no-index --wheel-dir "$folder" \
  --config-settings=build-dir="$folder/build"
rm -rf "$folder/site"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-index --no-compile \
  --target "$folder/site" "$folder"/*.whl
echo "$folder"/*.whl
