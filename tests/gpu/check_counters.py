#!/usr/bin/env python3
"""Compares what tilewise predicts of each rung with the counters of Nsight Compute.

    check_counters.py FOLDER OUTPUT [SCHEDULE...]    on a machine with a GPU, gpu_rungs in FOLDER
    check_counters.py --again OUTPUT                 the comparison alone, from OUTPUT's files

One launch a rung and shape: one shape that every tile divides, a ragged one, and one with odd rows
for rungs that take them. OUTPUT receives counters.json (every figure, tilewise.counters/1),
counters.txt (the table), and what the profiler said. Exit code 0; 1 where a figure differs; 3
without a profiler.

Figures and the counters beside them:
    ffma         smsp__sass_thread_inst_executed_op_ffma_pred_on
    hmma         instructions HMMA executed by warps, by instruction; sm__inst_executed_pipe_tensor_op_hmma
    gmma         smsp__inst_executed_pipe_tensor_op_gmma (warps)
    sectors      l1tex__t_sectors_pipe_lsu_mem_global_op_ld and what cp.async adds; by instruction
    wavefronts   memory_l1_wavefronts_shared, by instruction: reads LDS, LDSM; writes STS, LDGSTS
    raw          l1tex__data_pipe_lsu_wavefronts_mem_shared, within 1 %
Recorded, but not held to a prediction: the hardware's own counter where copies are asynchronous;
writes of which the model says that it has no rule (predicted is null); and bytes of bulk copies,
which zeros outside the matrix have none of.
"""

import csv
import glob
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

RAW = [
    "smsp__sass_thread_inst_executed_op_ffma_pred_on",
    "smsp__sass_inst_executed_op_global_ld",
    "smsp__sass_inst_executed_op_ldgsts",
    "sm__inst_executed_pipe_tensor_op_hmma",
    "smsp__inst_executed_pipe_tensor_op_hmma",
    "smsp__inst_executed_pipe_tensor_op_gmma",
    "sm__inst_executed_pipe_tensor_op_gmma",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access",
    "smsp__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_bypass",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld",
    "smsp__sass_inst_executed_op_tma_ld",
]
PER_INSTRUCTION = [
    "inst_executed",
    "thread_inst_executed_true",
    "memory_l1_wavefronts_shared",
    "memory_l2_theoretical_sectors_global",
    "memory_l1_tag_requests_global",
]
RAW_TOLERANCE = 0.01


def run(words, log, **more):
    """Runs, writes what was said to a file, and returns the exit code."""
    begin = time.time()
    with open(log, "wb") as file:
        code = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, **more).returncode
    print(f"{time.time() - begin:6.1f} s  {' '.join(map(str, words))[:110]}", flush=True)
    return code


def output_of(words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace").stdout


def known_metrics(ncu):
    """Those of RAW that this profiler has; a name that it has not would end the run."""
    text = output_of([ncu, "--query-metrics", "--chip", "gh100"])
    names = set(re.findall(r"^([a-z0-9_]+)", text, re.M))
    return [name for name in RAW if name in names]


def profile(ncu, metrics, report, words, log):
    chosen = ",".join(name + ".sum" for name in metrics)
    command = [ncu, "--clock-control", "none", "--cache-control", "none", "--section",
               "SourceCounters", "--force-overwrite", "--export", str(report)]
    if chosen:
        command += ["--metrics", chosen]
    return run(command + words, log)


# ---- Reading a report: through the profiler's Python module, else its tables


def python_module(ncu):
    folder = pathlib.Path(os.path.realpath(ncu)).parent
    for place in [folder, *folder.parents][:4]:
        for found in glob.glob(str(place / "**/extras/python/ncu_report.py"), recursive=True):
            sys.path.insert(0, os.path.dirname(found))
            try:
                import ncu_report
                return ncu_report
            except Exception as error:  # of another Python, say
                print(f"ncu_report cannot be used: {error}", flush=True)
                sys.path.pop(0)
    return None


def read_by_module(module, report):
    launches = []
    context = module.load_report(str(report))
    for r in range(context.num_ranges()):
        for action in context.range_by_idx(r):
            launch = {"kernel": action.name(), "metrics": {}, "instructions": []}
            for name in action.metric_names():
                metric = action.metric_by_name(name)
                if name.endswith(".sum") or name in PER_INSTRUCTION or name.startswith("launch__"):
                    try:
                        launch["metrics"][name.removesuffix(".sum")] = metric.value()
                    except Exception:
                        pass
            rows = {}
            for name in PER_INSTRUCTION:
                metric = action.metric_by_name(name)
                if metric is None or not metric.has_correlation_ids():
                    continue
                ids = metric.correlation_ids()
                for i in range(metric.num_instances()):
                    at = ids.as_uint64(i)
                    rows.setdefault(at, {})[name] = metric.as_double(i)
            for at in sorted(rows):
                launch["instructions"].append(
                    {"address": at, "sass": action.sass_by_pc(at), **rows[at]})
            launches.append(launch)
    return launches


COLUMNS = {
    "inst_executed": "Instructions Executed",
    "thread_inst_executed_true": "Predicated-On Thread Instructions Executed",
    "memory_l1_wavefronts_shared": "L1 Wavefronts Shared",
    "memory_l2_theoretical_sectors_global": "L2 Theoretical Sectors Global",
    "memory_l1_tag_requests_global": "L1 Tag Requests Global",
}


def number(text):
    text = (text or "").replace(",", "").strip()
    try:
        return float(text)
    except ValueError:
        return 0.0


def write_tables(ncu, report, folder):
    """The report as two tables of text, which can be read where there is no profiler."""
    raw = output_of([ncu, "--import", str(report), "--page", "raw", "--csv", "--print-units",
                     "base"])
    (folder / (report.stem + ".raw.csv")).write_text(raw)
    source = output_of([ncu, "--import", str(report), "--page", "source", "--csv",
                        "--print-source", "sass"])
    (folder / (report.stem + ".source.csv")).write_text(source)


def read_tables(folder, stem):
    raw = (folder / (stem + ".raw.csv")).read_text()
    source = (folder / (stem + ".source.csv")).read_text()
    launches = []
    begin = raw.find('"ID"')
    for row in list(csv.DictReader(io.StringIO(raw[begin:])))[1:]:  # the second line has units
        metrics = {name.removesuffix(".sum"): number(text) for name, text in row.items()
                   if name and name.endswith(".sum") or name in PER_INSTRUCTION}
        launches.append({"kernel": row.get("Kernel Name"), "metrics": metrics,
                         "instructions": []})
    index, header = -1, None
    for row in csv.reader(io.StringIO(source)):
        if "Source" in row and "Instructions Executed" in row:  # of one launch
            header = {name: i for i, name in enumerate(row)}
            index += 1
            continue
        if header is None or len(row) < len(header):
            continue
        instruction = {"sass": row[header["Source"]]}
        for name, title in COLUMNS.items():
            if title in header:
                instruction[name] = number(row[header[title]])
        if 0 <= index < len(launches):
            launches[index]["instructions"].append(instruction)
    return launches


def read_report(ncu, report, folder):
    module = python_module(ncu)
    if module is not None:
        try:
            return read_by_module(module, report)
        except Exception as error:
            print(f"ncu_report cannot read the report: {error!r}", flush=True)
    write_tables(ncu, report, folder)
    return read_tables(folder, report.stem)


# ---- Comparing


def opcode(sass):
    words = re.sub(r"^\s*(@!?U?P\w+\s+)?", "", sass).split()
    return words[0] if words else ""


def total(launch, column, *starts, but=()):
    """Sum of a column over the instructions whose name starts so."""
    found, value = False, 0
    for row in launch["instructions"]:
        name = opcode(row["sass"])
        if any(name.startswith(s) for s in starts) and not any(name.startswith(b) for b in but):
            if column in row:
                found, value = True, value + row[column]
    return int(value) if found else None


def predicted(case, unit, operands="ab", direction=None):
    """None where the rung has no such row at all."""
    rows = [row for row in case["predicted"] if row["unit"] == unit and row["operand"] in operands
            and (direction is None or row["direction"] == direction)]
    return sum(row["value"] for row in rows) if rows else None


def comparisons(case, launch):
    """Rows of (figure, predicted, measured, tolerance, source)."""
    metrics = launch["metrics"]
    rows = []

    def add(figure, expected, measured, source, tolerance=0.0):
        if expected is not None and measured is not None:
            rows.append((figure, expected, int(measured), tolerance, source))

    raw = metrics.get
    if (ffma := predicted(case, "ffma", "d")) is not None:
        add("ffma", ffma, raw("smsp__sass_thread_inst_executed_op_ffma_pred_on"), "counter")
        add("ffma", ffma, total(launch, "thread_inst_executed_true", "FFMA"), "by instruction")
    if (hmma := predicted(case, "hmma", "d")) is not None:
        add("hmma", hmma, total(launch, "inst_executed", "HMMA"), "by instruction")
        add("hmma", hmma, raw("sm__inst_executed_pipe_tensor_op_hmma",
                              raw("smsp__inst_executed_pipe_tensor_op_hmma")), "counter")
    if (gmma := predicted(case, "gmma", "d")) is not None:
        add("gmma", gmma, raw("smsp__inst_executed_pipe_tensor_op_gmma",
                              raw("sm__inst_executed_pipe_tensor_op_gmma")), "counter")
        add("gmma", gmma, total(launch, "inst_executed", "HGMMA", "QGMMA"), "by instruction")
    sectors = predicted(case, "sectors") or 0
    add("sectors", sectors, raw("l1tex__t_sectors_pipe_lsu_mem_global_op_ld"), "counter")
    asynchronous = total(launch, "inst_executed", "LDGSTS") is not None
    if not asynchronous:  # of cp.async the profiler only estimates sectors
        add("sectors", sectors,
            total(launch, "memory_l2_theoretical_sectors_global", "LDG", "LD."), "by instruction")
    reads = predicted(case, "wavefronts", "abd", "read")
    writes = predicted(case, "wavefronts", "abd", "write")
    if asynchronous and None in (predicted(case, "wavefronts", operand, "write")
                                 for operand in "ab"):
        writes = None  # the model has no rule for one of them
    if reads is not None:
        # Words that steer the block (rung 10) are 4 and 8 bytes wide and none of the operands'.
        names = ("LDS.128",) if case["kernel"] == "tuned_f32" else ("LDS", "LDSM", "LD.")
        add("wavefronts, reads", reads, total(launch, "memory_l1_wavefronts_shared", *names),
            "by instruction")
    names = ("LDGSTS",) if case["kernel"] == "tuned_f32" else ("STS", "LDGSTS", "ST.")
    written = total(launch, "memory_l1_wavefronts_shared", *names)
    if writes is not None:
        add("wavefronts, writes", writes, written, "by instruction")
    elif asynchronous and written is not None:
        rows.append(("wavefronts, writes", None, written, 0.0, "by instruction, recorded"))
    all_raw = raw("l1tex__data_pipe_lsu_wavefronts_mem_shared")
    if reads is not None and writes is not None:
        # This counter has other wavefronts of generic accesses (wmma) and of cp.async.
        generic = case["kernel"] == "wmma"
        add("wavefronts, raw", reads + writes, all_raw,
            "counter, recorded" if asynchronous or generic else "counter", RAW_TOLERANCE)
    elif asynchronous and all_raw is not None:
        rows.append(("wavefronts, raw", None, int(all_raw), RAW_TOLERANCE, "counter, recorded"))
    add("bulk-copy bytes", predicted(case, "bulk-copy bytes"),
        raw("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld"), "counter, recorded")
    return rows


def holds(row):
    figure, expected, measured, tolerance, source = row
    if source.endswith("recorded"):
        return True
    return abs(measured - expected) <= tolerance * expected


def compare_cases(cases, launches, lines):
    wrong = 0
    lines.append(f"{'schedule':24} {'shape':10} {'figure':19} {'predicted':>14} {'measured':>14} "
                 f"{'':7} source")
    for case, launch in zip(cases, launches):
        case["measured"] = [
            {"figure": f, "predicted": p, "measured": m, "source": s, "holds": holds((f, p, m, t, s))}
            for f, p, m, t, s in comparisons(case, launch)]
        for row in case["measured"]:
            wrong += not row["holds"]
            recorded = row["source"].endswith("recorded")
            verdict = "" if recorded else "equal" if row["predicted"] == row["measured"] else \
                "within" if row["holds"] else "DIFFERS"
            lines.append(f"{case['schedule']:24} {case['shape']:10} {row['figure']:19} "
                         f"{'' if row['predicted'] is None else row['predicted']:14} "
                         f"{row['measured']:14} {verdict:7} {row['source']}")
        if not case["measured"]:
            wrong += 1
            lines.append(f"{case['schedule']:24} {case['shape']:10} nothing was measured")
    if len(cases) != len(launches):
        wrong += 1
        lines.append(f"{len(cases)} launches were expected, and {len(launches)} were profiled")
    return wrong


def compare_patterns(patterns, launches, lines):
    """One pattern an instruction, in the order of the machine code."""
    if not launches:
        lines.append("patterns: nothing was profiled")
        return 1
    rows = [row for row in launches[0]["instructions"]
            if re.match(r"(STS|LDGSTS|LDS|LDSM)", opcode(row["sass"]))
            and not re.match(r"\s*@!PT", row["sass"])]
    wrong = 0
    if len(rows) != len(patterns):
        lines.append(f"patterns: {len(patterns)} expected, {len(rows)} instructions found")
        wrong += 1
    lines.append("")
    lines.append(f"{'instruction':26} {'pattern':32} {'predicted':>9} {'measured':>9}")
    for pattern, row in zip(patterns, rows):
        measured = int(row.get("memory_l1_wavefronts_shared", -1))
        pattern["measured"] = measured
        pattern["sass"] = row["sass"].strip()
        same = measured == pattern["wavefronts"]
        known = pattern.get("known", True)  # else recorded, for a rule to be found
        wrong += known and not same
        lines.append(f"{opcode(row['sass']):26} {pattern['name']:32} {pattern['wavefronts']:9} "
                     f"{measured:9} {'' if same else 'DIFFERS' if known else 'recorded'}")
    return wrong


def keep_what_matters(launch):
    """Instructions that no figure is made of are left out: a report has thousands of others."""
    wanted = ("FFMA", "HMMA", "HGMMA", "QGMMA", "LD", "ST", "UTMALDG")
    launch["instructions"] = [row for row in launch["instructions"]
                              if opcode(row["sass"]).startswith(wanted) and row["inst_executed"]]
    return launch


def compare(output):
    cases = json.loads((output / "cases.json").read_text())["cases"]
    launches = json.loads((output / "launches.json").read_text())
    lines = []
    wrong = compare_cases(cases, launches, lines)
    document = {"schema": "tilewise.counters/1", "cases": cases}
    if (output / "patterns.json").exists():
        patterns = json.loads((output / "patterns.json").read_text())["patterns"]
        measured = json.loads((output / "pattern_launches.json").read_text())
        wrong += compare_patterns(patterns, measured, lines)
        document["patterns"] = patterns
    if (output / "environment.json").exists():
        document["environment"] = json.loads((output / "environment.json").read_text())
    compared = sum(len(case.get("measured", [])) for case in cases)
    lines.append(f"\n{compared} figures of {len(cases)} launches compared, {wrong} differences")
    (output / "counters.json").write_text(json.dumps(document, indent=1) + "\n")
    (output / "counters.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 1 if wrong else 0


def environment(folder, output):
    document = json.loads(output_of([folder / "tilewise", "devices", "--json"]) or "{}")
    document["profiler"] = output_of(["ncu", "--version"]).strip().splitlines()[-1:]
    (output / "environment.json").write_text(json.dumps(document, indent=1))


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--again":
        return compare(pathlib.Path(arguments[1]))
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, output = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    output.mkdir(parents=True, exist_ok=True)
    ncu = shutil.which("ncu") or next(iter(glob.glob("/opt/nvidia/nsight-compute/*/ncu")), None)
    if ncu is None:
        print("check_counters: Nsight Compute (ncu) was not found", file=sys.stderr)
        return 3
    rungs, schedules = str(folder / "gpu_rungs"), arguments[2:]
    environment(folder, output)
    if run([rungs, "compile", *schedules], output / "compile.log") != 0:
        print((output / "compile.log").read_text(errors="replace")[-2000:])
        return 1
    metrics = known_metrics(ncu)
    missing = [name for name in RAW if name not in metrics]
    print(f"{len(metrics)} counters; not known here: {' '.join(missing)}", flush=True)
    profile(ncu, [], output / "patterns.ncu-rep", [rungs, "patterns", output / "patterns.json"],
            output / "patterns.log")
    profile(ncu, metrics, output / "cases.ncu-rep",
            [rungs, "counters", output / "cases.json", *schedules], output / "cases.log")
    for name in ("patterns", "cases"):
        if not (output / f"{name}.ncu-rep").exists():
            print((output / f"{name}.log").read_text(errors="replace")[-3000:])
            return 1
    begin = time.time()
    for name, stem in (("launches", "cases"), ("pattern_launches", "patterns")):
        launches = read_report(ncu, output / f"{stem}.ncu-rep", output)
        (output / f"{name}.json").write_text(json.dumps(list(map(keep_what_matters, launches))))
    print(f"{time.time() - begin:6.1f} s  reading the reports", flush=True)
    return compare(output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
