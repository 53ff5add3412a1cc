"""The PyTorch operators on a card: run there with `pytest python/tests/test_gpu.py`."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device here", allow_module_level=True)

import tilewise  # noqa: E402
import tilewise.nn  # noqa: E402
import tilewise.torch  # noqa: E402

F = torch.nn.functional


def close(result, exact, dtype, k):
    unit = torch.finfo(dtype).eps
    return ((result.double() - exact).abs() <= unit * exact.abs() + 2e-7 * k * exact.abs().mean() + unit).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(64, 64, 64), (129, 77, 33), (256, 512, 1024), (1, 1000, 64)])
def test_matmul(dtype, shape):
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
    result = torch.ops.tilewise.matmul(a, b)
    assert result.device == a.device and close(result, a.double() @ b.double(), dtype, k)


def test_linear_fused():
    x, w = (torch.randn(s, device="cuda", dtype=torch.bfloat16) for s in ((512, 256), (384, 256)))
    bias, residual = (torch.randn(s, device="cuda", dtype=torch.bfloat16) for s in ((384,), (512, 384)))
    result = torch.ops.tilewise.linear(x, w, bias, "gelu", residual)
    exact = F.gelu(F.linear(x.double(), w.double(), bias.double())) + residual.double()
    assert close(result, exact, torch.bfloat16, 256)


def test_gradients():
    x, w = (torch.randn(s, device="cuda", requires_grad=True) for s in ((64, 48), (32, 48)))
    torch.ops.tilewise.linear(x, w, None, "silu").sum().backward()
    got = [x.grad.clone(), w.grad.clone()]
    x.grad = w.grad = None
    F.silu(F.linear(x.double(), w.double())).sum().backward()
    for g, want in zip(got, (x.grad, w.grad)):
        torch.testing.assert_close(g, want, rtol=1e-4, atol=1e-4)


def test_current_stream():
    a, b = (torch.randn(1024, 1024, device="cuda") for _ in range(2))
    torch.ops.tilewise.matmul(a, b)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # what comes after on this stream waits
        late = a * 2
        result = torch.ops.tilewise.matmul(late, b)
    stream.synchronize()
    torch.testing.assert_close(result, (a * 2).double().matmul(b.double()).float(), rtol=1e-3, atol=1e-3)


def test_cuda_graph():
    x, w, bias = (torch.randn(s, device="cuda") for s in ((128, 64), (96, 64), (96,)))
    torch.ops.tilewise.linear(x, w, bias, "relu")  # compiles
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = torch.ops.tilewise.linear(x, w, bias, "relu")
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(result, F.relu(F.linear(x, w, bias)), rtol=1e-3, atol=1e-3)


def test_compile_and_autocast():
    layer = tilewise.nn.Linear(64, 96, activation="gelu", device="cuda")
    x = torch.randn(32, 64, device="cuda")
    compiled = torch.compile(lambda t: layer(t).relu(), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), layer(x).relu())
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16


def test_opcheck():
    a, b = (torch.randn(s, device="cuda", requires_grad=True) for s in ((16, 24), (24, 8)))
    torch.library.opcheck(torch.ops.tilewise.matmul.default, (a, b))
    torch.library.opcheck(torch.ops.tilewise.linear.default, (a, b.t(), None, "relu"))


def test_errors():
    a = torch.randn(8, 8, device="cuda")
    with pytest.raises((ValueError, RuntimeError), match="host memory"):
        tilewise.matmul(a, a.cpu())
    with pytest.raises(ValueError, match="GPU"):
        tilewise.matmul(a, a, device="cpu")


def test_strided_operands_are_made_dense():
    a = torch.randn(64, 64, device="cuda")
    torch.testing.assert_close(tilewise.matmul(a[:, ::2], a[::2]), a[:, ::2] @ a[::2], rtol=1e-3, atol=1e-3)
    row = torch.randn(64, device="cuda").expand(32, 64)
    torch.testing.assert_close(tilewise.matmul(row, a), row @ a, rtol=1e-3, atol=1e-3)
