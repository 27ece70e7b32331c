"""A few singular values or eigenvalues: by random projection, and the extreme ones."""

from __future__ import annotations

from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.random import numpy_generator
from tensorplay.ops import results
from tensorplay.ops.kinds import public
from tensorplay.ops.linalg_base import adjoint, check_matrix
from tensorplay.ops.linalg_cholesky import cholesky_op
from tensorplay.ops.linalg_qr import qr_op
from tensorplay.ops.linalg_solve import triangular_op
from tensorplay.ops.linalg_spectral import eigh_op
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


@public(method=False)
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) eigenvalues and their vectors of A x = lambda B x.

    A: (..., m, m), symmetric; B: the same, positive definite, by default the identity. k: by
    default the number of columns of X, or 1. Matrices are dense here, so the problem is solved
    directly, by a Cholesky decomposition of B and `linalg.eigh`: X, n, iK, niter, tol, method,
    tracker and ortho_* steer an iteration that does not take place. Differentiable by A and B.

    Raises:
        LinAlgError: if B is not positive definite.
        RuntimeError: if A or B is not a batch of square matrices.
        ValueError: if k is not from 1 to m.
    """
    check_matrix("lobpcg", A, square=True)
    size = A.shape[-1]
    count = (1 if X is None else X.shape[-1]) if k is None else k
    if not 1 <= count <= size:
        raise ValueError(f"lobpcg(): k must be from 1 to {size}, got {count}")
    reduced, factor = A, None
    if B is not None:
        check_matrix("lobpcg", B, square=True, argument="B")
        factor = cholesky_op(B, "lobpcg")[0]
        half = triangular_op(factor, A, False, False)
        reduced = adjoint(triangular_op(factor, adjoint(half), False, False))
    values, vectors = eigh_op(reduced, "L")
    if largest is None or largest:
        values = values.narrow(-1, size - count, count).flip(-1)
        vectors = vectors.narrow(-1, size - count, count).flip(-1)
    else:
        values, vectors = values.narrow(-1, 0, count), vectors.narrow(-1, 0, count)
    if factor is not None:
        vectors = triangular_op(adjoint(factor), vectors, True, False)
    return values, vectors
