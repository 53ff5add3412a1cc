#!/usr/bin/env bash
# open_page.sh FILE: opens a page where there is a desktop with a browser; else says where it is.
set -euo pipefail
page=$(realpath "$1")
if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] && command -v xdg-open >/dev/null && xdg-open "$page"; then
  exit 0
fi
echo "The page is $1: open it in a browser (file://$page)."
