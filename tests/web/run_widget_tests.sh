#!/usr/bin/env bash
# run_widget_tests.sh ROOT WHEELS: test_widget.py against the package in WHEELS/site, in Chromium. anywidget is
# tried once, into build/notebook; where it cannot be had the test under it is skipped, with a reason.
set -euo pipefail
root=$1 site=$2/site
here=$(cd "$(dirname "$0")" && pwd)
folder=$root/build/notebook stamp=$root/build/stamps/notebook
checksum=$(cksum <"$here/requirements.txt")
if [[ -x $root/build/venv/bin/python && ! (-f $stamp && $(<"$stamp") == "$checksum") ]]; then
  rm -rf "$folder"
  "$root/build/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --no-deps --target "$folder" --requirement "$here/requirements.txt" ||
    echo "anywidget could not be had here; the test under it is skipped"
  mkdir -p "$root/build/stamps"
  echo "$checksum" >"$stamp"
fi
export PYTHONPATH=$site:$folder
exec "$here/run_in_venv.sh" "$root" "$here/test_widget.py"
