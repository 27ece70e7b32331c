"""Approximate singular value decompositions of low rank, by random projection."""

from __future__ import annotations

from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.random import numpy_generator
from tensorplay.ops import results
from tensorplay.ops.kinds import public
from tensorplay.ops.linalg_base import adjoint, check_matrix
from tensorplay.ops.linalg_qr import qr_op
from tensorplay.ops.linalg_svd import svd_op
from tensorplay.ops.products import matmul, matmul_tn
from tensorplay.ops.randoms import standard_normal


def _range_basis(a: Any, count: int, rounds: int) -> Any:
    """Orthonormal columns that nearly span the range of a.

    N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness", SIAM Review 53,
    2011, algorithm 4.4.
    """
    # One projection for all matrices, of a vmapped batch too: the result hardly depends on it.
    start = core.from_array(standard_normal(numpy_generator(), (a.shape[-1], count), a.dtype))
    q = qr_op(matmul(a, start), False)[0]
    for _ in range(rounds):
        q = qr_op(matmul_tn(a, q), False)[0]
        q = qr_op(matmul(a, q), False)[0]
    return q


def _low_rank(a: Any, count: int, rounds: int) -> tuple[Any, Any, Any]:
    """(U, S, V) of a, which has at least as many columns as rows, or the reverse."""
    turned = a.shape[-2] < a.shape[-1]
    a = adjoint(a) if turned else a
    q = _range_basis(a, count, rounds)
    u, s, vh = svd_op(matmul_tn(q, a), False)
    u, v = matmul(q, u), adjoint(vh)
    return (v, s, u) if turned else (u, s, v)


@public(method=False)
def svd_lowrank(A: Tensor, q: int = 6, niter: int = 2, M: Tensor | None = None) -> results.svd:
    """(U, S, V) with A (less M) approximately U diag(S) V^H, of rank q, by random projection.

    A: (..., m, n). niter: rounds of subspace iteration. It draws from the default generator.

    Raises:
        RuntimeError: if A is not a batch of matrices of a floating point or complex dtype.
    """
    check_matrix("svd_lowrank", A)
    return results.svd(*_low_rank(A if M is None else A - M, q, niter))


@public(method=False)
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> results.svd:
    """`svd_lowrank` of A less the mean of its rows (if `center`): principal components in V.

    Raises:
        ValueError: unless 0 <= q <= min(m, n), or for a negative niter.
        RuntimeError: if A is not a batch of matrices of a floating point or complex dtype.
    """
    check_matrix("pca_lowrank", A)
    rows, columns = A.shape[-2:]
    count = min(6, rows, columns) if q is None else q
    if not 0 <= count <= min(rows, columns):
        raise ValueError(f"pca_lowrank(): q must be from 0 to {min(rows, columns)}, got {q}")
    if niter < 0:
        raise ValueError(f"pca_lowrank(): niter must not be negative, got {niter}")
    return results.svd(*_low_rank(A - A.mean(-2, keepdim=True) if center else A, count, niter))
