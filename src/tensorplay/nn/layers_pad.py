"""Paddings as modules."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import functional as F
from tensorplay.nn.layers_conv import sized
from tensorplay.nn.module import Module


class _Pad(Module):
    """Padding of the last `spatial` dims, (before, after) of the last one first."""

    spatial = 0
    mode = "constant"
    value: float | None = None

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = sized(padding, 2 * self.spatial)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _Constant(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _Zero(_Pad):
    value = 0.0


class _Reflection(_Pad):
    mode = "reflect"


class _Replication(_Pad):
    mode = "replicate"


class _Circular(_Pad):
    mode = "circular"


class ConstantPad1d(_Constant):
    """The last dim padded with a value."""

    spatial = 1


class ConstantPad2d(_Constant):
    """The last two dims padded with a value."""

    spatial = 2


class ConstantPad3d(_Constant):
    """The last three dims padded with a value."""

    spatial = 3


class ZeroPad1d(_Zero):
    """The last dim padded with zeros."""

    spatial = 1


class ZeroPad2d(_Zero):
    """The last two dims padded with zeros.

    >>> import tensorplay as tp
    >>> tp.nn.ZeroPad2d(1)(tp.ones(1, 1, 1))
    tensor([[[0., 0., 0.],
             [0., 1., 0.],
             [0., 0., 0.]]])
    """

    spatial = 2


class ZeroPad3d(_Zero):
    """The last three dims padded with zeros."""

    spatial = 3


class ReflectionPad1d(_Reflection):
    """The last dim padded by reflection."""

    spatial = 1


class ReflectionPad2d(_Reflection):
    """The last two dims padded by reflection."""

    spatial = 2


class ReflectionPad3d(_Reflection):
    """The last three dims padded by reflection."""

    spatial = 3


class ReplicationPad1d(_Replication):
    """The last dim padded with its outermost elements."""

    spatial = 1


class ReplicationPad2d(_Replication):
    """The last two dims padded with their outermost elements."""

    spatial = 2


class ReplicationPad3d(_Replication):
    """The last three dims padded with their outermost elements."""

    spatial = 3


class CircularPad1d(_Circular):
    """The last dim padded around the circle."""

    spatial = 1


class CircularPad2d(_Circular):
    """The last two dims padded around the circle."""

    spatial = 2


class CircularPad3d(_Circular):
    """The last three dims padded around the circle."""

    spatial = 3
