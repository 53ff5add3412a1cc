"""Modules for PyTorch: Linear, a drop-in for torch.nn.Linear with what follows it fused in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .torch import ACTIVATIONS, linear

__all__ = ["Linear"]


class Linear(torch.nn.Linear):
    """activation(x W^T + bias) + residual in one pass; parameters are those of torch.nn.Linear.

    x (..., in_features); residual (..., out_features), given to forward; activation: one of
    tilewise.torch.ACTIVATIONS.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        activation: str = "none",
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ValueError(
                f'Linear: activation is "{activation}"; valid are {", ".join(ACTIVATIONS)}'
            )
        super().__init__(in_features, out_features, bias, device, dtype)
        self.activation = activation

    def forward(self, input: Tensor, residual: Tensor | None = None) -> Tensor:
        return linear(input, self.weight, self.bias, self.activation, residual)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, activation={self.activation}"
