"""Singular value decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core.core import Tensor, conjugate
from tensorplay.ops import results
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import leading, primitive, public
from tensorplay.ops.linalg_base import (
    LinAlgError,
    adjoint,
    check_matrix,
    diagonal_matrix,
    diagonal_of,
    lapack_function,
    real_part,
)
from tensorplay.ops.linalg_spectral import check_phase, differences, imag_diagonal, off_diagonal
from tensorplay.ops.products import matmul, matmul_nt, matmul_tn


def _svd_kernel(a: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if a.ndim == 2 and 0 < a.size <= 256:
        # LAPACK itself: for small matrices NumPy's function spends most of its time around it.
        u, s, vh, failed = lapack_function("gesdd", a.dtype)(a, full_matrices=full)
        if not failed:
            return np.ascontiguousarray(u), s, np.ascontiguousarray(vh)
    try:
        return tuple(np.linalg.svd(a, full))  # type: ignore[return-value]
    except np.linalg.LinAlgError:
        return _not_converged("linalg.svd")


def _not_converged(name: str) -> Any:
    raise LinAlgError(
        f"{name}(): the algorithm did not converge; the matrix may hold infinities or nans"
    )


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _add(x: Any, y: Any) -> Any:
    """x + y, None counting as zero."""
    return y if x is None else x if y is None else x + y


def _fold_complement(g: Any, basis: Any, rank: int) -> tuple[Any, Any]:
    """(g, basis) of the first `rank` columns, with what g says of the others folded into them.

    The others span the complement of the first: where the first turn by dU, they by -U dU^H U2.
    """
    first, rest = basis.narrow(-1, 0, rank), basis.narrow(-1, rank, basis.shape[-1] - rank)
    if g is not None:
        g, g_rest = g.narrow(-1, 0, rank), g.narrow(-1, rank, rest.shape[-1])
        g = g - matmul(rest, matmul_tn(g_rest, first))
    return g, first


def _svd_vjp(g: Any, out: Any, full: Any) -> Any:
    # J. Townsend, "Differentiating the singular value decomposition", 2016, and for the phase
    # of complex vectors Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for complex valued
    # SVD", 2019. The inner matrix stands between U and V^H.
    (gu, gs, gvh), (u, s, vh) = g, out
    gv, v = None if gvh is None else adjoint(gvh), adjoint(vh)
    rank = s.shape[-1]
    if u.shape[-1] > rank:
        gu, u = _fold_complement(gu, u, rank)
    if v.shape[-1] > rank:
        gv, v = _fold_complement(gv, v, rank)
    if gu is None and gv is None:
        return matmul_nt(u * gs.unsqueeze(-2), v)
    by_u = None if gu is None else matmul_tn(u, gu)
    by_v = None if gv is None else matmul_tn(v, gv)
    turn = None if by_u is None else _skew(by_u) * s.unsqueeze(-2)
    turn = _add(turn, None if by_v is None else _skew(by_v) * s.unsqueeze(-1))
    inner = off_diagonal(turn, _squared_differences(s))
    if gs is not None:
        inner = inner + diagonal_matrix(gs)
    if inner.dtype.is_complex:
        inner = _with_phases(inner, by_u, by_v, s)
    total = matmul(u, matmul_nt(inner, v))
    if gu is not None and u.shape[-2] > rank:
        scaled = gu / s.unsqueeze(-2)
        total = total + matmul_nt(scaled - matmul(u, matmul_tn(u, scaled)), v)
    if gv is not None and v.shape[-2] > rank:
        scaled = gv / s.unsqueeze(-2)
        total = total + matmul_nt(u, scaled - matmul(v, matmul_tn(v, scaled)))
    return total


def _squared_differences(s: Any) -> Any:
    return differences(s) * (s.unsqueeze(-2) + s.unsqueeze(-1))


def _with_phases(inner: Any, by_u: Any, by_v: Any, s: Any) -> Any:
    """The inner matrix with the turn of the phases, of u and v in opposite directions."""
    left = None if by_u is None else imag_diagonal(by_u)
    right = None if by_v is None else imag_diagonal(by_v)
    inner = check_phase(inner, _add(left, right), "linalg.svd")
    turn = _add(left, None if right is None else -right) / (2 * s)
    return inner + diagonal_matrix(1j * turn)


def _svd_jvp(t: Any, out: Any, full: Any) -> Any:
    u, s, vh = out
    v = adjoint(vh)
    rank = s.shape[-1]
    u1, v1 = u.narrow(-1, 0, rank), v.narrow(-1, 0, rank)
    right, left = matmul(t, v1), matmul_tn(t, u1)
    inner = matmul_tn(u1, right)
    by_row, by_column = s.unsqueeze(-1), s.unsqueeze(-2)
    gaps = _squared_differences(s)
    turn_u = off_diagonal(inner * by_column + by_row * adjoint(inner), gaps)
    turn_v = off_diagonal(by_row * inner + adjoint(inner) * by_column, gaps)
    if inner.dtype.is_complex:
        phases = diagonal_matrix(1j * (imag_diagonal(inner) / (2 * s)))
        turn_u, turn_v = turn_u + phases, turn_v - phases
    du = _moved(u, u1, turn_u, right, by_column)
    dv = _moved(v, v1, turn_v, left, by_column)
    return du, real_part(diagonal_of(inner)), adjoint(dv)


def _moved(basis: Any, first: Any, turn: Any, image: Any, s: Any) -> Any:
    """The tangent of a basis whose first columns turn by `turn` and out of their span."""
    rank = first.shape[-1]
    change = matmul(first, turn)
    if first.shape[-2] > rank:
        scaled = image / s
        change = change + scaled - matmul(first, matmul_tn(first, scaled))
    if basis.shape[-1] > rank:
        rest = basis.narrow(-1, rank, basis.shape[-1] - rank)
        change = cat((change, -matmul(first, matmul_tn(change, rest))), -1)
    return change


svd_op = primitive(
    "linalg_svd",
    _svd_kernel,
    inputs=("a",),
    params=("full",),
    vjp=_svd_vjp,
    jvp=_svd_jvp,
    batch=leading(2),
    outputs=3,
    quiet=True,
)


def _svdvals_kernel(a: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.svd(a, compute_uv=False)
    except np.linalg.LinAlgError:
        return _not_converged("linalg.svdvals")


def _svdvals_vjp(g: Any, a: Any) -> Any:
    u, _, vh = svd_op(a, False)
    return matmul(u * g.unsqueeze(-2), vh)


def _svdvals_jvp(t: Any, a: Any) -> Any:
    u, _, vh = svd_op(a, False)
    return real_part((conjugate(u) * matmul_nt(t, vh)).sum(-2))


svdvals_op = primitive(
    "linalg_svdvals",
    _svdvals_kernel,
    inputs=("a",),
    vjp=_svdvals_vjp,
    jvp=_svdvals_jvp,
    batch=leading(2),
    quiet=True,
)


@public(namespace="linalg", method=False, out=True)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> results.linalg_svd:
    """The decomposition A = U diag(S) Vh: orthonormal columns of U and rows of Vh, S descending.

    A: (..., m, n). With k = min(m, n): S (..., k), U (..., m, m), Vh (..., n, n), or with
    full_matrices=False U (..., m, k) and Vh (..., k, n). Gradients of the vectors are infinite or
    nan at repeated singular values; those of the values alone are finite.

    Raises:
        LinAlgError: if the algorithm does not converge, as for infinities and nans.
        RuntimeError: for a driver: there is a choice on CUDA only.
    """
    check_matrix("linalg.svd", A)
    _refuse_driver("linalg.svd", driver)
    return results.linalg_svd(*svd_op(A, bool(full_matrices)))


def _refuse_driver(name: str, driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(f"{name}(): driver= is for CUDA only; leave it out, got {driver!r}")


@public(namespace="linalg", method=False, out=True)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values of matrices (..., m, n), descending; see `svd`.

    >>> import tensorplay as tp
    >>> tp.linalg.svdvals(tp.tensor([[3., 0.], [0., -4.]]))
    tensor([4., 3.])
    """
    check_matrix("linalg.svdvals", A)
    _refuse_driver("linalg.svdvals", driver)
    return svdvals_op(A)


@public("svd", out=True)
def svd_older(input: Tensor, some: bool = True, compute_uv: bool = True) -> results.svd:
    """The older form of `linalg.svd`: (U, S, V) with input = U diag(S) V^H, reduced if `some`.

    With compute_uv=False U and V are filled with zeros.
    """
    check_matrix("svd", input, argument="input")
    if not compute_uv:
        rows, columns = input.shape[-2:]
        batch = tuple(input.shape[:-2])
        return results.svd(
            input.new_zeros((*batch, rows, rows)),
            svdvals_op(input),
            input.new_zeros((*batch, columns, columns)),
        )
    u, s, vh = svd_op(input, not some)
    return results.svd(u, s, adjoint(vh))
