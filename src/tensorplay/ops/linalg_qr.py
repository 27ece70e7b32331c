"""QR decompositions, and products of Householder reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops import results
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import leading, primitive, public, publish
from tensorplay.ops.linalg_base import (
    adjoint,
    check_matrix,
    check_same_dtype,
    diagonal_matrix,
    diagonal_of,
    lower,
    real_part,
    upper,
)
from tensorplay.ops.linalg_solve import triangular_op
from tensorplay.ops.products import matmul, matmul_nt, matmul_tn

# --- QR -------------------------------------------------------------------------------------------

_MODES = ("reduced", "complete", "r")


def _qr_kernel(a: np.ndarray, complete: bool) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.linalg.qr(a, "complete" if complete else "reduced"))  # type: ignore


def _divide_by_factor(x: Any, r: Any) -> Any:
    """x R^-1 for an upper triangular R."""
    return triangular_op(r.mT, x.mT, False, False).mT


def _divide_by_adjoint(x: Any, r: Any) -> Any:
    """x R^-H for an upper triangular R."""
    return adjoint(triangular_op(r, adjoint(x), True, False))


def _check_complete(complete: bool, rows: int, columns: int) -> None:
    if complete and rows > columns:
        raise RuntimeError(
            "linalg.qr(): mode 'complete' has no derivative for matrices with more rows than "
            f"columns ({rows} by {columns}): the last columns of Q are arbitrary; use 'reduced'"
        )


def _qr_vjp(g: Any, a: Any, out: Any, complete: Any) -> Any:
    # With M = Q^H dA R^-1, which is Q^H dQ (skew-Hermitian) plus dR R^-1 (upper triangular with a
    # real diagonal): dR R^-1 = T(M), and dQ = dA R^-1 - Q T(M).
    (gq, gr), (q, r) = g, out
    rows, columns = a.shape[-2:]
    _check_complete(complete, rows, columns)
    if rows >= columns:
        return _tall_vjp(gq, gr, q, r)
    # A = [A1 A2] and R = [R1 R2], with A1 = Q R1 and R2 = Q^H A2.
    right = a.narrow(-1, rows, columns - rows)
    if gr is None:
        left = _tall_vjp(gq, None, q, r.narrow(-1, 0, rows))
        return cat((left, right * 0), -1)
    g1, g2 = gr.narrow(-1, 0, rows), gr.narrow(-1, rows, columns - rows)
    through = matmul_nt(right, g2)
    gq = through if gq is None else gq + through
    return cat((_tall_vjp(gq, g1, q, r.narrow(-1, 0, rows)), matmul(q, g2)), -1)


def _tall_vjp(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    inner = None if gr is None else matmul_nt(gr, r)
    if gq is not None:
        product = matmul_tn(q, gq)
        inner = -product if inner is None else inner - product
    strict = upper(inner, 1)
    hermitian = strict + adjoint(strict) + diagonal_matrix(real_part(diagonal_of(inner)))
    total = matmul(q, hermitian)
    return _divide_by_adjoint(total if gq is None else gq + total, r)


def _qr_jvp(t: Any, a: Any, out: Any, complete: Any) -> Any:
    q, r = out
    rows, columns = a.shape[-2:]
    _check_complete(complete, rows, columns)
    if rows >= columns:
        return _tall_jvp(t, q, r)
    right, t2 = (x.narrow(-1, rows, columns - rows) for x in (a, t))
    dq, dr1 = _tall_jvp(t.narrow(-1, 0, rows), q, r.narrow(-1, 0, rows))
    return dq, cat((dr1, matmul_tn(dq, right) + matmul_tn(q, t2)), -1)


def _tall_jvp(t: Any, q: Any, r: Any) -> Any:
    scaled = _divide_by_factor(t, r)
    inner = matmul_tn(q, scaled)
    change = (
        upper(inner, 1) + adjoint(lower(inner, -1)) + diagonal_matrix(real_part(diagonal_of(inner)))
    )
    return scaled - matmul(q, change), matmul(change, r)


qr_op = primitive(
    "linalg_qr",
    _qr_kernel,
    inputs=("a",),
    params=("complete",),
    vjp=_qr_vjp,
    jvp=_qr_jvp,
    batch=leading(2),
    outputs=2,
    quiet=True,
)


def _qr(name: str, a: Any, mode: str) -> tuple[Tensor, Tensor]:
    check_matrix(name, a)
    if mode not in _MODES:
        raise RuntimeError(f"{name}(): mode must be one of {_MODES}, got {mode!r}")
    q, r = qr_op(a, mode == "complete" and a.shape[-2] > a.shape[-1])
    return (q.new_empty((0,)) if mode == "r" else q), r


@public(namespace="linalg", method=False, out=True)
def qr(A: Tensor, mode: str = "reduced") -> results.linalg_qr:
    """The decomposition A = QR: Q with orthonormal columns, R upper triangular.

    A: (..., m, n). mode: 'reduced' gives Q (..., m, k) and R (..., k, n) with k = min(m, n);
    'complete' gives Q (..., m, m) and R (..., m, n); 'r' gives R alone, and an empty Q. R has a
    derivative in mode 'r' too. The first k columns of A must be linearly independent for the
    derivative to be finite.

    Raises:
        RuntimeError: for another mode; for a derivative of the complete decomposition of a matrix
            with more rows than columns.
    """
    return results.linalg_qr(*_qr("linalg.qr", A, mode))


@public("qr", out=True)
def qr_older(input: Tensor, some: bool = True) -> results.qr:
    """The older form of `linalg.qr`: reduced if `some`, else complete."""
    return results.qr(*_qr("qr", input, "reduced" if some else "complete"))


# --- Householder reflections ----------------------------------------------------------------------

# The product of H_i = I - tau_i v_i v_i^H over i = 1 ... k is I - V T V^H with V = [v_1 ... v_k]
# and T = (I + D S)^-1 D, where D = diag(tau) and S is the strict upper triangle of V^H V.
# C. Puglisi, "Modification of the Householder method based on the compact WY representation",
# SIAM J. Sci. Stat. Comput. 13, 1992.


def _reflectors(name: str, a: Any, tau: Any) -> tuple[Any, Any]:
    """(V, T) of the reflections that are stored below the diagonal of a."""
    check_matrix(name, a, argument="input")
    check_same_dtype(name, input=a, tau=tau)
    rows, columns = a.shape[-2:]
    if tau.ndim == 0 or tau.ndim != a.ndim - 1 or tau.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(
            f"{name}(): tau of shape {list(tau.shape)} must have the batch dims of input, of shape "
            f"{list(a.shape)}, and one dim more"
        )
    count = tau.shape[-1]
    if count > min(rows, columns):
        raise RuntimeError(
            f"{name}(): tau of shape {list(tau.shape)} has more elements than input, of shape "
            f"{list(a.shape)}, has rows or columns"
        )
    start = np.eye(rows, count, dtype=a.dtype.numpy)
    v = lower(a.narrow(-1, 0, count), -1) + core.from_array(start)
    scaled = tau.unsqueeze(-1) * upper(matmul_tn(v, v), 1)
    return v, triangular_op(scaled, diagonal_matrix(tau), True, True)


@public(namespace="linalg", method=False, out=True)
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of the product of Householder reflections I - tau_i v_i v_i^H.

    A: (..., m, n), m >= n; v_i is a 1 at i and what is below the diagonal in column i of A.
    tau: (..., k), k <= n.

    Raises:
        RuntimeError: if the shapes or dtypes do not fit.
    """
    name = "linalg.householder_product"
    v, t = _reflectors(name, A, tau)
    rows, columns = A.shape[-2:]
    if columns > rows:
        raise RuntimeError(
            f"{name}(): A must have at least as many rows as columns, got shape {list(A.shape)}"
        )
    start = core.from_array(np.eye(rows, columns, dtype=A.dtype.numpy))
    return start - matmul(v, matmul_nt(t, v.narrow(-2, 0, columns)))


publish(householder_product, "orgqr")


@public(out=True)
def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of `other` and the square Q that Householder reflections make.

    input: (..., m, k), its reflections stored as for `linalg.householder_product`; tau: (..., k).
    left: Q is on the left of other. transpose: Q^H takes the place of Q.

    Raises:
        RuntimeError: if the shapes or dtypes do not fit.
    """
    v, t = _reflectors("ormqr", input, tau)
    check_matrix("ormqr", other, argument="other")
    check_same_dtype("ormqr", input=input, other=other)
    if other.shape[-2 if left else -1] != input.shape[-2]:
        raise RuntimeError(
            f"ormqr(): other of shape {list(other.shape)} cannot be multiplied from the "
            f"{'left' if left else 'right'} with the square matrix of {input.shape[-2]} rows that "
            f"input of shape {list(input.shape)} makes"
        )
    t = adjoint(t) if transpose else t
    if left:
        return other - matmul(v, matmul(t, matmul_tn(v, other)))
    return other - matmul_nt(matmul(matmul(other, v), t), v)


def _raw_qr_kernel(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    packed, tau = np.linalg.qr(a, "raw")
    return packed.swapaxes(-1, -2), tau


def _no_derivative(g: Any) -> Any:
    raise RuntimeError("geqrf(): its derivative is not implemented; use linalg.qr()")


geqrf_op = primitive(
    "geqrf",
    _raw_qr_kernel,
    inputs=("a",),
    vjp=_no_derivative,
    jvp=lambda t: _no_derivative(t),
    batch=leading(2),
    outputs=2,
)


@public(out=True)
def geqrf(input: Tensor) -> results.geqrf:
    """The QR decomposition as LAPACK stores it: (a, tau).

    a: (..., m, n), R in the upper triangle, Householder vectors below it; tau: (..., min(m, n)).
    It has no derivative; use `linalg.qr`.

    Raises:
        RuntimeError: if input is not a batch of matrices of a floating point or complex dtype.
    """
    check_matrix("geqrf", input, argument="input")
    return results.geqrf(*geqrf_op(input))
