"""Variances, standard deviations and vector norms."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.extrema import agreement, amax_op, amin_op
from tensorplay.ops.kernels import is_half
from tensorplay.ops.kinds import PUBLIC, elementwise, primitive, public, require_tensor, zeros_like
from tensorplay.ops.reductions import (
    count_over,
    mean_op,
    over_dims,
    reduced_dims,
    restore,
    sum_op,
)
from tensorplay.ops.structure import convert

# --- elementwise parts ----------------------------------------------------------------------------


def _reciprocal_kernel(x: np.ndarray) -> np.ndarray:
    return np.where(x == 0, np.zeros((), x.dtype), np.reciprocal(x))


# 1 / x, and 0 where x is 0 together with every derivative: what divides by a norm or a standard
# deviation, whose subgradient at 0 is 0.
reciprocal_or_zero = elementwise(
    "reciprocal_or_zero", _reciprocal_kernel, lambda out: -(out * out), promote="same"
)


def _power_kernel(x: np.ndarray, exponent: float) -> np.ndarray:
    return np.where(x == 0, np.zeros((), x.dtype), np.power(x, np.asarray(exponent, x.dtype)))


# x ** exponent for x >= 0, and 0 where x is 0 together with every derivative.
power_or_zero = elementwise(
    "power_or_zero",
    _power_kernel,
    lambda x, exponent: power_or_zero(x, exponent - 1) * exponent,
    params=("exponent",),
    promote="same",
)


def real_square(x: Any) -> Any:
    """|x| ** 2, real also for complex x."""
    return (x * x.conj()).real if x.dtype.is_complex else x * x


def real_product(x: Any, y: Any) -> Any:
    """The real part of x * conj(y): how much of x lies along y."""
    return (x * y.conj()).real if x.dtype.is_complex else x * y


# --- variance -------------------------------------------------------------------------------------


def freedom(shape: Any, dims: tuple[int, ...], correction: float) -> float:
    """What the sum of squares is divided by: elements minus correction, never negative."""
    left = count_over(shape, dims) - correction
    return left if left > 0 else 0.0


def _var_kernel(
    x: np.ndarray, dims: tuple[int, ...], correction: float, keepdim: bool
) -> np.ndarray:
    if is_half(x.dtype):
        return _var_kernel(x.astype(np.float32), dims, correction, keepdim).astype(x.dtype)
    # With operators on tensors, which have compiled loops and threads.
    values = core.from_array(x)
    offset = values - mean_op(values, dims, True)
    total = sum_op(real_square(offset), dims, keepdim)
    return core.array_of(total / freedom(x.shape, dims, correction))


def _std_kernel(x: np.ndarray, *params: Any) -> np.ndarray:
    if is_half(x.dtype):
        return _std_kernel(x.astype(np.float32), *params).astype(x.dtype)
    return core.array_of(core.from_array(_var_kernel(x, *params)).sqrt())


def _offset(x: Any, dims: tuple[int, ...], correction: float) -> Any:
    # Twice the distance from the mean over the degrees of freedom: the gradient of the variance.
    left = freedom(x.shape, dims, correction)
    return (x - mean_op(x, dims, True)) * (2.0 / left if left else math.inf)


def _var_vjp(g: Any, x: Any, dims: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    return restore(g, x.shape, dims, keepdim) * _offset(x, dims, correction)


def _var_jvp(t: Any, x: Any, dims: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    return sum_op(real_product(t, _offset(x, dims, correction)), dims, keepdim)


var_op = primitive(
    "var",
    core.VarianceKernel(_var_kernel),
    params=("dims", "correction", "keepdim"),
    vjp=_var_vjp,
    jvp=_var_jvp,
    batch=over_dims,
    quiet=True,
)
std_op = primitive(
    "std",
    core.VarianceKernel(_std_kernel, True),
    params=("dims", "correction", "keepdim"),
    vjp=lambda g, x, out, dims, correction, keepdim: _var_vjp(
        g * reciprocal_or_zero(2 * out), x, dims, correction, keepdim
    ),
    jvp=lambda t, x, out, dims, correction, keepdim: (
        _var_jvp(t, x, dims, correction, keepdim) * reciprocal_or_zero(2 * out)
    ),
    batch=over_dims,
    quiet=True,
)


def _no_results(shape: Any, dims: tuple[int, ...]) -> bool:
    return any(s == 0 and d not in dims for d, s in enumerate(shape))


def _moment_arguments(
    name: str, input: Tensor, dim: Any, unbiased: bool | None, correction: float | None
) -> tuple[tuple[int, ...], float]:
    """Dims and correction from the two signatures that PyTorch has."""
    require_tensor(input, name)
    if dim is True or dim is False:  # std(x, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(
                f"{name}(): got both unbiased={unbiased} and correction={correction}; give "
                "correction alone (unbiased=False is correction=0)"
            )
        correction = int(unbiased)
    if not core.is_differentiable_dtype(input):
        raise RuntimeError(
            f"{name}(): expected a floating point or complex tensor, got dtype {input.dtype}; "
            "convert with .float()"
        )
    dims = reduced_dims(dim, input, name)
    correction = 1 if correction is None else correction
    count = count_over(input.shape, dims)
    if count <= correction and not _no_results(input.shape, dims):
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0: correction {correction} should be less than "
            f"the {count} elements that are reduced",
            UserWarning,
            stacklevel=3,
        )
    return dims, correction


@public(out=True)
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The variance over `dim` (an int, a tuple of ints; None: all), real for complex inputs too.

    correction: what is taken from the number of elements that the sum of squares is divided by,
    by default 1 (`unbiased=False`: 0).

    Raises:
        IndexError: if a dim is out of range.
        RuntimeError: for integers and bools.

    >>> import tensorplay as tp
    >>> tp.var(tp.tensor([1., 2., 4., 5.])), tp.var(tp.tensor([1., 2., 4., 5.]), correction=0)
    (tensor(3.3333), tensor(2.5000))
    """
    dims, correction = _moment_arguments("var", input, dim, unbiased, correction)
    return var_op(input, dims, correction, keepdim)


@public(out=True)
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The standard deviation over `dim`; see `var`. Where it is 0 its gradient is taken as 0.

    >>> import tensorplay as tp
    >>> tp.std(tp.tensor([[1., 3.], [2., 2.]]), 1)
    tensor([1.4142, 0.0000])
    """
    dims, correction = _moment_arguments("std", input, dim, unbiased, correction)
    return std_op(input, dims, correction, keepdim)


@public(out=True, method=False)
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(variance, mean) over `dim`; see `var`."""
    dims, correction = _moment_arguments("var_mean", input, dim, unbiased, correction)
    return var_op(input, dims, correction, keepdim), mean_op(input, dims, keepdim)


@public(out=True, method=False)
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(standard deviation, mean) over `dim`; see `var`."""
    dims, correction = _moment_arguments("std_mean", input, dim, unbiased, correction)
    return std_op(input, dims, correction, keepdim), mean_op(input, dims, keepdim)


# --- norms ----------------------------------------------------------------------------------------


def _norm_kernel(x: np.ndarray, p: float, dims: tuple[int, ...], keepdim: bool) -> np.ndarray:
    if is_half(x.dtype):
        return _norm_kernel(x.astype(np.float32), p, dims, keepdim).astype(x.dtype)
    # With operators on tensors, which have compiled loops and threads.
    values = core.from_array(x)
    if p == 2:
        found = sum_op(real_square(values), dims, keepdim).sqrt()
    elif p == 1:
        found = sum_op(values.abs(), dims, keepdim)
    elif p == 0:
        found = sum_op(values != 0, dims, keepdim).to(dtypes.from_numpy(x.dtype).to_real())
    elif math.isinf(p):
        found = (amax_op if p > 0 else amin_op)(values.abs(), dims, keepdim)
    else:
        found = sum_op(values.abs() ** p, dims, keepdim) ** (1 / p)
    return core.array_of(found)


def _norm_derivative(x: Any, out: Any, p: float, dims: tuple[int, ...], keepdim: bool) -> Any:
    """d out / d x, 0 where out is 0; an infinity norm is shared by the elements that reach it."""
    if p == 1:
        return x.sgn()
    out = restore(out, x.shape, dims, keepdim)
    if math.isinf(p):
        chosen = agreement(x.abs(), out)
        return x.sgn() * (chosen / sum_op(chosen, dims, True))
    unit = x * reciprocal_or_zero(out)
    if p == 2:
        return unit
    if p > 2 and p % 2 == 0:  # smooth at 0
        return unit * real_square(unit) ** (p / 2 - 1)
    return unit * power_or_zero(unit.abs(), p - 2)


def _norm_vjp(g: Any, x: Any, out: Any, p: float, dims: tuple[int, ...], keepdim: bool) -> Any:
    if p == 0:
        return zeros_like(x)
    return restore(g, x.shape, dims, keepdim) * _norm_derivative(x, out, p, dims, keepdim)


def _norm_jvp(t: Any, x: Any, out: Any, p: float, dims: tuple[int, ...], keepdim: bool) -> Any:
    if p == 0:
        return None
    derivative = _norm_derivative(x, out, p, dims, keepdim)
    return sum_op(real_product(t, derivative), dims, keepdim)


vector_norm_op = primitive(
    "vector_norm",
    core.NormOfKernel(_norm_kernel),
    params=("p", "dims", "keepdim"),
    vjp=_norm_vjp,
    jvp=_norm_jvp,
    batch=over_dims,
    quiet=True,
    node_name="LinalgVectorNormBackward0",
)


def vector_norm(
    input: Tensor,
    p: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    dtype: dtypes.dtype | None = None,
    name: str = "vector_norm",
) -> Tensor:
    """(sum |x| ** p) ** (1 / p) over `dim`: what all vector norms are made of.

    p: any number; inf and -inf are the largest and smallest size, 0 counts what is not zero. The
    gradient is 0 where the norm is 0. name: what error messages begin with.

    Raises:
        RuntimeError: for integers and bools; for no elements if p is negative or infinite.
    """
    require_tensor(input, name)
    if dtype is not None:
        input = convert(input, dtypes.as_dtype(dtype))
    if not core.is_differentiable_dtype(input):
        raise RuntimeError(
            f"{name}(): expected a floating point or complex tensor, got dtype {input.dtype}; "
            "convert with .float()"
        )
    dims = reduced_dims(dim, input, name)
    p = float(p)
    if (p < 0 or p == math.inf) and count_over(input.shape, dims) == 0:
        raise RuntimeError(
            f"{name}(): the norm of order {p} of no elements is not defined, but dims {dims} of "
            f"the input of shape {list(input.shape)} are empty"
        )
    return vector_norm_op(input, p, dims, keepdim)


@public(out=True)
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The norm of order `p` of the elements over `dim` taken as one vector.

    p: a number (see `tensorplay.linalg.vector_norm`), 'fro' (the same as 2) or 'nuc' (the sum of
    the singular values, over two dims). The gradient is 0 where the norm is 0.

    Raises:
        IndexError: if a dim is out of range.
        RuntimeError: for integers and bools; for any other p.

    >>> import tensorplay as tp
    >>> tp.norm(tp.tensor([3., 4.])), tp.tensor([3., -4.]).norm(1)
    (tensor(5.), tensor(7.))
    """
    if p is None or p == "fro":
        p = 2.0
    elif p == "nuc":
        if dtype is not None:
            input = convert(input, dtypes.as_dtype(dtype))
        return PUBLIC["linalg", "matrix_norm"](input, "nuc", dim or (-2, -1), keepdim)
    elif isinstance(p, str):
        raise RuntimeError(f"norm(): p must be a number, 'fro' or 'nuc', got {p!r}")
    return vector_norm(input, p, dim, keepdim, dtype, "norm")
