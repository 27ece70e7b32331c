"""Reductions, scans and normalisations of the elements that a mask lets through (`torch.masked`).

Each one fills what is masked out with the operation's identity. Where everything is masked out the
result is that identity (nan for means, medians, variances and softmax, which have none).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import extrema, moments, pointwise, quantiles, reductions, scans, softmax
from tensorplay.ops.elementwise import where
from tensorplay.ops.kinds import public, require_tensor
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.structure import convert

# The functions below have the names of those they are made from.
_softmax, _log_softmax = softmax.softmax, softmax.log_softmax


def _masked(name: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    return public(name, namespace="masked", method=False, **options)


def _least(dtype: dtypes.dtype) -> Any:
    """A number that no element of a dtype is below."""
    if dtype.category >= dtypes.FLOAT:
        return -math.inf
    return False if dtype is dtypes.bool else int(np.iinfo(dtype.numpy).min)


def _greatest(dtype: dtypes.dtype) -> Any:
    """A number that no element of a dtype is above."""
    if dtype.category >= dtypes.FLOAT:
        return math.inf
    return True if dtype is dtypes.bool else int(np.iinfo(dtype.numpy).max)


def _checked(name: str, input: Tensor, mask: Any, dtype: Any) -> Tensor:
    """The input in its dtype, after the mask was checked.

    Raises:
        TypeError: if input or mask is not a tensor, or the mask is not bool.
        RuntimeError: if the mask does not broadcast to the input.
    """
    require_tensor(input, name)
    if dtype is not None:
        input = convert(input, dtypes.as_dtype(dtype))
    if mask is None:
        return input
    require_tensor(mask, name, "mask")
    if mask.dtype is not dtypes.bool:
        raise TypeError(f"{name}(): mask must be a bool tensor, got {mask.dtype}; compare first")
    shape = tuple(input.shape)
    if broadcast_shapes_of(name, shape, mask.shape) != shape:
        raise RuntimeError(
            f"{name}(): a mask of shape {list(mask.shape)} does not broadcast to an input of shape "
            f"{list(shape)}"
        )
    return input


def _fill(input: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    return input if mask is None else where(mask, input, value)


def _count(input: Tensor, mask: Tensor, dim: Any, keepdim: bool, name: str) -> Tensor:
    """How many elements each result is made of."""
    dims = reductions.reduced_dims(dim, input, name)
    return reductions.sum(mask.expand(input.shape), dims or None, keepdim)


# --- sums, products, means ------------------------------------------------------------------------


@_masked("sum")
def sum(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum over `dim` of the elements where `mask` (bool, broadcast to input) holds; 0 of none.

    Raises:
        TypeError: if the mask is not a bool tensor.
        RuntimeError: if the mask does not broadcast to the input.

    >>> import tensorplay as tp
    >>> x, mask = tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([[True, False], [False, False]])
    >>> tp.masked.sum(x, 1, mask=mask)
    tensor([1., 0.])
    """
    return reductions.sum(_fill(_checked("sum", input, mask, dtype), mask, 0), dim, keepdim)


@_masked("prod")
def prod(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product over `dim` of the elements where `mask` holds; 1 of none. See `sum`."""
    return reductions.prod(_fill(_checked("prod", input, mask, dtype), mask, 1), dim, keepdim)


@_masked("cumsum")
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running sum along `dim` of the elements where `mask` holds, in the input's dtype."""
    input = _fill(_checked("cumsum", input, mask, dtype), mask, 0)
    return scans.cumsum(input, dim, dtype=input.dtype)


@_masked("cumprod")
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running product along `dim` of the elements where `mask` holds, in the input's dtype."""
    input = _fill(_checked("cumprod", input, mask, dtype), mask, 1)
    return scans.cumprod(input, dim, dtype=input.dtype)


@_masked("mean")
def mean(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean over `dim` of the elements where `mask` holds; nan of none. See `sum`."""
    input = _checked("mean", input, mask, dtype)
    if mask is None:
        return reductions.mean(input, dim, keepdim)
    total = reductions.sum(_fill(input, mask, 0), dim, keepdim)
    return total / _count(input, mask, dim, keepdim, "mean")


@_masked("logsumexp")
def logsumexp(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The log-sum-exp over `dim` of the elements where `mask` holds; -inf of none. See `sum`."""
    input = _fill(_checked("logsumexp", input, mask, dtype), mask, -math.inf)
    return reductions.logsumexp(input, dim, keepdim)


@_masked("logaddexp")
def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)) of the elements where their masks hold. See `sum`."""
    input = _fill(_checked("logaddexp", input, input_mask, dtype), input_mask, -math.inf)
    other = _fill(_checked("logaddexp", other, other_mask, dtype), other_mask, -math.inf)
    return pointwise.logaddexp(input, other)


# --- extrema and medians --------------------------------------------------------------------------


@_masked("amax")
def amax(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The largest element over `dim` where `mask` holds; the dtype's least number of none."""
    input = _checked("amax", input, mask, dtype)
    return extrema.amax(_fill(input, mask, _least(input.dtype)), dim, keepdim)


@_masked("amin")
def amin(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The smallest element over `dim` where `mask` holds; the dtype's greatest number of none."""
    input = _checked("amin", input, mask, dtype)
    return extrema.amin(_fill(input, mask, _greatest(input.dtype)), dim, keepdim)


@_masked("argmax")
def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the largest element is among those where `mask` holds; see `tensorplay.argmax`."""
    input = _checked("argmax", input, mask, dtype)
    return extrema.argmax(_fill(input, mask, _least(input.dtype)), dim, keepdim)


@_masked("argmin")
def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the smallest element is among those where `mask` holds; see `tensorplay.argmin`."""
    input = _checked("argmin", input, mask, dtype)
    return extrema.argmin(_fill(input, mask, _greatest(input.dtype)), dim, keepdim)


@_masked("median")
def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The median along `dim` of the elements where `mask` holds; nan of none. See `sum`.

    Raises:
        NotImplementedError: for a complex tensor.
    """
    input = _checked("median", input, mask, dtype)
    scans.refuse_complex("median", input)
    if mask is None:
        return quantiles.median(input, dim, keepdim).values
    real = input if input.dtype.is_floating_point else convert(input, dtypes.float64)
    found = quantiles.nanmedian(_fill(real, mask, math.nan), dim, keepdim).values
    return convert(found, input.dtype)


# --- moments and norms ----------------------------------------------------------------------------


def _offsets(
    name: str, input: Tensor, dim: Any, correction: float, keepdim: bool, mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Distances from the mean (0 where masked out), and the degrees of freedom of each result."""
    count = _count(input, mask, dim, True, name)
    middle = reductions.sum(_fill(input, mask, 0), dim, True) / count
    freedom = (_count(input, mask, dim, keepdim, name) - correction).clamp(min=0)
    return _fill(input - middle, mask, 0), freedom.to(input.dtype.to_real())


def _correction(name: str, unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise ValueError(f"{name}(): give either unbiased or correction, not both")
    if correction is None:
        return 1 if unbiased is None else int(unbiased)
    return correction


def _floating(input: Tensor) -> Tensor:
    if core.is_differentiable_dtype(input):
        return input
    return convert(input, dtypes.get_default_dtype())


@_masked("var")
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance over `dim` of the elements where `mask` holds; nan of none. See `sum`.

    correction: taken from the number of elements, by default 1 (unbiased=False: 0). As in
    PyTorch, the variance of complex numbers has their dtype here.
    """
    correction = _correction("var", unbiased, correction)
    input = _floating(_checked("var", input, mask, dtype))
    if mask is None:
        found = moments.var(input, dim, keepdim=keepdim, correction=correction)
        return convert(found, input.dtype)
    offset, freedom = _offsets("var", input, dim, correction, keepdim, mask)
    found = reductions.sum(moments.real_square(offset), dim, keepdim) / freedom
    return convert(found, input.dtype)


@_masked("std")
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation over `dim` of the elements where `mask` holds; see `var`.

    Its gradient is taken as 0 where it is 0.
    """
    correction = _correction("std", unbiased, correction)
    input = _floating(_checked("std", input, mask, dtype))
    if mask is None:
        found = moments.std(input, dim, keepdim=keepdim, correction=correction)
        return convert(found, input.dtype)
    offset, freedom = _offsets("std", input, dim, correction, keepdim, mask)
    size = moments.vector_norm(offset, 2, dim, keepdim, name="std")
    return convert(size / freedom.sqrt(), input.dtype)


@_masked("norm")
def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm of order `ord` over `dim` of the elements where `mask` holds. See `sum`."""
    order = 2.0 if ord is None else float(ord)
    input = _checked("norm", input, mask, dtype)
    input = _fill(input, mask, math.inf if order < 0 else 0)
    return moments.vector_norm(input, order, dim, keepdim, name="norm")


@_masked("normalize")
def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`input` divided along `dim` by its norm of order `ord` (at least eps); 0 where masked out."""
    input = _checked("normalize", input, mask, dtype)
    size = norm(input, ord, dim, keepdim=True, mask=mask)
    return _fill(input, mask, 0) / size.clamp(min=eps)


# --- softmax --------------------------------------------------------------------------------------


@_masked("softmax")
def masked_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Softmax along `dim` over the elements where `mask` holds; 0 for the others, nan if none."""
    return _softmax(_fill(_checked("softmax", input, mask, dtype), mask, -math.inf), dim)


@_masked("log_softmax")
def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Log-softmax along `dim` over the elements where `mask` holds; -inf for the others."""
    return _log_softmax(_fill(_checked("log_softmax", input, mask, dtype), mask, -math.inf), dim)


@_masked("softmin")
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Softmax of `-input` along `dim` over the elements where `mask` holds."""
    return masked_softmax(-input, dim, dtype=dtype, mask=mask)
