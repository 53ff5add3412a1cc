#!/usr/bin/env bash
# run_in_venv.sh ROOT SCRIPT ARGUMENTS...: the script under build/venv's Python, which has Playwright.
# Exit 77 (skipped) with a sentence where that or Chromium is missing.
set -euo pipefail
python=$1/build/venv/bin/python
if ! [[ -x $python ]] || ! "$python" -c 'import playwright, axe_playwright_python' 2>/dev/null; then
  echo "skipped: build/venv has no playwright and axe (scripts/make_venv.sh makes it)"
  exit 77
fi
if ! command -v chromium >/dev/null; then
  echo "skipped: no chromium here (Debian: chromium)"
  exit 77
fi
exec "$python" "${@:2}"
