"""Adafactor and Muon: optimisers that treat a matrix as a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.optim.optimizer import Optimizer, count_step, require, zeros


class Adafactor(Optimizer):
    """Steps over the root of mean squares that are kept per row and column (arXiv:1804.04235).

    lr: step size, relative to the size of the parameters, and at most 1 / sqrt(step). beta2_decay:
    the means keep 1 - step^beta2_decay. eps: the least mean square (by default the spacing of
    numbers at 1) and the least size of a parameter. d: the largest root mean square of a step.
    weight_decay: decay of the parameters. maximize: ascend. foreach: ignored.

    >>> import tensorplay as tp
    >>> x = tp.ones(2, 2, requires_grad=True)
    >>> optimizer = tp.optim.Adafactor([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([[0.9000, 0.9000],
            [0.9000, 0.9000]], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0,
        *, foreach: Any = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        if beta2_decay > 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        require(eps[0] is None or eps[0] >= 0, "epsilon1", eps[0])
        require(eps[1] >= 0, "epsilon2", eps[1])
        if d < 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
                "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            },
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"] = core.from_array(np.zeros((), np.float32))
            if grad.ndim > 1:
                state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
                state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
            else:
                state["variance"] = zeros(param)
        step = count_step(state)
        new = step ** group["beta2_decay"]
        least, smallest = group["eps"]
        least = dtypes.finfo(param.dtype).eps if least is None else least
        size = float(param.norm(2)) / math.sqrt(param.numel())
        rate = max(smallest, size) * min(group["lr"], 1 / math.sqrt(step))
        if group["weight_decay"]:
            param.mul_(1 - group["lr"] * group["weight_decay"])
        squares = grad * grad
        if grad.ndim > 1:
            rows = state["row_var"].lerp_(squares.mean(-1, keepdim=True), new)
            columns = state["col_var"].lerp_(squares.mean(-2, keepdim=True), new)
            variance = rows.matmul(columns) / rows.mean(-2, keepdim=True).clamp(min=least)
        else:
            variance = state["variance"].lerp_(squares, new)
        change = variance.clamp(min=least * least).rsqrt() * grad
        too_large = float(change.norm(2)) / (math.sqrt(change.numel()) * group["d"])
        param.add_(change, alpha=-rate / max(1.0, too_large))


class Muon(Optimizer):
    """Steps along the orthogonal matrix nearest to the momentum of a matrix (Jordan et al., 2024).

    Only for parameters of 2 dims. lr: step size. weight_decay: decay of the parameters. momentum:
    how much of the mean of the gradients is kept. nesterov: look ahead along it. ns_coefficients,
    ns_steps, eps: of the Newton-Schulz iteration that finds the matrix. adjust_lr_fn: 'original'
    (the default) scales steps by sqrt(max(1, rows / columns)), 'match_rms_adamw' by
    0.2 sqrt(max(rows, columns)). PyTorch iterates in bfloat16, here it is the parameter's dtype.

    Raises:
        ValueError: for parameters that are no matrices, or options out of range.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (
            3.4445, -4.775, 2.0315,
        ), eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if lr < 0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        for name, value in (("momentum", momentum), ("weight decay", weight_decay)):
            if value < 0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(
            params,
            {
                "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
                "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{tuple(p.shape)}"
                    )

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["momentum_buffer"] = zeros(param)
        keep = group["momentum"]
        mean = state["momentum_buffer"].lerp_(grad, 1 - keep)
        change = grad.lerp(mean, keep) if group["nesterov"] else mean
        change = _orthogonal(change, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = param.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * math.sqrt(max(rows, columns))
        else:
            factor = math.sqrt(max(1, rows / columns))
        param.mul_(1 - group["lr"] * group["weight_decay"])
        param.add_(change, alpha=-group["lr"] * factor)


def _orthogonal(x: Tensor, coefficients: Any, steps: int, eps: float) -> Tensor:
    """Near the orthogonal factor of x, by iterations of an odd polynomial of its singular values.

    Raises:
        ValueError: unless there are three coefficients and 0 <= steps < 100.
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    wide = x.shape[0] <= x.shape[1]
    x = x if wide else x.t()
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x.matmul(x.t())
        x = a * x + (b * gram + c * gram.matmul(gram)).matmul(x)
    return x if wide else x.t()
