"""Pseudoinverses, least squares and ranks: what depends on which singular values count as zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops import results
from tensorplay.ops.kinds import constant, leading, primitive, public
from tensorplay.ops.linalg_base import (
    LinAlgError,
    adjoint,
    check_batches,
    check_matrix,
    check_same_dtype,
    real_part,
)
from tensorplay.ops.products import matmul, matmul_nt, matmul_tn

# --- tolerances -----------------------------------------------------------------------------------


def _tolerance(
    size: np.ndarray, shape: tuple[int, ...], atol: np.ndarray | None, rtol: np.ndarray | None
) -> np.ndarray:
    """What counts as zero: max(atol, rtol times the largest), with a dim for the values.

    Without rtol it is the machine's precision times the larger side, or 0 where atol is positive.
    """
    absolute = np.zeros(()) if atol is None else atol
    if rtol is None:
        rtol = np.where(absolute > 0, 0.0, max(shape[-2:]) * np.finfo(size.dtype).eps)
    largest = size.max(-1) if size.shape[-1] else np.zeros(size.shape[:-1])
    return np.maximum(absolute, rtol * largest)[..., None]


def _tolerance_input(name: str, argument: str, value: Any) -> Tensor | None:
    if value is None:
        return None
    if not isinstance(value, Tensor):
        return core.from_array(np.asarray(float(value)))
    if value.dtype.is_complex:
        raise RuntimeError(f"{name}(): {argument} must be real, got dtype {value.dtype}")
    return value.detach()


# --- kernels --------------------------------------------------------------------------------------


def _decompose(a: np.ndarray, hermitian: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(U, S, Vh); of Hermitian matrices S are the eigenvalues, of either sign and any order."""
    try:
        if hermitian:
            values, vectors = np.linalg.eigh(a)
            return vectors, values, vectors.conj().swapaxes(-1, -2)
        return tuple(np.linalg.svd(a, full_matrices=False))  # type: ignore[return-value]
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.pinv(): the singular values did not converge; the matrix may hold infinities "
            "or nans"
        ) from None


def _pinv_kernel(
    a: np.ndarray, atol: np.ndarray | None, rtol: np.ndarray | None, hermitian: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u, s, vh = _decompose(a, hermitian)
    size = np.abs(s)
    counts = size > _tolerance(size, a.shape, atol, rtol)
    inverse = np.where(counts, 1 / np.where(counts, s, 1), 0).astype(s.dtype)
    left = vh.conj().swapaxes(-1, -2) * inverse[..., None, :]
    pinv = np.matmul(left, u.conj().swapaxes(-1, -2))
    return pinv, counts.sum(-1), np.broadcast_to(size, counts.shape).copy()


def _rank_kernel(
    a: np.ndarray, atol: np.ndarray | None, rtol: np.ndarray | None, hermitian: bool
) -> np.ndarray:
    try:
        size = np.abs(np.linalg.eigvalsh(a)) if hermitian else np.linalg.svd(a, compute_uv=False)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.matrix_rank(): the singular values did not converge; the matrix may hold "
            "infinities or nans"
        ) from None
    return (size > _tolerance(size, a.shape, atol, rtol)).sum(-1)


# --- the pseudoinverse ----------------------------------------------------------------------------

# G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
# problems whose variables separate", SIAM J. Numer. Anal. 10, 1973, for matrices of constant rank:
# dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P.


def _pinv_vjp(g: Any, a: Any, out: Any, hermitian: Any) -> Any:
    pinv, turned = out[0], adjoint(g[0])
    first = matmul_tn(pinv, matmul_nt(g[0], pinv))
    second = matmul_nt(matmul(turned, pinv), pinv)
    third = matmul_tn(pinv, matmul(pinv, turned))
    total = second + third - matmul(a, matmul(pinv, second)) - matmul(matmul(third, pinv), a)
    total = total - first
    return 0.5 * (total + adjoint(total)) if hermitian else total


def _pinv_jvp(t: Any, a: Any, out: Any, hermitian: Any) -> Any:
    t, pinv = t[0], out[0]
    if t is None:
        return None, None, None
    t = 0.5 * (t + adjoint(t)) if hermitian else t
    turned = adjoint(t)
    first = matmul(pinv, matmul(t, pinv))
    second = matmul(matmul_nt(pinv, pinv), turned)
    third = matmul(turned, matmul_tn(pinv, pinv))
    change = second + third - matmul(matmul(second, a), pinv) - matmul(pinv, matmul(a, third))
    return change - first, None, None


pinv_op = primitive(
    "linalg_pinv",
    _pinv_kernel,
    inputs=("a", "atol", "rtol"),
    params=("hermitian",),
    vjp=(_pinv_vjp, None, None),
    jvp=_pinv_jvp,
    batch=leading(2, 0, 0),
    outputs=3,
    fixed=(1, 2),
)


def _pinv(name: str, a: Any, atol: Any, rtol: Any, hermitian: bool) -> tuple[Tensor, ...]:
    check_matrix(name, a, square=hermitian)
    atol, rtol = _tolerance_input(name, "atol", atol), _tolerance_input(name, "rtol", rtol)
    return pinv_op(a, atol, rtol, bool(hermitian))


@public(namespace="linalg", method=False, out=True)
def pinv(
    A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """The pseudoinverses (Moore-Penrose) of matrices A, (..., m, n).

    Singular values of at most max(atol, rtol * largest) count as zero; both are numbers or tensors
    that broadcast with the batch. rcond: an older name of rtol. hermitian: A is symmetric or
    Hermitian; only its lower triangle is read, and derivatives are those of Hermitian matrices.

    Raises:
        LinAlgError: if the singular values do not converge.
        RuntimeError: if A is not a batch of matrices of a floating point or complex dtype.
    """
    return _pinv("linalg.pinv", A, atol, rcond if rtol is None else rtol, hermitian)[0]


@public(out=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The older form of `linalg.pinv`."""
    return _pinv("pinverse", input, None, rcond, False)[0]


rank_op = constant(
    "linalg_matrix_rank",
    _rank_kernel,
    inputs=("a", "atol", "rtol"),
    params=("hermitian",),
    batch=leading(2, 0, 0),
)


@public(namespace="linalg", method=False, out=True)
def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """How many singular values of matrices A, (..., m, n), exceed max(atol, rtol * largest).

    tol: an older form of atol with rtol=0. hermitian: A is symmetric or Hermitian. Returns int64.

    >>> import tensorplay as tp
    >>> tp.linalg.matrix_rank(tp.tensor([[1., 2.], [2., 4.]]))
    tensor(1)
    """
    name = "linalg.matrix_rank"
    check_matrix(name, A, square=hermitian)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol, rtol = _tolerance_input(name, "atol", atol), _tolerance_input(name, "rtol", rtol)
    return rank_op(A, atol, rtol, bool(hermitian))


# --- least squares --------------------------------------------------------------------------------

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _residuals(a: Any, b: Any, x: Any, rank: Any, driver: str) -> Tensor:
    """Sums of squared errors per column; empty where PyTorch leaves them out."""
    rows, columns = a.shape[-2:]
    deficient = driver != "gels" and not rank.is_box and bool((rank < columns).any())
    if driver == "gelsy" or rows <= columns or deficient:
        return real_part(x).reshape(-1).narrow(0, 0, 0)
    error = matmul(a, x) - b
    return real_part((error * error.conj() if error.dtype.is_complex else error * error).sum(-2))


@public(namespace="linalg", method=False, out=True)
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> results.linalg_lstsq:
    """The X of least norm that minimises the norm of AX - B: (solution, residuals, rank, S).

    A: (..., m, n). B: (..., m, k), or a vector (m) for one matrix A. Batch dims broadcast. rcond:
    singular values of at most rcond times the largest count as zero. driver: one of 'gelsy' (the
    default), 'gels', 'gelsd', 'gelss'. All are computed from the singular values here, and differ
    in which other results they give: the rank (not 'gels'), the singular values S ('gelsd' and
    'gelss'), and residuals (not 'gelsy'), where m > n and A has full rank; else these are empty.

    Raises:
        RuntimeError: if shapes or dtypes do not fit; for another driver.
        LinAlgError: with driver 'gels', if a matrix has not full rank.
    """
    name = "linalg.lstsq"
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}(): driver must be one of {_DRIVERS}, got {driver!r}")
    check_matrix(name, A)
    vector = B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1])
    right = B.unsqueeze(-1) if vector else B
    check_matrix(name, right, argument="B")
    check_same_dtype(name, A=A, B=B)
    if right.shape[-2] != A.shape[-2]:
        raise RuntimeError(
            f"{name}(): A of shape {list(A.shape)} and B of shape {list(B.shape)} do not fit: they "
            "must have as many rows"
        )
    check_batches(name, A, right)
    inverse, rank, sizes = _pinv(name, A, None, rcond, False)
    full = min(A.shape[-2:])
    if driver == "gels" and not core.batched_levels(rank) and bool((rank < full).any()):
        raise LinAlgError(
            f"{name}(): driver 'gels' is for matrices of full rank, but A, of shape "
            f"{list(A.shape)}, has rank {rank.tolist()}; use driver 'gelsy', 'gelsd' or 'gelss'"
        )
    x = matmul(inverse, right)
    residuals = _residuals(A, right, x, rank, driver)
    if driver == "gels":
        rank = rank.new_empty((0,))
    if driver in ("gels", "gelsy"):
        sizes = sizes.new_empty((0,))
    return results.linalg_lstsq(x.squeeze(-1) if vector else x, residuals, rank, sizes)
