"""Words and characters that do not belong in the repository.

Paths of one machine, unfinished-work markers, names of registry hosts (everywhere); characters
outside ASCII (in code). Lines over 100 columns are the formatter's business.

usage: check_text.py ROOT
"""

import pathlib
import re
import subprocess
import sys

CODE = {".h", ".cpp", ".cuh", ".cu", ".py", ".sh", ".cmake"}
BINARY = {".npy", ".png", ".npz", ".safetensors"}

# The words are written in pieces so that this file passes its own check.
FORBIDDEN = {
    "a path of one machine": re.compile(r"/(?:wo" + r"rk|ro" + r"ot|ho" + r"me/\w+|tmp/\w+)/"),
    "a marker of unfinished work": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"),
    "the name of a registry's host": re.compile(
        r"(?:py" + r"pi|pythonhos" + r"ted|deb\.deb" + r"ian|archive\.ubu" + r"ntu|npm" + r"js)\.(?:org|com)"
    ),
}

# Files whose content is given from outside.
SKIPPED = {"LICENSE"}


def tracked_files(root):
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True,
    )
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.split("\0") if name]
    return [p for p in root.rglob("*") if p.is_file() and "build" not in p.relative_to(root).parts]


def check_file(root, path):
    relative = path.relative_to(root)
    if path.suffix in BINARY or str(relative) in SKIPPED or "corpus" in relative.parts:
        return
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        yield f"{relative}: not UTF-8 text"
        return
    is_code = path.suffix in CODE or path.name in ("CMakeLists.txt", "Makefile")
    for number, line in enumerate(text.split("\n"), 1):
        for what, pattern in FORBIDDEN.items():
            if pattern.search(line):
                yield f"{relative}:{number}: {what}: {line.strip()[:80]}"
        if is_code and not line.isascii():
            yield f"{relative}:{number}: not ASCII: {line.strip()[:80]}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [path for path in tracked_files(root) if path.is_file()]
    problems = [problem for path in files for problem in check_file(root, path)]
    print(*problems, sep="\n")
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
