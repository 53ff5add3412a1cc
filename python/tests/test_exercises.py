"""The exercises' checker, as a learner meets it."""

import os
import subprocess
import sys
import time

import pytest

RIGHT = '''
import numpy as np

def matmul_traffic(M, N, K, b):
    return {"naive": 2 * M * N * K, "tiled": M * K * -(-N // b) + K * N * -(-M // b),
            "minimum": (M * K + K * N) if M * N * K else 0}

def tiled_matmul(A, B, b):
    (M, K), N = A.shape, B.shape[1]
    C, g, s = np.zeros((M, N)), 0, 0
    for i in range(0, M, b):
        for j in range(0, N, b):
            for k in range(0, K, b):
                x, y = A[i:i + b, k:k + b], B[k:k + b, j:j + b]
                g += x.size + y.size
                s += 2 * x.shape[0] * x.shape[1] * y.shape[1]
                C[i:i + b, j:j + b] += x @ y
    return C, {"global_reads": g, "shared_reads": s}

def two_level_matmul(A, B, b, t):
    (M, K), N = A.shape, B.shape[1]
    C, g, s = np.zeros((M, N)), 0, 0
    for i in range(0, M, b):
        for j in range(0, N, b):
            for k in range(0, K, b):
                x, y = A[i:i + b, k:k + b], B[k:k + b, j:j + b]
                g += x.size + y.size
                for p in range(0, x.shape[0], t):
                    for q in range(0, y.shape[1], t):
                        for r in range(x.shape[1]):
                            u, v = x[p:p + t, r], y[r, q:q + t]
                            s += u.size + v.size
                            C[i + p:i + p + u.size, j + q:j + q + v.size] += np.outer(u, v)
    return C, {"global_reads": g, "shared_reads": s}

def mma_count(M, N, K, m=16, n=8, k=16):
    count = -(-M // m) * -(-N // n) * -(-K // k)
    return count, M * N * K / (count * m * n * k) if count else 0.0
'''


def exercises(*arguments):
    return subprocess.run([sys.executable, "-m", "tilewise.exercises", *map(str, arguments)],
                          capture_output=True, text=True, timeout=120)


def test_a_right_file_passes(tmp_path):
    file = tmp_path / "right.py"
    file.write_text(RIGHT)
    done = exercises("check", file)
    assert done.returncode == 0, done.stdout
    assert done.stdout.split("\n")[:4] == [
        "pass matmul_traffic", "pass tiled_matmul", "pass two_level_matmul", "pass mma_count"]


def test_the_starter_file_fails_with_hints_and_is_never_overwritten(tmp_path):
    file = tmp_path / "mine.py"
    assert exercises("new", file).returncode == 0
    done = exercises("check", file)
    assert done.returncode == 1 and done.stdout.count("FAIL") == 4 and done.stdout.count("hint") == 4
    again = exercises("new", file)
    assert again.returncode == 2 and "there already" in again.stderr


@pytest.mark.parametrize("source, words", [
    ('def matmul_traffic(M, N, K, b):\n    return {"naive": 2*M*N*K, "tiled": 2*M*N*K//b, "minimum": M*K+K*N}',
     "matmul_traffic(2, 3, 4, 2)\n  expected {'naive': 48, 'tiled': 28, 'minimum': 20}"),
    ("def matmul_traffic(M, N, K, b):\n    while True: pass", "limit of time"),
    ("import numpy as np\ndef matmul_traffic(M, N, K, b):\n    return np.ones(2**36)", "limit of memory"),
    ("def matmul_traffic(M, N, K, b):\n    return 1 / 0", "ZeroDivisionError: division by zero (line 2)"),
    ("def other(): pass", "no function matmul_traffic"),
    ("def matmul_traffic(:", "could not be loaded"),
    ("import sys; sys.exit(0)", "could not be loaded"),
    ("import os; os._exit(0)", "ended with code 0"),
    ("def matmul_traffic(*a): raise SystemExit(0)", "raised   SystemExit: 0 (line 1)"),
    ("from tilewise import matmul_traffic", "write yours"),
    ("class Any(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other): return True\n"
     "def matmul_traffic(*a): return dict.fromkeys(('naive', 'tiled', 'minimum'), Any(3))", "got"),
    ("def matmul_traffic(*a): return {'naive': '2', 'tiled': None, 'minimum': 2}", "got"),
    ("def matmul_traffic(*a): return input()", "EOFError"),
    ("import os\ndef matmul_traffic(*a):\n    while True: os.write(1, b'\\xff' * 2**20)", "File too large"),
    ("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n"
     "def matmul_traffic(*a): return {}", "exactly the keys"),
    ("print('pass matmul_traffic')\ndef matmul_traffic(*a): return {}", "exactly the keys"),
])
def test_wrong_files(source, words, tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(source)
    done = exercises("check", file, "matmul_traffic", "--seconds", "2")
    assert done.returncode == 1 and words in done.stdout, done.stdout
    assert done.stdout.startswith("FAIL matmul_traffic")


def test_words(tmp_path):
    assert exercises("list").stdout.count("(") > 4
    assert exercises("hint", "mma_count", 2).stdout == "2. The three numbers of instructions multiply.\n"
    for bad in (("hint", "mma"), ("check", tmp_path / "none.py"), ("check", __file__, "mma")):
        done = exercises(*bad)
        assert done.returncode == 2 and done.stderr


def test_what_a_learner_starts_ends_with_the_check(tmp_path):
    file = tmp_path / "forks.py"
    file.write_text("import os, time\npid = os.fork()\nif pid == 0: time.sleep(99)\n"
                    f"open({str(tmp_path / 'pid')!r}, 'w').write(str(pid))\n" + RIGHT)
    start = time.monotonic()
    assert exercises("check", file, "mma_count").stdout == "pass mma_count\n"
    assert time.monotonic() - start < 60
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # it ends soon after it was told to
            os.kill(int((tmp_path / "pid").read_text()), 0)
            time.sleep(0.1)


def test_a_list_that_is_not_read_to_its_end():
    done = subprocess.run(f"{sys.executable} -m tilewise.exercises list | true", shell=True,
                          capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
