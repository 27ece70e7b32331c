"""What the linear algebra families share: checks, errors, loops over matrices, small helpers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, conjugate
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.elementwise import keep
from tensorplay.ops.shaping import broadcast_shapes_of

lapack = lazy_module("scipy.linalg.lapack")
blas = lazy_module("scipy.linalg.blas")

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive definite, or an iteration did not converge."""


# --- checks ---------------------------------------------------------------------------------------


def check_matrix(name: str, x: Any, *, square: bool = False, argument: str = "A") -> None:
    """Refuse what is not a (batch of square) matrices of a dtype that LAPACK computes in.

    Raises:
        TypeError: if x is not a tensor.
        RuntimeError: for anything else that does not fit.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(x).__name__}")
    check_dtype(name, x, argument)
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}(): {argument} must have at least 2 dims, got shape {list(x.shape)}"
        )
    if square and x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}(): {argument} must be batches of square matrices, but they are "
            f"{x.shape[-2]} by {x.shape[-1]} matrices (shape {list(x.shape)})"
        )


def check_dtype(name: str, x: Any, argument: str = "A") -> None:
    """Refuse a tensor that is not of dtype float32, float64, complex64 or complex128.

    Raises:
        RuntimeError: for any other dtype.
    """
    if x.dtype.numpy.char not in _LETTERS:
        raise RuntimeError(
            f"{name}(): expected {argument} to be of dtype float32, float64, complex64 or "
            f"complex128, got {x.dtype}; convert it first, e.g. with .float()"
        )


def check_same_dtype(name: str, **operands: Any) -> None:
    """Refuse operands of different dtypes.

    Raises:
        RuntimeError: if they differ.
    """
    if len({x.dtype for x in operands.values()}) > 1:
        listed = ", ".join(f"{key}: {x.dtype}" for key, x in operands.items())
        raise RuntimeError(f"{name}(): expected equal dtypes, got {listed}")


def check_batches(name: str, a: Any, b: Any) -> None:
    """Refuse batches of matrices whose batch dims do not broadcast.

    Raises:
        RuntimeError: if they do not.
    """
    if a.ndim > 2 and b.ndim > 2:
        broadcast_shapes_of(name, a.shape[:-2], b.shape[:-2])


# --- small helpers of rules -----------------------------------------------------------------------


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two dims."""
    return conjugate(x).mT


def identity(n: int, like: Any) -> Tensor:
    """The n x n identity matrix in the dtype of `like`."""
    return core.from_array(np.eye(n, dtype=like.dtype.numpy))


def lower(x: Any, offset: int = 0) -> Any:
    """The lower triangle of matrices up to a diagonal, zeros elsewhere."""
    mask = np.tri(x.shape[-2], x.shape[-1], offset, dtype=bool)
    return keep(x, core.from_array(mask))


def upper(x: Any, offset: int = 0) -> Any:
    """The upper triangle of matrices from a diagonal on, zeros elsewhere."""
    mask = ~np.tri(x.shape[-2], x.shape[-1], offset - 1, dtype=bool)
    return keep(x, core.from_array(mask))


def triangle(x: Any, is_upper: bool, offset: int = 0) -> Any:
    """The upper or the lower triangle, without `offset` diagonals."""
    return upper(x, offset) if is_upper else lower(x, -offset)


def diagonal_of(x: Any) -> Any:
    """The main diagonal of matrices."""
    return x.diagonal(0, -2, -1)


def diagonal_matrix(d: Any) -> Any:
    """Square matrices with `d` (its last dim) on the diagonal."""
    return keep(d.unsqueeze(-1), core.from_array(np.eye(d.shape[-1], dtype=bool)))


def trace_of(x: Any) -> Any:
    """The traces of matrices, as a tensor with two dims of size one at the end."""
    return diagonal_of(x).sum(-1).unsqueeze(-1).unsqueeze(-1)


def real_part(x: Any) -> Any:
    """The real part of a complex tensor; a real one as it is."""
    return x.real if x.dtype.is_complex else x


# --- kernels --------------------------------------------------------------------------------------


def lapack_function(name: str, dtype: np.dtype, source: Any = lapack) -> Callable[..., Any]:
    """LAPACK's (or BLAS's) function for a dtype, such as dgetrf for 'getrf'."""
    return _found(source, _LETTERS[dtype.char] + name)


@functools.cache
def _found(source: Any, name: str) -> Callable[..., Any]:
    return getattr(source, name)


def over_batch(
    function: Callable[..., Any],
    arrays: Sequence[np.ndarray],
    core_dims: Sequence[int],
    outputs: Sequence[tuple[tuple[int, ...], Any]],
) -> tuple[np.ndarray, ...]:
    """Apply `function` to each matrix of batches that broadcast.

    For what LAPACK offers and NumPy has no batched form of. core_dims: how many last dims of each
    array belong to one call. outputs: shape and dtype of each result.
    """
    cores = [a.shape[a.ndim - n :] for a, n in zip(arrays, core_dims, strict=True)]
    batch = np.broadcast_shapes(
        *[a.shape[: a.ndim - n] for a, n in zip(arrays, core_dims, strict=True)]
    )
    count = math.prod(batch)
    flat = [
        np.broadcast_to(a, batch + c).reshape(count, *c) for a, c in zip(arrays, cores, strict=True)
    ]
    results = [np.empty((count, *shape), dtype=dtype) for shape, dtype in outputs]
    for i in range(count):
        values = function(*[a[i] for a in flat])
        for result, value in zip(results, values, strict=True):
            result[i] = value
    return tuple(r.reshape(batch + shape) for r, (shape, _) in zip(results, outputs, strict=True))


def first_failure(info: np.ndarray) -> tuple[str, int]:
    """Which matrix of a batch failed first ('' without a batch), and its info code."""
    flat = info.reshape(-1)
    failed = np.flatnonzero(flat)
    place = int(failed[0]) if len(failed) else 0
    return f"(batch element {place}) " if info.ndim else "", int(flat[place]) if flat.size else 0
