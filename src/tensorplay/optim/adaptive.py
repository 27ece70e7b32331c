"""RMSprop, Adagrad, Adadelta and Rprop: step sizes of each parameter's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.optim.optimizer import Optimizer, count_step, decayed, require, zeros


def _no_steps() -> Tensor:
    return core.from_array(np.zeros((), np.float32))


class RMSprop(Optimizer):
    """Steps over the root of the running mean square of the gradient (Hinton, 2012).

    lr: step size. alpha: how much of the running mean is kept. eps: added to the denominator.
    weight_decay: penalty on the square of the parameters. momentum: how much of the last step is
    kept. centered: take the variance rather than the mean square. maximize: ascend.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1.0], requires_grad=True)
    >>> optimizer = tp.optim.RMSprop([x], lr=0.01)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: Any = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(eps >= 0, "epsilon value", eps)
        require(momentum >= 0, "momentum value", momentum)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        require(alpha >= 0, "alpha value", alpha)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable,
            },
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"] = _no_steps()
            state["square_avg"] = zeros(param)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros(param)
            if group["centered"]:
                state["grad_avg"] = zeros(param)
        count_step(state)
        grad = decayed(param, grad, group["weight_decay"])
        keep = group["alpha"]
        square = state["square_avg"].mul_(keep).addcmul_(grad, grad, value=1 - keep)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - keep)
            square = square.addcmul(mean, mean, value=-1)
        scale = square.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            kept = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, scale)
            param.add_(kept, alpha=-group["lr"])
        else:
            param.addcdiv_(grad, scale, value=-group["lr"])


class Adagrad(Optimizer):
    """Steps over the root of the sum of all squared gradients (Duchi et al., JMLR 2011)."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: Any = None, *,
        maximize: bool = False, differentiable: bool = False, fused: Any = None,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(lr_decay >= 0, "lr_decay value", lr_decay)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        require(
            initial_accumulator_value >= 0,
            "initial_accumulator_value value",
            initial_accumulator_value,
        )
        require(eps >= 0, "epsilon value", eps)
        super().__init__(
            params,
            {
                "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {
                    "step": _no_steps(),
                    "sum": zeros(p) + group["initial_accumulator_value"],
                }

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        step = count_step(state)
        grad = decayed(param, grad, group["weight_decay"])
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        total = state["sum"].addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-rate)


class Adadelta(Optimizer):
    """Steps in units of earlier steps (arXiv:1212.5701)."""

    def __init__(
        self, params: Any, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: Any = None, *, capturable: bool = False,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(0 <= rho <= 1, "rho value", rho)
        require(eps >= 0, "epsilon value", eps)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
                "foreach": foreach, "capturable": capturable, "maximize": maximize,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state.update(step=_no_steps(), square_avg=zeros(param), acc_delta=zeros(param))
        count_step(state)
        grad = decayed(param, grad, group["weight_decay"])
        keep, eps = group["rho"], group["eps"]
        square = state["square_avg"].mul_(keep).addcmul_(grad, grad, value=1 - keep)
        change = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * grad
        state["acc_delta"].mul_(keep).addcmul_(change, change, value=1 - keep)
        param.add_(change, alpha=-group["lr"])


class Rprop(Optimizer):
    """Steps by the sign of the gradient, longer while it stays (Riedmiller & Braun, 1993)."""

    def __init__(
        self, params: Any, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
        foreach: Any = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(0 < etas[0] < 1 < etas[1], "eta values", etas)
        super().__init__(
            params,
            {
                "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state.update(step=_no_steps(), prev=zeros(param), step_size=zeros(param) + group["lr"])
        count_step(state)
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        sign = (grad * state["prev"]).sign()
        factor = 1 + (grow - 1) * (sign > 0) + (shrink - 1) * (sign < 0)
        state["step_size"].mul_(factor.to(param.dtype)).clamp_(least, most)
        grad = grad * (sign >= 0)  # no step where the sign has changed
        param.add_(-grad.sign() * state["step_size"])
        state["prev"].copy_(grad)
