"""The exercises' checker, as a learner meets it."""

import subprocess
import sys

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
