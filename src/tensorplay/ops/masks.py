"""Operators that take a bool mask, and the positions of elements that are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.choices import drop, keep, where_select
from tensorplay.ops.index_ops import single_value
from tensorplay.ops.index_primitives import index_op, mask_select_op, refuse_batched
from tensorplay.ops.kinds import batch_size, constant, elementwise, materialize, public
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.structure import expand_to

_BITS = {4: np.uint32, 8: np.uint64}


def masked_fill_kernel(x: np.ndarray, mask: np.ndarray, value: np.ndarray) -> np.ndarray:
    """x with a value where the mask holds.

    NumPy's `where` branches on every element, which a processor guesses wrong half of the time on a
    random mask; for large arrays whole words are masked instead.
    """
    small = core.select_small(mask, value, x)
    if small is not None:
        return small
    bits = _BITS.get(x.dtype.itemsize)
    if x.size < 4096 or x.dtype.kind != "f" or bits is None or value.ndim:
        return np.where(mask, value, x)
    word = mask.astype(bits)
    filling = value.view(bits)
    word -= np.array(1, bits)  # all ones where the mask does not hold
    out: np.ndarray = np.bitwise_and(x.view(bits), word)
    if filling:
        np.invert(word, out=word)
        word &= filling
        out = out | word
    return out.view(x.dtype)


masked_fill_op = elementwise(
    "masked_fill",
    masked_fill_kernel,
    vjp=(lambda g, mask: drop(g, mask), None, lambda g, mask: keep(g, mask)),
    jvp=(lambda t, mask: drop(t, mask), None, lambda t, mask: keep(t, mask)),
    inputs=("x", "mask", "value"),
    promote=None,
    quiet=True,
)


def check_mask(mask: Any, name: str) -> Tensor:
    """A bool mask.

    Raises:
        RuntimeError: if it is of another dtype.
    """
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name}(): argument 'mask' must be Tensor, not {type(mask).__name__}")
    if mask.dtype is not dtypes.bool:
        raise RuntimeError(
            f"{name}(): expected a mask of dtype bool, got {mask.dtype}; compare first, e.g. "
            "mask != 0"
        )
    return mask


@public(inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`input` with a value (a number or a 0-dim tensor) where `mask` holds.

    mask: bool, broadcast with `input`.

    Raises:
        RuntimeError: if the mask is not bool, or the value is a tensor with dims.

    >>> import tensorplay as tp
    >>> tp.masked_fill(tp.tensor([1., 2.]), tp.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    number = core.like_number(value, input)
    if number is None:
        number = single_value(value, input, "masked_fill")
    if not core.is_mask(mask):
        check_mask(mask, "masked_fill")
    broadcast_shapes_of("masked_fill", input.shape, mask.shape)
    return masked_fill_op(input, mask, number)


@public(out=True)
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of `input` where `mask` holds, as a vector.

    mask: bool, broadcast with `input`.

    Raises:
        RuntimeError: if the mask is not bool, and inside vmap for a mask that is batched.
    """
    mask = check_mask(mask, "masked_select")
    shape = broadcast_shapes_of("masked_select", input.shape, mask.shape)
    if not shape:
        input, mask, shape = input.reshape(1), mask.reshape(1), (1,)
    return mask_select_op(expand_to(input, shape), expand_to(mask, shape), 0)


# --- masked_scatter -------------------------------------------------------------------------------


def _mask_order_kernel(mask: np.ndarray, limit: int, batched: bool) -> np.ndarray:
    rows = mask.reshape(len(mask), -1) if batched else mask.reshape(1, -1)
    order = np.cumsum(rows, axis=1)
    if order.size and order[:, -1].max() > limit:
        raise RuntimeError(
            f"masked_scatter(): the mask has {order[:, -1].max()} true elements, but source has "
            f"only {limit} elements"
        )
    return np.maximum(order - 1, 0).reshape(mask.shape)


#: For each true element of a mask, how many are before it.
mask_order_op = constant(
    "mask_order",
    _mask_order_kernel,
    inputs=("mask",),
    params=("limit", "batched"),
    batch=lambda p, values, bdims, params: _batch_mask_order(p, values, bdims, params),
    quiet=True,
)


def _batch_mask_order(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    mask = materialize(values[0], bdims[0], batch_size(values, bdims))
    limit, batched = params
    if batched:  # two batches as one
        rows = mask.reshape((mask.shape[0] * mask.shape[1], *mask.shape[2:]))
        return p(rows, limit, True).reshape(tuple(mask.shape)), 0
    return p(mask, limit, True), 0


@public(inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with the elements of `source`, in their order, where `mask` holds.

    mask: bool, broadcast with `input`. source: at least as many elements as the mask has true ones.

    Raises:
        RuntimeError: if dtypes do not fit, or source has too few elements.

    >>> import tensorplay as tp
    >>> mask = tp.tensor([True, False, True])
    >>> tp.masked_scatter(tp.zeros(3), mask, tp.tensor([1., 2., 3.]))
    tensor([1., 0., 2.])
    """
    mask = check_mask(mask, "masked_scatter")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"masked_scatter(): source must have the dtype of input, got {source.dtype} for "
            f"{input.dtype}"
        )
    shape = broadcast_shapes_of("masked_scatter", input.shape, mask.shape)
    x, chosen = expand_to(input, shape), expand_to(mask, shape)
    order = mask_order_op(chosen, source.numel(), False)
    if source.numel() == 0:
        return x.clone()
    return where_select(chosen, index_op(source.reshape(-1), order, (0,)), x)


# --- positions of elements that are not zero ------------------------------------------------------


def _nonzero_kernel(x: np.ndarray) -> np.ndarray:
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    return np.argwhere(x)


nonzero_op = constant(
    "nonzero",
    _nonzero_kernel,
    batch=refuse_batched("nonzero", "use nonzero_static(size=...) or a mask with where()"),
)


@public(out=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not zero, one a row, in order.

    as_tuple: one vector per dim instead, which can be used as an index.

    Raises:
        RuntimeError: inside vmap, where the number of rows would differ between samples.

    >>> import tensorplay as tp
    >>> tp.nonzero(tp.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    if as_tuple:
        return tuple(nonzero_op(input if input.ndim else input.reshape(1)).unbind(1))
    return nonzero_op(input)


@public()
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero, one a row, in order."""
    return nonzero_op(input)


def _nonzero_static_kernel(x: np.ndarray, size: int, fill_value: int, batched: bool) -> np.ndarray:
    samples = x if batched else x[None]
    out = np.full((len(samples), size, samples.ndim - 1), fill_value, np.int64)
    sample, *rest = np.nonzero(samples)
    starts = np.searchsorted(sample, np.arange(len(samples)))
    rank = np.arange(len(sample)) - starts[sample]
    kept = rank < size
    for d, places in enumerate(rest):
        out[sample[kept], rank[kept], d] = places[kept]
    return out if batched else out[0]


def _batch_nonzero_static(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = materialize(values[0], bdims[0], batch_size(values, bdims))
    size, fill_value, batched = params
    if batched:
        rows = p(x.reshape((x.shape[0] * x.shape[1], *x.shape[2:])), size, fill_value, True)
        return rows.reshape((x.shape[0], x.shape[1], *rows.shape[1:])), 0
    return p(x, size, fill_value, True), 0


nonzero_static_op = constant(
    "nonzero_static",
    _nonzero_static_kernel,
    params=("size", "fill_value", "batched"),
    batch=_batch_nonzero_static,
)


@public(out=True)
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` positions of elements that are not zero, filled up with `fill_value`.

    Raises:
        RuntimeError: if size is negative.
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static(): size must not be negative, got {size}")
    return nonzero_static_op(input, size, fill_value, False)
