"""C++ and CUDA sources are formatted as the pinned clang-format (build/venv) does it.

usage: check_format.py ROOT. Exit code 77 (skipped) where the pinned formatter is not installed.
"""

import pathlib
import subprocess
import sys

SKIPPED = 77


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    formatter = root / "build" / "venv" / "bin" / "clang-format"
    if not formatter.exists():
        print("skipped: the pinned clang-format is not there; scripts/make_venv.sh installs it")
        return SKIPPED
    folders = ("include", "src", "kernels", "tests", "bench", "python", "examples")
    files = sorted(
        path for folder in folders for path in (root / folder).rglob("*")
        if path.suffix in {".h", ".cpp", ".cuh", ".cu"}
    )
    command = [formatter, "--dry-run", "-Werror", "--ferror-limit=3", *files]
    failed = subprocess.run(command, cwd=root).returncode != 0
    print(f"{len(files)} files" + ("; `make format` formats them" if failed else ""))
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
