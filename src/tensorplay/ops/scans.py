"""Scans along a dim: cumulative sums, products, extrema, and the recurrence behind their rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import results
from tensorplay.ops.kernels import FLOAT32, is_half
from tensorplay.ops.kinds import (
    elementwise,
    linear,
    primitive,
    public,
    require_tensor,
    shifting,
    wrap_dim,
)
from tensorplay.ops.structure import convert

_along_dim = shifting(dims=("dim",))
refuse_complex = core.refuse_complex


# --- helpers --------------------------------------------------------------------------------------


def through_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of one array that computes float16 and bfloat16 in float32."""

    def widened(x: np.ndarray, *params: Any) -> Any:
        if not is_half(x.dtype):
            return kernel(x, *params)
        result = kernel(core.cast(x, FLOAT32), *params)
        if isinstance(result, tuple):
            return (core.cast(result[0], x.dtype), *result[1:])
        return core.cast(result, x.dtype)

    return widened


def accumulator(kind: np.dtype[Any]) -> Any:
    """The dtype that sums and products of many elements of `kind` are accumulated in."""
    if kind.kind in "biu":
        return np.int64
    return np.complex128 if kind.kind == "c" else np.float64


def result_kind(kind: np.dtype[Any]) -> Any:
    """The dtype of a sum or product of elements of `kind`: int64 for integers and bool."""
    return np.int64 if kind.kind in "biu" else kind


def with_dims(function: Callable[..., Any], input: Tensor, *args: Any) -> Any:
    """`function` of a 0-dim input through one dim of size 1, which is taken away again."""
    found = function(input.unsqueeze(0), *args)
    if isinstance(found, tuple):
        return tuple(x.reshape(()) for x in found)
    return found.reshape(())


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.is_complex else x


# --- neighbours and recurrences -------------------------------------------------------------------


def _delay_kernel(x: np.ndarray, dim: int, step: int, fill: float) -> np.ndarray:
    out = np.empty_like(x, order="C")
    source, target = np.moveaxis(x, dim, 0), np.moveaxis(out, dim, 0)
    if step > 0:
        target[:step] = fill
        target[step:] = source[: len(source) - step]
    else:
        target[len(source) + step :] = fill
        target[: len(source) + step] = source[-step:]
    return out


# Element i of the result is element i - step of the input, or `fill` where there is none.
delay = primitive(
    "delay",
    _delay_kernel,
    params=("dim", "step", "fill"),
    vjp=lambda g, dim, step: delay(g, dim, -step, 0),
    jvp=lambda t, dim, step: delay(t, dim, step, 0),
    batch=_along_dim,
    quiet=True,
)


def previous(x: Any, dim: int, reverse: bool, fill: float = 0) -> Any:
    """For every element the one that a scan meets just before it; `fill` at the start."""
    return delay(x, dim, -1 if reverse else 1, fill)


def _recur_stepwise(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.empty_like(b)
    out[:1] = b[:1]
    for i in range(1, len(b)):
        np.multiply(a[i], out[i - 1], out=out[i])
        out[i] += b[i]
    return out


def _recur_by_pairs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # Two steps are one step of the same form, so half as many are left to do (Blelloch, "Prefix
    # sums and their applications", 1990).
    n = len(b)
    if n < 8:
        return _recur_stepwise(a, b)
    out = np.empty_like(b)
    even, odd = slice(0, n - 1, 2), slice(1, n, 2)
    out[odd] = _recur_by_pairs(a[odd] * a[even], a[odd] * b[even] + b[odd])
    out[0] = b[0]
    out[2::2] = a[2::2] * out[1 : n - 1 : 2] + b[2::2]
    return out


def _recurrence_kernel(a: np.ndarray, b: np.ndarray, dim: int, reverse: bool) -> np.ndarray:
    if is_half(b.dtype):
        wide = _recurrence_kernel(core.cast(a, FLOAT32), core.cast(b, FLOAT32), dim, reverse)
        return core.cast(wide, b.dtype)
    order = slice(None, None, -1 if reverse else 1)
    a, b = np.moveaxis(a, dim, 0)[order], np.moveaxis(b, dim, 0)[order]
    shape, lanes = b.shape, math.prod(b.shape[1:])
    a, b = a.reshape(len(a), lanes), b.reshape(len(b), lanes)
    found = None
    if len(b) > 128 and len(b) > lanes:
        found = _recur_by_pairs(a, b)
        # Products of coefficients can overflow where the steps one by one would not.
        if not np.isfinite(found).all():
            found = None
    if found is None:
        found = _recur_stepwise(a, b)
    return np.moveaxis(found.reshape(shape)[order], 0, dim)


def _recurrence_vjp(g: Any, a: Any, out: Any, dim: int, reverse: bool, wanted: Any) -> Any:
    # The cotangent flows backwards through the same coefficients, each one step later.
    flow = recurrence(previous(_conj(a), dim, not reverse), g, dim, not reverse)
    by_a = flow * _conj(previous(out, dim, reverse)) if wanted[0] else None
    return by_a, flow


# s[i] = a[i] * s[i - 1] + b[i] along dim, with s[-1] = 0 (`reverse`: from the end).
recurrence = primitive(
    "recurrence",
    _recurrence_kernel,
    inputs=("a", "b"),
    params=("dim", "reverse"),
    vjp=_recurrence_vjp,
    jvp=(
        lambda t, a, out, dim, reverse: recurrence(
            a, t * previous(out, dim, reverse), dim, reverse
        ),
        lambda t, a, dim, reverse: recurrence(a, t, dim, reverse),
    ),
    batch=_along_dim,
    promote="same",
)


# --- sums and products ----------------------------------------------------------------------------


def _accumulate(ufunc: np.ufunc, loop: str) -> Callable[..., np.ndarray]:
    def by_numpy(x: np.ndarray, dim: int, reverse: bool) -> np.ndarray:
        order = slice(None, None, -1)
        source = np.moveaxis(np.moveaxis(x, dim, 0)[order], 0, dim) if reverse else x
        found = ufunc.accumulate(source, axis=dim, dtype=accumulator(x.dtype))
        if reverse:
            found = np.moveaxis(np.moveaxis(found, dim, 0)[order], 0, dim)
        return found.astype(result_kind(x.dtype), order="C", copy=False)

    forward = core.RowKernel(loop, lambda x, dim: by_numpy(x, dim, False))
    backward = core.RowKernel(loop + "_reverse", lambda x, dim: by_numpy(x, dim, True))

    def kernel(x: np.ndarray, dim: int, reverse: bool) -> np.ndarray:
        return (backward if reverse else forward)(core.ordered(x), dim)

    return kernel


cumsum_op = linear(
    "cumsum",
    core.ScanKernel(_accumulate(np.add, "cumsum")),
    lambda g, dim, reverse: cumsum_op(g, dim, not reverse),
    params=("dim", "reverse"),
    batch=_along_dim,
)


def _cumprod_vjp(g: Any, x: Any, out: Any, dim: int, reverse: bool) -> Any:
    # What came before, times the cotangents that arrive through what comes after: no division, so
    # that zeros are nothing special.
    flow = recurrence(previous(_conj(x), dim, not reverse), g, dim, not reverse)
    return flow * _conj(previous(out, dim, reverse, 1))


cumprod_op = primitive(
    "cumprod",
    core.ScanKernel(_accumulate(np.multiply, "cumprod"), True),
    params=("dim", "reverse"),
    vjp=_cumprod_vjp,
    jvp=lambda t, x, out, dim, reverse: recurrence(
        x, t * previous(out, dim, reverse, 1), dim, reverse
    ),
    batch=_along_dim,
)


@public(inplace=True, out=True)
def cumsum(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The running sum along `dim`; integers and bools are summed as int64.

    Raises:
        IndexError: if dim is out of range.

    >>> import tensorplay as tp
    >>> tp.cumsum(tp.tensor([1., 2., 3.]), 0)
    tensor([1., 3., 6.])
    """
    return _running("cumsum", cumsum_op, input, dim, dtype)


@public(inplace=True, out=True)
def cumprod(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The running product along `dim`; integers and bools are multiplied as int64.

    Its derivatives are right at zeros too, to any order.

    Raises:
        IndexError: if dim is out of range.

    >>> import tensorplay as tp
    >>> tp.cumprod(tp.tensor([1., 2., 3.]), 0)
    tensor([1., 2., 6.])
    """
    return _running("cumprod", cumprod_op, input, dim, dtype)


def _running(name: str, operator: Any, input: Tensor, dim: int, dtype: Any) -> Tensor:
    require_tensor(input, name)
    dim = wrap_dim(dim, input, name)
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        return convert(_running(name, operator, convert(input, dtype), dim, None), dtype)
    if input.ndim == 0:
        return with_dims(operator, input, 0, False)
    return operator(input, dim, False)


# --- extrema --------------------------------------------------------------------------------------


def _running_extremum(ufunc: np.ufunc) -> Callable[..., Any]:
    def kernel(x: np.ndarray, dim: int) -> tuple[np.ndarray, np.ndarray]:
        values = ufunc.accumulate(x, axis=dim)
        # An element that equals the extremum so far is the latest place where it was met; from
        # the first NaN on every NaN is.
        here = (x == values) | ((x != x) & (values != values))
        places = np.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - 1 - dim))
        return values, np.maximum.accumulate(np.where(here, places, 0), axis=dim)

    return kernel


def spread(g: Any, index: Any, dim: int, shape: Any) -> Any:
    """Zeros of `shape` with g added at `index` along dim (the transpose of gather)."""
    return core.zeros_shaped(g, tuple(shape)).scatter_add(dim, index, g)


def _running_extremum_op(name: str, ufunc: np.ufunc) -> Any:
    return primitive(
        name,
        _running_extremum(ufunc),
        params=("dim",),
        vjp=lambda g, out, x_shape, dim: spread(g[0], out[1], dim, x_shape),
        jvp=lambda t, out, dim: (t.gather(dim, out[1]), None),
        batch=_along_dim,
        outputs=2,
        fixed=(1,),
    )


cummax_op = _running_extremum_op("cummax", np.maximum)
cummin_op = _running_extremum_op("cummin", np.minimum)


@public(out=True)
def cummax(input: Tensor, dim: int) -> Any:
    """The running maximum along `dim` and where it is (the last place, for equal elements).

    Returns (values, indices), the indices int64. NaN counts as larger than any number.

    >>> import tensorplay as tp
    >>> tp.cummax(tp.tensor([1., 3., 2., 3.]), 0).indices
    tensor([0, 1, 1, 3])
    """
    return results.cummax(*_running_place("cummax", cummax_op, input, dim))


@public(out=True)
def cummin(input: Tensor, dim: int) -> Any:
    """The running minimum along `dim` and where it is (the last place, for equal elements).

    Returns (values, indices), the indices int64. NaN counts as smaller than any number.
    """
    return results.cummin(*_running_place("cummin", cummin_op, input, dim))


def _running_place(name: str, operator: Any, input: Tensor, dim: int) -> Any:
    require_tensor(input, name)
    refuse_complex(name, input)
    dim = wrap_dim(dim, input, name)
    return operator(input, dim) if input.ndim else with_dims(operator, input, 0)


# --- log-sum-exp ----------------------------------------------------------------------------------


def _exp_difference_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    nothing = x.real == -np.inf
    same = x == y
    shift = np.where(nothing | same, 0, x) - np.where(nothing | same, 0, y)
    return np.where(nothing, np.zeros((), x.dtype), np.exp(shift)).astype(x.dtype, copy=False)


# exp(x - y) for y the log of a sum that exp(x) is part of: 0 where x is -inf, even if y is, and 1
# where both are the same infinity.
exp_difference = elementwise(
    "exp_difference", _exp_difference_kernel, lambda out: out, lambda out: -out,
    loop="exp_difference",
)  # fmt: skip


def _logcumsumexp_kernel(x: np.ndarray, dim: int) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis=dim, dtype=np.float64).astype(x.dtype)
    source = np.moveaxis(x, dim, 0)
    out = np.empty_like(source)
    out[:1] = source[:1]
    for i in range(1, len(source)):
        swap = out[i - 1].real < source[i].real
        large = np.where(swap, source[i], out[i - 1])
        small = np.where(swap, out[i - 1], source[i])
        step = np.where(np.isinf(large.real), 0, small - large)
        # The imaginary part goes on from the larger one's, as in PyTorch: it is not wrapped.
        out[i] = np.where(np.isinf(large.real), large, large + np.log1p(np.exp(step)))
    return np.moveaxis(out, 0, dim)


def _logcumsumexp_vjp(g: Any, x: Any, out: Any, dim: int) -> Any:
    # Element i has weight exp(x[i] - out[k]) in result k >= i. Every factor below is at most 1.
    kept = exp_difference(previous(out, dim, False, -np.inf), out)
    flow = recurrence(previous(_conj(kept), dim, True), g, dim, True)
    return flow * _conj(exp_difference(x, out))


logcumsumexp_op = primitive(
    "logcumsumexp",
    through_float32(_logcumsumexp_kernel),
    params=("dim",),
    vjp=_logcumsumexp_vjp,
    jvp=lambda t, x, out, dim: recurrence(
        exp_difference(previous(out, dim, False, -np.inf), out),
        t * exp_difference(x, out),
        dim,
        False,
    ),
    batch=_along_dim,
    promote="float",
)


@public(out=True)
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The logarithm of the running sum of exponentials along `dim`, without overflow.

    Where all elements so far are -inf the gradient is zero.

    >>> import tensorplay as tp
    >>> tp.logcumsumexp(tp.tensor([1000., 1000.]), 0)
    tensor([1000.0000, 1000.6932])
    """
    require_tensor(input, "logcumsumexp")
    dim = wrap_dim(dim, input, "logcumsumexp")
    return logcumsumexp_op(input, dim) if input.ndim else with_dims(logcumsumexp_op, input, 0)
