"""The checks of this folder find what they are there to find.

Each case is a small tree with one fault; the check has to fail on it, and to name it. The same tree
without the fault has to pass.
"""

import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent

GOOD_RUNG = """// 01  naive_rows            before: none   after: none
// Idea      one thread an output
// Moves     global 2MNK
// Honours   tiles
// Needs     sm_80
// Uses      256 threads
// Limits    strided loads of A,
//           gone in 02
// Measured  docs/ladder/01.md (generated)
#pragma once
"""

# check, file, good text, bad text, words that the message has to hold
CASES = [
    ("includes", "src/epilogue/parse.cpp", "#include <string>\n", "#include <iostream>\n", "pure"),
    ("includes", "src/model/traffic.cpp", "int x;\n", 'void f() { throw 1; }\n', "throw"),
    ("includes", "src/schedule/problem.cpp", '#include "tilewise/epilogue.h"\n',
     '#include "tilewise/traffic.h"\n', "schedule reads tilewise/traffic.h"),
    ("includes", "src/cli/run.cpp", '#include "tilewise/matmul.h"\n', '#include "cpu/pack.h"\n',
     "cli reads cpu/pack.h"),
    ("includes", "src/gpu/launch.cpp", "\n", '#include "cpu/pack.h"\n', "do not know each other"),
    ("includes", "include/tilewise/types.h", "#include <cstdint>\n", "#include <fmt/format.h>\n",
     "neither ours nor"),
    ("includes", "src/cli/run.cpp", '#include "cli/command_line.h"\n', "#include <CLI/CLI.hpp>\n",
     "only ['src/cli/command_line.cpp'] may include it"),
    ("includes", "src/io/svg.cpp", "#include <fmt/format.h>\n", "#include <fmt/chrono.h>\n",
     "only [] may include it"),
    ("includes", "include/tilewise/unheard_of.h", None, "\n", "not in PUBLIC_PART"),
    ("includes", "kernels/ladder/01_naive_rows.cuh", "\n", "#include <cstdint>\n", "NVRTC"),
    ("text", "README.md", "fine\n", "see /wo" + "rk/main/x\n", "a path of one machine"),
    ("text", "src/a.cpp", "// fine\n", "// TO" + "DO: later\n", "unfinished work"),
    ("text", "src/a.cpp", "// 2 x 3\n", "// 2 \u00b7 3\n", "not ASCII"),
    ("text", "scripts/a.sh", "pip install x\n", "curl py" + "pi.org\n", "registry"),
    ("kernel_headers", "kernels/ladder/01_naive_rows.cuh", GOOD_RUNG,
     GOOD_RUNG.replace("// Honours   tiles\n", ""), "the header has the fields"),
    ("kernel_headers", "kernels/ladder/01_naive_rows.cuh", GOOD_RUNG,
     GOOD_RUNG.replace("after: none", "after: 03_shared_tile.cuh"), "rung 02 is named"),
    ("kernel_headers", "kernels/ladder/01_naive_rows.cuh", GOOD_RUNG,
     GOOD_RUNG.replace("01  naive_rows", "01  naive"), "the file is called"),
]


def run_check(check, name, text):
    """Exit code and output of a check over a tree of a few files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {"src/cpu/pack.h": "\n", "include/tilewise/count.h": "\n", name: text}
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        done = subprocess.run([sys.executable, FOLDER / f"check_{check}.py", root],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    failed = 0
    for check, name, good, bad, words in CASES:
        code, output = run_check(check, name, bad)
        if code != 1 or words not in output:
            print(f"check_{check}: passed over {name}: {bad!r}\n{output}")
            failed += 1
        if good is not None and run_check(check, name, good)[0] != 0:
            print(f"check_{check}: refused {name}: {good!r}\n{run_check(check, name, good)[1]}")
            failed += 1
    print(f"{len(CASES)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
