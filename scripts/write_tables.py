#!/usr/bin/env python3
"""Rewrites what is generated in README.md and docs/: tables between markers, and drawings.

    <!-- begin: NAME (make docs) -->
    ...
    <!-- end: NAME -->

Counts come from `tilewise count --json`, estimates from `tilewise explain --json`, measurements from bench/results/**/*.json
("tilewise.bench/1"). usage: write_tables.py [--check] --tilewise PROGRAM
--check: change nothing; exit code 1 if anything would change.
"""

import argparse
import functools
import json
import pathlib
import re
import subprocess
import sys

import draw_accumulation
import draw_tiles

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKED = re.compile(
    r"(<!-- begin: (\w+) \(make docs\) -->\n).*?(<!-- end: \2 -->\n)", re.DOTALL)


def count(tilewise, *arguments):
    command = [tilewise, "count", *map(str, arguments), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(columns, rows):
    """A Markdown table; a column whose name ends in ':' is aligned to the right."""
    names = [name.rstrip(":") for name in columns]
    rule = ["---:" if name.endswith(":") else "---" for name in columns]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in [names, rule, *rows])


def tile_text(level):
    extents = [str(level[x]) for x in "mnk" if level[x]]
    return f"{level['level']} {'x'.join(extents)}"


def rungs(tilewise):
    """Every named schedule of the GPU, in order, with its exact reads at 4096 cubed."""
    size = (4096, 4096, 4096)
    rows, document = [], None
    for path in sorted((ROOT / "schedules").glob("*.json")):
        schedule = json.loads(path.read_text())
        is_variant = not path.name[:2].isdigit()  # a rung's file starts with its number
        if schedule.get("device", "gpu") != "gpu" or is_variant:
            continue
        document = count(tilewise, *size, "--schedule", schedule["name"])
        levels = document["levels"]
        rows.append([
            path.name[:2], f"`{schedule['name']}`", ", ".join(map(tile_text, levels)),
            f"{levels[0]['reads']:,}", f"{document['naive'] / levels[0]['reads']:g}",
            f"{levels[-1]['reads']:,}" if len(levels) > 1 else "",
        ])
    caption = (f"Elements of A and B read at M = N = K = 4096, exact. Naive: {document['naive']:,}; "
               f"minimum: {document['minimum']:,}.\n"
               "Made by `tilewise count 4096 4096 4096 --schedule NAME --json`.\n\n")
    return caption + table(
        ["rung", "schedule", "tiles m x n x k", "global reads:", "fewer than naive:",
         "reads of the innermost level:"], rows)


def results():
    for path in sorted((ROOT / "bench" / "results").rglob("*.json")):
        document = json.loads(path.read_text())
        if document.get("schema") == "tilewise.bench/1":
            yield path, document


def cpu_runs(_):
    """Products on CPUs: bench/results/<machine>/cpu_*.json, one table a machine."""
    machines = {}
    for path, document in results():
        if path.name.startswith("cpu_"):
            machines.setdefault(path.parent.name, []).append(document)
    out = ""
    for documents in machines.values():
        where = documents[0]["environment"]
        rows = [row for document in documents for row in document["rows"] if row["m"] >= 512]
        rivals = sorted({f"{rival['name']} {rival['version']}, kernels {rival['kernel']}"
                         for row in rows for rival in row["rivals"]})
        out += "\n" if out else ""  # a line of text right after a table would be a row of it
        out += (f"{where['cpu']}, {where['compiler']}, {where['date'][:10]}; data {where['data']}; "
                f"made by `make bench`.{' Beside: ' + '; '.join(rivals) + '.' if rivals else ''}\n\n")
        out += table(["M x N x K", "type", "threads:", "time, us:", "GFLOP/s:",
                      "of the measured FMA peak:",
                      *(["OpenBLAS, us:", "its time over ours:"] if rivals else []),
                      "all within their bounds"],
                     [cpu_row(row, bool(rivals)) for row in rows if not row["epilogue"]])
        fused = [row for row in rows if row["epilogue"]]
        if fused:
            out += f"\nWith `{fused[0]['epilogue']}` fused, and without, in turns:\n\n"
            out += table(["M x N x K", "type", "threads:", "with, us:", "without, us:", "cost:"],
                         [epilogue_row(row) for row in fused])
    return out or "Nothing measured yet.\n"


def cpu_row(row, beside_rivals):
    beside = ["", ""] if beside_rivals else []
    if row["rivals"]:
        beside = [f"{row['rivals'][0]['time_us']:,.0f}", f"{row['ratio']:.2f}"]
    return [f"{row['m']} x {row['n']} x {row['k']}", row["dtype"], row["threads"],
            f"{row['time_us']:,.0f}", f"{1000 * row['tflops']:.1f}",
            f"{100 * row['share_of_peak']:.0f} %", *beside,
            "yes" if row["verified"] else "NO"]


def epilogue_row(row):
    without = row["without_epilogue_us"]
    return [f"{row['m']} x {row['n']} x {row['k']}", row["dtype"], row["threads"],
            f"{row['time_us']:,.0f}", f"{without:,.0f}",
            f"{100 * (row['time_us'] / without - 1):+.1f} %"]


def bench_table(file, columns):
    """The rows of bench/results/<machine>/<file>; columns: heading -> text of a row."""
    out = ""
    for path, document in results():
        if path.name != file:
            continue
        where = document["environment"]
        out += (f"{where['card']}, driver {where['driver']}, {where['compiler']}, "
                f"{where['date'][:10]}; {where['data']} data; {where['command']}.\n\n")
        out += table(list(columns), [[text(row) for text in columns.values()]
                                     for row in document["rows"]])
    return out or "Nothing measured yet.\n"


SPEED = {
    "M x N x K": lambda row: f"{row['m']} x {row['n']} x {row['k']}",
    "time, us:": lambda row: f"{row['time_us']:.0f}",
    "TFLOP/s:": lambda row: f"{row['tflops']:.2f}",
    "of cuBLAS:": lambda row: f"{row['ratio']:.3f}",
}


def ladder_f32(_):
    """The float32 rungs on a GPU."""
    return bench_table("ladder_f32.json", {
        "schedule": lambda row: f"`{row['schedule']}`", **SPEED,
        "of the FFMA peak:": lambda row: f"{100 * row['share_of_peak']:.1f} %",
        "registers:": lambda row: row["registers"],
        "shared bytes:": lambda row: row["shared_bytes"],
        "blocks an SM:": lambda row: row["blocks_per_sm"]})


def tuned_f32_options(_):
    """Rung 10 with one option changed at a time."""
    return bench_table("tuned_f32_options.json", {
        "option": lambda row: row["variant"], "layout": lambda row: row["layout"], **SPEED})


def ladder_tensor(_):
    """The tensor-core rungs."""
    return bench_table("ladder_tensor.json", {
        "schedule": lambda row: f"`{row['schedule']}`", "type": lambda row: row["dtype"],
        "layout": lambda row: row["layout"], **SPEED,
        "of the dense peak:": lambda row: f"{100 * row['share_of_peak']:.1f} %",
        "registers:": lambda row: row["registers"],
        "shared bytes:": lambda row: row["shared_bytes"]})


def tensor_options(_):
    """The tensor-core rungs with one option changed, a split K, or a fused epilogue."""
    return bench_table("tensor_options.json", {
        "schedule": lambda row: f"`{row['schedule']}`", "option": lambda row: row["variant"],
        "epilogue": lambda row: "fused" if row["epilogue"] else "",
        "type": lambda row: row["dtype"], **SPEED})


def fused_epilogue(_):
    """What an epilogue costs on the tensor-core pipeline."""
    return bench_table("fused_epilogue.json", {
        "schedule": lambda row: f"`{row['schedule']}`", "changed": lambda row: row["variant"],
        "epilogue": lambda row: "none" if row["epilogue"] == "acc" else "fused", **SPEED,
        "over its plain product:": lambda row: f"{100 * row['over_plain']:.1f} %"})


def fp8_accumulation(_):
    """Error of the FP8 accumulator over K."""
    out = ""
    for path in sorted((ROOT / "bench" / "results").rglob("fp8_accumulation.json")):
        document = json.loads(path.read_text())
        where = document["environment"]
        out += f"{where['card']}, {where['date'][:10]}; {where['command']}.\n\n"
        columns = {"plain: rms": "plain_rms", "bias": "plain_mean_bias",
                   "promoted: rms": "promoted_rms", "bias ": "promoted_mean_bias"}
        out += table(["data", "K:", *(f"{name}:" for name in columns)],
                     [[row["data"], row["k"], *(f"{row[key]:.1e}" for key in columns.values())]
                      for row in document["rows"]])
    return out or "Nothing measured yet.\n"


def rung_schedules(number):
    """The named schedules of a rung's kernel, the rung's own first."""
    kernel = next((ROOT / "kernels" / "ladder").glob(f"{number}_*.cuh")).stem[3:]
    named = [json.loads(path.read_text()) for path in sorted((ROOT / "schedules").glob("*.json"))]
    return [s["name"] for s in named if s.get("device", "gpu") == "gpu" and s["kernel"] == kernel]


def rung(number, tilewise):
    """What a rung issues and moves at 4096 cubed, and its rows of `tilewise ladder`."""
    names = rung_schedules(number)
    command = ["count", "4096", "4096", "4096", "--schedule", names[0], "--units"]
    units = json.loads(subprocess.run([tilewise, *command, "--json"], check=True,
                                      capture_output=True, text=True).stdout)
    out = f"`tilewise {' '.join(command)}`, {units['dtype']}:\n\n"
    out += table(["level", "operand", "", "unit", "counted:"],
                 [[row["level"], row["operand"].upper(), row["direction"], row["unit"],
                   f"{row['counted']:,}"] for row in units["rows"]])
    rows, where = [], None
    for path, document in results():
        if not path.name.startswith("verb_ladder_"):
            continue
        for row in document["rows"]:
            if row["schedule"] in names:
                where = document["environment"]
                rows.append([
                    f"`{row['schedule']}`", row["compute"] if row["compute"] == "tf32" else
                    row["dtype"], row["layout"], f"{row['m']} x {row['n']} x {row['k']}",
                    f"{row['time_us']:,.0f}", f"{row['tflops']:.1f}", f"{row['ratio']:.3f}",
                    f"{row['max_error']:.1e}", f"{row['error_bound']:.1e}",
                    row["resources"]["registers"], row["resources"]["shared_bytes"],
                    row["resources"]["blocks_per_sm"]])
    if not rows:
        return out + "\nNothing measured yet.\n"
    out += (f"\n{where['card']}, {where['driver']}, {where['date'][:10]}; {where['data']}; "
            "`tilewise ladder M N K --against cublaslt --json`.\n\n")
    return out + table(["schedule", "type", "layout", "M x N x K", "time, us:", "TFLOP/s:",
                        "of cuBLAS:", "largest error:", "bound:", "registers:", "shared bytes:",
                        "blocks an SM:"], rows)


def estimates(tilewise):
    """What `explain` estimates beside what was measured, for the rungs as they are."""
    rows, seen = [], set()
    for file in ("ladder_f32.json", "ladder_tensor.json"):
        for path, document in results():
            if path.name != file:
                continue
            for row in document["rows"]:
                size = [row[x] for x in "mnk"]
                key = (row["schedule"], row["dtype"])
                if row.get("variant") or key in seen:
                    continue
                seen.add(key)
                command = [tilewise, "explain", *map(str, size), "--dtype", row["dtype"], "--compute",
                           row["compute"], "--layout", row["layout"], "--schedule", row["schedule"],
                           "--machine", path.parent.name, "--json"]
                answer = json.loads(
                    subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                rows.append([f"`{row['schedule']}`", row["dtype"], size[0], f"{row['time_us']:,.0f}",
                             f"{answer['time_us']:,.0f}", f"{row['time_us'] / answer['time_us']:.2f}",
                             answer["limiter"]])
    return ("One H200; made by `tilewise explain M N K --schedule NAME --machine h200` and "
            "bench/results/h200.\n\n" + table(
                ["schedule", "type", "M = N = K:", "measured, us:", "estimate, us:", "ratio:",
                 "limited by"], rows))


RUNGS = [f"{number:02}" for number in range(1, 16)]
TABLES = {"estimates": estimates, "rungs": rungs, "ladder_tensor": ladder_tensor,
          "tensor_options": tensor_options, "fp8_accumulation": fp8_accumulation,
          "fused_epilogue": fused_epilogue, "cpu_runs": cpu_runs, "ladder_f32": ladder_f32,
          "tuned_f32_options": tuned_f32_options,
          **{f"rung_{number}": functools.partial(rung, number) for number in RUNGS}}


def rewrite(text, tilewise):
    return MARKED.sub(
        lambda match: f"{match[1]}{TABLES[match[2]](tilewise)}{match[3]}", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tilewise", required=True)
    options = parser.parse_args()
    tilewise = str(pathlib.Path(options.tilewise).resolve())

    wanted = {path: rewrite(path.read_text(), tilewise)
              for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
    wanted[ROOT / "docs" / "tiles.svg"] = draw_tiles.draw(
        count(tilewise, 4096, 4096, 4096, "--schedule", "square_tile"))
    accumulation = ROOT / "bench" / "results" / "h200" / "fp8_accumulation.json"
    wanted[ROOT / "docs" / "fp8_accumulation.svg"] = draw_accumulation.draw(
        json.loads(accumulation.read_text()))

    for number in RUNGS:
        drawn = subprocess.run([tilewise, "schedules", rung_schedules(number)[0], "--draw"],
                               check=True, capture_output=True, text=True)
        wanted[ROOT / "docs" / "ladder" / f"{number}.svg"] = drawn.stdout

    stale = [path for path, text in wanted.items()
             if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'out of date; run make docs' if options.check else 'written'}")
        if not options.check:
            path.write_text(wanted[path])
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
