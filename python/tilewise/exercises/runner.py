"""The child process of `check`: loads a learner's file and runs one of its functions.

It is started by child.py with the arguments FILE NAME SECONDS MIB and a token on standard input. What it
says stands between two tokens each: "case CALL" before a call, "answer ..." at the end, or "stopped ..."
where a limit ended the call before.
"""

from __future__ import annotations

import copy
import errno
import importlib.util
import math
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, NoReturn

import numpy as np

from .cases import EXERCISES, Exercise, Wrong
from .child import GRACE_SECONDS, TIME

FILE_BYTES = 64 * 2**20  # that the learner's code may print
MODULE = "exercise_file"  # the learner's file, whatever it is called


class OutOfTime(BaseException):
    """Raised by the alarm; no `except Exception` of the learner's catches it."""


def show(value: Any) -> str:
    """An argument or an answer, short enough to read."""
    try:
        if isinstance(value, tuple):
            return "(" + ", ".join(show(v) for v in value) + ")"
        if isinstance(value, np.ndarray):
            if value.size <= 16:
                return f"np.array({value.tolist()})"
            return f"array of shape {value.shape}"
        text = repr(value)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return f"(of type {type(value).__name__}; to show it raises {type(error).__name__})"
    return text if len(text) <= 200 else text[:200] + "..."


def limit(seconds: float, mib: int) -> None:
    """Stops this process at so much time of the processor, and its memory at so many MiB more.

    On the wall it ends GRACE_SECONDS later; a file, such as what it prints, ends at FILE_BYTES.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)  # SIGALRM, which nothing catches
    cpu = math.ceil(seconds) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))  # SIGXCPU, so that SIGKILL is another's
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    memory = used + mib * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def load(path: str) -> ModuleType:
    sys.path.append(os.path.dirname(os.path.abspath(path)))  # for modules of the learner's beside it
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # where dataclasses and pickle look
    spec.loader.exec_module(module)
    return module


def where(error: BaseException, path: str) -> str:
    """The learner's own line that an exception came from."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    place = f" (line {lines[-1]})" if lines else ""
    try:
        words = str(error)
    except Exception:
        words = "(without words)"
    return f"{type(error).__name__}: {words}{place}"


def is_limit(error: BaseException) -> bool:
    """Whether a limit of the checker's raised it."""
    return isinstance(error, OutOfTime | MemoryError) or (
        isinstance(error, OSError) and error.errno == errno.EFBIG
    )


def first_failure(
    exercise: Exercise, function: Any, path: str, say: Callable[[str, str], None]
) -> str | None:
    """The smallest failing case, what was expected, and a hint; None: all pass."""
    for case in exercise.cases():
        expected = exercise.solution(*case)
        call = f"{exercise.name}{show(case)}"
        say("case", call)
        try:
            with np.errstate(all="ignore"):
                got = function(*copy.deepcopy(case))
        except BaseException as error:  # a learner's function may raise anything
            if is_limit(error):
                raise
            return f"{call}\n  raised   {where(error, path)}\n  expected {show(expected)}"
        hint = hint_of(exercise, case, expected, got)
        if hint is not None:
            return (
                f"{call}\n  expected {show(expected)}\n  got      {show(got)}\n  hint     {hint}"
            )
    return None


def hint_of(exercise: Exercise, case: tuple[Any, ...], expected: Any, got: Any) -> str | None:
    """None: the answer is right."""
    try:
        exercise.judge(case, expected, got)
    except Wrong as wrong:
        return str(wrong)
    except Exception as error:  # from a type of the learner's own
        if is_limit(error):
            raise
        return f"The answer cannot be read: {type(error).__name__}. Return plain numbers."
    return None


def run(path: str, name: str, say: Callable[[str, str], None]) -> None:
    exercise = EXERCISES[name]
    try:
        try:
            function = getattr(load(path), name, None)
        except BaseException as error:
            if is_limit(error):
                raise
            return say("answer", f"FAIL {name}: the file could not be loaded. {where(error, path)}")
        if not callable(function):
            return say("answer", f"FAIL {name}: the file has no function {exercise.signature}")
        if str(getattr(function, "__module__", "")).partition(".")[0] == "tilewise":
            return say("answer", f"FAIL {name}: the file takes tilewise's own function; write yours")
        failure = first_failure(exercise, function, path, say)
    except OutOfTime:
        return say("stopped", f"FAIL {name}: {TIME}")
    except MemoryError:
        return say("stopped", f"FAIL {name}: stopped at the limit of memory; which array grows so large?")
    except OSError:
        mib = FILE_BYTES // 2**20
        return say("stopped", f"FAIL {name}: stopped at {mib} MiB of output; which loop prints so much?")
    say("answer", f"pass {name}" if failure is None else f"FAIL {name}: {failure}")


def main() -> NoReturn:
    path, name, seconds, mib = sys.argv[1:]
    token = sys.stdin.buffer.read()
    for exercise in EXERCISES.values():  # the solutions' first calls are not the learner's time
        exercise.solution(*next(exercise.cases()))
    answers = os.dup(1)
    os.dup2(2, 1)  # what the learner's code prints is not the answer

    def say(kind: str, text: str) -> None:
        os.write(answers, token + f"{kind} {text}".encode(errors="replace") + token)

    limit(float(seconds), int(mib))
    run(path, name, say)
    os._exit(0)  # a thread of the learner's may still run
