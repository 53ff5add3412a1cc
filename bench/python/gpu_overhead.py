"""The PyTorch operators on a card: what a call costs, and what a fused epilogue costs.

    PYTHONPATH=<the unpacked wheel> python bench/python/gpu_overhead.py

1. host time of a call, 64 x 64 x 64 float32 and bf16, against torch.mm: interleaved, in a queue that is
   short enough not to fill up
2. linear + bias + gelu + residual in bf16 at 4096^3 against the same product without, and against PyTorch
"""

import json
import statistics
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


def device_us(functions, launches=20, rounds=15):
    """Microseconds of the device a launch, by events; the functions take turns."""
    times = [[] for _ in functions]
    for function in functions:
        for _ in range(20):
            function()
    for _ in range(rounds):
        for samples, function in zip(times, functions):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(2_000_000)  # the queue fills while the device waits
            start.record()
            for _ in range(launches):
                function()
            end.record()
            torch.cuda.synchronize()
            samples.append(start.elapsed_time(end) * 1e3 / launches)
    return [statistics.median(samples) for samples in times]


def main():
    report = {"card": torch.cuda.get_device_name(), "torch": torch.__version__}
    op = torch.ops.tilewise.matmul
    with torch.no_grad():
        for dtype in (torch.float32, torch.bfloat16):
            a, b = (torch.randn(64, 64, device="cuda", dtype=dtype) for _ in range(2))
            torch.testing.assert_close(op(a, b), a @ b, rtol=2e-2, atol=2e-1)
            mm, ours, direct = host_us([
                lambda: torch.mm(a, b), lambda: op(a, b), lambda: tilewise.matmul(a, b)])
            report[f"call_us_{str(dtype)[6:]}"] = {
                "torch.mm": mm, "torch.ops.tilewise.matmul": ours, "over": ours - mm, "tilewise.matmul": direct}

        size = 4096
        x, w, residual = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        bias = torch.randn(size, device="cuda", dtype=torch.bfloat16)
        linear = torch.ops.tilewise.linear
        fused = linear(x, w, bias, "gelu", residual)
        exact = F.gelu(F.linear(x.float(), w.float(), bias.float())) + residual.float()
        report["fused_max_error"] = (fused.float() - exact).abs().max().item()
        plain_us, fused_us, mm_us = device_us([
            lambda: linear(x, w), lambda: linear(x, w, bias, "gelu", residual), lambda: torch.mm(x, w.t())])
        eager_us, = device_us([lambda: F.gelu(F.linear(x, w, bias)) + residual])
        report["linear_4096_us"] = {
            "plain": plain_us, "fused": fused_us, "over": fused_us / plain_us - 1, "torch.mm": mm_us,
            "torch, unfused": eager_us}
        report["schedule"] = tilewise.plan(x, w.t(), epilogue="gelu(acc)").schedule.name
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
