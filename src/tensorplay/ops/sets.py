"""Distinct values, membership and histograms: none of them is differentiable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import results
from tensorplay.ops.index_primitives import refuse_batched
from tensorplay.ops.kinds import batch_size, constant, materialize, public, wrap_dim
from tensorplay.ops.sorting import sortable

# --- distinct values ------------------------------------------------------------------------------


def _unique_rows(
    x: np.ndarray, dim: int | None, consecutive: bool, values_only: bool
) -> tuple[np.ndarray, ...]:
    """(distinct values, where each element's value is among them, how often each occurs)."""
    dtype = x.dtype
    if values_only and dim is None and not consecutive:
        ordered = np.sort(sortable(x), axis=None)
        new = np.ones(ordered.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        nothing = np.zeros(0, np.int64)
        return ordered[new].astype(dtype, copy=False), nothing, nothing
    if dim is None:
        rows = x.reshape(-1, 1)
    else:
        width = math.prod(x.shape[:dim] + x.shape[dim + 1 :])
        if x.shape[dim] and not width:
            raise RuntimeError(
                f"unique(): the slices along dim {dim} of a tensor of shape {list(x.shape)} have "
                "no elements to tell them apart by"
            )
        rows = np.moveaxis(x, dim, 0).reshape(x.shape[dim], width)
    rows = sortable(rows)
    count = len(rows)
    if consecutive:
        order = np.arange(count)
    else:
        order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(count)
    ordered = rows[order]
    new = np.ones(count, bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(count, np.int64)
    inverse[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, count)).astype(np.int64)
    first = order[starts]
    if dim is None:
        return x.reshape(-1)[first].astype(dtype), inverse.reshape(x.shape), counts
    return np.take(x, first, axis=dim), inverse, counts


_ADVICE = "call it outside of vmap"
unique_op = constant(
    "unique", _unique_rows, params=("dim", "consecutive", "values_only"), outputs=3,
    batch=refuse_batched("unique", _ADVICE),
)  # fmt: skip


def _chosen(found: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    wanted = [values]
    if return_inverse:
        wanted.append(inverse)
    if return_counts:
        wanted.append(counts)
    return values if len(wanted) == 1 else tuple(wanted)


@public()
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements (with `dim`: slices) in ascending order.

    return_inverse: also where each element is among them. return_counts: also how often each
    occurs.

    Raises:
        RuntimeError: inside vmap, where the number of values would differ between samples.

    >>> import tensorplay as tp
    >>> tp.unique(tp.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    dim = None if dim is None else wrap_dim(dim, input, "unique")
    values_only = not (return_inverse or return_counts)
    return _chosen(unique_op(input, dim, False, values_only), return_inverse, return_counts)


@public()
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements (with `dim`: slices) that differ from the one before.

    Raises:
        RuntimeError: inside vmap, where the number of values would differ between samples.

    >>> import tensorplay as tp
    >>> tp.unique_consecutive(tp.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    dim = None if dim is None else wrap_dim(dim, input, "unique_consecutive")
    return _chosen(unique_op(input, dim, True, False), return_inverse, return_counts)


# --- membership -----------------------------------------------------------------------------------


def _isin_kernel(x: np.ndarray, tests: np.ndarray, invert: bool) -> np.ndarray:
    return np.isin(sortable(x), sortable(tests), invert=invert)


def _batch_isin(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    (x, tests), (invert,) = values, params
    if bdims[1] is None:
        return p(x, tests, invert), bdims[0]
    size = batch_size(values, bdims)
    x = materialize(x, bdims[0], size)
    tests = materialize(tests, bdims[1], size).reshape(size, -1)
    tests = tests.reshape((size,) + (1,) * (x.ndim - 1) + (-1,))
    found = (x.unsqueeze(-1) == tests).any(-1)
    return (found.logical_not() if invert else found), 0


isin_op = constant(
    "isin", _isin_kernel, inputs=("x", "tests"), params=("invert",), batch=_batch_isin
)


@public(method=False, out=True)
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each of `elements` is among `test_elements` (either may be a number).

    >>> import tensorplay as tp
    >>> tp.isin(tp.tensor([1, 2, 3]), tp.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin(): elements or test_elements must be a Tensor")
    x, tests = (
        v if isinstance(v, Tensor) else core.weak_tensor(v) for v in (elements, test_elements)
    )
    return isin_op(x, tests, bool(invert))


# --- histograms -----------------------------------------------------------------------------------


def _bincount_kernel(x: np.ndarray, weights: np.ndarray | None, minlength: int) -> np.ndarray:
    if x.size and x.min() < 0:
        raise RuntimeError(
            f"bincount(): expected integers that are not negative, got {x.min()} in the input"
        )
    found = np.bincount(x, weights, minlength)
    if weights is None:
        return found.astype(np.int64)
    return found.astype(np.float32 if weights.dtype == np.float32 else np.float64)


bincount_op = constant(
    "bincount", _bincount_kernel, inputs=("x", "weights"), params=("minlength",),
    batch=refuse_batched("bincount", "use zeros(n).scatter_add(0, index, weights)"),
)  # fmt: skip


@public()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 to the largest one (at least minlength - 1) occurs.

    weights: added up in the place of ones.

    Raises:
        RuntimeError: unless the input is a vector of integers that are not negative.

    >>> import tensorplay as tp
    >>> tp.bincount(tp.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    if input.ndim != 1 or input.dtype.category != dtypes.INTEGER:
        raise (RuntimeError if input.dtype.category == dtypes.INTEGER else NotImplementedError)(
            f"bincount(): expected a vector of integers, got {input.dtype} of shape "
            f"{list(input.shape)}; convert with .long(), or see histc()"
        )
    if minlength < 0:
        raise RuntimeError(f"bincount(): minlength must not be negative, got {minlength}")
    if weights is not None and weights.dtype.is_complex:
        raise RuntimeError(f"bincount(): weights must be real, got {weights.dtype}")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError(
            f"bincount(): weights must have the shape of input {list(input.shape)}, got "
            f"{list(weights.shape)}"
        )
    return bincount_op(input, weights, int(minlength))


def _edges(x: np.ndarray, bins: int, range: tuple[float, float] | None) -> np.ndarray:
    if range is not None:
        low, high = range
    else:
        low, high = (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"histogram(): the range [{low}, {high}] is not finite")
    return np.linspace(low, high, bins + 1)


def _histogram_kernel(
    x: np.ndarray, weights: np.ndarray | None, bins: Any, range: Any, density: bool
) -> tuple[np.ndarray, np.ndarray]:
    wide = sortable(x).reshape(-1)
    if isinstance(bins, int):
        edges = _edges(wide[np.isfinite(wide)] if wide.dtype.kind == "f" else wide, bins, range)
    else:
        edges = np.array(bins, np.float64)
    found, edges = np.histogram(
        wide, edges, density=False, weights=None if weights is None else weights.reshape(-1)
    )
    found = found.astype(np.float64)
    if density:
        found = found / (np.diff(edges) * found.sum())
    return found.astype(x.dtype), edges.astype(x.dtype)


histogram_op = constant(
    "histogram", _histogram_kernel, inputs=("x", "weights"), params=("bins", "range", "density"),
    outputs=2, batch=refuse_batched("histogram", _ADVICE),
)  # fmt: skip


@public(out=True)
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of equally wide bins between min and max.

    min = max: from the smallest element to the largest. Elements outside are not counted.

    Raises:
        RuntimeError: if bins is not positive, min is above max, or the range is not finite.

    >>> import tensorplay as tp
    >>> tp.histc(tp.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    if bins < 1:
        raise RuntimeError(f"histc(): bins must be positive, got {bins}")
    if min > max:
        raise RuntimeError(f"histc(): max must be larger than min, got min={min}, max={max}")
    range = None if min == max else (float(min), float(max))
    return histogram_op(input, None, int(bins), range, False)[0]


@public(out=True)
def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> results.histogram:
    """How much weight falls into each bin, and the edges of the bins: (hist, bin_edges).

    bins: their number, or a tensor of ascending edges. range: (low, high); by default that of the
    elements.

    Raises:
        RuntimeError: if bins is not positive, or the range is not finite.
    """
    if isinstance(bins, Tensor):
        edges: Any = tuple(bins.tolist())
    else:
        edges = int(bins)
        if edges < 1:
            raise RuntimeError(f"histogram(): bins must be positive, got {bins}")
    bounds = None if range is None else (float(range[0]), float(range[1]))
    return results.histogram(*histogram_op(input, weight, edges, bounds, bool(density)))


def _histogramdd_kernel(
    x: np.ndarray, weights: np.ndarray | None, bins: Any, range: Any, density: bool
) -> list[np.ndarray]:
    edges = [
        _edges(x[:, d], b, range[d]) if isinstance(b, int) else np.array(b)
        for d, b in enumerate(bins)
    ]
    found, _ = np.histogramdd(sortable(x), edges, density=density, weights=weights)
    return [found.astype(x.dtype), *(e.astype(x.dtype) for e in edges)]


histogramdd_op = constant(
    "histogramdd", _histogramdd_kernel, inputs=("x", "weights"),
    params=("bins", "range", "density"), outputs=-1, batch=refuse_batched("histogramdd", _ADVICE),
)  # fmt: skip


@public(method=False)
def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> results.histogramdd:
    """How much weight of points (the rows of `input`) falls into each cell: (hist, bin_edges).

    bins: how many, or how many in each direction, or a sequence of ascending edges for each.
    range: low and high of each direction, one after the other; by default those of the points.

    Raises:
        RuntimeError: if the numbers of bins or bounds do not fit the number of columns.
    """
    columns = input.shape[-1]
    points = input.reshape(-1, columns)
    counts = [bins] * columns if isinstance(bins, int) else list(bins)
    if len(counts) != columns:
        raise RuntimeError(f"histogramdd(): expected {columns} numbers of bins, got {len(counts)}")
    given = tuple(tuple(b.tolist()) if isinstance(b, Tensor) else int(b) for b in counts)
    pairs: Any = (None,) * columns
    if range is not None:
        bounds = [float(r) for r in range]
        if len(bounds) != 2 * columns:
            raise RuntimeError(f"histogramdd(): expected {2 * columns} bounds, got {len(bounds)}")
        pairs = tuple(zip(bounds[::2], bounds[1::2], strict=True))
    flat_weight = None if weight is None else weight.reshape(-1)
    hist, *edges = histogramdd_op(points, flat_weight, given, pairs, bool(density))
    return results.histogramdd(hist, tuple(edges))
