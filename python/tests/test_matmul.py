"""The product against float64, over shapes, strides, types and broadcasting."""

import ml_dtypes
import numpy as np
import pytest
import tilewise
from hypothesis import given
from hypothesis import strategies as st
from products import (DTYPES, LAYOUTS, assert_product, batches, dtypes, error_bound, layouts, normal,
                      sizes, with_layout)


@given(sizes, sizes, sizes, layouts, layouts, dtypes, st.integers(0, 2**32 - 1))
def test_any_strides(m, n, k, layout_a, layout_b, dtype, seed):
    random = np.random.default_rng(seed)
    a = with_layout(normal(random, (m, k), dtype), layout_a)
    b = with_layout(normal(random, (k, n), dtype), layout_b)
    result = tilewise.matmul(a, b)
    assert result.dtype == dtype and result.flags.c_contiguous
    assert_product(result, a, b)


@given(batches(), sizes, sizes, sizes, layouts, layouts, st.integers(0, 2**32 - 1))
def test_batches_broadcast_as_in_numpy(batch, m, n, k, layout_a, layout_b, seed):
    random = np.random.default_rng(seed)
    a = with_layout(normal(random, (*batch[0], m, k), np.float32), layout_a)
    b = with_layout(normal(random, (*batch[1], k, n), np.float32), layout_b)
    result = tilewise.matmul(a, b)
    assert result.shape == np.matmul(a, b).shape
    assert_product(result, a, b)


@given(batches(), sizes, sizes, sizes, layouts, layouts, dtypes)
def test_out_of_any_layout(batch, m, n, k, layout, layout_out, dtype):
    random = np.random.default_rng(m + 7 * n + 31 * k)
    a = with_layout(normal(random, (*batch[0], m, k), dtype), layout)
    b = normal(random, (*batch[1], k, n), dtype)
    shape = np.matmul(a.astype(np.float32), b.astype(np.float32)).shape
    values = np.full(shape, np.nan, np.float32).astype(dtype)
    out = with_layout(values, layout_out)
    if layout_out.startswith("zero"):
        out = values
    assert tilewise.matmul(a, b, out=out) is out
    assert_product(out, a, b)
    assert np.array_equal(out, tilewise.matmul(a, b), equal_nan=False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_vectors(dtype, random):
    matrix, row, column = (normal(random, s, dtype) for s in ((5, 7), 5, 7))
    for a, b in ((row, matrix), (matrix, column), (column, column), (row, matrix[None])):
        result = tilewise.matmul(a, b)
        expected = np.matmul(a.astype(np.float64), b.astype(np.float64))
        assert result.shape == expected.shape
        assert np.allclose(result.astype(np.float64), expected, rtol=0.05, atol=0.05)
    assert_product(tilewise.matmul(matrix[:, ::-1], column[::-1, None]), matrix[:, ::-1], column[::-1, None])


@given(batches(), st.integers(0, 2**32 - 1))
def test_permuted_batch_dimensions(batch, seed):
    random = np.random.default_rng(seed)
    a = normal(random, (*batch[0], 3, 4), np.float32)
    b = normal(random, (*batch[1], 4, 5), np.float32)
    axes = list(range(a.ndim - 2))
    random.shuffle(axes)
    a = a.transpose(*axes, -2 + a.ndim, -1 + a.ndim).transpose(*np.argsort(axes), a.ndim - 2, a.ndim - 1)
    a = a[::-1] if a.ndim > 2 else a
    assert_product(tilewise.matmul(a, b), a, b)


def test_small_integers_are_exact(random):
    for dtype in DTYPES:
        a = random.integers(-3, 4, (33, 40)).astype(dtype)
        b = random.integers(-3, 4, (40, 17)).astype(dtype)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        assert np.array_equal(tilewise.matmul(a, b, dtype=np.float64 if dtype == np.float64 else
                                              np.float32).astype(np.float64), exact)


@pytest.mark.parametrize("x, y, expected", [
    (np.float32, np.float16, np.float32), (np.float32, ml_dtypes.bfloat16, np.float32),
    (np.float16, ml_dtypes.bfloat16, np.float32), (np.float16, np.float16, np.float16)])
def test_mixed_types(x, y, expected, random):
    a, b = normal(random, (6, 9), x), normal(random, (9, 4), y)
    result = tilewise.matmul(a, b)
    assert result.dtype == expected
    assert_product(result, a, b)


def test_dtype_of_the_result(random):
    a, b = normal(random, (6, 9), np.float32), normal(random, (9, 4), np.float32)
    for dtype in (np.float16, "bfloat16", "f16", np.dtype(np.float32), ml_dtypes.bfloat16):
        result = tilewise.matmul(a, b, dtype=dtype)
        assert_product(result, a, b)
    assert tilewise.matmul(a, b, dtype="bfloat16").dtype == ml_dtypes.bfloat16


def test_float16_beyond_its_range_is_infinite():
    big = np.full((2, 300), 60.0, np.float16)
    assert np.isinf(tilewise.matmul(big, big.T)).all()


def test_epilogues(random):
    a, b = normal(random, (3, 6, 9), np.float32), normal(random, (9, 4), np.float32)
    bias, rows, residual = (normal(random, s, np.float32) for s in (4, 6, (6, 4)))
    each, c = normal(random, (3, 6, 4), np.float32), normal(random, (3, 6, 4), np.float32)
    product = np.matmul(a.astype(np.float64), b.astype(np.float64))
    cases = [
        ("relu(acc + bias[n])", {"bias": bias}, np.maximum(product + bias, 0)),
        ("acc * rows[m]", {"rows": rows}, product * rows[:, None]),
        ("acc * rows[m]", {"rows": rows[::-1]}, product * rows[::-1, None]),
        ("alpha * acc + beta * c[m,n]", {"alpha": 2.0, "beta": -1, "c": c}, 2 * product - c),
        ("acc + residual[m,n]", {"residual": residual[::-1]}, product + residual[::-1]),
        ("acc + residual[m,n]", {"residual": residual.T.copy().T}, product + residual),
        ("acc - each[b,m,n]", {"each": each}, product - each),
        ("acc - each[b,m,n]", {"each": each[:1]}, product - each[:1]),
        ("acc + bias[n]", {"bias": np.broadcast_to(bias[:1], 4)}, product + bias[0]),
        ("acc + bias[n]", {"bias": bias.astype(np.float64)}, product + bias),
        ("acc * alpha", {"alpha": np.array(3.0, np.float32)}, product * 3),
    ]
    for epilogue, operands, expected in cases:
        result = tilewise.matmul(a, b, epilogue=epilogue, operands=operands)
        assert np.abs(result - expected).max() < 1e-5 * (1 + np.abs(expected).max()), epilogue


def test_no_columns_of_a_still_runs_the_epilogue():
    bias = np.arange(4, dtype=np.float32)
    result = tilewise.matmul(np.empty((2, 0), np.float32), np.empty((0, 4), np.float32),
                             epilogue="acc + bias[n]", operands={"bias": bias})
    assert np.array_equal(result, [bias, bias])


def test_out_may_be_c_or_a_matrix_operand(random):
    a, b = normal(random, (6, 9), np.float32), normal(random, (9, 4), np.float32)
    start = normal(random, (6, 4), np.float32)
    expected = tilewise.matmul(a, b, epilogue="acc + c[m,n]", operands={"c": start})
    for name, text in (("c", "acc + c[m,n]"), ("r", "acc + r[m,n]")):
        for lay in ("c", "fortran", "columns_step", "negative_rows"):
            out = with_layout(start, lay).copy(order="K") if lay == "fortran" else with_layout(start.copy(), lay)
            tilewise.matmul(a, b, out=out, epilogue=text, operands={name: out})
            assert np.allclose(out, expected, atol=1e-6)


def test_an_unread_operand_cannot_leak(random):
    a, b = normal(random, (6, 9), np.float32), normal(random, (9, 4), np.float32)
    out = np.full((6, 4), np.nan, np.float32)
    assert np.isfinite(tilewise.matmul(a, b, out=out)).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_plan_says_what_is_copied(layout, random):
    a = with_layout(normal(random, (8, 6), np.float32), layout)
    report = tilewise.plan(a, np.ones((6, 4), np.float32))
    copied = layout not in ("c", "fortran", "padded", "offset", "rows_step")
    assert bool(report.copies) == copied
    assert (report.m, report.n, report.k, report.device) == (8, 4, 6, "cpu")


def test_schedules_by_name_and_by_value(random):
    a, b = normal(random, (64, 70), np.float32), normal(random, (70, 33), np.float32)
    name = tilewise.plan(a, b).schedule.name
    named = tilewise.schedules()[name]
    smaller = named.changed(tiles=[{**vars(t), **({"k": 16} if t.level == "kc" else {})}
                                   for t in named.tiles])
    for schedule in (name, named, smaller):
        assert_product(tilewise.matmul(a, b, schedule=schedule), a, b)
    assert tilewise.plan(a, b, schedule=smaller).schedule.tiles != tilewise.plan(a, b).schedule.tiles


def test_same_bits_every_time(random):
    a, b = normal(random, (200, 300), np.float32), normal(random, (300, 100), np.float32)
    first = tilewise.matmul(a, b)
    assert all(np.array_equal(tilewise.matmul(a, b), first) for _ in range(5))


def test_many_plans_and_texts(random):
    a, b = normal(random, (5, 4), np.float32), normal(random, (4, 3), np.float32)
    product = tilewise.matmul(a, b)
    for i in range(1500):  # beyond every bound of the caches
        result = tilewise.matmul(a, b, epilogue=f"acc + {i}")
        assert np.allclose(result, product + i, rtol=1e-6)
    for m in range(1, 200):
        assert tilewise.matmul(np.ones((m, 4), np.float32), b).shape == (m, 3)


class Foreign:
    """An array that is known by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldForeign(Foreign):
    """The same from before DLPack had versions."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Foreign, OldForeign])
def test_dlpack(kind, random):
    a, b = normal(random, (2, 6, 9), np.float32), normal(random, (9, 4), np.float32)
    assert_product(tilewise.matmul(kind(a), kind(b[::1])), a, b)
    assert_product(tilewise.matmul(a, kind(b)), a, b)
    assert_product(tilewise.matmul(kind(a[:, ::-1]), b), a[:, ::-1], b)
    out = np.empty((2, 6, 4), np.float32)
    tilewise.matmul(kind(a), b, out=kind(out))
    assert_product(out, a, b)


def test_bound_is_tight_enough_to_notice(random):
    """The check that these tests rest on fails for a product in half precision."""
    a, b = normal(random, (40, 50), np.float32), normal(random, (50, 40), np.float32)
    wrong = np.matmul(a.astype(np.float16), b.astype(np.float16)).astype(np.float32)
    exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
    assert (np.abs(wrong - exact) > error_bound(a, b, np.float32)).any()


@pytest.mark.parametrize("scalar", [
    np.float16(2), np.float32(2), np.float64(2), np.longdouble(2), np.int8(2), np.int64(2), np.uint64(2),
    ml_dtypes.bfloat16(2)])
def test_scalars_of_numpy(scalar):
    a = np.ones((2, 3), np.float32)
    result = tilewise.matmul(a, a.T, epilogue="alpha * acc", operands={"alpha": scalar})
    assert np.array_equal(result, np.full((2, 2), 6))


def test_complex_scalars_are_refused():
    a = np.ones((2, 3), np.float32)
    with pytest.raises(TypeError):
        tilewise.matmul(a, a.T, epilogue="alpha * acc", operands={"alpha": np.complex64(2)})
