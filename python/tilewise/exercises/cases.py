"""The hidden cases: smallest first, so that the first that fails is the smallest.

A count is right when it is exactly an int of Python, of the right value: a float rounds, an integer of
NumPy wraps around at 64 bits, True is no count, and a type of the learner's own could compare as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import matmul_traffic, mma_count, tiled_matmul, two_level_matmul


class Wrong(Exception):
    """Raised for a wrong answer, with a hint."""


@dataclass(frozen=True)
class Exercise:
    """One function to write: its starter, its cases and its hints."""

    name: str
    signature: str
    asks: str
    placeholder: str
    cases: Callable[[], Iterator[tuple[Any, ...]]]
    solution: Callable[..., Any]
    hints: tuple[str, ...]
    judge: Callable[[tuple[Any, ...], Any, Any], None]  # (case, expected, got); raises Wrong


def _counts(got: Any, keys: Iterable[str], how: str) -> dict[str, int]:
    """The counts that a dict holds, in a plain dict; `how` says what it should be."""
    if not isinstance(got, dict):
        raise Wrong(how)
    items = list(dict.items(got))  # not the methods of a type of the learner's own
    if any(type(key) is not str for key, _ in items) or {key for key, _ in items} != set(keys):
        raise Wrong(how)
    return {key: _count(f'"{key}"', value) for key, value in items}


def _count(what: str, value: Any) -> int:
    if type(value) is not int:
        raise Wrong(
            f"Counts are exact, Python's own integers: {what} is of type {type(value).__name__}. "
            "Divide with //, and round up."
        )
    return value


def _pair(got: Any, how: str) -> tuple[Any, Any]:
    if not isinstance(got, tuple | list):
        raise Wrong(how)
    values = tuple.__iter__(got) if isinstance(got, tuple) else list.__iter__(got)
    both = list(values)
    if len(both) != 2:
        raise Wrong(how)
    return both[0], both[1]


def _traffic_cases() -> Iterator[tuple[Any, ...]]:
    yield (1, 1, 1, 1)
    yield (2, 2, 2, 1)
    yield (2, 2, 2, 2)
    yield (4, 4, 4, 2)
    yield (2, 3, 4, 2)
    yield (3, 3, 3, 2)
    yield (1, 5, 3, 4)
    yield (5, 7, 3, 16)
    yield (0, 4, 4, 2)
    yield (4, 4, 0, 2)
    yield (100, 70, 50, 32)
    yield (4096, 4096, 4096, 128)
    yield (4093, 4099, 4091, 100)
    yield (2**31, 2**31, 2**31, 128)  # beyond 64 bits


def _judge_traffic(case: tuple[Any, ...], expected: Any, got: Any) -> None:
    M, N, K, b = case
    counts = _counts(
        got, expected, 'Return a dict with exactly the keys "naive", "tiled" and "minimum".'
    )
    wrong = [key for key in expected if counts[key] != expected[key]]
    if "minimum" in wrong and 0 in (M, N, K):
        raise Wrong("With nothing to multiply, nothing has to be read.")
    if "tiled" in wrong and (M % b or N % b):
        raise Wrong(
            "A ragged last tile is still a tile: its block loads what exists. How many tiles cover a "
            "side, and which operand is loaded once for each of them?"
        )
    if wrong:
        raise Wrong(f'"{wrong[0]}" is off: for one element of A, how many times is it brought in?')


def _matrices(M: int, N: int, K: int) -> tuple[Any, Any]:
    """Small integers, so that every order of summation gives the same C."""
    random = np.random.default_rng(1000 * M + 100 * N + K)
    return (
        random.integers(-4, 5, (M, K)).astype(np.float64),
        random.integers(-4, 5, (K, N)).astype(np.float64),
    )


_TILED_SHAPES = [
    (1, 1, 1, 1),
    (2, 2, 2, 1),
    (2, 2, 2, 2),
    (2, 2, 4, 2),
    (2, 3, 2, 2),
    (3, 2, 2, 2),
    (2, 2, 3, 2),
    (5, 7, 3, 4),
    (4, 4, 0, 2),
    (3, 5, 2, 8),
    (12, 12, 12, 4),
    (17, 19, 23, 8),
]


def _tiled_cases() -> Iterator[tuple[Any, ...]]:
    for M, N, K, b in _TILED_SHAPES:
        yield (*_matrices(M, N, K), b)


def _judge_product(case: tuple[Any, ...], expected: Any, got: Any) -> None:
    A = case[0]
    how = 'Return a pair: C, and a dict with the keys "global_reads" and "shared_reads".'
    values, counters = _pair(got, how)
    C = np.array(values, subok=False)
    if C.dtype.kind not in "iuf":
        raise Wrong("C is an array of numbers, of the type of A and B.")
    if C.shape != expected[0].shape:
        raise Wrong(f"C has shape {C.shape}, and M x N is {expected[0].shape}.")
    if not np.array_equal(C, expected[0]):
        if A.shape[1] > case[2]:
            raise Wrong("C is off where K takes several phases: is each phase added to the one before?")
        raise Wrong("C is off: which rows of A and which columns of B belong to this tile of C?")
    reads = _counts(counters, expected[1], 'The counters are called "global_reads" and "shared_reads".')
    if reads["global_reads"] != expected[1]["global_reads"]:
        raise Wrong(
            "global_reads counts the elements copied to the tile buffers: only those that exist, once "
            "for each phase of each tile of C."
        )
    if reads["shared_reads"] == expected[1]["shared_reads"]:
        return
    if len(case) == 4:
        raise Wrong(
            "shared_reads counts what the threads load into registers: per step along K, one slice of "
            "a column and one of a row for each thread. A clipped thread tile loads less."
        )
    raise Wrong("shared_reads: a multiply-add reads two elements from the buffers, whatever b is.")


_TWO_LEVEL_SHAPES = [
    (1, 1, 1, 1, 1),
    (2, 2, 2, 2, 1),
    (2, 2, 2, 2, 2),
    (4, 4, 4, 4, 2),
    (4, 4, 8, 4, 2),
    (3, 4, 4, 4, 2),
    (4, 3, 4, 4, 2),
    (4, 4, 3, 4, 2),
    (5, 7, 3, 4, 2),
    (4, 4, 0, 4, 2),
    (9, 10, 11, 6, 3),
    (17, 19, 23, 8, 4),
]


def _two_level_cases() -> Iterator[tuple[Any, ...]]:
    for M, N, K, b, t in _TWO_LEVEL_SHAPES:
        yield (*_matrices(M, N, K), b, t)


def _mma_cases() -> Iterator[tuple[Any, ...]]:
    yield (1, 1, 1)
    yield (16, 8, 16)
    yield (17, 8, 16)
    yield (16, 9, 16)
    yield (16, 8, 17)
    yield (17, 17, 17)
    yield (0, 8, 16)
    yield (16, 16, 32, 64, 16, 32)
    yield (100, 100, 100)
    yield (4096, 4096, 4096)
    yield (4097, 4097, 4097, 64, 256, 16)
    yield (2**40, 2**40, 2**40)


def _judge_mma(case: tuple[Any, ...], expected: Any, got: Any) -> None:
    instructions, share = _pair(got, "Return a pair: the number of instructions, and the utilization.")
    if _count("the number of instructions", instructions) != expected[0]:
        raise Wrong("Each dimension is padded to a whole number of instructions, separately.")
    if type(share) is not int and not isinstance(share, float):  # float64 of NumPy is a float
        raise Wrong(f"The utilization is a float; yours is of type {type(share).__name__}.")
    value = share if type(share) is int else float.__float__(share)
    if abs(value - expected[1]) <= 1e-12:  # and not where it is no number
        return
    if 0 in case:
        raise Wrong("Nothing to multiply: the utilization is 0, not a division by zero.")
    raise Wrong("Utilization: the products that are wanted over those that the instructions form.")


EXERCISES = {
    exercise.name: exercise
    for exercise in (
        Exercise(
            "matmul_traffic",
            "matmul_traffic(M, N, K, b)",
            "Global reads in elements of C = A B, A (M, K), B (K, N): naive (one thread an output, no\n"
            "reuse), with b x b tiles (in-bounds loads only), and the least possible.",
            'return {"naive": 0, "tiled": 0, "minimum": 0}',
            _traffic_cases,
            matmul_traffic,
            (
                "Naive: how many multiply-adds are there, and what does each one read?",
                "One row of A is needed by every column of C. With tiles, a block brings it in once "
                "for all of its columns.",
                "So A is read once for each tile that lies along N, and B once for each along M.",
            ),
            _judge_traffic,
        ),
        Exercise(
            "tiled_matmul",
            "tiled_matmul(A, B, b)",
            'C by b x b tiles, in phases of width b along K: (C, {"global_reads", "shared_reads"}).\n'
            "global_reads: elements copied to the two tile buffers; shared_reads: two a multiply-add.\n"
            "Inside a phase the two buffers may be multiplied with @.",
            'return A @ B, {"global_reads": 0, "shared_reads": 0}',
            _tiled_cases,
            tiled_matmul,
            (
                "Three loops: tiles of C down, tiles of C across, phases along K.",
                "NumPy's slices stop at the edge by themselves: the size of a slice is what was read.",
                "Multiply-adds of a phase: rows of the A tile times columns of the B tile times its "
                "width.",
            ),
            _judge_product,
        ),
        Exercise(
            "two_level_matmul",
            "two_level_matmul(A, B, b, t)",
            "The same with t x t register tiles inside (t divides b): at each k a thread loads its slice\n"
            "of a column of the A tile and of a row of the B tile, and adds their outer product.\n"
            "shared_reads: what the threads load.",
            'return A @ B, {"global_reads": 0, "shared_reads": 0}',
            _two_level_cases,
            two_level_matmul,
            (
                "Inside a phase, two more loops over register tiles and one over k.",
                "np.outer(column, row) is one step of a thread; it has read len(column) + len(row).",
                "At the edge a register tile is clipped like a block tile: take slices, count sizes.",
            ),
            _judge_product,
        ),
        Exercise(
            "mma_count",
            "mma_count(M, N, K, m=16, n=8, k=16)",
            "(instructions, utilization): tensor-core instructions m x n x k that the product takes with\n"
            "every dimension padded up, and the useful share of what they multiply.",
            "return 0, 0.0",
            _mma_cases,
            mma_count,
            (
                "How many instructions side by side cover 17 rows, 16 rows each?",
                "The three numbers of instructions multiply.",
                "Each instruction forms m n k products, wanted or not.",
            ),
            _judge_mma,
        ),
    )
}
