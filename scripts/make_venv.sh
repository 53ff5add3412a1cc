#!/usr/bin/env bash
# make_venv.sh: a virtual environment in build/venv with the packages of scripts/requirements.txt.
# A stamp with the checksum of that file makes a second call cost nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=build/stamps/venv
checksum=$(cksum <scripts/requirements.txt)
if [[ -f $stamp && -x build/venv/bin/python && $(<"$stamp") == "$checksum" ]]; then exit 0; fi

mkdir -p build/stamps
/usr/bin/python3 -m venv --clear build/venv
build/venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
  --require-hashes --requirement scripts/requirements.txt
echo "$checksum" >"$stamp"
