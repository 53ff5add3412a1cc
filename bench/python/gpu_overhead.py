"""The PyTorch operators on a card: what a call costs, and what a fused epilogue costs.

    PYTHONPATH=<the unpacked wheel> python bench/python/gpu_overhead.py [-o FILE.json] [--commit HASH]

1. host time of a call, 64 x 64 x 64 float32 and bf16, against torch.mm: interleaved, in a queue that is
   short enough not to fill up
2. linear + bias + gelu + residual in bf16 at 4096^3 against the same product without, and against PyTorch
"""

import argparse
import datetime
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import torch

import tilewise.torch

F = torch.nn.functional


def host_us(functions, calls=100, rounds=41):
    """Microseconds of the host a call: the device keeps up, since it is waited for each round."""
    times = [[] for _ in functions]
    for function in functions:
        for _ in range(50):
            function()
    for _ in range(rounds):
        for samples, function in zip(times, functions):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            samples.append((time.perf_counter() - start) / calls * 1e6)
    return [statistics.median(samples) for samples in times]


def device_us(functions, launch_ms=10, rounds=9, pause_s=0.1):
    """Microseconds of the device a launch, by events; the functions take turns. Each turn begins after a
    pause, as `tilewise ladder` times (src/gpu/timing.h): a card at its power limit slows down within tens
    of milliseconds. function(i): launch i, by which buffers are chosen."""
    times = [[] for _ in functions]
    for round_ in range(rounds + 1):
        for samples, function in zip(times, functions):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            launches = round(launch_ms * 1e3 / samples[0]) if samples else 20
            torch.cuda.synchronize()
            time.sleep(pause_s)
            torch.cuda._sleep(2_000_000)  # the queue fills while the device waits
            function(0)
            start.record()
            for i in range(launches):
                function(i)
            end.record()
            torch.cuda.synchronize()
            samples.append(start.elapsed_time(end) * 1e3 / launches)
    return [statistics.median(samples[1:]) for samples in times]  # the first is the warm-up


def call_us():
    """Host time of 64 x 64 x 64: ours by the operator and directly, and torch.mm's."""
    rows = {}
    op = torch.ops.tilewise.matmul
    for dtype in (torch.float32, torch.bfloat16):
        a, b = (torch.randn(64, 64, device="cuda", dtype=dtype) for _ in range(2))
        torch.testing.assert_close(op(a, b), a @ b, rtol=2e-2, atol=2e-1)
        mm, ours, direct = host_us([
            lambda a=a, b=b: torch.mm(a, b), lambda a=a, b=b: op(a, b), lambda a=a, b=b: tilewise.matmul(a, b)])
        rows[str(dtype).removeprefix("torch.")] = {
            "torch.mm": mm, "torch.ops.tilewise.matmul": ours, "over": ours - mm, "tilewise.matmul": direct}
    return rows


def linear_us(size=4096):
    """Device time of linear + bias + gelu + residual in bf16, against the same without, and PyTorch's."""
    copies = 4  # of each operand, used in turn: more than twice the L2
    x, w, residual = ([torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(copies)]
                      for _ in range(3))
    bias = torch.randn(size, device="cuda", dtype=torch.bfloat16)
    linear = torch.ops.tilewise.linear
    exact = F.gelu(F.linear(x[0].float(), w[0].float(), bias.float())) + residual[0].float()
    error = (linear(x[0], w[0], bias, "gelu", residual[0]).float() - exact).abs().max().item()
    del exact
    plain, fused, mm, eager = device_us([
        lambda i: linear(x[i % copies], w[i % copies]),
        lambda i: linear(x[i % copies], w[i % copies], bias, "gelu", residual[i % copies]),
        lambda i: torch.mm(x[i % copies], w[i % copies].t()),
        lambda i: F.gelu(F.linear(x[i % copies], w[i % copies], bias)) + residual[i % copies]])
    return {
        "plain": plain, "fused": fused, "over": fused / plain - 1, "torch.mm": mm, "torch, unfused": eager,
        "max_error": error, "schedule": tilewise.plan(x[0], w[0].t(), epilogue="gelu(acc)").schedule.name}


def driver():
    found = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"],
                           capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("gpu_overhead: skipped, there is no CUDA device here")
    with torch.no_grad():
        report = {
            "schema": "tilewise.torch/1",
            "environment": {
                "card": torch.cuda.get_device_name(), "driver": driver(), "torch": torch.__version__,
                "python": platform.python_version(), "data": "standard normal", "commit": arguments.commit,
                "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "command": "python bench/python/gpu_overhead.py"},
            "call_us": call_us(),
            "linear_4096_us": linear_us()}
    text = json.dumps(report, indent=1) + "\n"
    print(text, end="")
    if arguments.output:
        arguments.output.write_text(text)


if __name__ == "__main__":
    main()
