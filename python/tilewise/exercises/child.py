"""The parent's side of `check`: starts a process for a learner's function, and says how it ended.

This is no sandbox. A file that is checked can do what its user can; what it may not do by mistake is
run for ever, fill the memory or the disk, or pass without the checker's own word. That word carries a
token, which the child reads from its standard input before the learner's file is loaded.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import tempfile

START_SECONDS = 30.0  # of a child, for starting Python and NumPy
GRACE_SECONDS = 2.0  # of the wall beyond the limit: a busy machine is not the learner's fault
WORDS_BYTES = 4096  # of what a child printed: its last line is shown if it ends without an answer
MARK = "TILEWISE_CHECK"  # in the environment of a child and of all that it starts
TIME = "stopped at the limit of time; does a loop never end?"

# The standard library and tilewise come first, whatever the current folder (-P) and the learner's hold.
PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from tilewise.exercises import runner; runner.main()"


def check(path: str, name: str, seconds: float, mib: int) -> str:
    """Runs one function of a learner's file: "pass NAME", or "FAIL NAME: ..." with what is known."""
    token, mark = secrets.token_hex(16).encode(), secrets.token_hex(16)
    root = str(pathlib.Path(__file__).parents[2])
    command = [sys.executable, "-P", "-c", PROGRAM, root, path, name, str(seconds), str(mib)]
    with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as words:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=answers, stderr=words, start_new_session=True,
            env={**os.environ, MARK: mark},
        )
        code: int | None = None
        try:
            child.communicate(token, timeout=START_SECONDS + seconds + GRACE_SECONDS)
            code = child.returncode
        except subprocess.TimeoutExpired:
            pass  # the child's own limits did not hold
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            kill_marked(f"{MARK}={mark}".encode())
        answers.seek(0)
        words.seek(max(0, words.seek(0, os.SEEK_END) - WORDS_BYTES))
        case, answer = "", ""
        for record in answers.read().split(token)[1::2]:
            kind, _, text = record.decode(errors="replace").partition(" ")
            if kind == "case":
                case = f"\n  in       {text}"
            else:
                answer = text + (case if kind == "stopped" else "")
        return answer or f"FAIL {name}: {ended(code, words.read().decode(errors='replace'))}{case}"


def kill_marked(mark: bytes) -> None:
    """Kills what a child started in sessions of their own, as far as it can be found."""
    for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # another user's, or ended
            if mark in environ.read_bytes():
                os.kill(int(environ.parent.name), signal.SIGKILL)


def ended(code: int | None, words: str) -> str:
    """What a child that ended without an answer means; None: it was still running."""
    if code in (None, -signal.SIGALRM, -signal.SIGXCPU):
        return TIME
    tail = words.rstrip().rsplit("\n", 1)[-1]
    if code >= 0:
        return f"the process ended with code {code} before the function did. {tail}".rstrip()
    return f"the process was killed by signal {-code} ({signal.Signals(-code).name}). {tail}".rstrip()
