#!/usr/bin/env bash
# install_packages.sh SET: makes sure that the system packages of a set are there.
#   run    what `make run` and `make build` need
#   test   explore, and the sanitizers, the C++ library for aarch64, the test library, Python's
#          virtual environments, and the browser in which the page is tested
#   explore  run, and the compiler for WebAssembly
#   check  test, and clang-tidy
#   bench  run, and what the benchmarks compare with
# Names are Debian 12's. Ubuntu 24.04 has the same names; it was not tried.
# A stamp in build/, holding a checksum of this script, makes a second call cost nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

set_name=${1:-run}
stamp=build/stamps/packages-$set_name
checksum=$(cksum <"$0")
if [[ -f $stamp && $(<"$stamp") == "$checksum" ]]; then exit 0; fi

# package, and a command or a file that shows it is there even if the package is not
run_packages="
  g++                 g++
  make                make
  cmake               cmake
  ninja-build         ninja
  libhwy-dev          /usr/include/hwy/highway.h
  libfmt-dev          /usr/include/fmt/format.h
  libcli11-dev        /usr/include/CLI/CLI.hpp
  nlohmann-json3-dev  /usr/include/nlohmann/json.hpp
  python3             /usr/bin/python3"
explore_packages="$run_packages
  clang-19            clang++-19
  lld-19              wasm-ld-19
  wasi-libc           -
  libc++-19-dev-wasm32        -
  libclang-rt-19-dev-wasm32   -"
test_packages="$explore_packages
  libclang-rt-19-dev  -
  chromium            chromium
  libgtest-dev        /usr/include/gtest/gtest.h
  libgmock-dev        /usr/include/gmock/gmock.h
  python3-venv        -
  python3-dev         -
  libstdc++-12-dev-arm64-cross  -
  pkg-config          pkg-config
  git                 git"
check_packages="$test_packages
  clang-tidy-19       clang-tidy-19"
bench_packages="$run_packages
  libbenchmark-dev    /usr/include/benchmark/benchmark.h
  libopenblas-dev     -"

case $set_name in
  run) packages=$run_packages ;;
  explore) packages=$explore_packages ;;
  test) packages=$test_packages ;;
  check) packages=$check_packages ;;
  bench) packages=$bench_packages ;;
  *)
    echo "install_packages: the set is '$set_name'; valid are run, explore, test, check, bench" >&2
    exit 2
    ;;
esac

# is_installed PACKAGE PROBE
is_installed() {
  case $2 in
    -) ;;
    /*) if [[ -e $2 ]]; then return 0; fi ;;
    *) if command -v "$2" >/dev/null; then return 0; fi ;;
  esac
  command -v dpkg-query >/dev/null &&
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing=()
while read -r package probe; do
  if [[ -n $package ]] && ! is_installed "$package" "$probe"; then missing+=("$package"); fi
done <<<"$packages"

if ((${#missing[@]})); then
  if ! command -v apt-get >/dev/null; then
    echo "install_packages: no apt-get here, and these are missing (by their Debian names):" >&2
    printf '  %s\n' "${missing[@]}" >&2
    echo "Install them by this system's own means, then run the same command again." >&2
    exit 1
  fi
  as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "install_packages: not root and no sudo here; as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "Installing: ${missing[*]}" >&2
  apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  # A failing list of some unrelated source is no reason to stop: the install decides.
  "${apt_get[@]}" update >&2 || true
  "${apt_get[@]}" install --no-install-recommends "${missing[@]}" >&2
fi

mkdir -p build/stamps
echo "$checksum" >"$stamp"
