#!/usr/bin/env python3
"""Times `tilewise explain` beside `tilewise --version`: what the answer itself takes (at most 50 ms).

usage: time_explain.py TILEWISE
"""

import statistics
import subprocess
import sys
import time

LIMIT_MS = 50
ROUNDS = 11


def milliseconds(*command):
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return 1000 * (time.monotonic() - begin)


def main(tilewise):
    missed = False
    for size in ("4096", "60000"):
        rounds = [(milliseconds(tilewise, "explain", size, size, size, "--machine", "h200"),
                   milliseconds(tilewise, "--version")) for _ in range(ROUNDS)]
        answer = statistics.median(explain - start for explain, start in rounds)
        print(f"explain {size}: {answer:.1f} ms beyond start-up (limit {LIMIT_MS} ms)")
        missed = missed or answer > LIMIT_MS
    return 1 if missed else 0


sys.exit(main(*sys.argv[1:]))
