"""Views by integers, slices and new dimensions: the basic half of indexing.

A basic index is one view with a static index: a tuple of ints, slices with a positive step, None,
and exactly one Ellipsis (so that NumPy gives a view for every index, never a scalar). The view is
one primitive under four names, because PyTorch names graph nodes after the last thing an index did.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import batch_size, front, linear, materialize, public, wrap_dim

FULL = slice(None)


def _embed_kernel(x: np.ndarray, shape: tuple[int, ...], index: Any) -> np.ndarray:
    out = np.zeros(shape, x.dtype)
    out[index] = x
    return out


def _batch_embed(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = front(values[0], bdims[0])
    shape, index = params
    return p(x, (x.shape[0], *shape), (FULL, *index)), 0


#: Zeros of a shape with x at a basic index: the transpose of taking that view.
embed = linear(
    "slice_backward",
    _embed_kernel,
    lambda g, index: slice_view(g, index),
    params=("shape", "index"),
    batch=_batch_embed,
    quiet=True,
)


def _batch_view(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    return p(front(values[0], bdims[0]), (FULL, *params[0])), 0


def _basic_view(name: str, node_name: str) -> Any:
    return linear(
        name,
        operator.getitem,
        lambda g, x_shape, index: embed(g, x_shape, index),
        params=("index",),
        batch=_batch_view,
        view=True,
        quiet=True,
        node_name=node_name,
    )


select_view = _basic_view("select", "SelectBackward0")
slice_view = _basic_view("slice", "SliceBackward0")
newaxis_view = _basic_view("newaxis", "UnsqueezeBackward0")
alias_view = _basic_view("alias", "AliasBackward0")


# --- along one dim --------------------------------------------------------------------------------


def cut(x: Tensor, dim: int, start: int, stop: int, step: int = 1) -> Tensor:
    """`x[..., start:stop:step, ...]` at a non-negative dim (a view)."""
    return slice_view(x, (FULL,) * dim + (slice(start, stop, step), ...))


@public()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The part of `input` at one place of one dim, without that dim (a view).

    Raises:
        IndexError: if the dim or the index is out of range, or the tensor has no dims.

    >>> import tensorplay as tp
    >>> tp.select(tp.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    if input.ndim == 0:
        raise IndexError("select(): a 0-dim tensor has no dim to select from; use .item()")
    dim = wrap_dim(dim, input, "select")
    index = operator.index(index)
    size = input.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} is out of range for dim {dim} of a tensor of shape "
            f"{list(input.shape)}"
        )
    return select_view(input, (FULL,) * dim + (index, ...))


def narrow_range(input: Tensor, dim: int, start: Any, length: int, name: str) -> tuple[int, int]:
    """The non-negative dim and start of a `narrow`, checked."""
    if input.ndim == 0:
        raise RuntimeError(f"{name}(): a 0-dim tensor has no dim to narrow")
    dim = wrap_dim(dim, input, name)
    if isinstance(start, Tensor) and (start.ndim or start.dtype.category != dtypes.INTEGER):
        raise RuntimeError(
            f"{name}(): start must be an int or a 0-dim tensor of integers, got a tensor of dtype "
            f"{start.dtype} and shape {list(start.shape)}"
        )
    size, start = input.shape[dim], int(start)
    if length < 0:
        raise RuntimeError(f"{name}(): length must not be negative, got {length}")
    if not -size <= start <= size:
        raise IndexError(
            f"{name}(): start {start} is out of range (expected to be in [{-size}, {size}])"
        )
    start += size if start < 0 else 0
    if start + length > size:
        raise RuntimeError(
            f"{name}(): start {start} + length {length} exceeds the size {size} of dim {dim}"
        )
    return dim, start


@public()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` places of one dim from `start` on (a view).

    Raises:
        IndexError: if start is out of range.
        RuntimeError: if start + length exceeds the size of the dim.
    """
    dim, start = narrow_range(input, dim, start, length, "narrow")
    return cut(input, dim, start, start + length)


# --- writing one part into a copy -----------------------------------------------------------------


def _replace_kernel(x: np.ndarray, source: np.ndarray, index: Any) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    out[index] = source
    return out


def _batch_replace(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = batch_size(values, bdims)
    x, source = (materialize(v, b, size) for v, b in zip(values, bdims, strict=True))
    return p(x, source, (FULL, *params[0])), 0


#: x with `source` written at a basic index.
replace = linear(
    "slice_scatter",
    _replace_kernel,
    (
        lambda g, y_shape, index: replace(g, core.zeros_shaped(g, y_shape), index),
        lambda g, index: slice_view(g, index),
    ),
    inputs=("x", "y"),
    params=("index",),
    batch=_batch_replace,
    quiet=True,
)


def _check_source(name: str, source: Tensor, shape: tuple[int, ...]) -> None:
    if tuple(source.shape) != shape:
        raise RuntimeError(
            f"{name}(): expected src to have the shape {list(shape)} of the part that it replaces, "
            f"got {list(source.shape)}"
        )


@public()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of `input` with `src` in the place of `input.select(dim, index)`.

    Raises:
        RuntimeError: unless src has the shape of that part.
    """
    part = select(input, dim, index)
    _check_source("select_scatter", src, tuple(part.shape))
    dim = wrap_dim(dim, input, "select_scatter")
    return replace(input, src.to(input.dtype), (FULL,) * dim + (operator.index(index), ...))


@public()
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy of `input` with `src` in the place of a slice of one dim.

    Raises:
        RuntimeError: unless src has the shape of that slice.

    >>> import tensorplay as tp
    >>> tp.slice_scatter(tp.zeros(4), tp.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    if step < 1:
        raise RuntimeError(f"slice_scatter(): step must be positive, got {step}")
    dim = wrap_dim(dim, input, "slice_scatter")
    index = (FULL,) * dim + (slice(start, end, step), ...)
    shape = list(input.shape)
    shape[dim] = len(range(*slice(start, end, step).indices(shape[dim])))
    _check_source("slice_scatter", src, tuple(shape))
    return replace(input, src.to(input.dtype), index)
