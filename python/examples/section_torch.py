"""The section's PyTorch cell: the blocked algorithm gives what @ gives, and one call beats the loop."""

import time

import torch

import tilewise.torch


def blocked(A, B, b):
    C = torch.zeros(A.shape[0], B.shape[1])
    for i in range(0, A.shape[0], b):
        for j in range(0, B.shape[1], b):
            for k in range(0, A.shape[1], b):
                C[i : i + b, j : j + b] += A[i : i + b, k : k + b] @ B[k : k + b, j : j + b]
    return C


def seconds(function):
    function()
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


torch.manual_seed(1)
A, B = torch.randn(256, 256), torch.randn(256, 256)
torch.testing.assert_close(blocked(A, B, 32), A @ B, rtol=1e-4, atol=1e-4)
torch.testing.assert_close(torch.ops.tilewise.matmul(A, B), A @ B, rtol=1e-4, atol=1e-4)

loop = seconds(lambda: blocked(A, B, 32))
call = seconds(lambda: torch.ops.tilewise.matmul(A, B))
print(f"tiled loop in Python {loop * 1e3:.1f} ms, one call {call * 1e3:.2f} ms")
print("Tiling pays only where the loop runs on the hardware.")
