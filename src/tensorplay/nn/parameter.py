"""Tensors that a module owns: parameters, which are learnt, and buffers, which are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor


class Parameter(Tensor):
    """A tensor that is a parameter of the module it is assigned to.

    data: the values (shared, not copied); by default an empty float32 tensor. requires_grad: False
    for a frozen parameter.

    Raises:
        RuntimeError: when a gradient is required of a dtype that has none.

    >>> import tensorplay as tp
    >>> tp.nn.Parameter(tp.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = core.from_array(np.empty(0, np.float32))
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter(): data must be a Tensor, not {type(data).__name__}")
        if requires_grad and not core.is_differentiable_dtype(data):
            raise RuntimeError(
                "Parameter(): only tensors of floating point and complex dtype can require "
                f"gradients, got dtype {data.dtype}; give requires_grad=False or convert it"
            )
        made = Tensor.__new__(cls)
        core.set_data(made, data)
        core.share_version(made, data)
        made.requires_grad = requires_grad
        return made

    @classmethod
    def _over(cls, array: np.ndarray, requires_grad: bool, state: dict[str, Any]) -> Parameter:
        made = cls.__new__(cls, core.from_array(array), requires_grad)
        made.__dict__.update(state)
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            array = core.array_of(self).copy(order="K")
            memo[id(self)] = type(self)._over(array, self.requires_grad, dict(self.__dict__))
        return memo[id(self)]

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__)
        return _rebuild, (type(self), core.array_of(self), self.requires_grad, state)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module it is assigned to: state that is not learnt.

    data: the values. persistent: whether it is part of the module's state_dict.

    >>> import tensorplay as tp
    >>> module = tp.nn.Module()
    >>> module.count = tp.nn.Buffer(tp.zeros(2))
    >>> dict(module.named_buffers())
    {'count': tensor([0., 0.])}
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            data = core.from_array(np.empty(0, np.float32))
        made = Tensor.__new__(cls)
        core.set_data(made, data)
        core.share_version(made, data)
        made.persistent = persistent
        return made

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass


def _rebuild(
    kind: type[Parameter], array: np.ndarray, requires_grad: bool, state: dict[str, Any]
) -> Parameter:
    return kind._over(array, requires_grad, state)
