#!/usr/bin/env python3
"""Line coverage of a build of the preset `coverage` after its tests ran, a line a folder.

usage: coverage.py BUILD_FOLDER [GCOV]

Reads what `gcov --json-format` says of each object. A line is covered if it ran in any of them
(headers are compiled many times). Only src/ and include/ count; a line that no object was built
from is not there.
"""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src")
AT_ONCE = 64  # files a call of gcov


def documents(build, gcov):
    """One JSON document for each object that left counts."""
    files = sorted(str(path.resolve()) for path in build.rglob("*.gcda"))
    for i in range(0, len(files), AT_ONCE):
        command = [gcov, "--json-format", "--stdout", *files[i:i + AT_ONCE]]
        done = subprocess.run(command, cwd=build, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def covered_lines(documents, root):
    """File relative to root -> line -> whether it ran."""
    files = collections.defaultdict(dict)
    for document in documents:
        for entry in document["files"]:
            path = pathlib.Path(document["current_working_directory"], entry["file"]).resolve()
            if not path.is_relative_to(root):
                continue
            name = path.relative_to(root)
            if name.parts[0] not in FOLDERS:
                continue
            lines = files[name]
            for line in entry["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    return files


def by_folder(files):
    """Folder -> (lines, lines that ran), sorted; subfolders apart."""
    folders = collections.defaultdict(lambda: [0, 0])
    for name, lines in files.items():
        counts = folders[str(name.parent)]
        counts[0] += len(lines)
        counts[1] += sum(lines.values())
    return dict(sorted(folders.items()))


def table(folders):
    rows = [[folder, lines, ran] for folder, (lines, ran) in folders.items()]
    rows.append(["all", sum(row[1] for row in rows), sum(row[2] for row in rows)])
    width = max(len(row[0]) for row in rows)
    text = f"{'folder':{width}}  {'lines':>7}  {'ran':>7}  {'%':>6}\n"
    for folder, lines, ran in rows:
        text += f"{folder:{width}}  {lines:7}  {ran:7}  {100 * ran / lines if lines else 100:6.1f}\n"
    return text


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: coverage.py BUILD_FOLDER [GCOV]", file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1])
    gcov = sys.argv[2] if len(sys.argv) == 3 else "gcov"
    folders = by_folder(covered_lines(documents(build, gcov), ROOT))
    if not folders:
        print(f"coverage: {build} has no counts; build the preset coverage and run its tests",
              file=sys.stderr)
        return 1
    print(table(folders), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
