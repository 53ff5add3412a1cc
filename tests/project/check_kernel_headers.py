"""Each rung of the ladder starts with the same header comment.

    // 05  square_tile            before: 04_column_tile.cuh   after: 06_vector_loads.cuh
    // Idea      ...
    // Moves     ...
    // Honours   ...
    // Needs     ...
    // Uses      ...
    // Limits    ...
    // Measured  docs/ladder/05.md (generated)

A line that goes on is indented like the text of the one above it. Numbers and neighbours are checked
against the files that are there. usage: check_kernel_headers.py ROOT
"""

import pathlib
import re
import sys

FIELDS = ["Idea", "Moves", "Honours", "Needs", "Uses", "Limits", "Measured"]
TITLE = re.compile(r"^// (\d\d)  (\w+) +before: (\S+) +after: (\S+)$")
FIELD = re.compile(r"^// (\w+) {2,}(\S.*)$")
FILE = re.compile(r"^(\d\d)_(\w+)\.cuh$")
MAX_LINES = 300


def check_file(path, before, after):
    """Problems of one rung; before and after: its neighbours' names, or None."""
    number, name = FILE.match(path.name).groups()
    lines = path.read_text().splitlines()
    if len(lines) > MAX_LINES:
        yield f"{path.name}: {len(lines)} lines; a rung has at most about 250"
    title = TITLE.match(lines[0]) if lines else None
    if not title:
        yield f"{path.name}:1: the first line is not '// {number}  {name}  before: FILE  after: FILE'"
    else:
        expected = (number, name, before or "none", after or "none")
        if title.groups() != expected:
            yield f"{path.name}:1: says {title.groups()}; the files say {expected}"
    found = []
    for line in lines[1:]:
        if not line.startswith("//"):
            break
        field = FIELD.match(line)
        if field and field.group(1)[0].isupper() and not line.startswith("//   "):
            found.append(field.group(1))
    if found != FIELDS:
        yield f"{path.name}: the header has the fields {found}; they are {FIELDS}, in this order"


def main():
    ladder = pathlib.Path(sys.argv[1]).resolve() / "kernels" / "ladder"
    rungs = sorted(path for path in ladder.glob("*.cuh") if FILE.match(path.name))
    odd = [path.name for path in ladder.glob("*.cuh") if not FILE.match(path.name)]
    problems = [f"{name}: a rung is called NN_name.cuh" for name in odd]
    names = [None, *(path.name for path in rungs), None]
    for index, path in enumerate(rungs):
        problems += check_file(path, names[index], names[index + 2])
    print(*problems, sep="\n")
    print(f"{len(rungs)} rungs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
