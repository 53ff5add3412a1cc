"""The compiled part. Its functions return dicts, which tilewise makes dataclasses of."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

_Matrix = npt.NDArray[np.float64]
_Out = TypeVar("_Out")

__version__: str

@overload
def matmul(
    a: Any,
    b: Any,
    *,
    out: _Out,
    epilogue: str | None = None,
    operands: Mapping[str, Any] | None = None,
    dtype: Any = None,
    compute: str | None = None,
    schedule: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> _Out: ...
@overload
def matmul(
    a: Any,
    b: Any,
    *,
    out: None = None,
    epilogue: str | None = None,
    operands: Mapping[str, Any] | None = None,
    dtype: Any = None,
    compute: str | None = None,
    schedule: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> Any: ...
def describe_matmul(a: Any, b: Any, **options: Any) -> dict[str, Any]: ...
def check_matmul(a: Any, b: Any, **options: Any) -> None: ...
def matmul_traffic(M: int, N: int, K: int, b: int, /) -> dict[str, int]: ...
def mma_count(M: int, N: int, K: int, m: int, n: int, k: int, /) -> tuple[int, float]: ...
def tiled_matmul(
    A: _Matrix, B: _Matrix, b: int, is_f64: bool, /
) -> tuple[_Matrix, dict[str, int]]: ...
def two_level_matmul(
    A: _Matrix, B: _Matrix, b: int, t: int, is_f64: bool, /
) -> tuple[_Matrix, dict[str, int]]: ...
def count(
    m: int,
    n: int,
    k: int,
    schedule: str | None,
    tiles: Sequence[str] | None,
    type: str,
    batch: int,
    epilogue: str | None,
    /,
) -> dict[str, Any]: ...
def simulate(
    a: _Matrix,
    b: _Matrix,
    c: npt.NDArray[np.float64] | None,
    operands: Mapping[str, npt.NDArray[np.float64]],
    schedule: str | None,
    tiles: Sequence[str] | None,
    type: str,
    epilogue: str | None,
) -> dict[str, Any]: ...
def simulate_barriers(
    a: _Matrix,
    b: _Matrix,
    schedule: str | None,
    tiles: Sequence[str] | None,
    missing: int,
    /,
) -> dict[str, Any]: ...
def bound(
    m: int, n: int, k: int, fast_memory: int, memories: int, updated: bool, reads_only: bool, /
) -> dict[str, Any]: ...
def mma(m: int, n: int, k: int, shape: str, /) -> dict[str, Any]: ...
def mma_layout(shape: str, /) -> dict[str, Any]: ...
def simulate_mma(a: _Matrix, b: _Matrix, shape: str, /) -> dict[str, Any]: ...
def explain(
    m: int,
    n: int,
    k: int,
    type: str,
    compute: str | None,
    batch: int,
    epilogue: str | None,
    machine: str,
    schedule: str | None,
    tiles: Sequence[str] | None,
    /,
) -> dict[str, Any]: ...
def schedules() -> list[str]: ...
def machines() -> list[str]: ...
def check_schedule(json: str, /) -> str: ...
def explorer_start(
    m: int,
    n: int,
    k: int,
    schedule: str | None,
    tiles: Sequence[str] | None,
    type: str,
    machine: str,
    /,
) -> str: ...
def explorer_page(start: str, /) -> str: ...
def explorer_widget() -> str: ...
def bench(
    shapes: Sequence[tuple[str, int, int, int, int]],
    type: str,
    layout: str,
    epilogue: str,
    schedule: str | None,
    threads: int,
    seed: int,
    repeat_for_s: float,
    /,
) -> list[dict[str, Any]]: ...
def ladder(
    m: int,
    n: int,
    k: int,
    type: str,
    compute: str | None,
    schedules: Sequence[str],
    against_cublaslt: bool,
    seed: int,
    /,
) -> dict[str, Any]: ...
