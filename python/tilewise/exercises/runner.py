"""The child process of `check`: loads a learner's file and runs one of its functions.

usage: python -m tilewise.exercises.runner FILE NAME SECONDS MIB. The last line is "pass NAME" or
"FAIL NAME: ..." with what is known of the smallest failing case.
"""

from __future__ import annotations

import copy
import importlib.util
import math
import os
import resource
import signal
import sys
import traceback
from types import FrameType, ModuleType
from typing import Any, NoReturn

import numpy as np

from .__main__ import show
from .cases import EXERCISES, Exercise, differs


FILE_BYTES = 64 * 2**20  # that the learner's code may print


class OutOfTime(Exception):
    """Raised by the alarm."""


def limit(seconds: float, mib: int) -> None:
    """Stops this process at so much time of the processor, and its memory at so many MiB more.

    A file, such as what it prints, ends at FILE_BYTES.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # a busy machine is not the learner's fault
    cpu = math.ceil(seconds) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    memory = used + mib * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("learner", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def where(error: BaseException, path: str) -> str:
    """The learner's own line that an exception came from."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    place = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{place}"


def first_failure(exercise: Exercise, function: Any, path: str) -> str | None:
    """The smallest failing case, what was expected, and a hint; None: all pass."""
    for case in exercise.cases():
        expected = exercise.solution(*case)
        call = f"{exercise.name}{show(case)}"
        try:
            with np.errstate(all="ignore"):
                got = function(*copy.deepcopy(case))
        except (OutOfTime, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # a learner's function may raise anything
            return f"{call}\n  raised   {where(error, path)}\n  expected {show(expected)}"
        if differs(expected, got):
            hint = exercise.hint_for(case, expected, got)
            return (
                f"{call}\n  expected {show(expected)}\n  got      {show(got)}\n  hint     {hint}"
            )
    return None


def run(path: str, name: str) -> str:
    exercise = EXERCISES[name]
    try:
        function = getattr(load(path), name, None)
        if not callable(function):
            return f"FAIL {name}: the file has no function {exercise.signature}"
        if str(getattr(function, "__module__", "")).partition(".")[0] == "tilewise":
            return f"FAIL {name}: the file takes tilewise's own function; write yours"
        failure = first_failure(exercise, function, path)
    except OutOfTime:
        return f"FAIL {name}: stopped at the limit of time; does a loop never end?"
    except MemoryError:
        return f"FAIL {name}: stopped at the limit of memory; which array grows so large?"
    except (Exception, SystemExit) as error:
        return f"FAIL {name}: the file could not be loaded. {where(error, path)}"
    return f"pass {name}" if failure is None else f"FAIL {name}: {failure}"


def main() -> NoReturn:
    path, name, seconds, mib = sys.argv[1:]
    for exercise in EXERCISES.values():  # the solutions' first calls are not the learner's time
        exercise.solution(*next(exercise.cases()))
    answers = os.dup(1)
    os.dup2(2, 1)  # what the learner's code prints is not the answer
    limit(float(seconds), int(mib))
    answer = run(path, name)
    signal.setitimer(signal.ITIMER_PROF, 0)
    os.write(answers, f"{answer}\n".encode(errors="replace"))
    os._exit(0)  # a thread of the learner's may still run


if __name__ == "__main__":
    main()
