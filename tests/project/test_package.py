"""tilewise is usable from another project, in each way that README promises.

usage: test_package.py WAY ROOT BUILD CXX_COMPILER SCRATCH
  find_package      installs BUILD into SCRATCH, then configures, builds and runs consumer/
  pkg_config        compiles consumer/main.cpp with the flags of the installed tilewise.pc
  add_subdirectory  builds consumer/ with ROOT as a subdirectory, unoptimised
"""

import os
import pathlib
import shutil
import subprocess
import sys

from check_linked import RUNTIME, libraries

SKIPPED = 77


def call(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def install(build, scratch):
    prefix = scratch / "prefix"
    call("cmake", "--install", build, "--prefix", prefix, stdout=subprocess.DEVNULL)
    return prefix


def build_consumer(consumer, compiler, scratch, *options):
    build = scratch / "build"
    call("cmake", "-G", "Ninja", "-S", consumer, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}",
         *options)
    call("cmake", "--build", build, "--target", "consumer", "--parallel", os.cpu_count())
    return build / "consumer"


def pkg_config_flags(prefix):
    """The flags of the installed tilewise.pc, moved to where it was installed."""
    found = list(prefix.rglob("tilewise.pc"))
    environment = {**os.environ, "PKG_CONFIG_PATH": str(found[0].parent)}
    listed = call("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs",
                  "tilewise", env=environment, capture_output=True)
    return listed.stdout.split()


def main():
    way, root, build, compiler, scratch = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    consumer = root / "tests" / "project" / "consumer"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    if way == "find_package":
        program = build_consumer(consumer, compiler, scratch,
                                 f"-DCMAKE_PREFIX_PATH={install(build, scratch)}")
    elif way == "add_subdirectory":
        program = build_consumer(consumer, compiler, scratch, f"-DTILEWISE_SOURCE_DIR={root}")
    else:
        if not shutil.which("pkg-config"):
            print("skipped: no pkg-config here")
            return SKIPPED
        program = scratch / "consumer"
        call(compiler, "-std=c++23", consumer / "main.cpp", "-o", program,
             *pkg_config_flags(install(build, scratch)))
    call(program)
    extra = [name for name in libraries(program) if not RUNTIME.match(name)]
    if extra:
        print(f"the consumer needs {extra} beyond the C and C++ runtime")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
