"""Cholesky factors, and systems and inverses from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops import results
from tensorplay.ops.kinds import leading, primitive, public
from tensorplay.ops.linalg_base import (
    LinAlgError,
    adjoint,
    check_batches,
    check_matrix,
    check_same_dtype,
    diagonal_matrix,
    diagonal_of,
    first_failure,
    identity,
    lapack_function,
    lower,
    over_batch,
)
from tensorplay.ops.linalg_solve import triangular_op
from tensorplay.ops.products import matmul, matmul_tn


def _factor_each(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors one by one, as far as LAPACK gets, and the order of the minor that stopped it."""
    factor = lapack_function("potrf", a.dtype)
    return over_batch(
        lambda m: factor(m, lower=True, clean=True), [a], [2], [(a.shape[-2:], a.dtype), ((), "i4")]
    )  # type: ignore[return-value]


def _cholesky_kernel(a: np.ndarray, raising: str | None) -> tuple[np.ndarray, np.ndarray]:
    if a.ndim == 2 and a.size:  # LAPACK itself, without what NumPy does around it
        factor, failed = lapack_function("potrf", a.dtype)(a, lower=True, clean=True)
        if not failed:
            return np.ascontiguousarray(factor), np.zeros((), np.int32)
    try:
        return np.linalg.cholesky(a), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        factors, info = _factor_each(a)
    if raising:
        where, order = first_failure(info)
        raise LinAlgError(
            f"{raising}(): {where}the matrix A, of shape {list(a.shape)}, is not positive definite "
            f"(its leading minor of order {order} is not positive)"
        )
    return factors, info


def _half_diagonal(x: Any) -> Any:
    """The lower triangle with half the diagonal; it and its adjoint add up to a Hermitian x."""
    return lower(x) - diagonal_matrix(0.5 * diagonal_of(x))


def _cholesky_vjp(g: Any, out: Any) -> Any:
    # With A = L L^H and S = inv(L): dL = L P(S dA S^H), where P is `_half_diagonal`. S. F. Walter,
    # "Structured higher-order algorithmic differentiation in the forward and reverse mode", 2011.
    factor = out[0]
    inner = _half_diagonal(matmul_tn(factor, g[0]))
    inner = 0.5 * (inner + adjoint(inner))
    upper_factor = adjoint(factor)
    half = triangular_op(upper_factor, inner, True, False)
    return adjoint(triangular_op(upper_factor, adjoint(half), True, False))


def _cholesky_jvp(t: Any, out: Any) -> Any:
    factor = out[0]
    half = triangular_op(factor, 0.5 * (t + adjoint(t)), False, False)
    inner = adjoint(triangular_op(factor, adjoint(half), False, False))
    return matmul(factor, _half_diagonal(inner)), None


cholesky_op = primitive(
    "linalg_cholesky_ex",
    _cholesky_kernel,
    inputs=("a",),
    params=("raising",),
    vjp=_cholesky_vjp,
    jvp=_cholesky_jvp,
    batch=leading(2),
    outputs=2,
    fixed=(1,),
    quiet=True,
)


def _cholesky(name: str, a: Any, upper: bool, raising: bool) -> tuple[Tensor, Tensor]:
    check_matrix(name, a, square=True)
    # The upper factor is the adjoint of the lower one, of the matrix in the upper triangle.
    factor, info = cholesky_op(adjoint(a) if upper else a, name if raising else None)
    return (adjoint(factor) if upper else factor), info


@public(namespace="linalg", method=False, out=True)
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with A = L L^H (upper: U with A = U^H U), for positive definite A.

    A: (..., n, n), symmetric or Hermitian; only its lower (upper) triangle is read. Gradients are
    those of a function of Hermitian matrices, so they are Hermitian.

    Raises:
        LinAlgError: if a matrix is not positive definite.
        RuntimeError: if A is not a batch of square matrices of a floating point or complex dtype.

    >>> import tensorplay as tp
    >>> tp.linalg.cholesky(tp.tensor([[4., 2.], [2., 2.]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    return _cholesky("linalg.cholesky", A, upper, True)[0]


@public("cholesky", out=True)
def cholesky_older(input: Tensor, upper: bool = False) -> Tensor:
    """The older form of `linalg.cholesky`."""
    return _cholesky("cholesky", input, upper, True)[0]


@public(namespace="linalg", method=False, out=True)
def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False
) -> results.linalg_cholesky_ex:
    """`cholesky` without an error for matrices that are not positive definite: (L, info).

    info: int32, per matrix 0, or the order of the leading minor that is not positive; L then holds
    the factor of what comes before it.

    Raises:
        LinAlgError: if a matrix is not positive definite and check_errors is True.
    """
    return results.linalg_cholesky_ex(*_cholesky("linalg.cholesky_ex", A, upper, check_errors))


@public(out=True)
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of AX = input for the A whose Cholesky factor is L (upper: is the upper one).

    input: (..., n, k). L: (..., n, n). Batch dims broadcast.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.
    """
    name = "cholesky_solve"
    check_matrix(name, L, square=True, argument="L")
    check_matrix(name, input, argument="input")
    check_same_dtype(name, input=input, L=L)
    if input.shape[-2] != L.shape[-1]:
        raise RuntimeError(
            f"{name}(): input of shape {list(input.shape)} and L of shape {list(L.shape)} do not "
            "fit the equation AX = input"
        )
    check_batches(name, input, L)
    factor = adjoint(L) if upper else L
    half = triangular_op(factor, input, False, False)
    return triangular_op(adjoint(factor), half, True, False)


@public(out=True)
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is L (upper: is the upper one).

    Raises:
        RuntimeError: if L is not a batch of square matrices of a floating point or complex dtype.
    """
    check_matrix("cholesky_inverse", L, square=True, argument="L")
    factor = adjoint(L) if upper else L
    inverse = triangular_op(factor, identity(L.shape[-1], L), False, False)
    return matmul_tn(inverse, inverse)
