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


MMA = RIGHT[RIGHT.index("def mma_count"):]


def exercises(*arguments, cwd=None):
    return subprocess.run([sys.executable, "-m", "tilewise.exercises", *map(str, arguments)],
                          capture_output=True, text=True, timeout=120, cwd=cwd)


def check(source, tmp_path, name, *options, file="mine.py"):
    (tmp_path / file).write_text(source)
    return exercises("check", tmp_path / file, name, *options)


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
    ("import os\ndef matmul_traffic(*a):\n    while True: os.write(1, b'\\xff' * 2**20)", "64 MiB of output"),
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


@pytest.mark.parametrize("body, words", [
    ("import time; time.sleep(100)", "limit of time; does a loop never end?\n  in       mma_count(1, 1, 1)\n"),
    ("while True: pass", "limit of time; does a loop never end?\n  in       mma_count(1, 1, 1)\n"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
     "killed by signal 9 (SIGKILL).\n  in       mma_count(1, 1, 1)\n"),
    ("import ctypes; ctypes.string_at(0)", "killed by signal 11 (SIGSEGV).\n  in       mma_count(1, 1, 1)\n"),
    ("raise KeyboardInterrupt", "mma_count(1, 1, 1)\n  raised   KeyboardInterrupt"),
    ("while True: print('x' * 1000)", "64 MiB of output; which loop prints so much?\n  in       mma_count(1, 1, 1)\n"),
    ("import os; os._exit(3)", "ended with code 3 before the function did.\n  in       mma_count(1, 1, 1)\n"),
])
def test_an_end_before_the_answer_is_told_as_it_was(body, words, tmp_path):
    start = time.monotonic()
    done = check(f"def mma_count(*a):\n    {body}", tmp_path, "mma_count", "--seconds", "1")
    assert done.returncode == 1 and words in done.stdout, done.stdout
    assert time.monotonic() - start < 20  # 1 second, 2 of grace, and the starts of two Pythons


@pytest.mark.parametrize("module", ["copy", "random", "signal", "subprocess", "mine"])
def test_the_standard_library_comes_before_the_files_beside_it(module, tmp_path):
    (tmp_path / f"{module}.py").write_text("from __future__ import annotations\nVALUE = 7\n" + MMA)
    (tmp_path / "beside.py").write_text(MMA)
    assert exercises("check", f"{module}.py", "mma_count", cwd=tmp_path).stdout == "pass mma_count\n"
    (tmp_path / "uses.py").write_text("import copy, random\ncopy.deepcopy(random.random())\nfrom beside import *")
    assert exercises("check", tmp_path / "uses.py", "mma_count").stdout == "pass mma_count\n"
    assert exercises("check", "uses.py", "mma_count", cwd=tmp_path).stdout == "pass mma_count\n"


def test_a_file_with_dataclasses_of_named_types(tmp_path):
    source = ("from __future__ import annotations\nfrom dataclasses import dataclass\n"
              "@dataclass\nclass Tile:\n    m: int\n" + MMA)
    assert check(source, tmp_path, "mma_count").stdout == "pass mma_count\n"


RAISES = '''
class Odd:
    def __repr__(self): raise RuntimeError
    def __eq__(self, other): raise RuntimeError
    def __hash__(self): return 3
    def __index__(self): raise RuntimeError
    def __array__(self, *a, **k): raise RuntimeError
'''


@pytest.mark.parametrize("name, value, words", [
    ("matmul_traffic", "{k: Fraction(v) for k, v in right.items()}", '"naive" is of type Fraction'),
    ("matmul_traffic", "{k: float(v) for k, v in right.items()}", '"naive" is of type float'),
    ("matmul_traffic", "{k: np.int64(v) for k, v in right.items()}", '"naive" is of type int64'),
    ("matmul_traffic", "{**right, 'minimum': True}", '"minimum" is of type bool'),
    ("matmul_traffic", "{**right, 'tiled': Odd()}", '"tiled" is of type Odd'),
    ("matmul_traffic", "{**right, Odd(): 2}", "exactly the keys"),
    ("matmul_traffic", "Odd()", "to show it raises RuntimeError"),
    ("mma_count", "(float(right[0]), right[1])", "the number of instructions is of type float"),
    ("mma_count", "(right[0], Fraction(right[1]))", "The utilization is a float; yours is of type Fraction"),
    ("mma_count", "(right[0], float('nan'))", "Utilization: the products"),
    ("mma_count", "(right[0], 10**400)", "OverflowError"),
    ("mma_count", "(Odd(), Odd())", "the number of instructions is of type Odd"),
    ("tiled_matmul", "(right[0], {k: float(v) for k, v in right[1].items()})", '"global_reads" is of type float'),
    ("tiled_matmul", "(Odd(), right[1])", "The answer cannot be read: RuntimeError"),
    ("tiled_matmul", "([[Fraction(x) for x in row] for row in right[0]], right[1])", "C is an array of numbers"),
    ("two_level_matmul", "(right[0], {**right[1], 'shared_reads': float(right[1]['shared_reads'])})",
     '"shared_reads" is of type float'),
])
def test_odd_answers_fail_at_the_smallest_case(name, value, words, tmp_path):
    source = (f"from fractions import Fraction\nimport numpy as np\nimport tilewise\n{RAISES}\n"
              f"def {name}(*a):\n    right = tilewise.{name}(*a)\n    return {value}\n")
    done = check(source, tmp_path, name)
    assert done.stdout.startswith(f"FAIL {name}: {name}(") and words in done.stdout, done.stdout
    assert "\n  expected " in done.stdout and "\n  hint     " in done.stdout


@pytest.mark.parametrize("options", [
    ("--seconds", "-1"), ("--seconds", "nan"), ("--seconds", "0"), ("--seconds", "inf"), ("--seconds", "1e9"),
    ("--mib", "0"), ("--mib", "-5"), ("--mib", "99999999999"),
])
def test_limits_that_are_none(options, tmp_path):
    done = check(MMA, tmp_path, "mma_count", *options)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"{options[0]} is ") and done.stderr.count("\n") == 1


def test_the_smallest_limit_of_memory_is_enough(tmp_path):
    assert check(RIGHT, tmp_path, "two_level_matmul", "--mib", "16").stdout == "pass two_level_matmul\n"


@pytest.mark.parametrize("forged", ["pass mma_count\n", "answer pass mma_count", "0" * 32 + "answer pass mma_count" + "0" * 32])
def test_a_forged_answer_does_not_pass(forged, tmp_path):
    source = (f"import os\nfor f in range(3, 64):\n    try: os.write(f, {forged!r}.encode())\n"
              "    except OSError: pass\nfor f in (1, 2): os.write(f, b'pass mma_count')\nos._exit(0)")
    done = check(source, tmp_path, "mma_count")
    assert done.returncode == 1 and done.stdout.startswith("FAIL mma_count"), done.stdout


def test_what_starts_a_session_of_its_own_ends_too(tmp_path):
    pid = tmp_path / "pid"
    source = ("import os, time\nif os.fork() == 0:\n    os.setsid()\n"
              f"    open({str(pid)!r}, 'w').write(str(os.getpid()))\n    time.sleep(99)\n"
              f"while not os.path.exists({str(pid)!r}) or not open({str(pid)!r}).read(): pass\n" + MMA)
    assert check(source, tmp_path, "mma_count").stdout == "pass mma_count\n"
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # it ends soon after it was told to
            os.kill(int(pid.read_text()), 0)
            time.sleep(0.1)
