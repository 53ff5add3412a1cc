# One word a task; `make` alone lists them. The work is done by CMake presets and scripts/.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help build run test bench docs kernels explore format check clean

help: ## list these words
	@echo "make WORD, where WORD is one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1 \2/p' $(MAKEFILE_LIST) | \
	  while read -r word text; do printf '  %-8s %s\n' "$$word" "$$text"; done

build: ## install what is missing and build build/release/tilewise
	@scripts/install_packages.sh run
	@scripts/build.sh

run: build ## build, then classify real digits and time a random 2048 x 2048 x 2048 product
	@examples/digits/run.sh
	@echo
	@build/release/tilewise run 2048 2048 2048

test: ## build and pass every test: GCC, clang with sanitizers, fuzzers, the project's own checks
	@scripts/install_packages.sh test
	@scripts/make_venv.sh
	@scripts/run_tests.sh

check: ## the longer gates: thread sanitizer, clang-tidy, coverage, five minutes for each fuzzer
	@scripts/install_packages.sh check
	@scripts/make_venv.sh
	@scripts/run_checks.sh

format: ## format C++ and CUDA sources in place
	@scripts/install_packages.sh test
	@scripts/make_venv.sh
	@git ls-files -z -- '*.h' '*.cpp' '*.cuh' '*.cu' | xargs -0 -r build/venv/bin/clang-format -i

docs: build ## rewrite the tables of README.md and docs/ from results and counts
	@/usr/bin/python3 scripts/write_tables.py --tilewise build/release/tilewise

bench: build ## time products on this CPU, beside OpenBLAS, into bench/results/<machine>/
	@scripts/install_packages.sh bench || echo "bench: going on with what is installed" >&2
	@scripts/bench.sh

kernels: ## build with every named GPU schedule compiled ahead of time
	@scripts/install_packages.sh run
	@scripts/make_venv.sh
	@cmake --preset release -D TILEWISE_PRECOMPILE=all
	@scripts/build.sh

explore: ## write build/explorer.html, the page that shows a tiling step by step, and open it
	@scripts/install_packages.sh explore
	@scripts/explore.sh

clean: ## remove build/
	@rm -rf build
