"""What NVIDIA's library, as PyTorch calls it, asks for an epilogue: on a machine with a GPU.

    python gpu_library_epilogues.py [-o FILE.json]

bf16, 4096 cubed, six sets of standard normal operands in turn; seven rounds in which each product is
timed over 65 calls after a pause of 0.1 s; medians in microseconds.
"""

import argparse
import json
import statistics
import sys
import time

SIZE = 4096
SETS = 6
ROUNDS = 7
CALLS = 65


def products(torch):
    """Calls by name; each takes the number of its operands."""
    def matrices():
        return [torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]

    a, b, residual, d = matrices(), matrices(), matrices(), matrices()
    bias = torch.randn(SIZE, device="cuda", dtype=torch.bfloat16)
    linear = torch.nn.functional.linear
    return {
        "product": lambda i: torch.mm(a[i], b[i].t(), out=d[i]),
        "product + residual": lambda i: torch.addmm(residual[i], a[i], b[i].t(), out=d[i]),
        "product + bias": lambda i: linear(a[i], b[i], bias),
        "gelu_tanh(product + bias)": lambda i: torch._addmm_activation(  # no other name calls it
            bias, a[i], b[i].t(), use_gelu=True),
        "gelu(product + bias) + residual, three kernels": lambda i: torch.nn.functional.gelu(
            linear(a[i], b[i], bias)) + residual[i],
    }


def time_us(torch, call):
    for i in range(3):
        call(i)
    torch.cuda.synchronize()
    time.sleep(0.1)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for i in range(CALLS):
        call(i % SETS)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / CALLS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", help="write the document here, not to standard output")
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        sys.exit(f"gpu_library_epilogues: {error}")
    if not torch.cuda.is_available():
        print("gpu_library_epilogues: PyTorch found no GPU", file=sys.stderr)
        return 3
    torch.manual_seed(0)
    calls = products(torch)
    times = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(time_us(torch, call))
    plain = statistics.median(times["product"])
    rows = [{"name": name, "time_us": statistics.median(us),
             "over_plain": statistics.median(us) / plain - 1} for name, us in times.items()]
    document = json.dumps({
        "schema": "tilewise.library_epilogues/1",
        "environment": {"card": torch.cuda.get_device_name(), "torch": torch.__version__,
                        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                        "command": "python bench/python/gpu_library_epilogues.py"},
        "rows": rows}, indent=1)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(document + "\n")
    else:
        print(document)
    return 0


if __name__ == "__main__":
    sys.exit(main())
