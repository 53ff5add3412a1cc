"""The PyTorch operators on the CPU; tests/test_gpu.py has those of a card."""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tilewise  # noqa: E402
import tilewise.nn  # noqa: E402
import tilewise.torch  # noqa: E402

F = torch.nn.functional
ACTIVATIONS = {
    "none": lambda z: z, "relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda z: F.gelu(z, approximate="tanh"),
    "silu": F.silu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}


def randn(*shape, dtype=torch.float64, grad=True):
    return torch.randn(*shape, dtype=dtype, requires_grad=grad)


SHAPES = [((4, 5), (5, 6)), ((2, 4, 5), (5, 6)), ((3, 1, 4, 5), (2, 5, 6)), ((5,), (5, 6)), ((4, 5), (5,)),
          ((5,), (5,)), ((5,), (3, 5, 6)), ((0, 5), (5, 6)), ((4, 0), (0, 6))]


@pytest.mark.parametrize("a, b", SHAPES)
def test_matmul_and_its_gradients(a, b):
    a, b = randn(*a), randn(*b)
    result = torch.ops.tilewise.matmul(a, b)
    expected = torch.matmul(a, b)
    torch.testing.assert_close(result, expected)
    gradient = torch.randn_like(expected)
    for got, want in zip(torch.autograd.grad(result, (a, b), gradient),
                         torch.autograd.grad(expected, (a, b), gradient)):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("has_bias, has_residual", [(True, True), (False, False)])
def test_linear_and_its_gradients(activation, has_bias, has_residual):
    x, w = randn(3, 4, 8), randn(6, 8)
    bias = randn(6) if has_bias else None
    residual = randn(3, 4, 6) if has_residual else None
    result = torch.ops.tilewise.linear(x, w, bias, activation, residual)
    expected = ACTIVATIONS[activation](F.linear(x, w, bias)) + (residual if has_residual else 0)
    torch.testing.assert_close(result, expected)
    inputs = [t for t in (x, w, bias, residual) if t is not None]
    gradient = torch.randn_like(expected)
    for got, want in zip(torch.autograd.grad(result, inputs, gradient),
                         torch.autograd.grad(expected, inputs, gradient)):
        torch.testing.assert_close(got, want)


def test_second_derivatives():
    assert torch.autograd.gradgradcheck(torch.ops.tilewise.matmul, (randn(3, 4), randn(4, 2)))
    for activation in ("silu", "gelu", "tanh", "sigmoid"):
        assert torch.autograd.gradgradcheck(
            lambda x, w, b: torch.ops.tilewise.linear(x, w, b, activation),
            (randn(3, 4), randn(2, 4), randn(2)))


@pytest.mark.parametrize("arguments", [
    lambda: (randn(4, 5), randn(5, 6)), lambda: (randn(2, 4, 5), randn(5, 6)),
    lambda: (randn(5, grad=False), randn(5, grad=False)), lambda: (randn(5, 4).t(), randn(6, 5).t())])
def test_opcheck_matmul(arguments):
    torch.library.opcheck(torch.ops.tilewise.matmul.default, arguments())


def test_opcheck_linear():
    op = torch.ops.tilewise.linear.default
    torch.library.opcheck(op, (randn(4, 5), randn(6, 5)))
    torch.library.opcheck(op, (randn(2, 4, 5), randn(6, 5), randn(6), "gelu", randn(2, 4, 6)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types(dtype):
    x, w, bias = (randn(*s, dtype=dtype, grad=False) for s in ((9, 40), (6, 40), (6,)))
    result = torch.ops.tilewise.linear(x, w, bias, "relu")
    assert result.dtype == dtype
    exact = F.relu(F.linear(x.double(), w.double(), bias.double()))
    magnitude = F.linear(x.double().abs(), w.double().abs(), bias.double().abs())
    bound = 41 * 2.0**-24 * 1.01 * magnitude + torch.finfo(dtype).eps / 2 * magnitude
    assert ((result.double() - exact).abs() <= bound).all()


@pytest.mark.filterwarnings("ignore")
def test_compile_without_a_break():
    layer = tilewise.nn.Linear(8, 6, activation="gelu").double()

    def model(x, residual):
        return torch.ops.tilewise.matmul(layer(x, residual), layer.weight).relu()

    x, residual = randn(4, 8), randn(4, 6)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    result, expected = compiled(x, residual), model(x, residual)
    torch.testing.assert_close(result, expected)
    result.sum().backward()
    got = x.grad.clone()
    x.grad = None
    expected.sum().backward()
    torch.testing.assert_close(got, x.grad)
    torch.testing.assert_close(compiled(randn(7, 8), randn(7, 6)).shape, torch.Size([7, 8]))


def test_autocast_takes_the_narrow_type():
    x, w = randn(4, 8, dtype=torch.float32), randn(6, 8, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.ops.tilewise.linear(x, w).dtype == torch.bfloat16
        assert torch.ops.tilewise.matmul(x, w.t()).dtype == torch.bfloat16
        torch.ops.tilewise.matmul(x, w.t()).sum().backward()
    assert x.grad.dtype == torch.float32
    assert torch.ops.tilewise.linear(x, w).dtype == torch.float32


def test_linear_is_a_drop_in():
    theirs = torch.nn.Linear(8, 6)
    ours = tilewise.nn.Linear(8, 6)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(5, 8)
    torch.testing.assert_close(ours(x), theirs(x))
    assert isinstance(ours, torch.nn.Linear) and "activation=none" in repr(ours)
    with pytest.raises(ValueError, match="swish"):
        tilewise.nn.Linear(8, 6, activation="swish")


def test_errors_are_the_librarys():
    a = torch.randn(4, 5)
    for bad, words in (((a, a), "columns of a"), ((a, a.double().t()), "cast one"), ((a.int(), a.int().t()), "type")):
        with pytest.raises((RuntimeError, ValueError, TypeError), match=words):
            torch.ops.tilewise.matmul(*bad)
    with pytest.raises((RuntimeError, ValueError), match="swish"):
        torch.ops.tilewise.linear(a, a, None, "swish")
    with pytest.raises((RuntimeError, ValueError), match="tf32"):
        torch.ops.tilewise.matmul(a, a.t(), compute="tf32")


def test_matmul_of_tensors_gives_a_tensor():
    a, b = torch.randn(3, 4, 5), torch.randn(5, 6).t().contiguous().t()
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        result = tilewise.matmul(a.to(dtype), b.to(dtype))
        assert isinstance(result, torch.Tensor) and result.dtype == dtype
    torch.testing.assert_close(tilewise.matmul(a, b), a @ b)
    torch.testing.assert_close(tilewise.matmul(a, b.numpy()), a @ b)
    assert tilewise.matmul(a, b, dtype=torch.bfloat16).dtype == torch.bfloat16
    out = torch.empty(3, 4, 6)
    assert tilewise.matmul(a, b, out=out) is out
    torch.testing.assert_close(out, a @ b)


def test_mixed_libraries():
    a = np.ones((3, 4), np.float32)
    assert isinstance(tilewise.matmul(a, torch.ones(4, 2)), np.ndarray)


def test_tensors_from_before_the_exchange_interface():
    done = subprocess.run([sys.executable, "-c", """
import torch
for kind in torch.Tensor.__mro__:
    if "__dlpack_c_exchange_api__" in vars(kind):
        try:
            delattr(kind, "__dlpack_c_exchange_api__")
        except TypeError:
            raise SystemExit(77)
import tilewise.torch
x, w, bias = (torch.randn(s, requires_grad=True) for s in ((4, 5), (6, 5), (6,)))
y = torch.ops.tilewise.linear(x, w, bias, "relu")
assert isinstance(y, torch.Tensor)
torch.testing.assert_close(y, torch.relu(torch.nn.functional.linear(x, w, bias)))
y.sum().backward()
with torch.no_grad():
    torch.testing.assert_close(torch.ops.tilewise.matmul(x, w.t()), x @ w.t())
"""], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("this PyTorch's tensor type cannot be changed")
    assert done.returncode == 0, done.stderr


def negated(*shape):
    """Ones whose elements are kept as -1 with PyTorch's negative bit, negated once more: -1."""
    tensor = torch.complex(torch.ones(*shape), torch.ones(*shape)).conj().imag
    assert tensor.is_neg()
    return tensor


def test_lazily_negated_tensors():
    n, eye = negated(2, 2), torch.eye(2)
    for multiply in (torch.ops.tilewise.matmul, tilewise.matmul):
        assert torch.equal(multiply(n, eye), -torch.ones(2, 2))
        assert torch.equal(multiply(eye, n), -torch.ones(2, 2))
    zero = torch.zeros(2, 2)
    assert torch.equal(torch.ops.tilewise.linear(n, n, negated(2), "none", n), torch.zeros(2, 2))
    assert torch.equal(torch.ops.tilewise.linear(zero, zero, negated(2)), -torch.ones(2, 2))
    assert torch.equal(torch.ops.tilewise.linear(zero, zero, None, "none", n), -torch.ones(2, 2))
    fused = tilewise.matmul(zero, zero, epilogue="acc + bias[n] + c[m,n]", operands={"bias": negated(2), "c": n})
    assert torch.equal(fused, -2 * torch.ones(2, 2))
    for out in (negated(2, 2), torch._neg_view(torch.ones(2, 2))):
        with pytest.raises(ValueError, match="lazy negative"):
            tilewise.matmul(eye, eye, out=out)
        assert torch.equal(out, -torch.ones(2, 2))


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name, shapes", [
    ("residual", ((2, 3, 4), (5, 4), None, (3, 2, 5))), ("residual", ((2, 3, 4), (5, 4), None, (6, 5))),
    ("residual", ((3, 4), (5, 4), None, (5,))), ("bias", ((3, 4), (5, 4), (4,), None)),
    ("bias", ((3, 4), (5, 4), (1, 5), None)), ("input", ((), (5, 4), None, None)),
    ("input", ((3, 5), (5, 4), None, None)), ("weight", ((3, 4), (4,), None, None))])
def test_linear_refuses_other_shapes(name, shapes, grad):
    x, w, bias, residual = (None if s is None else torch.randn(s, dtype=torch.float64) for s in shapes)
    wrong = {"input": x, "weight": w, "bias": bias, "residual": residual}[name]
    for place in ("cpu", "meta"):
        moved = [None if t is None else t.to(place).requires_grad_(grad) for t in (x, w, bias, residual)]
        with pytest.raises(ValueError) as caught:
            torch.ops.tilewise.linear(*moved[:3], "none", moved[3])
        assert f"{name} is {tuple(wrong.shape)}" in str(caught.value)
        assert f"input {tuple(x.shape)}" in str(caught.value)


def test_tensors_without_dense_memory_are_refused_in_a_sentence():
    for bad in (torch.empty(2, 2, device="meta"), torch.eye(2).to_sparse()):
        with pytest.raises(TypeError, match="no dense array") as caught:
            tilewise.matmul(bad, torch.eye(2))
        assert "\n" not in str(caught.value)
