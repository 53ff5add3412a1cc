#!/usr/bin/env python3
"""Times products on this machine's CPU and writes bench/results/<machine>/products.json.

One row a run of `tilewise run --json`, in the format "tilewise.bench/1"; `make docs` makes the table in
README.md of it. usage: record_products.py TILEWISE [MACHINE]
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name, M, N, K, options. Primes and thin shapes beside the cubes.
PRODUCTS = [
    ("cube_2048", 2048, 2048, 2048, []),
    ("cube_2048_one_thread", 2048, 2048, 2048, ["--threads", "1"]),
    ("cube_512", 512, 512, 512, []),
    ("primes", 1021, 1031, 1033, []),
    ("panel", 4096, 256, 1024, []),
    ("f64_cube_2048", 2048, 2048, 2048, ["--dtype", "f64"]),
    ("f64_cube_2048_one_thread", 2048, 2048, 2048, ["--dtype", "f64", "--threads", "1"]),
]

ROW_KEYS = ["m", "n", "k", "dtype", "compute", "epilogue", "schedule", "device", "threads", "time_us",
            "low_us", "high_us", "tflops", "share_of_peak", "verified", "max_error", "error_bound"]


def run(tilewise, m, n, k, options):
    command = [tilewise, "run", *map(str, (m, n, k)), *options, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def row_of(name, document):
    fixed = {"suite": "products", "name": name, "batch": 1, "layout": "nn", "scale": "none"}
    return {**fixed, **{key: document[key] for key in ROW_KEYS}, "rivals": [], "ratio": None}


def environment_of(document, machine):
    taken = {key: document["environment"][key] for key in ("cpu", "compiler", "commit", "date", "data")}
    return {"machine": machine, **taken, "command": "make bench"}


def main():
    tilewise = sys.argv[1]
    documents = [(name, run(tilewise, m, n, k, options)) for name, m, n, k, options in PRODUCTS]
    environment = documents[0][1]["environment"]
    machine = (sys.argv[2] if len(sys.argv) > 2
               else re.sub(r"[^a-z0-9]+", "-", environment["cpu"].lower()).strip("-"))
    result = {
        "schema": "tilewise.bench/1",
        "environment": environment_of(documents[0][1], machine),
        "rows": [row_of(name, document) for name, document in documents],
    }
    path = ROOT / "bench" / "results" / machine / "products.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{path.relative_to(ROOT)}: {len(documents)} products")
    return 0 if all(document["verified"] for _, document in documents) else 1


if __name__ == "__main__":
    sys.exit(main())
