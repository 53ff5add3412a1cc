"""Each rung of the ladder starts with the same header comment.

    // 05  square_tile            before: 04_column_tile.cuh   after: 06_vector_loads.cuh
    // Idea      ...
    // Moves     ...
    // Honours   ...
    // Needs     ...
    // Uses      ...
    // Limits    ...
    // Measured  docs/ladder/05.md (generated)

A line that goes on is indented like the text of the one above it. Numbers, neighbours and the named
schedule (schedules/NN_name.json) are checked against the files that are there.
usage: check_kernel_headers.py ROOT
"""

import pathlib
import re
import sys

FIELDS = ["Idea", "Moves", "Honours", "Needs", "Uses", "Limits", "Measured"]
TITLE = re.compile(r"^// (\d\d)  (\w+) +before: (\S+) +after: (\S+)$")
FIELD = re.compile(r"^// ([A-Z]\w+) {2,}(\S.*)$")
FILE = re.compile(r"^(\d\d)_(\w+)\.cuh$")
MAX_LINES = 300


def check_neighbour(number, named, ladder):
    """A problem, or None: what stands after 'before:' or 'after:' for rung `number`."""
    present = [path.name for path in ladder.glob(f"{number:02}_*.cuh")]
    if present:
        return None if named == present[0] else f"rung {number:02} is {present[0]}, named {named}"
    if FILE.match(named) and not named.startswith(f"{number:02}_"):
        return f"rung {number:02} is named {named}"
    return None


def check_file(path):
    """Problems of one rung."""
    number, name = FILE.match(path.name).groups()
    lines = path.read_text().splitlines()
    if len(lines) > MAX_LINES:
        yield f"{path.name}: {len(lines)} lines; a rung has at most about 250"
    title = TITLE.match(lines[0]) if lines else None
    if not title:
        yield f"{path.name}:1: the first line is not '// {number}  {name}  before: FILE  after: FILE'"
    else:
        if title.groups()[:2] != (number, name):
            yield f"{path.name}:1: says {title[1]}  {title[2]}; the file is called {path.name}"
        for neighbour, named in ((int(number) - 1, title[3]), (int(number) + 1, title[4])):
            problem = check_neighbour(neighbour, named, path.parent)
            if problem:
                yield f"{path.name}:1: {problem}"
    for schedule in (path.parents[2] / "schedules").glob(f"{number}_*.json"):
        if not schedule.stem.startswith(path.stem):  # variants add to the name
            yield f"{path.name}: its schedule is called {schedule.name}; both share one name"
    found = []
    for line in lines[1:]:
        if not line.startswith("//"):
            break
        field = FIELD.match(line)
        if field:
            found.append(field.group(1))
    if sorted(found) != sorted(FIELDS):
        yield f"{path.name}: the header has the fields {found}; they are {FIELDS}"


def main():
    ladder = pathlib.Path(sys.argv[1]).resolve() / "kernels" / "ladder"
    rungs = sorted(path for path in ladder.glob("*.cuh") if FILE.match(path.name))
    odd = [path.name for path in ladder.glob("*.cuh") if not FILE.match(path.name)]
    problems = [f"{name}: a rung is called NN_name.cuh" for name in odd]
    for path in rungs:
        problems += check_file(path)
    print(*problems, sep="\n")
    print(f"{len(rungs)} rungs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
