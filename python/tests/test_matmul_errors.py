"""Bad requests: the exception's type, what its message names, and that nothing is written."""

import re

import numpy as np
import pytest
import tilewise

F32 = np.float32
A = np.ones((4, 6), F32)
B = np.ones((6, 5), F32)


@pytest.mark.parametrize("error, words, call", [
    (ValueError, "(4, 6) and b is (5, 6)", lambda: tilewise.matmul(A, B.T)),
    (ValueError, "do not broadcast", lambda: tilewise.matmul(np.ones((2, 4, 6), F32), np.ones((3, 6, 5), F32))),
    (ValueError, "scalar", lambda: tilewise.matmul(np.array(1.0, F32), B)),
    (TypeError, "int64", lambda: tilewise.matmul(A.astype(int), B)),
    (TypeError, "complex64", lambda: tilewise.matmul(A, B.astype(np.complex64))),
    (TypeError, "byte order", lambda: tilewise.matmul(A.astype(">f4"), B)),
    (TypeError, "list", lambda: tilewise.matmul([[1.0]], B)),
    (TypeError, "masked", lambda: tilewise.matmul(np.ma.masked_array(A), B)),
    (TypeError, "positional", lambda: tilewise.matmul(A, B, None)),
    (TypeError, "unexpected keyword argument 'axis'", lambda: tilewise.matmul(A, B, axis=0)),
    (TypeError, "argument 'b'", lambda: tilewise.matmul(A)),
    (TypeError, "multiple values", lambda: tilewise.matmul(A, B, a=A)),
    (TypeError, "float64 goes with float64 only", lambda: tilewise.matmul(A.astype(float), B)),
    (ValueError, "did you mean \"f32\"", lambda: tilewise.matmul(A, B, compute="fp32")),
    (RuntimeError, "tf32", lambda: tilewise.matmul(A, B, compute="tf32")),
    (TypeError, "compute is int", lambda: tilewise.matmul(A, B, compute=3)),
    (TypeError, "float33", lambda: tilewise.matmul(A, B, dtype="float33")),
    (ValueError, "device is \"tpu\"", lambda: tilewise.matmul(A, B, device="tpu")),
    (ValueError, "host memory", lambda: tilewise.matmul(A, B, device="gpu")),
    (ValueError, "stream", lambda: tilewise.matmul(A, B, stream=0)),
    (TypeError, "stream is 'x'", lambda: tilewise.matmul(A, B, stream="x")),
    (ValueError, "packed_avx2_f32", lambda: tilewise.matmul(A, B, schedule="packed_avx2_f3")),
    (ValueError, "^", lambda: tilewise.matmul(A, B, epilogue="relu(acc")),
    (ValueError, "names bias", lambda: tilewise.matmul(A, B, epilogue="acc + bias[n]")),
    (ValueError, "\"scale\"", lambda: tilewise.matmul(A, B, epilogue="acc + x", operands={"x": 1.0, "scale": 2.0})),
    (ValueError, "no epilogue", lambda: tilewise.matmul(A, B, operands={"x": 1.0})),
    (TypeError, "a dict", lambda: tilewise.matmul(A, B, epilogue="acc + x", operands=[1.0])),
    (ValueError, "bias is (4,)", lambda: tilewise.matmul(A, B, epilogue="acc + bias[n]", operands={"bias": np.ones(4, F32)})),
    (ValueError, "(4, 5)", lambda: tilewise.matmul(A, B, epilogue="acc + c[m,n]", operands={"c": A})),
    (ValueError, "out is (5, 4)", lambda: tilewise.matmul(A, B, out=np.empty((5, 4), F32))),
    (TypeError, "leave one of them out", lambda: tilewise.matmul(A, B, out=np.empty((4, 5), F32), dtype="float64")),
])
def test_bad_requests(error, words, call):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_read_only_out():
    out = np.zeros((4, 5), F32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tilewise.matmul(A, B, out=out)
    with pytest.raises(ValueError, match="share memory"):
        tilewise.matmul(A, B, out=np.lib.stride_tricks.as_strided(np.zeros(5, F32), (4, 5), (0, 4)))
    assert not out.any()


def square_views():
    base = np.arange(400, dtype=F32)
    plain = base[:100].reshape(10, 10)
    yield base, plain, base[50:150].reshape(10, 10)              # partial
    yield base, plain, plain                                      # A itself
    yield base, plain, plain.T                                    # the same memory otherwise
    yield base, plain, plain[::-1]                                # copied by the face
    yield base, base[:200].reshape(10, 20)[:, ::2], base[:200].reshape(10, 20)[:, :10]
    stack = base.reshape(4, 10, 10)
    yield base, stack[:3], stack[1:]                              # one matrix off
    yield base, stack[:3][::-1], stack[1:]


def test_overlap_is_refused_and_nothing_written():
    for base, a, out in square_views():
        before = base.copy()
        other = np.eye(10, dtype=F32)
        for call in (lambda: tilewise.matmul(a, other, out=out), lambda: tilewise.matmul(other, a, out=out)):
            with pytest.raises(ValueError, match="overlap"):
                call()
            assert np.array_equal(base, before)


def test_overlap_with_operands():
    out = np.zeros((5, 5), F32)
    a = np.ones((5, 5), F32)
    for operand, text in ((out[0], "acc + x[n]"), (out[:, 0], "acc + x[m]"), (out.T, "acc + x[m,n]"),
                          (out[::-1], "acc + x[m,n]")):
        with pytest.raises(ValueError, match="overlap"):
            tilewise.matmul(a, a, out=out, epilogue=text, operands={"x": operand})
        assert not out.any()


def test_interleaved_arrays_do_not_overlap():
    base = np.zeros((6, 12), F32)
    base[:, ::2] = 1
    tilewise.matmul(base[:, ::2], np.eye(6, dtype=F32), out=base[:, 1::2])
    assert (base == 1).all()


def test_huge_arrays():
    huge = np.lib.stride_tricks.as_strided(np.zeros(1, F32), (2**30, 2**30), (0, 0))
    with pytest.raises((MemoryError, ValueError)):
        tilewise.matmul(huge, huge)
    empty = np.empty((0, 2**40), F32)
    with pytest.raises(ValueError):
        tilewise.matmul(empty, np.empty((2**39, 0), F32))
    assert tilewise.matmul(empty, np.empty((2**40, 0), F32)).shape == (0, 0)
    assert tilewise.matmul(np.empty((2**30, 0), np.float16), np.empty((0, 0), np.float16)).shape == (2**30, 0)


def test_too_many_dimensions():
    deep = np.ones((1,) * 20, F32)
    with pytest.raises(ValueError, match="20 dimensions"):
        tilewise.matmul(deep, deep)


def test_a_copy_that_cannot_be_made():
    long = np.lib.stride_tricks.as_strided(np.zeros(1, F32), (2, 2**59), (0, 0))
    with pytest.raises(MemoryError, match="dense copy of a"):
        tilewise.matmul(long, long.T)


class DlPack:
    """An array that describes itself by DLPack, rightly or not."""

    def __init__(self, device=(1, 0), capsule=None):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.capsule


class CudaInterface:
    """The same by __cuda_array_interface__; nothing reads its address where no product starts."""

    def __init__(self, without="", **changed):
        fields = {"shape": (3, 4), "typestr": "<f4", "data": (4096, False), "version": 3, **changed}
        self.__cuda_array_interface__ = {name: value for name, value in fields.items() if name != without}


class NoDict:
    __cuda_array_interface__ = 5


@pytest.mark.parametrize("words, array", [
    ("a new capsule", DlPack(capsule=3)),
    ("__dlpack_device__", DlPack(device=1)),
    ("__dlpack_device__", DlPack(device=(1,))),
    ("__dlpack_device__", DlPack(device=("cpu", 0))),
    ("is not a dict", NoDict()),
    ("typestr that is not a str", CudaInterface(typestr=7)),
    ("typestr", CudaInterface(without="typestr")),
    ('typestr "<i4"', CudaInterface(typestr="<i4")),
    ('typestr ">f4"', CudaInterface(typestr=">f4")),
    ("a shape that is not a tuple of integers", CudaInterface(without="shape")),
    ("a shape that is not a tuple of integers", CudaInterface(shape=(3, "x"))),
    ("extents of 0 or more", CudaInterface(shape=(-3, 4))),
    ("strides that is not a tuple of 2 integers", CudaInterface(strides=(4,))),
    ("strides that is not a tuple of 2 integers", CudaInterface(strides=(16.5, 4))),
    ("an address", CudaInterface(data=None)),
    ("an address", CudaInterface(data=(4096,))),
    ("an address", CudaInterface(data=(-1, False))),
    ("a stream", CudaInterface(stream=0)),
    ("a stream", CudaInterface(stream="x")),
    ("masked", CudaInterface(mask=CudaInterface())),
], ids=str)
def test_an_array_that_describes_itself_wrongly(words, array):
    with pytest.raises(TypeError, match="^matmul: a .*" + re.escape(words)):
        tilewise.matmul(array, np.ones((4, 2), np.float32), out=np.empty((3, 2), np.float32))


def test_text_that_is_no_text():
    a = np.ones((2, 2), np.float32)
    with pytest.raises(ValueError, match="epilogue holds a lone surrogate"):
        tilewise.matmul(a, a, epilogue="\ud800")


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_bench_wants_a_time(seconds):
    with pytest.raises(ValueError, match="give 0 or more"):
        tilewise.bench((8, 8, 8), repeat_for_s=seconds)
