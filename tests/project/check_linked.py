"""A program of ours needs the C and C++ runtime at run time, and nothing else.

usage: check_linked.py PROGRAM...
"""

import re
import subprocess
import sys

RUNTIME = re.compile(
    r"^(?:linux-vdso|linux-gate|ld-linux[\w-]*|libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt)\.so"
)


def libraries(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        name = line.split()[0].rsplit("/", 1)[-1]
        if name != "statically":
            yield name


def main():
    failed = False
    for program in sys.argv[1:]:
        needed = list(libraries(program))
        extra = [name for name in needed if not RUNTIME.match(name)]
        print(f"{program.rsplit('/', 1)[-1]}: {' '.join(needed)}")
        if extra:
            print(f"  beyond the C and C++ runtime: {' '.join(extra)}")
            failed = True
    return 1 if failed or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
