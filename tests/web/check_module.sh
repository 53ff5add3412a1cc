#!/usr/bin/env bash
# check_module.sh MODULE: the page's module is under 150 kB compressed.
set -euo pipefail
limit=150000
bytes=$(gzip -9 -c "$1" | wc -c)
echo "explorer.wasm: $(stat -c %s "$1") bytes, $bytes compressed"
((bytes < limit)) || { echo "more than $limit"; exit 1; }
