"""Dependencies point one way: checks every #include of include/, src/ and kernels/.

usage: check_includes.py ROOT
"""

import pathlib
import re
import sys

# Which part a public header belongs to, where no src/<part>/<name>.cpp says so.
PUBLIC_PART = {
    "count": "base", "result": "base", "types": "base",
    "epilogue": "epilogue",
    "problem": "schedule", "schedule": "schedule", "machine": "schedule",
    "traffic": "model", "bounds": "model", "mma": "model", "occupancy": "model",
    "access": "model", "block_order": "model", "estimate": "model",
    "simulate": "simulate", "pebble": "simulate",
    "plan": "product", "matmul": "product", "tilewise": "c",
    "report": "report", "bench": "report",
}

# What a part may read, beside itself. "kernels": the index functions in kernels/parts, which host and
# device share.
MAY_READ = {
    "base": set(),
    "epilogue": {"base"},
    "schedule": {"base", "epilogue"},
    "model": {"base", "epilogue", "schedule", "kernels"},
    "simulate": {"base", "epilogue", "schedule", "model", "kernels"},
    "io": {"base", "epilogue", "schedule", "model", "simulate"},
    "product": {"base", "epilogue", "schedule", "model"},
    "cpu": {"base", "epilogue", "schedule", "model", "product", "plan"},
    "gpu": {"base", "epilogue", "schedule", "model", "product", "plan", "kernels"},
    "plan": {"base", "epilogue", "schedule", "model", "product", "cpu", "gpu"},
    "report": {"base", "epilogue", "schedule", "model", "simulate", "product", "cpu", "gpu", "io",
               "kernels"},
    "c": {"base", "epilogue", "schedule", "model", "product"},
    "web": {"base", "epilogue", "schedule", "model", "simulate", "io", "kernels"},
    "explorer": {"base", "schedule", "io", "web"},
    "cli": {"base", "epilogue", "schedule", "model", "simulate", "product", "report", "io", "explorer"},
    "kernels": set(),
}

# Single headers that a part may read although the rest of their part is closed to it.
EXCEPTIONS = {
    ("gpu", "io/embedded.h"),  # the kernels' texts
}

# Headers that take seconds to compile, and the only files that include them.
ONE_PLACE = {
    "CLI/": {"src/cli/command_line.cpp"},
    "nlohmann/": {"src/io/json_reader.h"},
    "fmt/chrono.h": set(), "fmt/ranges.h": set(), "fmt/ostream.h": set(), "fmt/std.h": set(),
}

# Pure parts are compiled to WebAssembly: no input or output, threads, clocks or streams.
PURE = {"base", "epilogue", "schedule", "model", "simulate"}
IMPURE_HEADERS = {
    "iostream", "fstream", "ostream", "istream", "iomanip", "sstream", "syncstream", "filesystem",
    "cstdio", "stdio.h", "thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic",
    "semaphore", "latch", "barrier", "stop_token", "chrono", "ctime", "time.h", "random", "csignal",
    "signal.h", "unistd.h", "fcntl.h", "pthread.h", "dlfcn.h",
}
IMPURE_WORDS = {
    "throw": re.compile(r"\bthrow\b"),
    "try": re.compile(r"\btry\s*\{"),
    "thread_local": re.compile(r"\bthread_local\b"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def part_of_public(root, stem):
    """The part of include/tilewise/<stem>.h: by the table, else where it is implemented."""
    if stem in PUBLIC_PART:
        return PUBLIC_PART[stem]
    sources = sorted(root.glob(f"src/*/{stem}.cpp"))
    return sources[0].parent.name if len(sources) == 1 else "unknown"


def part_of_file(root, path):
    """The part that a source file, relative to the root, belongs to."""
    pieces = path.parts
    if pieces[0] == "include":
        return part_of_public(root, path.stem)
    return "kernels" if pieces[0] == "kernels" else pieces[1]


def part_of_include(root, name):
    """The part that an included name belongs to; None for the standard library and third parties."""
    pieces = pathlib.PurePosixPath(name).parts
    if pieces[0] == "tilewise":
        return part_of_public(root, pathlib.PurePosixPath(name).stem)
    if (root / "src" / name).is_file():
        return pieces[0]
    if (root / "kernels" / name).is_file():
        return "kernels"
    return None


def check_file(root, path):
    relative = path.relative_to(root)
    part = part_of_file(root, relative)
    if part == "unknown":
        yield f"{relative}: no src/<part>/{relative.stem}.cpp, and not in PUBLIC_PART of check_includes.py"
        return
    if part not in MAY_READ:
        yield f"{relative}: part '{part}' is not in the table of check_includes.py"
        return
    text = path.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match.group(2)
        where = f"{relative}:{number}"
        other = part_of_include(root, name)
        if other == "unknown":
            continue  # reported at the header itself
        if other is None:
            for heavy, files in ONE_PLACE.items():
                if name.startswith(heavy) and str(relative) not in files:
                    yield f"{where}: {name} takes seconds to compile; only {sorted(files)} may include it"
            if part in PURE and name in IMPURE_HEADERS:
                yield f"{where}: <{name}> in a pure part ({part})"
            if relative.parts[0] == "include" and ("/" in name or match.group(1) == '"'):
                yield f"{where}: {name} is neither ours nor the standard library's"
            if part == "kernels":
                yield f"{where}: {name}; device code includes only kernels/ (NVRTC has no header)"
        elif part == "cpu" and other == "gpu" or part == "gpu" and other == "cpu":
            yield f"{where}: {part} reads {name}; the devices do not know each other"
        elif other != part and other not in MAY_READ[part] and (part, name) not in EXCEPTIONS:
            yield f"{where}: {part} reads {name} of {other}; it may read {sorted(MAY_READ[part])}"
    if part in PURE:
        code = COMMENT_OR_STRING.sub("", text)
        for word, pattern in IMPURE_WORDS.items():
            if pattern.search(code):
                yield f"{relative}: '{word}' in a pure part ({part})"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [
        path
        for folder in ("include", "src", "kernels")
        for suffix in ("*.h", "*.cpp", "*.cuh", "*.inc")
        for path in sorted((root / folder).rglob(suffix))
    ]
    problems = [problem for path in files for problem in check_file(root, path)]
    print(*problems, sep="\n")
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
