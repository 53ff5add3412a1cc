"""The PyTorch operators, and other libraries' arrays, on a card: `pytest python/tests/test_gpu.py`."""

import threading

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


class CudaInterface:
    """What only __cuda_array_interface__ tells of a tensor, and no DLPack."""

    def __init__(self, tensor, **changed):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changed}


def test_cuda_array_interface():
    a, b = (torch.randn(48, 48, device="cuda") for _ in range(2))
    out = torch.empty(48, 48, device="cuda")
    torch.cuda.synchronize()
    result = tilewise.matmul(CudaInterface(a), CudaInterface(b), out=out)
    torch.cuda.synchronize()
    assert result is out and close(out, a.double() @ b.double(), torch.float32, 48)
    with pytest.raises(TypeError, match="pass out="):
        tilewise.matmul(CudaInterface(a), CudaInterface(b))
    with pytest.raises(ValueError, match="read-only"):
        read_only = CudaInterface(out, data=(out.data_ptr(), True))
        tilewise.matmul(a, b, out=read_only)


def test_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    a, b = (cupy.random.standard_normal((65, 65), dtype=cupy.float32) for _ in range(2))
    result = tilewise.matmul(a, b.T, epilogue="relu(acc)")
    assert isinstance(result, cupy.ndarray)
    cupy.testing.assert_allclose(result, cupy.maximum(a @ b.T, 0), rtol=1e-4, atol=1e-3)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        doubled = a * 2
        on_stream = tilewise.matmul(doubled, b)
        stream.synchronize()
    cupy.testing.assert_allclose(on_stream, 2 * (a @ b), rtol=1e-4, atol=1e-3)


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    a = jax.numpy.arange(64.0 * 32).reshape(64, 32) / 1000
    if a.devices().pop().platform != "gpu":
        pytest.skip("JAX has no GPU here")
    out = torch.empty(64, 64, device="cuda")
    tilewise.matmul(a, a.T, out=out)
    torch.cuda.synchronize()
    torch.testing.assert_close(out, torch.from_dlpack(a @ a.T), rtol=1e-3, atol=1e-3)


def test_a_stream_given_by_its_handle():
    a, b = (torch.randn(512, 512, device="cuda") for _ in range(2))
    out = torch.empty(512, 512, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    tilewise.matmul(a, b, out=out, stream=stream.cuda_stream)
    stream.synchronize()
    assert close(out, a.double() @ b.double(), torch.float32, 512)


def test_batches_broadcast():
    a = torch.randn(3, 1, 33, 17, device="cuda")
    b = torch.randn(2, 17, 29, device="cuda")
    assert close(tilewise.matmul(a, b), a.double() @ b.double(), torch.float32, 17)
    assert tilewise.matmul(a[:0], b).shape == (0, 2, 33, 29)


def test_threads_side_by_side():
    a, b = (torch.randn(256, 256, device="cuda") for _ in range(2))
    exact = a.double() @ b.double()
    results = [None] * 4

    def multiply(index):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                results[index] = tilewise.matmul(a, b)
            torch.cuda.current_stream().synchronize()

    torch.cuda.synchronize()
    threads = [threading.Thread(target=multiply, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(close(result, exact, torch.float32, 256) for result in results)


def test_the_schedule_that_ran_is_the_one_named():
    a, b = (torch.randn(256, 256, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    assert tilewise.plan(a, b, schedule="mma").schedule.name == "mma"
    assert close(tilewise.matmul(a, b, schedule="mma"), a.double() @ b.double(), torch.bfloat16, 256)
