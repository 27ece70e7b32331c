"""Order: sort, argsort, topk, kthvalue, msort, searchsorted, bucketize.

The positions are found by a kernel (not differentiable); the values are gathered there, under the
name of the operator, so that only the positions are kept for the backward pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import results
from tensorplay.ops.gather import gathering
from tensorplay.ops.kinds import (
    batch_size,
    constant,
    materialize,
    public,
    shifting,
    wrap_dim,
)
from tensorplay.ops.structure import convert

# --- positions ------------------------------------------------------------------------------------


def sortable(x: np.ndarray) -> np.ndarray:
    """x in a dtype that NumPy sorts with nan last."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def order_kernel(x: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The positions that sort x along a dim; equal elements keep their order, nan is largest."""
    x = sortable(x)
    if not descending:
        return x.argsort(axis=dim, kind="stable")
    reversed_order = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(reversed_order, dim)


def _largest_kernel(x: np.ndarray, k: int, dim: int, largest: bool, ordered: bool) -> np.ndarray:
    """The positions of the k largest (smallest) elements along a dim."""
    x = sortable(x)
    size = x.shape[dim]
    if k == size or size <= 64 or k == 0:
        order = x.argsort(axis=dim)
        lead = (slice(None),) * dim
        if largest:
            order = order[(*lead, slice(None, None, -1))]
        return np.array(order[(*lead, slice(0, k))])
    part = (slice(None),) * dim + (slice(size - k, None) if largest else slice(0, k),)
    found = np.argpartition(x, size - k if largest else k - 1, axis=dim)[part]
    if ordered:
        order = order_kernel(np.take_along_axis(x, found, dim), dim, largest)
        found = np.take_along_axis(found, order, dim)
    return np.ascontiguousarray(found)


def _kth_kernel(x: np.ndarray, k: int, dim: int) -> np.ndarray:
    found = np.argpartition(sortable(x), k - 1, axis=dim)
    return np.array(found[(slice(None),) * dim + (slice(k - 1, k),)])


along_dim = shifting(dims=("dim",))
argsort_op = constant("argsort", order_kernel, params=("dim", "descending"), batch=along_dim)
largest_op = constant(
    "topk_indices", core.TopKernel(_largest_kernel), params=("k", "dim", "largest", "ordered"),
    batch=along_dim, quiet=True,
)  # fmt: skip
kth_op = constant("kthvalue_index", _kth_kernel, params=("k", "dim"), batch=along_dim)
sort_op, topk_op, kthvalue_op = gathering("sort"), gathering("topk"), gathering("kthvalue")


def _refuse_complex(input: Tensor, name: str) -> None:
    if input.dtype.is_complex:
        raise RuntimeError(
            f"{name}(): complex numbers have no order, got {input.dtype}; use .abs() or .real"
        )


def _at_least_1d(x: Tensor) -> Tensor:
    return x if x.ndim else x.reshape(1)


# --- public ---------------------------------------------------------------------------------------


@public(out=True)
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> results.sort:
    """The elements in ascending order along a dim, and where they were: (values, indices).

    nan counts as larger than any number. Equal elements keep their order (`stable` is always so).

    Raises:
        IndexError: if the dim is out of range.
        RuntimeError: for complex numbers.

    >>> import tensorplay as tp
    >>> values, indices = tp.sort(tp.tensor([3., 1., 2.]))
    >>> values, indices
    (tensor([1., 2., 3.]), tensor([1, 2, 0]))
    """
    _refuse_complex(input, "sort")
    dim = wrap_dim(dim, input, "sort")
    x = _at_least_1d(input)
    order = argsort_op(x, dim, bool(descending))
    values = sort_op(x, order, dim)
    if not input.ndim:
        values, order = values.reshape(()), order.reshape(())
    return results.sort(values, order)


@public()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The positions that sort `input` along a dim; nan counts as larger than any number.

    Raises:
        IndexError: if the dim is out of range.
        RuntimeError: for complex numbers.
    """
    _refuse_complex(input, "argsort")
    dim = wrap_dim(dim, input, "argsort")
    order = argsort_op(_at_least_1d(input), dim, bool(descending))
    return order if input.ndim else order.reshape(())


@public(out=True)
def msort(input: Tensor) -> Tensor:
    """The elements in ascending order along the first dim."""
    return sort(input, 0)[0]


@public(out=True)
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> results.topk:
    """The k largest (or smallest) elements along a dim, and where they are: (values, indices).

    sorted: in order, the most extreme one first.

    Raises:
        IndexError: if the dim is out of range.
        RuntimeError: if k is negative or larger than the dim, or for complex numbers.

    >>> import tensorplay as tp
    >>> tp.topk(tp.tensor([3., 1., 2.]), 2).values
    tensor([3., 2.])
    """
    _refuse_complex(input, "topk")
    dim, k = wrap_dim(dim, input, "topk"), int(k)
    x = _at_least_1d(input)
    if not 0 <= k <= x.shape[dim]:
        raise RuntimeError(
            f"topk(): k={k} is out of range for dim {dim} with size {x.shape[dim]} of an input of "
            f"shape {list(input.shape)}"
        )
    found = largest_op(x, k, dim, bool(largest), bool(sorted))
    values = topk_op(x, found, dim)
    if not input.ndim and k == 1:
        values, found = values.reshape(()), found.reshape(())
    return tuple.__new__(results.topk, (values, found))


@public(out=True)
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> results.kthvalue:
    """The k-th smallest element along a dim (counted from 1), and where it is: (values, indices).

    Raises:
        IndexError: if the dim is out of range.
        RuntimeError: if k is out of range, or for complex numbers.

    >>> import tensorplay as tp
    >>> tp.kthvalue(tp.tensor([3., 1., 2.]), 2).values
    tensor(2.)
    """
    _refuse_complex(input, "kthvalue")
    dim, k = wrap_dim(dim, input, "kthvalue"), int(k)
    x = _at_least_1d(input)
    if not 1 <= k <= x.shape[dim]:
        raise RuntimeError(
            f"kthvalue(): k={k} is out of range for dim {dim} with size {x.shape[dim]} of an input "
            f"of shape {list(input.shape)}"
        )
    found = kth_op(x, k, dim)
    values = kthvalue_op(x, found, dim)
    if not (keepdim and input.ndim):
        values, found = values.squeeze(dim), found.squeeze(dim)
    return results.kthvalue(values, found)


# --- where to insert ------------------------------------------------------------------------------


def _search_kernel(edges: np.ndarray, values: np.ndarray, right: bool) -> np.ndarray:
    """For each value the first place of its row of edges at which it could be inserted."""
    kind = np.result_type(sortable(edges), sortable(values))
    edges, values = edges.astype(kind, copy=False), values.astype(kind, copy=False)
    if edges.ndim == 1:
        return np.searchsorted(edges, values, "right" if right else "left").astype(np.int64)
    # All rows at once: halve the range of every value until it is one place.
    count = edges.shape[-1]
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, count, np.int64)
    for _ in range(count.bit_length()):
        middle = (low + high) // 2
        edge = np.take_along_axis(edges, np.minimum(middle, count - 1), -1)
        goes_on = (low < high) & (~_is_less(values, edge) if right else _is_less(edge, values))
        low, high = np.where(goes_on, middle + 1, low), np.where(goes_on, high, middle)
    return low


def _is_less(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x < y, nan being larger than any number."""
    less: np.ndarray = x < y
    return less | ((y != y) & (x == x)) if x.dtype.kind == "f" else less


def _batch_search(p: Any, inputs: Any, bdims: Any, params: Any) -> Any:
    (edges, values), (edges_bdim, _) = inputs, bdims
    size = batch_size(inputs, bdims)
    if edges_bdim is None and edges.ndim == 1:
        return p(edges, values, *params), bdims[1]
    edges, values = materialize(edges, edges_bdim, size), materialize(values, bdims[1], size)
    if edges.ndim == 2 and values.ndim != 2:  # one row of edges for all values of a sample
        shape = tuple(values.shape)
        flat = values.reshape(size, math.prod(shape[1:]))
        return p(edges, flat, *params).reshape(shape), 0
    return p(edges, values, *params), 0


searchsorted_op = constant(
    "searchsorted",
    _search_kernel,
    inputs=("edges", "values"),
    params=("right",),
    batch=_batch_search,
)


def _side(right: bool, side: str | None, name: str) -> bool:
    if side is None:
        return bool(right)
    if side not in ("left", "right"):
        raise RuntimeError(f"{name}(): side must be 'left' or 'right', got {side!r}")
    if side == "left" and right:
        raise RuntimeError(f"{name}(): side='left' and right=True contradict each other")
    return side == "right"


@public(method=False, out=True)
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where each value would be inserted into an ascending sequence, so that it stays ascending.

    sorted_sequence: a vector, or rows of which each belongs to the same row of `input`. right (or
    side='right'): behind equal elements. sorter: positions that sort the sequence.

    Raises:
        RuntimeError: if the shapes do not fit.

    >>> import tensorplay as tp
    >>> tp.searchsorted(tp.tensor([1, 3, 5]), tp.tensor([3, 4]))
    tensor([1, 2])
    """
    edges = sorted_sequence
    values = _values(input, edges)
    right = _side(right, side, "searchsorted")
    if edges.ndim == 0:
        raise RuntimeError("searchsorted(): sorted_sequence must have at least 1 dim, got 0")
    if edges.ndim > 1 and edges.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "searchsorted(): sorted_sequence must be a vector, or agree with input in all dims but "
            f"the last, got shapes {list(edges.shape)} and {list(values.shape)}"
        )
    if sorter is not None:
        if sorter.shape != edges.shape or sorter.dtype is not dtypes.int64:
            raise RuntimeError(
                "searchsorted(): sorter must be an int64 tensor of the shape of sorted_sequence "
                f"{list(edges.shape)}, got {sorter.dtype} of shape {list(sorter.shape)}"
            )
        edges = edges.gather(-1, sorter)
    found = searchsorted_op(edges, values, right)
    return convert(found, dtypes.int32) if out_int32 else found


def _values(input: Any, like: Tensor) -> Tensor:
    if isinstance(input, Tensor):
        return input
    dtype = dtypes.get_default_dtype() if isinstance(input, float) else like.dtype
    return core.from_array(np.array(input, dtype.numpy))


@public(method=False, out=True)
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The number of the bucket that each value falls into, between ascending boundaries.

    right=False: `boundaries[i-1] < value <= boundaries[i]` for bucket i; True: the other way.

    Raises:
        RuntimeError: unless boundaries is a vector.
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries must be a vector, got {boundaries.ndim} dims")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
