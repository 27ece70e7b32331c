"""LU and LDL decompositions, and systems solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, conjugate
from tensorplay.base import dtypes
from tensorplay.ops import results
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import constant, leading, primitive, public
from tensorplay.ops.linalg_base import (
    LinAlgError,
    adjoint,
    check_batches,
    check_matrix,
    check_same_dtype,
    first_failure,
    lapack_function,
    lower,
    over_batch,
    upper,
)
from tensorplay.ops.linalg_solve import triangular_op
from tensorplay.ops.products import matmul, matmul_nt, matmul_tn

# --- LU -------------------------------------------------------------------------------------------


def _lu_kernel(a: np.ndarray, raising: str | None) -> tuple[np.ndarray, ...]:
    factor = lapack_function("getrf", a.dtype)
    rank = min(a.shape[-2:])
    if a.size == 0:
        batch = a.shape[:-2]
        return a.copy(), np.zeros((*batch, rank), np.int32), np.zeros(batch, np.int32)

    def one(m: np.ndarray) -> tuple[Any, ...]:
        lu, pivots, info = factor(m)
        return lu, pivots + 1, info  # counted from 1, as LAPACK itself does

    lu, pivots, info = over_batch(
        one, [a], [2], [(a.shape[-2:], a.dtype), ((rank,), np.int32), ((), np.int32)]
    )
    if raising and info.any():
        where, place = first_failure(info)
        raise LinAlgError(
            f"{raising}(): {where}the diagonal element {place} of U is zero, so solving with this "
            f"factor of A, of shape {list(a.shape)}, would divide by zero; use linalg.lu() or "
            "linalg.lu_factor_ex()"
        )
    return lu, pivots, info


def _permutation_kernel(pivots: np.ndarray, rows: int, kind: dtypes.dtype) -> np.ndarray:
    """The matrices P with A = P L U, from the exchanges of rows that LAPACK notes."""
    batch = pivots.shape[:-1]
    order = np.broadcast_to(np.arange(rows), (*batch, rows)).copy()
    for i in range(pivots.shape[-1]):
        other = pivots[..., i, None].astype(np.int64) - 1
        moved = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, order[..., i, None].copy(), -1)
        order[..., i] = moved[..., 0]
    matrix = np.zeros((*batch, rows, rows), kind.numpy)
    np.put_along_axis(matrix, order[..., None, :], 1, -2)
    return matrix


permutation_op = constant(
    "lu_permutation",
    _permutation_kernel,
    inputs=("pivots",),
    params=("rows", "kind"),
    batch=leading(1),
    quiet=True,
)


def unpack(lu: Any) -> tuple[Any, Any]:
    """The factors L (unit diagonal) and U of a packed decomposition."""
    rows, columns = lu.shape[-2:]
    rank = min(rows, columns)
    start = core.from_array(np.eye(rows, rank, dtype=lu.dtype.numpy))
    return lower(lu.narrow(-1, 0, rank), -1) + start, upper(lu.narrow(-2, 0, rank))


def _split(x: Any, dim: int, size: int) -> tuple[Any, Any]:
    return x.narrow(dim, 0, size), x.narrow(dim, size, x.shape[dim] - size)


def _square_lu_vjp(gl: Any, gu: Any, lu: Any) -> Any:
    # With F = L^-1 dB U^-1 for B = L U: dL is L times the strict lower triangle of F, and dU is
    # the upper triangle of F times U.
    low, up = unpack(lu)
    inner = lower(matmul_tn(low, gl), -1) + upper(matmul_nt(gu, up))
    half = triangular_op(adjoint(low), inner, True, True)
    return adjoint(triangular_op(up, adjoint(half), True, False))


def _lu_vjp(g: Any, out: Any) -> Any:
    gradient, lu, pivots = g[0], out[0], out[1]
    rows, columns = lu.shape[-2:]
    rank = min(rows, columns)
    if rows > columns:  # L2 = B2 U^-1 below the square part
        (g1, g2), (square, low2) = _split(gradient, -2, rank), _split(lu, -2, rank)
        up = upper(square)
        below = adjoint(triangular_op(up, adjoint(g2), True, False))
        inner = _square_lu_vjp(g1, g1 - matmul_tn(low2, below), square)
        gradient = cat((inner, below), -2)
    elif columns > rows:  # U2 = L^-1 B2 right of the square part
        (g1, g2), (square, up2) = _split(gradient, -1, rank), _split(lu, -1, rank)
        right = triangular_op(adjoint(square), g2, True, True)
        inner = _square_lu_vjp(g1 - matmul_nt(right, up2), g1, square)
        gradient = cat((inner, right), -1)
    else:
        gradient = _square_lu_vjp(gradient, gradient, lu)
    return matmul(permutation_op(pivots, rows, lu.dtype), gradient)


def _square_lu_jvp(change: Any, lu: Any) -> tuple[Any, Any]:
    low, up = unpack(lu)
    inner = triangular_op(low, change, False, True)
    inner = triangular_op(up.mT, inner.mT, False, False).mT
    return matmul(low, lower(inner, -1)), matmul(upper(inner), up)


def _lu_jvp(t: Any, out: Any) -> Any:
    lu, pivots = out[0], out[1]
    rows, columns = lu.shape[-2:]
    rank = min(rows, columns)
    change = matmul_tn(permutation_op(pivots, rows, lu.dtype), t)
    if rows > columns:
        (t1, t2), (square, low2) = _split(change, -2, rank), _split(lu, -2, rank)
        dl, du = _square_lu_jvp(t1, square)
        below = triangular_op(square.mT, (t2 - matmul(low2, du)).mT, False, False).mT
        return cat((dl + du, below), -2), None, None
    if columns > rows:
        (t1, t2), (square, up2) = _split(change, -1, rank), _split(lu, -1, rank)
        dl, du = _square_lu_jvp(t1, square)
        right = triangular_op(square, t2 - matmul(dl, up2), False, True)
        return cat((dl + du, right), -1), None, None
    dl, du = _square_lu_jvp(change, lu)
    return dl + du, None, None


lu_op = primitive(
    "linalg_lu_factor_ex",
    _lu_kernel,
    inputs=("a",),
    params=("raising",),
    vjp=_lu_vjp,
    jvp=_lu_jvp,
    batch=leading(2),
    outputs=3,
    fixed=(1, 2),
    quiet=True,
)


def _need_pivot(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{name}(): LU without pivoting is not implemented; use pivot=True")


@public(namespace="linalg", method=False, out=True)
def lu_factor(A: Tensor, *, pivot: bool = True) -> results.linalg_lu_factor:
    """The LU decomposition with partial pivoting, packed: (LU, pivots).

    A: (..., m, n). LU: U in the upper triangle, L below it (its unit diagonal is not stored).
    pivots: int32, (..., min(m, n)): row i was exchanged with row pivots[i], counted from 1.

    Raises:
        LinAlgError: if U has a zero on its diagonal.
        RuntimeError: for pivot=False.
    """
    check_matrix("linalg.lu_factor", A)
    _need_pivot("linalg.lu_factor", pivot)
    return results.linalg_lu_factor(*lu_op(A, "linalg.lu_factor")[:2])


@public(namespace="linalg", method=False, out=True)
def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> results.linalg_lu_factor_ex:
    """`lu_factor` without an error for singular matrices: (LU, pivots, info).

    info: int32, per matrix 0, or the number of the zero on the diagonal of U.

    Raises:
        LinAlgError: if U has a zero on its diagonal and check_errors is True.
        RuntimeError: for pivot=False.
    """
    name = "linalg.lu_factor_ex"
    check_matrix(name, A)
    _need_pivot(name, pivot)
    return results.linalg_lu_factor_ex(*lu_op(A, name if check_errors else None))


@public(namespace="linalg", method=False, out=True)
def lu(A: Tensor, *, pivot: bool = True) -> results.linalg_lu:
    """The decomposition A = P L U: P a permutation, L unit lower triangular, U upper triangular.

    A: (..., m, n). P: (..., m, m), L: (..., m, k), U: (..., k, n) with k = min(m, n).

    Raises:
        RuntimeError: for pivot=False.
    """
    check_matrix("linalg.lu", A)
    _need_pivot("linalg.lu", pivot)
    packed, pivots, _ = lu_op(A, None)
    permutation = permutation_op(pivots, A.shape[-2], A.dtype)
    return results.linalg_lu(permutation, *unpack(packed))


@public("lu", method="lu")
def lu_older(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The older form of `linalg.lu_factor_ex` (without get_infos: of its first two results)."""
    check_matrix("lu", A)
    _need_pivot("lu", pivot)
    found = lu_op(A, None)
    return tuple(found) if get_infos else tuple(found[:2])


@public(method=False, out=True)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> results.lu_unpack:
    """(P, L, U) from what `linalg.lu_factor` returns; empty tensors for what is not wanted.

    Raises:
        RuntimeError: if LU_pivots is not of dtype int32.
    """
    check_matrix("lu_unpack", LU_data, argument="LU_data")
    empty = LU_data.new_empty((0,))
    permutation = empty
    if unpack_pivots:
        _check_pivots("lu_unpack", LU_pivots)
        permutation = permutation_op(LU_pivots, LU_data.shape[-2], LU_data.dtype)
    factors = unpack(LU_data) if unpack_data else (empty, empty)
    return results.lu_unpack(permutation, *factors)


def _check_pivots(name: str, pivots: Any) -> None:
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"{name}(): pivots must be of dtype int32, as LU decompositions return them, got "
            f"{pivots.dtype}"
        )


@public(namespace="linalg", method=False, out=True)
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The solution of AX = B (XA = B with left=False) from the LU decomposition of A.

    LU: (..., n, n), pivots: (..., n), from `lu_factor`. B: (..., n, k). adjoint: A^H takes the
    place of A. Batch dims broadcast.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.
    """
    name = "linalg.lu_solve"
    check_matrix(name, LU, square=True, argument="LU")
    check_matrix(name, B, argument="B")
    check_same_dtype(name, LU=LU, B=B)
    _check_pivots(name, pivots)
    if B.shape[-2 if left else -1] != LU.shape[-1]:
        raise RuntimeError(
            f"{name}(): LU of shape {list(LU.shape)} and B of shape {list(B.shape)} do not fit the "
            f"equation {'AX = B' if left else 'XA = B'}"
        )
    check_batches(name, LU, B)
    if left:
        return _lu_solve(LU, pivots, B, adjoint)
    # X A = B is A^H X^H = B^H.
    return _adjoint(_lu_solve(LU, pivots, _adjoint(B), not adjoint))


_adjoint = adjoint


def _lu_solve(packed: Any, pivots: Any, b: Any, of_adjoint: bool) -> Any:
    permutation = permutation_op(pivots, packed.shape[-1], packed.dtype)
    if not of_adjoint:
        half = triangular_op(packed, matmul_tn(permutation, b), False, True)
        return triangular_op(packed, half, True, False)
    turned = _adjoint(packed)
    half = triangular_op(turned, b, False, False)
    return matmul(permutation, triangular_op(turned, half, True, True))


@public("lu_solve", out=True)
def lu_solve_older(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The older form of `linalg.lu_solve`, with the right hand side first."""
    return lu_solve(LU_data, LU_pivots, b)


# --- LDL ------------------------------------------------------------------------------------------


def _no_derivative(g: Any) -> Any:
    raise RuntimeError(
        "linalg.ldl_factor(): its derivative is not implemented; use linalg.solve(), or "
        "linalg.cholesky() for positive definite matrices"
    )


def _ldl_names(hermitian: bool, kind: np.dtype) -> tuple[str, str]:
    family = "he" if hermitian and kind.kind == "c" else "sy"
    return family + "trf", family + "trs"


def _ldl_kernel(a: np.ndarray, hermitian: bool, raising: str | None) -> tuple[np.ndarray, ...]:
    factor = lapack_function(_ldl_names(hermitian, a.dtype)[0], a.dtype)
    n = a.shape[-1]
    if a.size == 0:
        return a.copy(), np.zeros(a.shape[:-1], np.int32), np.zeros(a.shape[:-2], np.int32)

    def one(m: np.ndarray) -> tuple[Any, ...]:
        packed, pivots, info = factor(m, lower=1)
        return np.tril(packed), pivots, info

    packed, pivots, info = over_batch(
        one, [a], [2], [((n, n), a.dtype), ((n,), np.int32), ((), np.int32)]
    )
    if raising and info.any():
        where, place = first_failure(info)
        raise LinAlgError(
            f"{raising}(): {where}the diagonal element {place} of D is zero, so solving with this "
            f"factor of A, of shape {list(a.shape)}, would divide by zero"
        )
    return packed, pivots, info


ldl_op = primitive(
    "linalg_ldl_factor_ex",
    _ldl_kernel,
    inputs=("a",),
    params=("hermitian", "raising"),
    vjp=_no_derivative,
    jvp=lambda t: _no_derivative(t),
    batch=leading(2),
    outputs=3,
    fixed=(1, 2),
)


@public(namespace="linalg", method=False, out=True)
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> results.linalg_ldl_factor:
    """The decomposition A = L D L^T (with hermitian: L D L^H) as LAPACK stores it: (LD, pivots).

    A: (..., n, n), symmetric or Hermitian. It is what `ldl_solve` takes, and has no derivative.

    Raises:
        LinAlgError: if D has a zero on its diagonal.
    """
    check_matrix("linalg.ldl_factor", A, square=True)
    found = ldl_op(A, bool(hermitian), "linalg.ldl_factor")
    return results.linalg_ldl_factor(*found[:2])


@public(namespace="linalg", method=False, out=True)
def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> results.linalg_ldl_factor_ex:
    """`ldl_factor` without an error for singular matrices: (LD, pivots, info).

    Raises:
        LinAlgError: if D has a zero on its diagonal and check_errors is True.
    """
    name = "linalg.ldl_factor_ex"
    check_matrix(name, A, square=True)
    found = ldl_op(A, bool(hermitian), name if check_errors else None)
    return results.linalg_ldl_factor_ex(*found)


def _ldl_solve_kernel(
    packed: np.ndarray, pivots: np.ndarray, b: np.ndarray, hermitian: bool
) -> np.ndarray:
    solve = lapack_function(_ldl_names(hermitian, packed.dtype)[1], packed.dtype)
    shape = np.broadcast_shapes(packed.shape[:-2], b.shape[:-2]) + b.shape[-2:]
    if b.size == 0:
        return np.zeros(shape, b.dtype)
    (x,) = over_batch(
        lambda m, p, rhs: (solve(m, p, rhs, lower=1)[0],),
        [packed, pivots, b],
        [2, 1, 2],
        [(b.shape[-2:], b.dtype)],
    )
    return x


def _ldl_solve_by_right(g: Any, packed: Any, pivots: Any, hermitian: Any) -> Any:
    # The adjoint of the inverse of a symmetric matrix is its conjugate.
    if hermitian:
        return ldl_solve_op(packed, pivots, g, hermitian)
    return conjugate(ldl_solve_op(packed, pivots, conjugate(g), hermitian))


ldl_solve_op = primitive(
    "linalg_ldl_solve",
    _ldl_solve_kernel,
    inputs=("packed", "pivots", "b"),
    params=("hermitian",),
    vjp=(_no_derivative, None, _ldl_solve_by_right),
    jvp=(
        lambda t: _no_derivative(t),
        None,
        lambda t, packed, pivots, hermitian: ldl_solve_op(packed, pivots, t, hermitian),
    ),
    batch=leading(2, 1, 2),
    broadcasts=True,
)


@public(namespace="linalg", method=False, out=True)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution of AX = B from the decomposition of A that `ldl_factor` returned.

    B: (..., n, k), by which it is differentiable. Batch dims broadcast.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.
    """
    name = "linalg.ldl_solve"
    check_matrix(name, LD, square=True, argument="LD")
    check_matrix(name, B, argument="B")
    check_same_dtype(name, LD=LD, B=B)
    if B.shape[-2] != LD.shape[-1] or pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}(): LD of shape {list(LD.shape)}, pivots of shape {list(pivots.shape)} and B "
            f"of shape {list(B.shape)} do not fit"
        )
    check_batches(name, LD, B)
    return ldl_solve_op(LD, pivots, B, bool(hermitian))
