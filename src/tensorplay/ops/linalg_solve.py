"""Linear systems and inverses: solve, solve_triangular, inv, and their tensor forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops import results
from tensorplay.ops.kinds import leading, primitive, public, publish, wrap_dim
from tensorplay.ops.linalg_base import (
    LinAlgError,
    adjoint,
    blas,
    check_batches,
    check_matrix,
    check_same_dtype,
    first_failure,
    lapack_function,
    over_batch,
    triangle,
)
from tensorplay.ops.products import matmul, matmul_nt, matmul_tn

# --- kernels --------------------------------------------------------------------------------------

_SMALL = 64  # sizes up to which LAPACK's unblocked inverse is as fast as the blocked one


def _factor_info(a: np.ndarray) -> np.ndarray:
    """Per matrix the place (from 1) of the first zero on the diagonal of U of its LU, else 0."""
    factor = lapack_function("getrf", a.dtype)
    if a.shape[-1] == 0:
        return np.zeros(a.shape[:-2], np.int32)
    (info,) = over_batch(lambda m: (factor(m)[2],), [a], [2], [((), np.int32)])
    return info


def _solve_anyway(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^-1 b where some a are singular: those divide by zero, so give infinities and nans."""
    factor, substitute = (lapack_function(name, a.dtype) for name in ("getrf", "getrs"))

    def one(m: np.ndarray, rhs: np.ndarray) -> tuple[np.ndarray]:
        lu, pivots, _ = factor(m)
        return (substitute(lu, pivots, rhs)[0],)

    (x,) = over_batch(one, [a, b], [2, 2], [(b.shape[-2:], b.dtype)])
    return x


def _fold_columns(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^-1 b for one matrix a and a batch of b: one factorisation, all columns side by side."""
    wide = np.moveaxis(b, -2, 0)
    x = np.linalg.solve(a, wide.reshape(b.shape[-2], math.prod(wide.shape[1:])))
    return np.moveaxis(x.reshape(wide.shape), 0, -2)


def _solve_kernel(
    a: np.ndarray, b: np.ndarray, raising: str | None
) -> tuple[np.ndarray, np.ndarray]:
    if a.ndim == 2 and b.ndim == 2 and a.size and b.size:
        # LAPACK itself: for small matrices NumPy's function spends most of its time around it.
        x, failed = lapack_function("gesv", a.dtype)(a, b)[2:]
        if not failed:
            return np.ascontiguousarray(x), np.zeros((), np.int32)
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        if a.ndim == 2 and b.ndim > 2:
            return _fold_columns(a, b), info
        return np.linalg.solve(a, b), info
    except np.linalg.LinAlgError:
        info = _factor_info(a)
        if raising:
            where, _ = first_failure(info)
            raise LinAlgError(
                f"{raising}(): {where}the system cannot be solved because the matrix A, of shape "
                f"{list(a.shape)}, is singular; use linalg.lstsq() or linalg.pinv()"
            ) from None
        return _solve_anyway(a, b), info


def _inverse_kernel(a: np.ndarray, raising: str | None) -> tuple[np.ndarray, np.ndarray]:
    if a.ndim == 2 and 0 < len(a) <= _SMALL:
        lu, pivots, failed = lapack_function("getrf", a.dtype)(a)
        if not failed:
            inverse = lapack_function("getri", a.dtype)(lu, pivots)[0]
            return np.ascontiguousarray(inverse), np.zeros((), np.int32)
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        return np.linalg.inv(a), info
    except np.linalg.LinAlgError:
        info = _factor_info(a)
        if raising:
            where, place = first_failure(info)
            raise LinAlgError(
                f"{raising}(): {where}the matrix A, of shape {list(a.shape)}, has no inverse "
                f"because it is singular (diagonal element {place} of its LU factor U is zero); "
                "use linalg.pinv()"
            ) from None
        return _solve_anyway(a, np.eye(a.shape[-1], dtype=a.dtype)), info


def _triangular_kernel(a: np.ndarray, b: np.ndarray, is_upper: bool, unit: bool) -> np.ndarray:
    if a.ndim > 2 or b.ndim > 2:
        try:
            return np.linalg.solve(_as_triangle(a, is_upper, unit), b)
        except np.linalg.LinAlgError:
            pass  # singular: BLAS divides by zero instead, which gives infinities
    solve = lapack_function("trsm", a.dtype, blas)

    def one(m: np.ndarray, rhs: np.ndarray) -> tuple[np.ndarray]:
        # m.T is m in Fortran's order, which saves a copy.
        return (solve(1.0, m.T, rhs, lower=is_upper, trans_a=1, diag=unit),)

    if b.size == 0:
        return np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:], b.dtype)
    (x,) = over_batch(one, [a, b], [2, 2], [(b.shape[-2:], b.dtype)])
    return x


def _as_triangle(a: np.ndarray, is_upper: bool, unit: bool) -> np.ndarray:
    a = np.triu(a, 1 if unit else 0) if is_upper else np.tril(a, -1 if unit else 0)
    return a + np.eye(a.shape[-1], dtype=a.dtype) if unit else a


# --- solve ----------------------------------------------------------------------------------------


def _solve_vjp(g: Any, a: Any, out: Any, wanted: Any) -> Any:
    gb = solve_op(adjoint(a), g[0], None)[0]
    return (-matmul_nt(gb, out[0]) if wanted[0] else None), gb


def _solve_jvp(t: Any, a: Any, out: Any) -> Any:
    ta, tb = t
    change = tb if ta is None else -matmul(ta, out[0])
    if ta is not None and tb is not None:
        change = change + tb
    return solve_op(a, change, None)[0], None


def _batch_solve(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    result, _ = leading(2, 2)(p, values, bdims, params)
    return result, (0, None if bdims[0] is None else 0)  # info is about A alone


solve_op = primitive(
    "linalg_solve_ex",
    _solve_kernel,
    inputs=("a", "b"),
    params=("raising",),
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    batch=_batch_solve,
    outputs=2,
    fixed=(1,),
    broadcasts=True,
    quiet=True,
)


def _is_vectors(a: Any, b: Any) -> bool:
    """Whether b is a batch of vectors rather than of matrices, as PyTorch tells them apart."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and tuple(b.shape) == tuple(a.shape[:-1]))


def _solve(name: str, a: Any, b: Any, left: bool, raising: str | None) -> tuple[Tensor, Tensor]:
    check_matrix(name, a, square=True)
    vectors = _is_vectors(a, b)
    matrix = b.unsqueeze(-1) if vectors else b
    check_matrix(name, matrix, argument="B")
    check_same_dtype(name, A=a, B=b)
    if vectors and not left:
        raise RuntimeError(
            f"{name}(): left=False does not go with vectors B, got A of shape {list(a.shape)} and "
            f"B of shape {list(b.shape)}"
        )
    if matrix.shape[-2 if left else -1] != a.shape[-1]:
        raise RuntimeError(
            f"{name}(): A of shape {list(a.shape)} and B of shape {list(b.shape)} do not fit the "
            f"equation {'AX = B' if left else 'XA = B'}"
        )
    check_batches(name, a, matrix)
    if not left:
        x, info = solve_op(a.mT, matrix.mT, raising)
        return x.mT, info
    x, info = solve_op(a, matrix, raising)
    return (x.squeeze(-1) if vectors else x), info


@public(namespace="linalg", method=False, out=True)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of AX = B, or of XA = B with left=False.

    A: (..., n, n). B: (..., n, k), or vectors (n) or (..., n) with exactly A's batch dims. Batch
    dims broadcast.

    Raises:
        LinAlgError: if a matrix is singular.
        RuntimeError: if shapes or dtypes do not fit.

    >>> import tensorplay as tp
    >>> tp.linalg.solve(tp.tensor([[2., 0.], [0., 4.]]), tp.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    return _solve("linalg.solve", A, B, left, "linalg.solve")[0]


@public(namespace="linalg", method=False, out=True)
def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> results.linalg_solve_ex:
    """`solve` without an error for singular matrices: (result, info).

    info: int32, per matrix 0, or the number of the zero on the diagonal of U of its LU
    decomposition; the result then holds infinities or nans.

    Raises:
        LinAlgError: if a matrix is singular and check_errors is True.
    """
    name = "linalg.solve_ex"
    return results.linalg_solve_ex(*_solve(name, A, B, left, name if check_errors else None))


# --- triangular systems ---------------------------------------------------------------------------


def _triangular_vjp(g: Any, a: Any, out: Any, is_upper: Any, unit: Any, wanted: Any) -> Any:
    gb = triangular_op(adjoint(a), g, not is_upper, unit)
    if not wanted[0]:
        return None, gb
    return triangle(-matmul_nt(gb, out), is_upper, int(unit)), gb


def _triangular_jvp(t: Any, a: Any, out: Any, is_upper: Any, unit: Any) -> Any:
    ta, tb = t
    change = tb if ta is None else -matmul(triangle(ta, is_upper, int(unit)), out)
    if ta is not None and tb is not None:
        change = change + tb
    return triangular_op(a, change, is_upper, unit)


triangular_op = primitive(
    "linalg_solve_triangular",
    _triangular_kernel,
    inputs=("a", "b"),
    params=("is_upper", "unit"),
    vjp=_triangular_vjp,
    jvp=_triangular_jvp,
    batch=leading(2, 2),
    broadcasts=True,
    quiet=True,
)


@public(namespace="linalg", method=False, out=True)
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solution X of AX = B (of XA = B with left=False) for a triangular A.

    A: (..., n, n), of which only the upper or the lower triangle is read; with unitriangular the
    diagonal counts as ones. B: (..., n, k). Batch dims broadcast. A zero on the diagonal gives
    infinities or nans.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.
    """
    name = "linalg.solve_triangular"
    check_matrix(name, A, square=True)
    check_matrix(name, B, argument="B")
    check_same_dtype(name, A=A, B=B)
    if B.shape[-2 if left else -1] != A.shape[-1]:
        raise RuntimeError(
            f"{name}(): A of shape {list(A.shape)} and B of shape {list(B.shape)} do not fit the "
            f"equation {'AX = B' if left else 'XA = B'}"
        )
    check_batches(name, A, B)
    if left:
        return triangular_op(A, B, bool(upper), bool(unitriangular))
    return triangular_op(A.mT, B.mT, not upper, bool(unitriangular)).mT


@public(out=True)
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> results.triangular_solve:
    """The solution of AX = input for a triangular A (of A^T X = input with transpose), and A.

    The older form of `linalg.solve_triangular`.
    """
    matrix = A.mT if transpose else A
    solution = solve_triangular(
        matrix, input, upper=upper != transpose, unitriangular=unitriangular
    )
    return results.triangular_solve(solution, A.clone())


# --- inverse --------------------------------------------------------------------------------------


def _inverse_vjp(g: Any, out: Any) -> Any:
    inverse = out[0]
    return -matmul_tn(inverse, matmul_nt(g[0], inverse))


def _inverse_jvp(t: Any, out: Any) -> Any:
    inverse = out[0]
    return -matmul(inverse, matmul(t, inverse)), None


inverse_op = primitive(
    "linalg_inv_ex",
    _inverse_kernel,
    inputs=("a",),
    params=("raising",),
    vjp=_inverse_vjp,
    jvp=_inverse_jvp,
    batch=leading(2),
    outputs=2,
    fixed=(1,),
    quiet=True,
)


@public(namespace="linalg", method=False, out=True)
def inv(A: Tensor) -> Tensor:
    """The inverses of square matrices A, (..., n, n).

    Raises:
        LinAlgError: if a matrix is singular.
        RuntimeError: if A is not a batch of square matrices of a floating point or complex dtype.

    >>> import tensorplay as tp
    >>> tp.linalg.inv(tp.tensor([[2., 1.], [2., 2.]]))
    tensor([[ 1.0000, -0.5000],
            [-1.0000,  1.0000]])
    """
    check_matrix("linalg.inv", A, square=True)
    return inverse_op(A, "linalg.inv")[0]


publish(inv, "inverse")


@public(namespace="linalg", method=False, out=True)
def inv_ex(A: Tensor, *, check_errors: bool = False) -> results.linalg_inv_ex:
    """`inv` without an error for singular matrices: (inverse, info).

    info: int32, per matrix 0, or the number of the zero on the diagonal of U of its LU
    decomposition; the inverse then holds infinities or nans.

    Raises:
        LinAlgError: if a matrix is singular and check_errors is True.
    """
    check_matrix("linalg.inv_ex", A, square=True)
    return results.linalg_inv_ex(*inverse_op(A, "linalg.inv_ex" if check_errors else None))


# --- tensors as matrices --------------------------------------------------------------------------


@public(namespace="linalg", method=False, out=True)
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A for `tensordot` over the first `ind` dims of A.

    Raises:
        RuntimeError: if ind is not positive, or the first ind dims do not hold as many elements as
            the others.
    """
    if ind <= 0:
        raise RuntimeError(f"linalg.tensorinv(): ind must be positive, got {ind}")
    shape = tuple(A.shape)
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            f"linalg.tensorinv(): the first {ind} dims of A, of shape {list(shape)}, hold {rows} "
            f"elements, the others {columns}; they must be as many"
        )
    return inv(A.reshape(rows, columns)).reshape(shape[ind:] + shape[:ind])


@public(namespace="linalg", method=False, out=True)
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The solution X of tensordot(A, X, X.ndim) = B.

    dims: dims of A that are moved to the end first.

    Raises:
        RuntimeError: if A, so arranged, is not square as a matrix.
    """
    if dims is not None:
        moved = tuple(wrap_dim(int(d), A, "linalg.tensorsolve") for d in dims)
        A = A.movedim(moved, tuple(range(A.ndim - len(moved), A.ndim)))
    shape = tuple(A.shape[B.ndim :])
    size = math.prod(shape)
    if size != math.prod(A.shape[: B.ndim]):
        raise RuntimeError(
            f"linalg.tensorsolve(): the first {B.ndim} dims of A, of shape {list(A.shape)}, must "
            "hold as many elements as the others"
        )
    return solve(A.reshape(B.numel(), size), B.reshape(-1)).reshape(shape)
