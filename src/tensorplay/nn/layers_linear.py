"""Linear maps, and layers that only reshape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.nn import init
from tensorplay.nn.module import Module, reading
from tensorplay.nn.parameter import Parameter
from tensorplay.ops.products import linear


def new_parameter(shape: tuple[int, ...], dtype: Any = None) -> Parameter:
    """A parameter with values yet to be set."""
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    return Parameter(core.from_array(np.zeros(shape, kind.numpy)))


class Identity(Module):
    """Gives its input back, whatever arguments it is made with.

    >>> import tensorplay as tp
    >>> tp.nn.Identity(54)(tp.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


@reading("weight", "bias")
class Linear(Module):
    """x @ weight.T + bias, over the last dim.

    weight is (out_features, in_features), bias (out_features,); both start uniform within
    1 / sqrt(in_features).

    >>> import tensorplay as tp
    >>> tp.nn.Linear(20, 30)(tp.ones(128, 20)).shape
    tensorplay.Size([128, 30])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in_features), dtype)
        if bias:
            self.bias = new_parameter((out_features,), dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        # kaiming_uniform_ with a = sqrt(5) is uniform within 1 / sqrt(in_features).
        bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Flatten(Module):
    """The dims from start_dim to end_dim made one.

    >>> import tensorplay as tp
    >>> tp.nn.Flatten()(tp.ones(2, 3, 4)).shape
    tensorplay.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One dim made several.

    >>> import tensorplay as tp
    >>> tp.nn.Unflatten(1, (3, 4))(tp.ones(2, 12)).shape
    tensorplay.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
