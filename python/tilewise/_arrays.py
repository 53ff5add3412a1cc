"""What the compiled part asks of array libraries in Python: nothing on the way of NumPy and PyTorch."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def new_array_like(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """An uninitialised array of the kind of `like`, on its device.

    Host arrays of other libraries get a NumPy result, since some of them (JAX) cannot be written.
    """
    name = type(like).__module__.partition(".")[0]
    if name == "torch":  # before 2.10: newer ones are made without Python
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if name == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(like.device.id):
            return cupy.empty(shape, dtype)
    if hasattr(like, "__dlpack_device__") and like.__dlpack_device__()[0] in (1, 3):
        return np.empty(shape, _numpy_type(dtype))
    raise TypeError(
        f"matmul: no array of {name}'s kind can be made here for the result; pass out="
    )


def dense_copy(array: Any) -> Any:
    """A row-major copy on the same device."""
    name = type(array).__module__.partition(".")[0]
    if hasattr(array, "contiguous"):
        return array.contiguous()
    if name in sys.modules and hasattr(sys.modules[name], "ascontiguousarray"):
        return sys.modules[name].ascontiguousarray(array)
    raise ValueError(
        "matmul: an array on a GPU has no contiguous rows or columns; pass a dense array"
    )


def overlap(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays share an element; True where that would take long to find out."""
    try:
        return bool(np.shares_memory(x, y, max_work=100_000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _numpy_type(dtype: str) -> Any:
    if dtype in ("float16", "float32", "float64"):
        return np.dtype(dtype)
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, dtype))
