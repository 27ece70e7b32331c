"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.optim.optimizer import Optimizer, decayed, require


class SGD(Optimizer):
    """Gradient descent, with momentum (Sutskever et al., ICML 2013).

    lr: step size. momentum: how much of the last step is kept. dampening: how much less of the
    gradient is added to it. weight_decay: penalty on the square of the parameters. nesterov: look
    ahead along the momentum. maximize: ascend. foreach, fused: ignored.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1.0], requires_grad=True)
    >>> optimizer = tp.optim.SGD([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: Any = None, differentiable: bool = False, fused: Any = None,
    ) -> None:  # fmt: skip
        require(lr >= 0, "learning rate", lr)
        require(momentum >= 0, "momentum value", momentum)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "dampening": dampening,
                "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
                "foreach": foreach, "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        grad = decayed(param, grad, group["weight_decay"])
        momentum = group["momentum"]
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = state["momentum_buffer"] = grad.clone()
            else:
                kept.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(kept, alpha=momentum) if group["nesterov"] else kept
        param.add_(grad, alpha=-group["lr"])
