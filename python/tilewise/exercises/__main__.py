"""The exercises at a terminal.

    python -m tilewise.exercises list              what there is to write
    python -m tilewise.exercises new FILE.py       a starter file; never overwrites one
    python -m tilewise.exercises check FILE.py [NAME]
    python -m tilewise.exercises hint NAME [1|2|3]

check runs FILE.py in a process of its own, with limits of time (--seconds, 10 a function, of the
processor; on the wall 2 more) and memory (--mib, 2048). It is no sandbox. Exit codes: 0 all passed,
1 one failed, 2 a bad request.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # HAZARD: before the imports: the current folder may hold a random.py of the learner's

import argparse
import os
import pathlib

from .cases import EXERCISES, Exercise
from .child import check

MAX_SECONDS = 86400.0  # a day
MIN_MIB, MAX_MIB = 16, 2**20


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


def run_check(path: str, names: list[str], seconds: float, mib: int) -> int:
    """Runs the learner's functions, each in a child process, and prints what it found."""
    failed = 0
    for name in names:
        said = check(path, name, seconds, mib)
        print(said, flush=True)
        failed += not said.startswith("pass")
    return 1 if failed else 0


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
    checks = verbs.add_parser("check", help="run a learner's functions against the hidden cases")
    checks.add_argument("file")
    checks.add_argument("name", nargs="?")
    checks.add_argument("--seconds", type=float, default=10.0, help="for each function")
    checks.add_argument("--mib", type=int, default=2048, help="of memory")
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
    if not 0 < options.seconds <= MAX_SECONDS:
        print(f"--seconds is {options.seconds:g}; it must be above 0, {MAX_SECONDS:g} at most", file=sys.stderr)
        return 2
    if not MIN_MIB <= options.mib <= MAX_MIB:
        print(f"--mib is {options.mib}; it must be from {MIN_MIB} to {MAX_MIB}", file=sys.stderr)
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
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
