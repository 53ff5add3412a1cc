"""Each public header compiles alone, without a warning, with nothing but include/ on the path.

usage: check_headers.py ROOT CXX_COMPILER
"""

import pathlib
import subprocess
import sys

FLAGS = ["-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]


def compiles(root, compiler, header):
    # Included twice: a header without its guard fails too. The extra file keeps "#pragma once in
    # main file" from being reported.
    source = f'#include "{header}"\n#include "{header}"\n'
    command = [compiler, *FLAGS, "-I", str(root / "include"), "-x", "c++", "-"]
    return subprocess.run(command, input=source, text=True).returncode == 0


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    headers = sorted(p.relative_to(root / "include") for p in (root / "include").rglob("*.h"))
    failed = [str(header) for header in headers if not compiles(root, sys.argv[2], header)]
    for header in failed:
        print(f"{header} does not compile alone")
    print(f"{len(headers)} headers, {len(failed)} failed")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
