"""The package in a process: import, threads, fork, subinterpreters."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tilewise
from products import assert_product


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_import_prints_nothing_starts_nothing_and_loads_little():
    done = run("""
import sys, os, numpy
threads, before = len(os.listdir("/proc/self/task")), set(sys.modules)
import tilewise
assert len(os.listdir("/proc/self/task")) == threads, "a thread was started"
loaded = set(sys.modules) - before
assert not {"torch", "ml_dtypes", "mypy", "cupy", "tilewise._model"} & loaded, loaded
maps = open("/proc/self/maps").read()
assert "libcuda" not in maps and "nvrtc" not in maps
assert not any("nvidia" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_name_is_there_when_it_is_asked_for():
    done = run("""
import tilewise
assert [name for name in dir(tilewise) if not hasattr(tilewise, name)] == []
assert tilewise.count is tilewise.count and tilewise.exercises.mma_count is tilewise.mma_count
try:
    tilewise.no_such_name
except AttributeError as error:
    print(error)
""")
    assert (done.stdout, done.stderr) == ("module 'tilewise' has no attribute 'no_such_name'\n", "")


def test_needs_numpy_alone():
    done = run("""
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "ml_dtypes", "cupy", "jax", "nanobind"):
            raise ImportError(name)
sys.meta_path.insert(0, Nothing())
import numpy as np, tilewise
tilewise.matmul(np.ones((3, 3), np.float32), np.ones((3, 3), np.float32))
tilewise.count(8, 8, 8)
""")
    assert done.returncode == 0, done.stderr


def test_threads_run_side_by_side(random):
    a = random.standard_normal((150, 200)).astype(np.float32)
    b = random.standard_normal((200, 90)).astype(np.float32)
    expected = tilewise.matmul(a, b)
    wrong = []

    def work(index):
        for i in range(30):
            size = 1 + (index * 30 + i) % 90
            result = tilewise.matmul(a, b[:, :size])
            if i % 10 == 0:
                result = tilewise.matmul(a, b, epilogue=f"acc + {index}")
                if not np.allclose(result, expected + index, atol=1e-3):
                    wrong.append(index)
            elif not np.allclose(result, expected[:, :size], atol=1e-3):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_the_gil_is_released(random):
    a = random.standard_normal((1200, 1200)).astype(np.float32)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)  # hands the GIL back

    old = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # only a release lets the other thread run
    thread = threading.Thread(target=count)
    try:
        thread.start()
        before = counted[0]
        tilewise.matmul(a, a)
        during = counted[0] - before
        stop.set()
    finally:
        sys.setswitchinterval(old)
        stop.set()
        thread.join()
    assert during > 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_multiplies(random):
    a = random.standard_normal((400, 300)).astype(np.float32)
    tilewise.matmul(a, a.T)  # the pool has threads now, which the child does not
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            tilewise.matmul(a, a.T)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                try:
                    assert_product(tilewise.matmul(a, a.T), a, a.T)
                    tilewise.matmul(a[:7], a.T, epilogue="relu(acc)")
                    os._exit(0)
                except BaseException:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_subinterpreters_are_refused_or_work():
    """NumPy decides first: both ways end in an ImportError or a right product, never in a crash. The end of
    a process that still holds NumPy in a subinterpreter is not ours: it was once seen to hang."""
    done = run("""
import os, sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
try:
    import numpy as np
    import tilewise
    assert (tilewise.matmul(np.ones((2, 3)), np.ones((3, 2))) == 3).all()
    print("works", flush=True)
except ImportError as error:
    print("ImportError", flush=True)
'''
import numpy, tilewise
interpreter = interpreters.create()
interpreters.run_string(interpreter, code)
sys.stdout.flush()
os._exit(0)
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("works", "ImportError"), (done.stdout, done.stderr)
