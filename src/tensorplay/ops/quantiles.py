"""Order statistics: median, nanmedian, mode, quantile, nanquantile."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import results
from tensorplay.ops.elementwise import where
from tensorplay.ops.extrema import choose_along, choosing, sharing
from tensorplay.ops.kernels import is_half
from tensorplay.ops.kinds import public, require_tensor, wrap_dim
from tensorplay.ops.reductions import EVERY
from tensorplay.ops.scans import refuse_complex
from tensorplay.ops.shaping import reshape_to

# --- kernels: the index of the element that is picked, with its dim at size 1 ---------------------


def _comparable(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel on elements that NumPy can sort: float16 and bfloat16 as float32."""

    def widened(x: np.ndarray, dim: int) -> np.ndarray:
        return kernel(x.astype(np.float32) if is_half(x.dtype) else x, dim)

    return widened


@_comparable
def _median_index(x: np.ndarray, dim: int) -> np.ndarray:
    middle = (x.shape[dim] - 1) // 2
    index = np.take(np.argpartition(x, middle, axis=dim), [middle], axis=dim)
    missing = x != x
    if not missing.any():
        return index
    some = missing.any(axis=dim, keepdims=True)
    return np.where(some, missing.argmax(axis=dim, keepdims=True), index)


@_comparable
def _nanmedian_index(x: np.ndarray, dim: int) -> np.ndarray:
    present = np.count_nonzero(x == x, axis=dim, keepdims=True)
    middle = np.maximum(present - 1, 0) // 2  # NaN is sorted to the end
    return np.take_along_axis(np.argsort(x, axis=dim, kind="stable"), middle, dim)


@_comparable
def _mode_index(x: np.ndarray, dim: int) -> np.ndarray:
    x = np.moveaxis(x, dim, -1)
    order = np.argsort(x, axis=-1, kind="stable")
    ordered = np.take_along_axis(x, order, -1)
    fresh = np.ones(x.shape, bool)
    fresh[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    places = np.arange(x.shape[-1])
    run = places - np.maximum.accumulate(np.where(fresh, places, 0), axis=-1)
    longest = run.argmax(axis=-1, keepdims=True)  # the end of the first among the longest runs
    return np.moveaxis(np.take_along_axis(order, longest, -1), -1, dim)


def _picking(index_of: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel (values, indices) of a choice."""

    def kernel(x: np.ndarray, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
        index = index_of(x, dim)
        values = np.take_along_axis(x, index, dim)
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    return kernel


def _over_dims(index_of: Callable[..., Any]) -> Callable[..., Any]:
    """The element that `index_of` picks among all elements over several dims."""

    def kernel(x: np.ndarray, dims: tuple[int, ...], keepdim: bool) -> np.ndarray:
        kept = [d for d in range(x.ndim) if d not in dims]
        length = math.prod(x.shape[d] for d in dims)
        lanes = np.transpose(x, (*kept, *dims)).reshape([x.shape[d] for d in kept] + [length])
        values = np.take_along_axis(lanes, index_of(lanes, lanes.ndim - 1), -1)
        shape = [1 if d in dims else s for d, s in enumerate(x.shape)]
        return values.reshape(shape if keepdim else values.shape[:-1])

    return kernel


median_dim_op = choosing("median_dim", _picking(_median_index))
nanmedian_dim_op = choosing("nanmedian_dim", _picking(_nanmedian_index))
mode_op = choosing("mode", _picking(_mode_index))
median_op = sharing("median", _over_dims(_median_index))
nanmedian_op = sharing("nanmedian", _over_dims(_nanmedian_index))


# --- median and mode ------------------------------------------------------------------------------


def _median_of(
    name: str, every: Any, along: Any, made: Any, input: Tensor, dim: int | None, keepdim: bool
) -> Any:
    require_tensor(input, name)
    refuse_complex(name, input)
    if dim is not None:
        return choose_along(name, along, made, input, dim, keepdim)
    if input.numel() == 0:
        if not core.is_differentiable_dtype(input):
            raise RuntimeError(
                f"{name}(): the input of shape {list(input.shape)} and dtype {input.dtype} has no "
                "elements, and no integer stands for their median"
            )
        return input.sum() * float("nan")
    return every(input, EVERY[input.ndim], False)


@public(out=True)
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along `dim` the (values, indices) of the medians.

    The lower of the two middle elements of an even number. NaN where any element is NaN. The
    gradient of `median(x)` is shared by equal elements; `median(x, dim)` picks one of them.

    Raises:
        IndexError: if dim is out of range or empty.
        RuntimeError: for a complex tensor.

    >>> import tensorplay as tp
    >>> tp.median(tp.tensor([3., 1., 2., 4.]))
    tensor(2.)
    >>> tp.median(tp.tensor([[3., 1., 2.]]), 1).indices
    tensor([2])
    """
    return _median_of("median", median_op, median_dim_op, results.median, input, dim, keepdim)


@public(out=True)
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not NaN; see `median`.

    >>> import tensorplay as tp
    >>> tp.nanmedian(tp.tensor([3., float("nan"), 2.]))
    tensor(2.)
    """
    return _median_of(
        "nanmedian", nanmedian_op, nanmedian_dim_op, results.nanmedian, input, dim, keepdim
    )


@public(out=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along `dim`: (values, indices).

    The smallest of several; the index is of its last occurrence.

    Raises:
        IndexError: if dim is out of range or empty.

    >>> import tensorplay as tp
    >>> tp.mode(tp.tensor([1, 2, 2, 3]))[0]
    tensor(2)
    """
    require_tensor(input, "mode")
    refuse_complex("mode", input)
    return choose_along("mode", mode_op, results.mode, input, dim, keepdim)


# --- quantiles ------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked_q(name: str, input: Tensor, q: Any, interpolation: str) -> Tensor:
    require_tensor(input, name)
    if input.dtype is not dtypes.float32 and input.dtype is not dtypes.float64:
        raise RuntimeError(
            f"{name}(): input must be of dtype float32 or float64, got {input.dtype}; convert with "
            ".float()"
        )
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}(): interpolation must be one of {', '.join(_INTERPOLATIONS)}, got "
            f"{interpolation!r}"
        )
    if input.numel() == 0:
        raise RuntimeError(f"{name}(): input of shape {list(input.shape)} has no elements")
    if not isinstance(q, Tensor):
        q = core.from_array(np.asarray(q, input.dtype.numpy))
    if q.dtype is not input.dtype or q.ndim > 1:
        raise RuntimeError(
            f"{name}(): q must be a number, or a tensor of at most 1 dim of the input's dtype "
            f"{input.dtype}, got {q.dtype} of shape {list(q.shape)}"
        )
    if not q.is_box and not ((core.array_of(q) >= 0) & (core.array_of(q) <= 1)).all():
        raise RuntimeError(f"{name}(): q must be in the range [0, 1], got {core.array_of(q)}")
    return q


def _ranks(ordered: Tensor, q: Tensor, ignore_nan: bool) -> Tensor:
    """Where each q falls among the elements of each (ascending) lane."""
    present = ordered == ordered
    if ignore_nan:
        last = (present.sum(-1, keepdim=True) - 1).clamp(min=0).to(q.dtype)
        return last * q
    # A lane with a NaN, which is sorted to its end, has nothing but NaN as quantile.
    most = ordered.shape[-1] - 1
    return where(present.all(-1, keepdim=True), q * most, float(most))


def _interpolate(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    if interpolation == "nearest":
        return ordered.gather(-1, ranks.round().long())
    low, high = ranks.floor(), ranks.ceil()
    if interpolation == "higher":
        return ordered.gather(-1, high.long())
    below = ordered.gather(-1, low.long())
    if interpolation == "lower":
        return below
    above = ordered.gather(-1, high.long())
    # No step from an element to itself, nor from an infinity to the same (not inf - inf).
    still = (low == high) | ((above == below) & above.isinf())
    step = where(still, 0.0, above - below)
    return below + step * (0.5 if interpolation == "midpoint" else ranks - low)


def _quantile(
    name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    q = _checked_q(name, input, q, interpolation)
    ndim = input.ndim
    if dim is None or ndim == 0:
        if dim is not None:
            wrap_dim(dim, 0, name)
        shape = (1,) * ndim
        lanes = reshape_to(input, (input.numel(),))
    else:
        dim = wrap_dim(dim, ndim, name)
        shape = tuple(1 if d == dim else s for d, s in enumerate(input.shape))
        lanes = input.movedim(dim, -1)
    ordered = lanes.sort(-1)[0]
    ranks = _ranks(ordered, q if q.ndim else q.unsqueeze(0), name == "nanquantile")
    found = _interpolate(ordered, ranks, interpolation).movedim(-1, 0)
    if keepdim:
        found = found.reshape((found.shape[0], *shape))
    return found if q.ndim else found[0]


@public(out=True)
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The quantiles `q` (a number or 1-dim tensor in [0, 1]) of all elements, or along `dim`.

    Several quantiles come first in the shape of the result. interpolation: what is between two
    elements: 'linear', 'lower', 'higher', 'midpoint' or 'nearest'. NaN where an element is NaN.

    Raises:
        IndexError: if dim is out of range.
        RuntimeError: for other dtypes than float32 and float64, no elements, or q outside [0, 1].

    >>> import tensorplay as tp
    >>> tp.quantile(tp.tensor([1., 2., 3., 5.]), 0.5)
    tensor(2.5000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@public(out=True)
def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The quantiles of the elements that are not NaN; see `quantile`."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)
