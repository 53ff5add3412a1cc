"""tilewise is usable from another project, in each way that README promises.

usage: test_package.py WAY ROOT BUILD CXX_COMPILER SCRATCH
  find_package      installs BUILD into SCRATCH, then configures, builds and runs consumer/; the
                    installed command works away from the sources and holds every kernel's text
  pkg_config        compiles consumer/main.cpp with the flags of the installed tilewise.pc
  add_subdirectory  builds consumer/ with ROOT as a subdirectory, unoptimised
README's C++ and CMake lines are built and run too.
consumer/ has a C++ program and, where tilewise is found as a package, a C program (tests/c).
"""

import json
import os
import pathlib
import re
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
    call("cmake", "--build", build, "--target", "consumers", "--parallel", os.cpu_count())
    return build / "consumer"


README_PROGRAM = """{includes}
#include <cstdint>

int main() {{
  const std::int64_t m = 2, n = 2, k = 3;
  const float a[] = {{1, 2, 3, 4, 5, 6}}, b[] = {{1, 0, 0, 1, 1, 1}};
  float d[4] = {{}};
{body}
  return done && d[0] == 4 && d[3] == 11 ? 0 : 1;
}}
"""
README_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(readme LANGUAGES CXX)
add_executable(your_program main.cpp)
{snippet}"""


def snippet(root, language):
    """The one block of README.md in that language."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", (root / "README.md").read_text(),
                        re.DOTALL | re.MULTILINE)
    if len(blocks) != 1:
        raise SystemExit(f"README.md has {len(blocks)} blocks of {language}, not 1")
    return blocks[0]


def check_readme_program(root, compiler, scratch, prefix):
    """README's C++ and CMake lines, as they are, make a program that multiplies."""
    lines = snippet(root, "cpp").splitlines()
    folder = scratch / "readme"
    folder.mkdir()
    (folder / "main.cpp").write_text(README_PROGRAM.format(
        includes="\n".join(line for line in lines if line.startswith("#include")),
        body="\n".join(line for line in lines if not line.startswith("#include"))))
    (folder / "CMakeLists.txt").write_text(README_PROJECT.format(snippet=snippet(root, "cmake")))
    call("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build",
         f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", folder / "build")
    call(folder / "build" / "your_program")


def check_installed_command(root, prefix, scratch):
    """What is installed needs nothing of the source folder: schedules and kernels are inside."""
    program = prefix / "bin" / "tilewise"
    listed = call(program, "schedules", cwd=scratch, capture_output=True).stdout
    call(program, "run", 64, 64, 64, cwd=scratch, stdout=subprocess.DEVNULL)
    contents = program.read_bytes()
    kernels = sorted((root / "kernels").rglob("*.cuh"))
    absent = [path.name for path in kernels if path.read_bytes().rstrip() not in contents]
    absent += [path.name for path in (root / "schedules").glob("*.json")
               if json.loads(path.read_text())["name"] not in listed]
    if absent or not kernels:
        raise SystemExit(f"{program} does not hold {absent or 'any kernel'}")


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
        prefix = install(build, scratch)
        program = build_consumer(consumer, compiler, scratch, f"-DCMAKE_PREFIX_PATH={prefix}",
                                 f"-DC_PROGRAM={root / 'tests' / 'c' / 'interface_test.c'}")
        call(scratch / "build" / "c_consumer")
        check_installed_command(root, prefix, scratch)
        check_readme_program(root, compiler, scratch, prefix)
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
