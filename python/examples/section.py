"""The runnable cells of the section on tiled multiplication, with this library's functions.

1. traffic against the tile size   2. the reuse table   3. a product made of 16 x 8 x 16 instructions
"""

import numpy as np

import tilewise

# 1. Every element of a b x b tile serves b threads: traffic falls by b, until the tile is the matrix.
M = N = K = 4096
naive = tilewise.matmul_traffic(M, N, K, 1)["naive"]
print(f"{'b':>5} {'reads':>16} {'fewer':>7}")
for b in (1, 8, 16, 32, 64, 128, 256):
    tiled = tilewise.matmul_traffic(M, N, K, b)["tiled"]
    print(f"{b:>5} {tiled:>16,} {naive / tiled:>7.1f}")
minimum = tilewise.matmul_traffic(M, N, K, 1)["minimum"]
print(f"  min {minimum:>16,} {naive / minimum:>7.1f}\n")

# The same by executing the loops: counted one by one, and the product is right.
A, B = np.ones((50, 70)), np.ones((70, 30))
C, reads = tilewise.tiled_matmul(A, B, 16)
assert np.array_equal(C, A @ B)
assert reads["global_reads"] == tilewise.matmul_traffic(50, 30, 70, 16)["tiled"]
C, reads = tilewise.two_level_matmul(A, B, 16, 4)
print(f"b = 16, t = 4: {reads}\n")

# 2. Each level brings an element in once and uses it many times.
report = tilewise.count(M, N, K, tiles=["block:128x128x32", "warp:64x64", "thread:8x8"])
print(f"{'level':<8} {'tile':<12} {'reuse of A':>10} {'reuse of B':>10}")
for level in report.levels:
    tile = f"{level.m}x{level.n}" + (f"x{level.k}" if level.k else "")
    print(f"{level.level:<8} {tile:<12} {level.reuse_a:>10g} {level.reuse_b:>10g}")
print()

# 3. Tensor cores multiply 16 x 8 x 16 at a time: the rest is padding.
random = np.random.default_rng(1)
for m, n, k in ((64, 64, 64), (17, 17, 17), (100, 100, 100)):
    a, b = random.integers(-3, 4, (m, k)), random.integers(-3, 4, (k, n))
    run = tilewise.simulate_mma(a, b)
    assert np.array_equal(run.d, a @ b)
    instructions, utilization = tilewise.mma_count(m, n, k)
    assert instructions == run.instructions
    print(f"{m} x {n} x {k}: {instructions} instructions, {utilization:.1%} useful")
