"""Adam and its variants: steps scaled by running moments of the gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.optim.optimizer import Optimizer, count_step, decayed, require, zeros


def _start(state: dict[str, Any], param: Tensor, *names: str) -> None:
    if not state:
        state["step"] = core.from_array(np.zeros((), np.float32))
        for name in names:
            state[name] = zeros(param)


def _moments(grad: Tensor, state: dict[str, Any], betas: tuple[float, float]) -> None:
    """Move both running moments towards the gradient and its square."""
    state["exp_avg"].lerp_(grad, 1 - betas[0])
    state["exp_avg_sq"].mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])


class _Moments(Optimizer):
    """The options that Adam and its variants share."""

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float,
        **options: Any,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(eps >= 0, "epsilon value", eps)
        require(0 <= betas[0] < 1, "beta parameter at index 0", betas[0])
        require(0 <= betas[1] < 1, "beta parameter at index 1", betas[1])
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        super().__init__(
            params,
            {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, **options},
        )

    def _decay(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
        """Weight decay: of the parameter itself, or through the gradient."""
        if group.get("decoupled_weight_decay"):
            if group["weight_decay"]:
                param.mul_(1 - group["lr"] * group["weight_decay"])
            return grad
        return decayed(param, grad, group["weight_decay"])


class Adam(_Moments):
    """Adam (arXiv:1412.6980).

    lr: step size. betas: how much of the running moments is kept. eps: added to the denominator.
    weight_decay: penalty on the square of the parameters. amsgrad: never let the second moment
    shrink (arXiv:1904.09237). maximize: ascend. decoupled_weight_decay: as AdamW. The others are
    ignored.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1.0], requires_grad=True)
    >>> optimizer = tp.optim.Adam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *, foreach: Any = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
        fused: Any = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad=amsgrad, maximize=maximize,
            foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        _start(state, param, "exp_avg", "exp_avg_sq")
        if group["amsgrad"] and "max_exp_avg_sq" not in state:
            state["max_exp_avg_sq"] = zeros(param)
        step = count_step(state)
        grad = self._decay(param, grad, group)
        _moments(grad, state, group["betas"])
        square = state["exp_avg_sq"]
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest.copy_(largest.maximum(square))
            square = largest
        first, second = (1 - beta**step for beta in group["betas"])
        scale = (square.sqrt() / math.sqrt(second)).add_(group["eps"])
        param.addcdiv_(state["exp_avg"], scale, value=-group["lr"] / first)


class AdamW(Adam):
    """Adam with weight decay of the parameters themselves (arXiv:1711.05101)."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False, foreach: Any = None, capturable: bool = False,
        differentiable: bool = False, fused: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=True,
        )  # fmt: skip


class Adamax(_Moments):
    """Adam with the infinity norm (arXiv:1412.6980)."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, foreach: Any = None, *,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, maximize=maximize, foreach=foreach,
            differentiable=differentiable, capturable=capturable,
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        _start(state, param, "exp_avg", "exp_inf")
        step = count_step(state)
        grad = self._decay(param, grad, group)
        first, second = group["betas"]
        state["exp_avg"].lerp_(grad, 1 - first)
        largest = state["exp_inf"]
        largest.copy_((largest * second).maximum(grad.abs() + group["eps"]))
        rate = group["lr"] / (1 - first**step)
        param.addcdiv_(state["exp_avg"], largest, value=-rate)


class NAdam(_Moments):
    """Adam with Nesterov momentum (Dozat, 2016)."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, foreach: Any = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        require(momentum_decay >= 0, "momentum_decay value", momentum_decay)
        super().__init__(
            params, lr, betas, eps, weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable,
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            _start(state, param, "exp_avg", "exp_avg_sq")
            state["mu_product"] = core.from_array(np.ones((), np.float32))
        step = count_step(state)
        grad = self._decay(param, grad, group)
        first, second = group["betas"]
        decay = group["momentum_decay"]
        mu, mu_next = (first * (1 - 0.5 * 0.96 ** (k * decay)) for k in (step, step + 1))
        state["mu_product"].mul_(mu)
        product = float(state["mu_product"])
        _moments(grad, state, group["betas"])
        scale = (state["exp_avg_sq"] / (1 - second**step)).sqrt().add_(group["eps"])
        param.addcdiv_(grad, scale, value=-group["lr"] * (1 - mu) / (1 - product))
        ahead = -group["lr"] * mu_next / (1 - product * mu_next)
        param.addcdiv_(state["exp_avg"], scale, value=ahead)


class RAdam(_Moments):
    """Adam with the variance of its first steps rectified (arXiv:1908.03265)."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
        foreach: Any = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize, foreach=foreach, capturable=capturable,
            differentiable=differentiable,
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        _start(state, param, "exp_avg", "exp_avg_sq")
        step = count_step(state)
        grad = self._decay(param, grad, group)
        _moments(grad, state, group["betas"])
        first, second = group["betas"]
        step_size = state["exp_avg"] / (1 - first**step)
        longest = 2 / (1 - second) - 1
        length = longest - 2 * step * second**step / (1 - second**step)
        if length <= 5:
            param.add_(step_size, alpha=-group["lr"])
            return
        rectified = math.sqrt(
            (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        )
        scale = state["exp_avg_sq"].sqrt().add_(group["eps"]) / math.sqrt(1 - second**step)
        param.add_(step_size / scale, alpha=-group["lr"] * rectified)
