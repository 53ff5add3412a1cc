"""The four exercises of the textbook's section on tiled multiplication, solved.

    python -m tilewise.exercises new mine.py      a file to fill in
    python -m tilewise.exercises check mine.py    does it count right?
    python -m tilewise.exercises hint NAME        a nudge

C = A B with A (M, K) and B (K, N); counts are of elements, in bounds, exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._model import real_array

__all__ = ["matmul_traffic", "mma_count", "tiled_matmul", "two_level_matmul"]


def matmul_traffic(M: int, N: int, K: int, b: int) -> dict[str, int]:
    """Global reads of the naive product, of b x b tiles, and the least possible.

    naive = 2MNK; tiled = MK ceil(N/b) + KN ceil(M/b); minimum = MK + KN (0 where a size is 0).
    Source: docs/counting.md. Raises ValueError (a negative size, b under 1), OverflowError (a size
    or b beyond 2^63 - 1: no array is larger; a count beyond 2^127 - 1).

    >>> matmul_traffic(4, 4, 4, 2)
    {'naive': 128, 'tiled': 64, 'minimum': 32}
    """
    traffic: dict[str, int] = _core.matmul_traffic(M, N, K, b)
    return traffic


def tiled_matmul(
    A: npt.ArrayLike, B: npt.ArrayLike, b: int
) -> tuple[npt.NDArray[Any], dict[str, int]]:
    """A B by b x b tiles, and what was read: executed, with a counter on every read.

    global_reads: in-bounds elements copied to the tile buffers, MK ceil(N/b) + KN ceil(M/b);
    shared_reads: two a multiply-add, 2MNK for every b. float32 inputs sum in float32, others in
    float64. Cost: O(MNK), 2^40 reads at most.

    >>> C, reads = tiled_matmul(np.ones((3, 4)), np.ones((4, 5)), 2)
    >>> reads
    {'global_reads': 76, 'shared_reads': 120}
    """
    a, c, is_f64 = _inputs("tiled_matmul", A, B)
    values, reads = _core.tiled_matmul(a, c, b, is_f64)
    return _rounded(values, is_f64), reads


def two_level_matmul(
    A: npt.ArrayLike, B: npt.ArrayLike, b: int, t: int
) -> tuple[npt.NDArray[Any], dict[str, int]]:
    """A B by b x b block tiles and t x t register tiles; t divides b.

    At each k a thread loads its slice of a column of the A tile and of a row of the B tile and adds
    the outer product: shared_reads = MK tiles(N; b, t) + KN tiles(M; b, t), which is 2MNK/t where
    the sizes are multiples; global_reads as in tiled_matmul, whatever t. A register tile at a
    ragged edge is clipped and loads only what exists.

    >>> C, reads = two_level_matmul(np.ones((8, 8)), np.ones((8, 8)), 4, 2)
    >>> reads
    {'global_reads': 256, 'shared_reads': 512}
    """
    a, c, is_f64 = _inputs("two_level_matmul", A, B)
    values, reads = _core.two_level_matmul(a, c, b, t, is_f64)
    return _rounded(values, is_f64), reads


def mma_count(M: int, N: int, K: int, m: int = 16, n: int = 8, k: int = 16) -> tuple[int, float]:
    """Tensor-core instructions m x n x k of a product, and the useful share of their work.

    Each dimension is padded up; utilization = MNK / (instructions m n k), 0 where a size is 0.
    Raises ValueError (a negative size, an extent under 1), OverflowError (a size beyond 2^63 - 1,
    a count beyond 2^127 - 1).

    >>> mma_count(17, 8, 16)
    (2, 0.53125)
    """
    counted: tuple[int, float] = _core.mma_count(M, N, K, m, n, k)
    return counted


def _inputs(
    function: str, A: npt.ArrayLike, B: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], bool]:
    arrays = [np.asarray(A), np.asarray(B)]
    wide = [real_array(x, f"{function}: {name}") for name, x in zip("AB", arrays, strict=True)]
    for name, array in zip("AB", arrays, strict=True):
        if array.ndim != 2:
            raise ValueError(f"{function}: {name} has {array.ndim} dimensions; it must have 2")
    is_f32 = all(array.dtype == np.float32 for array in arrays)
    a, b = map(np.ascontiguousarray, wide)
    return a, b, not is_f32


def _rounded(values: npt.NDArray[np.float64], is_f64: bool) -> npt.NDArray[Any]:
    return values if is_f64 else values.astype(np.float32)
