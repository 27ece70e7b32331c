"""Reductions to sums, means, products, truth values, counts and log-sum-exp."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Primitive, Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kernels import is_half
from tensorplay.ops.kinds import (
    constant,
    linear,
    primitive,
    public,
    require_tensor,
    shifting,
)
from tensorplay.ops.scans import cumprod_op, exp_difference, previous, refuse_complex, result_kind
from tensorplay.ops.shaping import reshape_to
from tensorplay.ops.structure import convert, expand_to

# --- dims -----------------------------------------------------------------------------------------

MAX_DIMS = 64
EVERY = tuple(tuple(range(n)) for n in range(MAX_DIMS + 1))

over_dims = shifting(dims=("dims",))
along_dim = shifting(dims=("dim",))


reduced_dims = core.reduced_dims


def restore(y: Any, shape: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    """A result of a reduction of `shape` over dims with size 1 at each of them, to broadcast."""
    if keepdim or y.ndim == 0 or dims == EVERY[len(dims)]:
        return y  # dims in front are added by broadcasting
    return reshape_to(y, tuple(1 if d in dims else s for d, s in enumerate(shape)))


def count_over(shape: Any, dims: tuple[int, ...]) -> int:
    """The number of elements that one result of a reduction is made of."""
    total = 1
    for d in dims:
        total *= shape[d]
    return total


# --- sum and mean ---------------------------------------------------------------------------------


def _sum_fallback(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> Any:
    if is_half(x.dtype):
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=np.float32).astype(x.dtype)
    return np.sum(x, axis=axis, keepdims=keepdims, dtype=result_kind(x.dtype))


def _mean_fallback(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> Any:
    wide = np.float32 if is_half(x.dtype) else x.dtype
    total = np.sum(x, axis=axis, keepdims=keepdims, dtype=wide)
    return np.true_divide(total, np.asarray(count_over(x.shape, axis), wide)).astype(x.dtype)


def _spread_evenly(g: Any, x_shape: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    return expand_to(restore(g, x_shape, dims, keepdim), x_shape)


def _spread_mean(g: Any, x_shape: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    count = count_over(x_shape, dims)
    return _spread_evenly(g / count if count > 1 else g, x_shape, dims, keepdim)


sum_op = linear(
    "sum",
    core.ReduceKernel("sum", _sum_fallback),
    _spread_evenly,
    params=("dims", "keepdim"),
    batch=over_dims,
    quiet=True,
)
mean_op = linear(
    "mean",
    core.ReduceKernel("mean", _mean_fallback),
    _spread_mean,
    params=("dims", "keepdim"),
    batch=over_dims,
    quiet=True,
)


# The parameter keepdim is None where no dim was named, which graph nodes print.
sum_op.naming = lambda node: f"SumBackward{int(node.parameters[1] is not None)}"
mean_op.naming = lambda node: f"MeanBackward{int(node.parameters[1] is not None)}"


@public(out=True)
def sum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The sum over `dim` (an int, a tuple of ints; None: all); integers and bools sum to int64.

    dtype: of the result; the input is converted to it first.

    Raises:
        IndexError: if a dim is out of range.
        RuntimeError: if a dim appears twice.

    >>> import tensorplay as tp
    >>> tp.sum(tp.tensor([[1., 2.], [3., 4.]]), 0)
    tensor([4., 6.])
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        return convert(sum(convert(input, dtype), dim, keepdim), dtype)
    dims = reduced_dims(dim, input, "sum")
    return sum_op(input, dims, None if dim is None and not keepdim else keepdim)


@public(out=True)
def mean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The mean over `dim` (an int, a tuple of ints; None: all); NaN of no elements.

    dtype: convert the input first.

    Raises:
        IndexError: if a dim is out of range.
        RuntimeError: for integers and bools, which need a floating point `dtype`.

    >>> import tensorplay as tp
    >>> tp.mean(tp.tensor([[1., 2.], [3., 4.]]), 0)
    tensor([2., 3.])
    """
    if dtype is not None:
        input = convert(input, dtypes.as_dtype(dtype))
    dims = reduced_dims(dim, input, "mean")
    if not core.is_differentiable_dtype(input):
        raise RuntimeError(
            f"mean(): expected a floating point or complex tensor, got dtype {input.dtype}; "
            "give dtype=, e.g. dtype=tensorplay.float32"
        )
    return mean_op(input, dims, None if dim is None and not keepdim else keepdim)


@public(out=True)
def nansum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The sum over `dim`, every NaN counting as zero.

    Raises:
        RuntimeError: for a complex tensor.
    """
    require_tensor(input, "nansum")
    refuse_complex("nansum", input)
    if core.is_differentiable_dtype(input):
        input = input.masked_fill(input != input, 0)
    return sum(input, dim, keepdim, dtype=dtype)


@public(out=True)
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The mean over `dim` of the elements that are not NaN.

    Raises:
        RuntimeError: for integers and bools.
    """
    require_tensor(input, "nanmean")
    if not core.is_differentiable_dtype(input):
        raise RuntimeError(
            f"nanmean(): expected a floating point or complex tensor, got dtype {input.dtype}; "
            "convert with .float()"
        )
    counted = sum(input == input, dim, keepdim)
    missing = input != input
    return sum(input.masked_fill(missing, 0), dim, keepdim, dtype=dtype) / counted


# --- product --------------------------------------------------------------------------------------


def _prod_fallback(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> Any:
    wide = np.float32 if is_half(x.dtype) else result_kind(x.dtype)
    found = np.prod(x, axis=axis, keepdims=keepdims, dtype=wide)
    return found.astype(result_kind(x.dtype))


_prod_kernel = core.ReduceKernel("prod", _prod_fallback)


def product_of_others(x: Any, dim: int) -> Any:
    """For every element the product of all others along dim: of those before times those after.

    No division, so that it and its derivatives of any order are right at zeros.
    """
    before = previous(cumprod_op(x, dim, False), dim, False, 1)
    return before * previous(cumprod_op(x, dim, True), dim, True, 1)


def _prod_vjp(g: Any, x: Any, dim: int, keepdim: bool) -> Any:
    others = product_of_others(x, dim)
    return (g if keepdim else g.unsqueeze(dim)) * (
        others.conj() if others.dtype.is_complex else others
    )


prod_op = primitive(
    "prod",
    _prod_kernel,
    params=("dim", "keepdim"),
    vjp=_prod_vjp,
    jvp=lambda t, x, dim, keepdim: sum_op(t * product_of_others(x, dim), (dim,), keepdim),
    batch=along_dim,
    quiet=True,
)


@public(out=True)
def prod(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The product of all elements, or along `dim`; integers and bools multiply to int64.

    Its derivatives are right at zeros too, to any order. dtype: convert the input first.

    Raises:
        IndexError: if dim is out of range.

    >>> import tensorplay as tp
    >>> x = tp.tensor([0., 2., 3.], requires_grad=True)
    >>> tp.prod(x).backward()
    >>> x.grad
    tensor([6., 0., 0.])
    """
    require_tensor(input, "prod")
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        return convert(prod(convert(input, dtype), dim, keepdim), dtype)
    dims = reduced_dims(dim, input, "prod")
    if len(dims) == 1:
        return prod_op(input, dims[0], keepdim)
    if dims == EVERY[input.ndim]:
        found = prod_op(reshape_to(input, (input.numel(),)), 0, False)
        return reshape_to(found, (1,) * input.ndim) if keepdim and input.ndim else found
    for d in reversed(dims):
        input = prod_op(input, d, keepdim)
    return input


# --- logic and counts -----------------------------------------------------------------------------


def _truth(name: str) -> Primitive:
    test = getattr(np, name)

    def fallback(x: np.ndarray, dims: tuple[int, ...], keepdim: bool) -> Any:
        found = test(x, axis=dims, keepdims=keepdim)
        return found.astype(np.uint8) if x.dtype == np.uint8 else found

    kernel = core.TruthKernel(fallback, name == "all")
    return constant(
        name, kernel, params=("dims", "keepdim"), batch=over_dims, quiet=True
    )  # fmt: skip


all_op = _truth("all")
any_op = _truth("any")
count_nonzero_op = constant(
    "count_nonzero",
    lambda x, dims: np.asarray(np.count_nonzero(x, axis=dims), np.int64),
    params=("dims",),
    batch=over_dims,
)


def _tested_dims(dim: Any, input: Tensor, name: str) -> tuple[int, ...]:
    if dim is not None and not isinstance(dim, int) and not len(dim):
        return ()
    return reduced_dims(dim, input, name)


@public(out=True)
def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements over `dim` are nonzero, as bool (uint8 for a uint8 input).

    dim: an int, a tuple of ints (of no ints: every element for itself), or None for all.

    >>> import tensorplay as tp
    >>> tp.all(tp.tensor([[True, False], [True, True]]), 1)
    tensor([False,  True])
    """
    return all_op(input, _tested_dims(dim, input, "all"), keepdim)


@public(out=True)
def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element over `dim` is nonzero, as bool (uint8 for a uint8 input); see `all`."""
    return any_op(input, _tested_dims(dim, input, "any"), keepdim)


@public()
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements over `dim` that are not zero (int64).

    >>> import tensorplay as tp
    >>> tp.count_nonzero(tp.tensor([0, 3, 0, 4]))
    tensor(2)
    """
    return count_nonzero_op(input, reduced_dims(dim, input, "count_nonzero"))


# --- log-sum-exp ----------------------------------------------------------------------------------


def _logsumexp_fallback(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> Any:
    if count_over(x.shape, axis) == 0:
        return np.log(np.sum(x, axis=axis, keepdims=keepdims))
    x = x.astype(np.float32) if is_half(x.dtype) else x
    shift = np.max(x.real, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(shift), shift, np.zeros((), shift.dtype))
    found = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
    return found if keepdims else np.squeeze(found, axis=axis)


def _logsumexp_kernel_half(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> Any:
    return np.asarray(_logsumexp_fallback(x, axis, keepdims)).astype(x.dtype)


def _logsumexp_weights(x: Any, out: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    return exp_difference(x, restore(out, x.shape, dims, keepdim))


def _logsumexp_vjp(g: Any, x: Any, out: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    weights = _logsumexp_weights(x, out, dims, keepdim)
    weights = weights.conj() if weights.dtype.is_complex else weights
    return restore(g, x.shape, dims, keepdim) * weights


logsumexp_op = primitive(
    "logsumexp",
    core.ReduceKernel("logsumexp", _logsumexp_kernel_half),
    params=("dims", "keepdim"),
    vjp=_logsumexp_vjp,
    jvp=lambda t, x, out, dims, keepdim: sum_op(
        t * _logsumexp_weights(x, out, dims, keepdim), dims, keepdim
    ),
    batch=over_dims,
    promote="float",
    quiet=True,
)


@public(out=True)
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials over `dim` (an int or a tuple), without overflow.

    -inf of no elements, and of elements that are all -inf, where the gradient is zero.

    Raises:
        IndexError: if a dim is out of range.

    >>> import tensorplay as tp
    >>> tp.logsumexp(tp.tensor([1000., 1000.]), 0)
    tensor(1000.6932)
    """
    return logsumexp_op(input, reduced_dims(dim, input, "logsumexp"), keepdim)
