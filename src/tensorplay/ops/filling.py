"""Filling a tensor: with one value, with zeros, with the elements of another tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Inplace, Tensor
from tensorplay.ops.data import number_array
from tensorplay.ops.kinds import elementwise, method, primitive, publish, zeros_like
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.structure import convert


def _fill_kernel(x: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.broadcast_to(value, np.broadcast_shapes(x.shape, value.shape)).copy()


fill_op = elementwise(
    "fill",
    _fill_kernel,
    vjp=(lambda g: zeros_like(g), lambda g: g),
    jvp=(None, lambda t: t),
    inputs=("x", "value"),
    promote=None,
    quiet=True,
)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input`, filled with a number or with a tensor without dimensions.

    Raises:
        RuntimeError: if `value` has dimensions, or the dtype cannot take it.
    """
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "fill_(): the value must be a number or a tensor without dimensions, got shape "
                f"{list(value.shape)}"
            )
        return fill_op(input, convert(value, input.dtype))
    return fill_op(input, core.from_array(number_array(value, input.dtype, "fill_")))


publish(fill, "fill", method=False)
_fill_in_place = Inplace(fill, "fill_")


def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill this tensor with a number, or with a tensor without dimensions, in place.

    Raises:
        RuntimeError: if `value` has dimensions, or the dtype cannot take it.

    >>> import tensorplay as tp
    >>> tp.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    plain = not isinstance(value, Tensor) or not value.ndim
    return self if plain and core.overwrite(self, value) else _fill_in_place(self, value)


publish(fill_, "fill_")

zero_op = primitive(
    "zero",
    np.zeros_like,
    vjp=lambda g: zeros_like(g),
    jvp=lambda t: zeros_like(t),
    batch=lambda p, values, bdims, params: (p(values[0]), bdims[0]),
    quiet=True,
)
_zero_in_place = Inplace(zero_op, "zero_")


def zero_(self: Tensor) -> Tensor:
    """Fill this tensor with zeros, in place."""
    return self if core.overwrite(self, 0) else _zero_in_place(self)


publish(zero_, "zero_")


# The result may share the memory of `y`: only `copy_` sees it, and copies from it.
copy_op = elementwise(
    "copy",
    lambda x, y: np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)),
    vjp=(lambda g: zeros_like(g), lambda g: g),
    jvp=(None, lambda t: t),
    promote=None,
    quiet=True,
    node_name="CopyBackwards",
)


def _copied_from(self: Tensor, src: Any) -> Tensor:
    if isinstance(src, (bool, int, float, complex)):
        src = core.weak_tensor(src)
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'src' must be Tensor, not {type(src).__name__}")
    if src.shape != self.shape:
        shape = tuple(self.shape)
        if broadcast_shapes_of("copy_", src.shape, shape) != shape:
            raise RuntimeError(
                f"copy_(): values of shape {list(src.shape)} do not fit a tensor of shape "
                f"{list(shape)}"
            )
    return copy_op(self, convert(src, self.dtype))


_copy_in_place = Inplace(_copied_from, "copy_")


@method("apply_")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it, in place; slow.

    Raises:
        RuntimeError: if this tensor requires grad; inside vmap.

    >>> import tensorplay as tp
    >>> tp.tensor([1., 2.]).apply_(lambda value: value + 0.5)
    tensor([1.5000, 2.5000])
    """
    if self.requires_grad:
        raise RuntimeError("apply_(): this tensor requires grad; use x.detach().apply_()")
    array = core.array_of(self, "apply_()")
    values = [callable(value) for value in array.ravel().tolist()]
    made = np.array(values).reshape(array.shape).astype(array.dtype)
    return copy_(self, core.from_array(made))


@method("copy_")
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of `src`, broadcast and converted to this tensor's dtype, into it.

    src: a tensor, or a number.

    Raises:
        TypeError: for anything else.
        RuntimeError: if its shape does not broadcast.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 2).copy_(tp.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    return self if core.overwrite(self, src) else _copy_in_place(self, src)
