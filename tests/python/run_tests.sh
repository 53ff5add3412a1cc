#!/usr/bin/env bash
# run_tests.sh ROOT WHEELS: python/tests against the package in WHEELS/site, with build/venv's Python.
# PyTorch's CPU build is tried once; where it cannot be had its tests are skipped, with a reason.
set -euo pipefail
root=$1
site=$2/site
python=$root/build/venv/bin/python
torch="torch==2.13.0+cpu"

stamp=$root/build/stamps/torch
if [[ ! -f $stamp ]]; then
  "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$torch" "numpy==2.4.6" \
    || echo "PyTorch: $torch could not be had here; its tests are skipped"
  mkdir -p "$root/build/stamps"
  touch "$stamp"
fi
cd "$root"
export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 TILEWISE_ROOT=$root
exec "$python" -m pytest -p no:cacheprovider --durations=5 python/tests
