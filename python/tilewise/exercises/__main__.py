"""The exercises at a terminal.

    python -m tilewise.exercises list              what there is to write
    python -m tilewise.exercises new FILE.py       a starter file; never overwrites one
    python -m tilewise.exercises check FILE.py [NAME]
    python -m tilewise.exercises hint NAME [1|2|3]

check runs FILE.py in a process of its own, with limits of time (--seconds, 10 a function) and memory
(--mib, 2048). Exit codes: 0 all passed, 1 one failed, 2 a bad request.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from .cases import EXERCISES, Exercise

GRACE_SECONDS = 30.0  # of the child, for starting Python and NumPy
WORDS_BYTES = 4096  # of what a child printed: its last line is shown if it ends without an answer


def starter() -> str:
    """The four signatures with placeholders that are wrong on purpose."""
    parts = [
        '"""Fill in the four functions, then: python -m tilewise.exercises check THIS_FILE"""\n'
        "import numpy as np\n"
    ]
    for exercise in EXERCISES.values():
        asks = exercise.asks.replace("\n", "\n    ")
        parts.append(
            f'def {exercise.signature}:\n    """{asks}"""\n    {exercise.placeholder}\n'
        )
    return "\n\n".join(parts)


def show(value: Any) -> str:
    """An argument or an answer, short enough to read."""
    if isinstance(value, tuple):
        return "(" + ", ".join(show(v) for v in value) + ")"
    if isinstance(value, np.ndarray):
        if value.size <= 16:
            return f"np.array({value.tolist()})"
        return f"array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."


def run_check(path: str, names: list[str], seconds: float, mib: int) -> int:
    """Runs the learner's file in a child process and prints what it found."""
    failed = 0
    for name in names:
        command = [sys.executable, "-m", "tilewise.exercises.runner", path, name, str(seconds), str(mib)]
        try:
            said, code, words = answer_of(command, seconds + GRACE_SECONDS)
            if not said.startswith((f"pass {name}", f"FAIL {name}")):
                said = ended(name, code, words)
        except subprocess.TimeoutExpired:
            said = f"FAIL {name}: no answer within {seconds:g} seconds; does a loop never end?"
        print(said.rstrip())
        failed += not said.startswith("pass")
    return 1 if failed else 0


def answer_of(command: list[str], timeout: float) -> tuple[str, int, str]:
    """What a child answers, its exit code, and the end of what else it said.

    The processes that it started end with it, and what it prints fills a file, not this process.
    """
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as words:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=answer, stderr=words, start_new_session=True
        )
        try:
            child.wait(timeout)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
        answer.seek(0)
        words.seek(max(0, words.seek(0, os.SEEK_END) - WORDS_BYTES))
        return answer.read().decode(errors="replace"), code, words.read().decode(errors="replace")


def ended(name: str, code: int, words: str) -> str:
    """What a child that ended without an answer means."""
    if code == -24 or code == -9:
        return f"FAIL {name}: stopped at the limit of time; does a loop never end?"
    tail = words.rstrip().rsplit("\n", 1)[-1]
    return f"FAIL {name}: the process ended with code {code}. {tail}"


def new_file(path: pathlib.Path) -> int:
    try:
        with path.open("x") as file:
            file.write(starter())
    except FileExistsError:
        print(f"{path} is there already; name another file", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{path} could not be written: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{path}: four functions to fill in. Then: python -m tilewise.exercises check {path}")
    return 0


def find(name: str) -> Exercise | None:
    if name not in EXERCISES:
        print(f'no exercise "{name}"; there are {", ".join(EXERCISES)}', file=sys.stderr)
        return None
    return EXERCISES[name]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tilewise.exercises", description="The four exercises on tiled multiplication."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="what there is to write")
    new = verbs.add_parser("new", help="write a starter file")
    new.add_argument("file", type=pathlib.Path)
    hint = verbs.add_parser("hint", help="a nudge")
    hint.add_argument("name")
    hint.add_argument("number", nargs="?", type=int, choices=(1, 2, 3))
    check = verbs.add_parser("check", help="run a learner's functions against the hidden cases")
    check.add_argument("file")
    check.add_argument("name", nargs="?")
    check.add_argument("--seconds", type=float, default=10.0, help="for each function")
    check.add_argument("--mib", type=int, default=2048, help="of memory")
    options = parser.parse_args(arguments)

    if options.verb == "list":
        for each in EXERCISES.values():
            print(f"{each.signature}\n    " + each.asks.replace("\n", "\n    "))
        return 0
    if options.verb == "new":
        return new_file(options.file)
    if options.verb == "hint":
        exercise = find(options.name)
        if exercise is None:
            return 2
        shown = exercise.hints if options.number is None else [exercise.hints[options.number - 1]]
        first = 1 if options.number is None else options.number
        for number, text in enumerate(shown, first):
            print(f"{number}. {text}")
        return 0
    if options.name is not None and find(options.name) is None:
        return 2
    if not pathlib.Path(options.file).is_file():
        print(f"there is no file {options.file}", file=sys.stderr)
        return 2
    names = [options.name] if options.name else list(EXERCISES)
    return run_check(options.file, names, options.seconds, options.mib)


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
