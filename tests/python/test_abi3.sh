#!/usr/bin/env bash
# test_abi3.sh ROOT ARCHIVE FOLDER PYTHON: an abi3 wheel, built and used by a CPython of 3.12 or later.
# Exit code 77: skipped, there is no such Python here, or it has no headers or no virtual environments.
set -euo pipefail
root=$1 archive=$2 folder=$3
skip() {
  echo "skipped: $1"
  exit 77
}
# is_usable PYTHON: a CPython of 3.12 or later that runs, with its headers.
is_usable() {
  "$1" -c 'import sys, sysconfig, pathlib
sys.exit(not (sys.implementation.name == "cpython" and sys.version_info >= (3, 12)
              and pathlib.Path(sysconfig.get_path("include"), "Python.h").exists()))' 2>/dev/null
}
# The one that CMake found may be a version manager's stand-in for none: pyenv's own are tried too.
python=
for candidate in "${4:-}" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
  if [[ -x $candidate ]] && is_usable "$candidate"; then
    python=$candidate
    break
  fi
done
if [[ -z $python ]]; then skip "no CPython of 3.12 or later with its headers was found"; fi
echo "abi3: with $("$python" --version), $python"
venv=$folder/venv
if [[ ! -x $venv/bin/python ]]; then "$python" -m venv "$venv" || skip "$python makes no virtual environment"; fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
  "numpy>=2.0" nanobind==3.1.0 scikit-build-core==1.1.2 || skip "no packages for $python"
"$root/scripts/build_wheel.sh" "$archive" "$folder" "$venv/bin/python"
ls "$folder"/*cp312-abi3*.whl
PYTHONPATH=$folder/site "$venv/bin/python" - <<'PYTHON'
import numpy as np
import tilewise
a = np.arange(12, dtype=np.float32).reshape(3, 4)
assert np.array_equal(tilewise.matmul(a, a.T), a @ a.T)
assert tilewise.count(4096, 4096, 4096, tiles=["128", "8"]).tiled == 2 * 4096**3 // 128
assert tilewise.tiled_matmul(a, a.T, 2)[1]["shared_reads"] == 72
print("abi3:", tilewise._core.__file__)
PYTHON
