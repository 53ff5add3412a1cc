"""What count --units says of each rung is still what a profiler counted on a card.

bench/results/*/counters.json is written by tests/gpu/check_counters.py on a machine with a GPU: the
figures of every case, and the counters beside them. A change of a kernel or of the model that moves a
figure needs a new measurement.

usage: test_counters.py TILEWISE RESULTS
"""

import json
import pathlib
import subprocess
import sys


def units(tilewise, case):
    command = [tilewise, "count", *(str(case[x]) for x in "mnk"), "--schedule", case["schedule"],
               "--units", "--dtype", case["dtype"], "--layout", case["layout"], "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    return {tuple(row[key] for key in ("level", "operand", "direction", "unit")): row["counted"]
            for row in json.loads(done.stdout)["rows"]}


def main():
    tilewise, results = sys.argv[1], pathlib.Path(sys.argv[2])
    documents = sorted(results.glob("*/counters.json"))
    if not documents:
        print("skipped: no counters.json was measured yet")
        return 77
    problems = 0
    for path in documents:
        for case in json.loads(path.read_text())["cases"]:
            name = f"{path.parent.name}: {case['schedule']}, {case['shape']}"
            counted = units(tilewise, case)
            measured = {tuple(row[key] for key in ("level", "operand", "direction", "unit")):
                        row["value"] for row in case["predicted"]}
            if counted != measured:
                problems += 1
                print(f"{name}: {counted} is counted now, {measured} was compared")
            for row in case["measured"]:
                if row["figure"] == "wavefronts, raw":  # a hardware counter, compared within 1 %
                    if not row["holds"]:
                        print(f"{name}: raw wavefronts {row['predicted']}, {row['measured']} counted")
                elif not row["holds"]:
                    problems += 1
                    print(f"{name}: {row['figure']} is {row['predicted']}, {row['source']} "
                          f"{row['measured']}")
    print(f"{len(documents)} documents, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
