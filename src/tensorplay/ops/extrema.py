"""Extrema and their places: amax, amin, the three forms of max and min, argmax, argmin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Primitive, Tensor
from tensorplay.ops import results
from tensorplay.ops.elementwise import maximum, minimum
from tensorplay.ops.kernels import is_half
from tensorplay.ops.kinds import constant, elementwise, primitive, public, require_tensor, wrap_dim
from tensorplay.ops.reductions import (
    EVERY,
    along_dim,
    over_dims,
    reduced_dims,
    restore,
    sum_op,
)
from tensorplay.ops.scans import refuse_complex, spread, with_dims
from tensorplay.ops.shaping import reshape_to

# --- extrema, ties sharing the gradient -----------------------------------------------------------


def _agreement_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    same = np.equal(x, y)
    missing = y != y
    if missing.any():
        same |= missing & (x != x)
    return same.astype(x.dtype)


# 1 where x and y are equal or both NaN, else 0, in their own dtype.
agreement = elementwise(
    "agreement", _agreement_kernel, None, None, inputs=("x", "y"), promote="same", quiet=True
)


def sharing(name: str, kernel: Any, **options: Any) -> Primitive:
    """A reduction over dims to one of the elements; those equal to it share its gradient."""

    def share(x: Any, out: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
        chosen = agreement(x, restore(out, x.shape, dims, keepdim))
        return chosen / sum_op(chosen, dims, True)

    return primitive(
        name,
        kernel,
        params=("dims", "keepdim"),
        vjp=lambda g, x, out, dims, keepdim: (
            restore(g, x.shape, dims, keepdim) * share(x, out, dims, keepdim)
        ),
        jvp=lambda t, x, out, dims, keepdim: sum_op(
            t * share(x, out, dims, keepdim), dims, keepdim
        ),
        batch=over_dims,
        **options,
    )


def _extremum(name: str, ufunc: np.ufunc) -> Primitive:
    def fallback(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> Any:
        return ufunc.reduce(x, axis=axis, keepdims=keepdims)

    return sharing(name, core.ReduceKernel(name, fallback, empty_ok=False), quiet=True)


amax_op = _extremum("amax", np.maximum)
amin_op = _extremum("amin", np.minimum)


def refuse_empty(name: str, input: Tensor, dims: tuple[int, ...]) -> None:
    """An extremum of no elements has no value."""
    for d in dims:
        if input.shape[d] == 0:
            raise IndexError(
                f"{name}(): dim {d} of the input of shape {list(input.shape)} has size 0, and no "
                "elements have no extremum; reduce a dim that is not empty"
            )


def refuse_nothing(name: str, input: Tensor, error: type[Exception]) -> None:
    """Nor has one of a tensor without elements."""
    if input.numel() == 0:
        raise error(
            f"{name}(): the input of shape {list(input.shape)} has no elements, and no elements "
            "have no extremum; give a 'dim' that is not empty"
        )


def _reduce_extremum(name: str, operator: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    dims = reduced_dims(dim, input, name)
    refuse_complex(name, input)
    try:
        return operator(input, dims, keepdim)
    except RuntimeError:  # NumPy's, for no elements
        if dim is None:
            refuse_nothing(name, input, RuntimeError)
        refuse_empty(name, input, dims)
        raise


@public(out=True)
def amax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The largest element over `dim` (an int, a tuple of ints; None or (): all).

    Elements that share the maximum share its gradient evenly.

    Raises:
        IndexError: if a dim is out of range or empty.
        RuntimeError: for a complex tensor, or one without elements and no dim.

    >>> import tensorplay as tp
    >>> tp.amax(tp.tensor([[1., 5.], [7., 2.]]), 1)
    tensor([5., 7.])
    """
    return _reduce_extremum("amax", amax_op, input, dim, keepdim)


@public(out=True)
def amin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The smallest element over `dim` (an int, a tuple of ints; None or (): all).

    Elements that share the minimum share its gradient evenly.

    Raises:
        IndexError: if a dim is out of range or empty.
    """
    return _reduce_extremum("amin", amin_op, input, dim, keepdim)


@public(out=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element, of all or along `dim`: (min, max)."""
    return results.aminmax(
        _reduce_extremum("aminmax", amin_op, input, dim, keepdim),
        _reduce_extremum("aminmax", amax_op, input, dim, keepdim),
    )


# --- choices of one element -----------------------------------------------------------------------


def choosing(name: str, kernel: Any, **options: Any) -> Primitive:
    """An operator that picks one element along a dim.

    kernel: (x, dim, keepdim) -> (values, indices).
    """

    def vjp(g: Any, x_shape: Any, out: Any, dim: int, keepdim: bool) -> Any:
        g, index = g[0], out[1]
        if not keepdim:
            g, index = g.unsqueeze(dim), index.unsqueeze(dim)
        return spread(g, index, dim, x_shape)

    def jvp(t: Any, out: Any, dim: int, keepdim: bool) -> Any:
        if keepdim:
            return t.gather(dim, out[1]), None
        return t.gather(dim, out[1].unsqueeze(dim)).squeeze(dim), None

    return primitive(
        name, kernel, params=("dim", "keepdim"), vjp=vjp, jvp=jvp, batch=along_dim, outputs=2,
        fixed=(1,), **options,
    )  # fmt: skip


def _argmax_kernel(x: np.ndarray, dim: int, keepdim: bool) -> np.ndarray:
    x = x.astype(np.float32) if is_half(x.dtype) else x
    return x.argmax(axis=dim, keepdims=keepdim)


def _argmin_kernel(x: np.ndarray, dim: int, keepdim: bool) -> np.ndarray:
    x = x.astype(np.float32) if is_half(x.dtype) else x
    return x.argmin(axis=dim, keepdims=keepdim)


max_dim_op = choosing(
    "max_dim",
    core.ExtremumKernel(
        lambda x, dim, keepdim: (
            amax_op.kernel(x, (dim,), keepdim),
            _argmax_kernel(x, dim, keepdim),
        ),
        (True, True),
    ),
    quiet=True,
)
min_dim_op = choosing(
    "min_dim",
    core.ExtremumKernel(
        lambda x, dim, keepdim: (
            amin_op.kernel(x, (dim,), keepdim),
            _argmin_kernel(x, dim, keepdim),
        ),
        (False, True),
    ),
    quiet=True,
)


def choose_along(
    name: str, operator: Any, made: Any, input: Tensor, dim: int, keepdim: bool
) -> Any:
    """(values, indices) of a choosing operator along `dim`, checked."""
    dim = wrap_dim(dim, input, name)
    if input.ndim == 0:
        return made(*with_dims(operator, input, 0, False))
    if input.shape[dim] == 0:
        refuse_empty(name, input, (dim,))
    return tuple.__new__(made, operator(input, dim, keepdim))


def _extremum_of(
    name: str, forms: tuple[Any, Any, Any, Any], input: Tensor, dim: Any, keepdim: bool, other: Any
) -> Any:
    """The three forms of max and min."""
    every, along, pairwise, made = forms
    require_tensor(input, name)
    if isinstance(dim, Tensor):
        other, dim = dim, None
    refuse_complex(name, input)
    if other is not None:
        return pairwise(input, other)
    if dim is not None:
        return choose_along(name, along, made, input, dim, keepdim)
    refuse_nothing(name, input, RuntimeError)
    return every(input, EVERY[input.ndim], False)


@public(out=True)
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element; along `dim` its (values, indices); or, given a tensor, `maximum`.

    `max(x)` is 0-dim, and elements that share the maximum share its gradient. `max(x, dim)` picks
    the first of them. `max(x, other)` is the larger of the two, element by element. NaN counts as
    larger than any number.

    Raises:
        IndexError: if dim is out of range or empty.
        RuntimeError: for an empty or complex tensor.

    >>> import tensorplay as tp
    >>> values, indices = tp.max(tp.tensor([[1., 5.], [7., 2.]]), 1)
    >>> values, indices
    (tensor([5., 7.]), tensor([1, 0]))
    """
    return _extremum_of("max", _MAX_FORMS, input, dim, keepdim, other)


@public(out=True)
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element; along `dim` its (values, indices); or, given a tensor, `minimum`.

    See `max`. NaN counts as smaller than any number.
    """
    return _extremum_of("min", _MIN_FORMS, input, dim, keepdim, other)


_MAX_FORMS = (amax_op, max_dim_op, maximum, results.max)
_MIN_FORMS = (amin_op, min_dim_op, minimum, results.min)


argmax_op = constant(
    "argmax", core.ExtremumKernel(_argmax_kernel, (True, False)),
    params=("dim", "keepdim"), batch=along_dim, quiet=True,
)  # fmt: skip
argmin_op = constant(
    "argmin", core.ExtremumKernel(_argmin_kernel, (False, False)),
    params=("dim", "keepdim"), batch=along_dim, quiet=True,
)  # fmt: skip


def _reduce_place(name: str, operator: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    require_tensor(input, name)
    refuse_complex(name, input)
    ndim = input.ndim
    if dim is not None and ndim:
        dim = wrap_dim(dim, input, name)
        if input.shape[dim] == 0:
            refuse_empty(name, input, (dim,))
        return operator(input, dim, keepdim)
    if dim is not None:
        wrap_dim(dim, 0, name)
    refuse_nothing(name, input, IndexError)
    found = operator(reshape_to(input, (input.numel(),)), 0, False)
    return reshape_to(found, (1,) * ndim) if keepdim and ndim else found


@public(out=True)
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the largest element is (int64): in the flattened input, or along `dim`; the first.

    Raises:
        IndexError: if dim is out of range or empty.

    >>> import tensorplay as tp
    >>> tp.argmax(tp.tensor([[1., 5.], [7., 2.]])), tp.argmax(tp.tensor([[1., 5.], [7., 2.]]), 1)
    (tensor(2), tensor([1, 0]))
    """
    return _reduce_place("argmax", argmax_op, input, dim, keepdim)


@public(out=True)
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the smallest element is (int64): in the flattened input, or along `dim`; the first."""
    return _reduce_place("argmin", argmin_op, input, dim, keepdim)
