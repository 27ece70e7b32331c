"""ASGD: gradient descent whose result is an average of its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.optim.optimizer import Optimizer, count_step, decayed, require, zeros


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky, 1992); the average is state 'ax'.

    lr: the first step size, which falls with the power alpha of 1 + lambd * lr * step. lambd: decay
    of the parameters. t0: the step at which averaging starts. weight_decay: penalty on the square
    of the parameters. maximize: ascend. foreach, capturable, differentiable: ignored.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1.0], requires_grad=True)
    >>> optimizer = tp.optim.ASGD([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: Any = None, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
                "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
                "capturable": capturable,
            },
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state.update(step=_number(0.0), eta=_number(group["lr"]), mu=_number(1.0))
            state["ax"] = zeros(param)
        step = count_step(state)
        grad = decayed(param, grad, group["weight_decay"])
        eta, mu, lambd = float(state["eta"]), float(state["mu"]), group["lambd"]
        param.mul_(1 - lambd * eta).add_(grad, alpha=-eta)
        if mu == 1:
            state["ax"].copy_(param)
        else:
            state["ax"].add_(param - state["ax"], alpha=mu)
        state["eta"] = _number(group["lr"] / (1 + lambd * group["lr"] * step) ** group["alpha"])
        state["mu"] = _number(1 / max(1, step - group["t0"]))


def _number(value: float) -> Tensor:
    return core.from_array(np.full((), value, np.float32))
