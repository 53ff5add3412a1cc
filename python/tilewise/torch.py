"""torch.ops.tilewise.matmul and torch.ops.tilewise.linear: import this module to have them.

They run on CPU and CUDA tensors, under torch.compile(fullgraph=True), autograd, autocast, CUDA graph
capture (after one call outside, which compiles the kernel) and on the current stream. float16,
bfloat16, float32, float64; gradients are products of the same library.

The operators are registered with torch.library.Library rather than custom_op, whose wrapper costs
several times what a small product takes (docs/decisions/0003-torch-operators.md).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _core

__all__ = ["ACTIVATIONS", "linear", "matmul"]

ACTIVATIONS = ("none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")

_library = torch.library.Library("tilewise", "DEF")
_library.define(
    "matmul(Tensor a, Tensor b, *, str? compute=None, str? schedule=None) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define(
    "linear(Tensor input, Tensor weight, Tensor? bias=None, str activation='none', "
    "Tensor? residual=None) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_matmul_op = torch.ops.tilewise.matmul.default
_linear_op = torch.ops.tilewise.linear.default

_PLAIN = (Tensor, torch.nn.Parameter)
_below_autograd = torch._C._AutoDispatchBelowAutograd
_num_modes = torch._C._len_torch_dispatch_stack
_functorch_level = torch._C._functorch.maybe_current_level


def matmul(
    a: Tensor, b: Tensor, *, compute: str | None = None, schedule: str | None = None
) -> Tensor:
    """The product of (..., m, k) and (..., k, n), as torch.matmul: batches broadcast, vectors too.

    compute: "tf32", ...: float32 means float32 accuracy unless it is named. Raises RuntimeError,
    ValueError, TypeError with the library's message.
    """
    product: Tensor = _matmul_op(a, b, compute=compute, schedule=schedule)
    return product


def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: str = "none",
    residual: Tensor | None = None,
) -> Tensor:
    """activation(input weight^T + bias) + residual in one pass over the result.

    input (..., k), weight (n, k), bias (n,), residual (..., n); activation: one of ACTIVATIONS.
    Raises ValueError (shapes, activation): bias and residual do not broadcast.
    """
    result: Tensor = _linear_op(input, weight, bias, activation, residual)
    return result


# ---- Kernels: what runs on real tensors


def _is_real(*tensors: Tensor | None) -> bool:
    """Whether these are plain tensors with memory, outside every mode and transform."""
    return (
        _num_modes() == 0
        and _functorch_level() is None
        and all(t is None or type(t) in _PLAIN for t in tensors)
    )


_has_exchange = hasattr(Tensor, "__dlpack_c_exchange_api__")


def _product(a: Tensor, b: Tensor, **options: Any) -> Any:
    """The compiled product; PyTorch from before DLPack's exchange interface needs some help."""
    if _has_exchange:
        return _core.matmul(a, b, **options)
    if a.is_cuda:
        options["stream"] = torch.cuda.current_stream(a.device).cuda_stream
    if options.get("operands"):
        options["operands"] = {k: v.detach() for k, v in options["operands"].items()}
    return _core.matmul(a.detach(), b.detach(), **options)


def _on_its_device(tensor: Tensor, function: Any, *arguments: Any, **options: Any) -> Any:
    """Plans belong to the current device: makes the tensor's the current one."""
    if tensor.is_cuda and tensor.device.index != torch.cuda.current_device():
        with torch.cuda.device(tensor.device):
            return function(*arguments, **options)
    return function(*arguments, **options)


def _matmul_kernel(
    a: Tensor, b: Tensor, *, compute: str | None = None, schedule: str | None = None
) -> Tensor:
    if a.dtype != b.dtype:
        raise RuntimeError(f"tilewise::matmul: a is {a.dtype} and b is {b.dtype}; cast one of them")
    product: Tensor
    if a.is_cuda:
        product = _on_its_device(a, _product, a, b, compute=compute, schedule=schedule)
    elif compute is None and schedule is None and _has_exchange:
        product = _core.matmul(a, b)
    else:
        product = _product(a, b, compute=compute, schedule=schedule)
    return product


_epilogues: dict[tuple[str, bool, bool], str] = {}


def _epilogue(activation: str, has_bias: bool, has_residual: bool) -> str:
    key = (activation, has_bias, has_residual)
    if key not in _epilogues:
        if activation not in ACTIVATIONS:
            raise ValueError(
                f'tilewise::linear: activation is "{activation}"; valid are {", ".join(ACTIVATIONS)}'
            )
        text = "acc + bias[n]" if has_bias else "acc"
        text = text if activation == "none" else f"{activation}({text})"
        _epilogues[key] = text + (" + residual[m,n]" if has_residual else "")
    return _epilogues[key]


def _check_linear(
    input: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None
) -> None:
    """Raises ValueError for shapes that do not go together."""

    def refuse(name: str, tensor: Tensor, wanted: Any) -> None:
        raise ValueError(
            f"tilewise::linear: {name} is {tuple(tensor.shape)}, but for input "
            f"{tuple(input.shape)} and weight {tuple(weight.shape)} it has shape {wanted}"
        )

    if weight.dim() != 2:
        refuse("weight", weight, "(n, k)")
    n, k = weight.shape
    if input.dim() == 0 or input.shape[-1] != k:
        refuse("input", input, f"(..., {k})")
    if bias is not None and bias.shape != (n,):
        refuse("bias", bias, (n,))
    if residual is not None and residual.shape != (*input.shape[:-1], n):
        refuse("residual", residual, (*input.shape[:-1], n))


def _linear_kernel(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: str = "none",
    residual: Tensor | None = None,
) -> Tensor:
    _check_linear(input, weight, bias, residual)
    shape = input.shape
    x = input if input.dim() == 2 else input.reshape(-1, shape[-1])
    operands = {}
    if bias is not None:
        operands["bias"] = bias
    if residual is not None:
        operands["residual"] = (
            residual if residual.dim() == 2 else residual.reshape(-1, weight.shape[0])
        )
    result: Tensor = _on_its_device(
        x,
        _product,
        x,
        weight.t(),
        epilogue=_epilogue(activation, bias is not None, residual is not None),
        operands=operands or None,
    )
    return result if input.dim() == 2 else result.reshape(*shape[:-1], weight.shape[0])


for _device in ("CPU", "CUDA"):
    _library.impl("matmul", _matmul_kernel, _device)
    _library.impl("linear", _linear_kernel, _device)


# ---- Shapes, for tracing


@torch.library.register_fake("tilewise::matmul", lib=_library)
def _matmul_fake(
    a: Tensor, b: Tensor, *, compute: str | None = None, schedule: str | None = None
) -> Tensor:
    torch._check(a.dtype == b.dtype, lambda: f"a is {a.dtype} and b is {b.dtype}")
    torch._check(a.dim() > 0 and b.dim() > 0, lambda: "a scalar has no product")
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if b.dim() > 1 else ()
    inner = b.shape[-2] if b.dim() > 1 else b.shape[0]
    torch._check(a.shape[-1] == inner, lambda: f"a is {a.shape} and b is {b.shape}")
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*batch, *rows, *columns))


@torch.library.register_fake("tilewise::linear", lib=_library)
def _linear_fake(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: str = "none",
    residual: Tensor | None = None,
) -> Tensor:
    _check_linear(input, weight, bias, residual)
    _epilogue(activation, bias is not None, residual is not None)
    return input.new_empty((*input.shape[:-1], weight.shape[0]))


# ---- Gradients


def _as_matrices(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return a.unsqueeze(0) if a.dim() == 1 else a, b.unsqueeze(1) if b.dim() == 1 else b


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, compute: str | None, schedule: str | None) -> Any:
        ctx.save_for_backward(a, b)
        ctx.compute = compute
        with _below_autograd():
            return _matmul_op(a, b, compute=compute, schedule=schedule)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        a, b = ctx.saved_tensors
        x, y = _as_matrices(a, b)
        d = gradients[0]
        if b.dim() == 1:
            d = d.unsqueeze(-1)
        if a.dim() == 1:
            d = d.unsqueeze(-2)
        grad_a = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_a = _matmul_op(d, y.mT, compute=ctx.compute).sum_to_size(x.shape).reshape(a.shape)
        if ctx.needs_input_grad[1]:
            grad_b = _matmul_op(x.mT, d, compute=ctx.compute).sum_to_size(y.shape).reshape(b.shape)
        return grad_a, grad_b, None, None


def _activation_gradient(activation: str, gradient: Tensor, before: Tensor) -> Tensor:
    aten = torch.ops.aten
    if activation == "relu":
        return torch.where(before > 0, gradient, 0)
    if activation in ("gelu", "gelu_tanh"):
        approximate = "tanh" if activation == "gelu_tanh" else "none"
        result: Tensor = aten.gelu_backward(gradient, before, approximate=approximate)
        return result
    if activation == "silu":  # in operations that have derivatives themselves
        share = before.sigmoid()
        return gradient * share * (1 + before * (1 - share))
    after = before.sigmoid() if activation == "sigmoid" else before.tanh()
    return gradient * (after * (1 - after) if activation == "sigmoid" else 1 - after * after)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        activation: str,
        residual: Tensor | None,
    ) -> Any:
        ctx.save_for_backward(input, weight, bias)
        ctx.activation = activation
        with _below_autograd():
            return _linear_op(input, weight, bias, activation, residual)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        input, weight, bias = ctx.saved_tensors
        gradient = gradients[0]
        inner = gradient
        if ctx.activation != "none":  # what the activation saw is computed again, not kept
            before = _linear_op(input, weight, bias)
            inner = _activation_gradient(ctx.activation, gradient, before)
        flat = inner.reshape(-1, weight.shape[0])
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = _matmul_op(flat, weight).reshape(input.shape)
        if ctx.needs_input_grad[1]:
            grad_weight = _matmul_op(flat.mT, input.reshape(-1, weight.shape[1]))
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = flat.sum(0)
        grad_residual = gradient if ctx.needs_input_grad[4] else None
        return grad_input, grad_weight, grad_bias, None, grad_residual


def _needs_gradient(*tensors: Tensor | None) -> bool:
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def _matmul_autograd(
    a: Tensor, b: Tensor, *, compute: str | None = None, schedule: str | None = None
) -> Any:
    if _needs_gradient(a, b):
        return _Matmul.apply(a, b, compute, schedule)
    if _is_real(a, b):
        return _matmul_kernel(a, b, compute=compute, schedule=schedule)
    with _below_autograd():
        return _matmul_op(a, b, compute=compute, schedule=schedule)


def _linear_autograd(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: str = "none",
    residual: Tensor | None = None,
) -> Any:
    if _needs_gradient(input, weight, bias, residual):
        return _Linear.apply(input, weight, bias, activation, residual)
    if _is_real(input, weight, bias, residual):
        return _linear_kernel(input, weight, bias, activation, residual)
    with _below_autograd():
        return _linear_op(input, weight, bias, activation, residual)


_library.impl("matmul", _matmul_autograd, "Autograd")
_library.impl("linear", _linear_autograd, "Autograd")


# ---- Autocast: operands of products go to the narrow type, as for torch.matmul


def _add_autocast(device: str, key: torch._C.DispatchKey) -> None:
    excluded = torch._C.DispatchKeySet(key)

    def cast(tensor: Tensor | None) -> Tensor | None:
        if tensor is None or not tensor.is_floating_point() or tensor.dtype == torch.float64:
            return tensor
        return tensor.to(torch.get_autocast_dtype(device))

    def matmul_autocast(
        a: Tensor, b: Tensor, *, compute: str | None = None, schedule: str | None = None
    ) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(excluded):
            return _matmul_op(cast(a), cast(b), compute=compute, schedule=schedule)

    def linear_autocast(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        activation: str = "none",
        residual: Tensor | None = None,
    ) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(excluded):
            return _linear_op(cast(input), cast(weight), cast(bias), activation, cast(residual))

    name = f"Autocast{device.upper()}"
    _library.impl("matmul", matmul_autocast, name)
    _library.impl("linear", linear_autocast, name)


_add_autocast("cpu", torch._C.DispatchKey.AutocastCPU)
_add_autocast("cuda", torch._C.DispatchKey.AutocastCUDA)
