"""Arrays of every layout, and the bound that a product has to keep."""

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

DTYPES = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
SIGNIFICAND_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
LAYOUTS = [
    "c", "fortran", "padded", "offset", "columns_step", "rows_step", "negative_rows",
    "negative_columns", "zero_rows", "zero_columns", "unaligned",
]


def with_layout(values, layout):
    """The same shape and (but for the zero strides) values, laid out otherwise."""
    *batch, rows, columns = values.shape
    if layout == "fortran":
        return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "padded":
        wide = np.full((*batch, rows + 1, columns + 3), np.nan, values.dtype)
        wide[..., :rows, :columns] = values
        return wide[..., :rows, :columns]
    if layout == "offset":
        flat = np.empty(values.size + 1, values.dtype)
        flat[1:] = values.ravel()
        return flat[1:].reshape(values.shape)
    if layout == "columns_step":
        wide = np.full((*batch, rows, 2 * columns), np.nan, values.dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "rows_step":
        tall = np.full((*batch, 3 * rows, columns), np.nan, values.dtype)
        tall[..., ::3, :] = values
        return tall[..., ::3, :]
    if layout == "negative_rows":
        return np.ascontiguousarray(values[..., ::-1, :])[..., ::-1, :]
    if layout == "negative_columns":
        return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    if layout == "zero_rows" and rows > 0:
        return np.broadcast_to(values[..., :1, :].copy(), values.shape)
    if layout == "zero_columns" and columns > 0:
        return np.broadcast_to(values[..., :1].copy(), values.shape)
    if layout == "unaligned":
        raw = np.zeros(values.nbytes + 1, np.uint8)
        view = raw[1:].view(values.dtype).reshape(values.shape)
        view[...] = values
        return view
    return np.ascontiguousarray(values)


def normal(random, shape, dtype):
    return random.standard_normal(shape).astype(dtype)


def error_bound(a, b, result_dtype, extra=0):
    """|computed - exact| for sums in float32 (float64 for float64), any order, then rounded."""
    size_a, size_b = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
    magnitude = np.matmul(size_a, size_b)
    unit = 2.0 ** -(53 if a.dtype == np.float64 else 24)
    k = a.shape[-1] + extra
    gamma = k * unit / (1 - k * unit)
    bits = SIGNIFICAND_BITS[np.dtype(result_dtype).name]
    # float16 has subnormals from 2^-14 on: half their spacing is 2^-25.
    return gamma * magnitude + 2.0**-bits * magnitude * (1 + gamma) + 2.0**-25 * (bits == 11)


def assert_product(result, a, b):
    expected = np.matmul(a.astype(np.float64), b.astype(np.float64))
    assert result.shape == expected.shape
    difference = np.abs(result.astype(np.float64) - expected)
    assert (difference <= error_bound(a, b, result.dtype)).all()  # false for a NaN


sizes = st.sampled_from([0, 1, 2, 3, 5, 8, 13, 17, 32, 33])
layouts = st.sampled_from(LAYOUTS)
dtypes = st.sampled_from(DTYPES)


@st.composite
def batches(draw):
    """Two batch shapes that broadcast."""
    full = draw(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3))
    def part():
        kept = full[draw(st.integers(0, len(full))):]
        return tuple(1 if draw(st.booleans()) and draw(st.booleans()) else x for x in kept)
    return part(), part()
