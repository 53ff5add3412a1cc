"""What the Python face costs on the CPU. On a machine that does nothing else:

    python bench/python/overhead.py [--json]

1. a 32 x 32 x 32 float32 call, against np.matmul in the same run, interleaved
2. a 2048^3 float32 call, against the library's own time for the same product (`tilewise.bench`)
3. import tilewise, beyond NumPy
"""

from __future__ import annotations

import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

import numpy as np

import tilewise


def interleaved_us(functions, calls, rounds):
    """Microseconds a call of each function: the median over rounds, which take turns."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for samples, function in zip(times, functions, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                function()
            samples.append((time.perf_counter() - start) / calls * 1e6)
    return [statistics.median(samples) for samples in times]


def small():
    random = np.random.default_rng(1)
    a, b = random.standard_normal((2, 32, 32)).astype(np.float32)
    out = np.empty_like(a)
    bias = np.zeros(32, np.float32)
    names = ["np.matmul", "tilewise.matmul", "np.matmul(out=)", "tilewise.matmul(out=)", "tilewise bias, relu"]
    functions = [
        lambda: np.matmul(a, b),
        lambda: tilewise.matmul(a, b),
        lambda: np.matmul(a, b, out=out),
        lambda: tilewise.matmul(a, b, out=out),
        lambda: tilewise.matmul(a, b, epilogue="relu(acc + bias[n])", operands={"bias": bias}),
    ]
    return dict(zip(names, interleaved_us(functions, 2000, 25), strict=True))


def large():
    """The binding's share: a call with out=, less the same call's share inside the C++ library."""
    a, b = np.random.default_rng(1).standard_normal((2, 2048, 2048)).astype(np.float32)
    out = np.empty_like(a)
    call, = interleaved_us([lambda: tilewise.matmul(a, b, out=out)], 1, 15)
    library = tilewise.bench((2048, 2048, 2048), repeat_for_s=2.0).rows[0].time_us
    # The same path with nothing to multiply: all that the binding itself does.
    empty = np.empty((2048, 0), np.float32)
    nothing = np.empty((0, 0), np.float32)
    binding, = interleaved_us([lambda: tilewise.matmul(empty, nothing, out=empty)], 2000, 25)
    return {"call": call, "library": library, "binding": binding, "share": binding / call}


def imports():
    code = "import time, numpy; s = time.perf_counter(); import tilewise; print(time.perf_counter() - s)"
    runs = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                 check=True).stdout) * 1e3 for _ in range(9)]
    return {"median": statistics.median(runs), "worst": max(runs)}


def environment():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {
        "cpu": cpu.group(1) if cpu else "unknown", "python": platform.python_version(), "numpy": np.__version__,
        "tilewise": tilewise.__version__, "data": "normal, seed 1", "command": "python bench/python/overhead.py --json",
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


if __name__ == "__main__":
    report = {"small_us": small(), "large_us": large(), "import_ms": imports()}
    if "--json" in sys.argv:
        print(json.dumps({"schema": "tilewise.python/1", "environment": environment(), **report}, indent=1))
    else:
        for part, values in report.items():
            print(part)
            for name, value in values.items():
                print(f"  {name:<24} {value:.4g}")
        print(f"over np.matmul: {report['small_us']['tilewise.matmul'] - report['small_us']['np.matmul']:+.2f} us")
