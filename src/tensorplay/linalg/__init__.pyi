"""Linear algebra, as in `torch.linalg`: batched, real and complex, differentiable to any order."""

# Made by tools/make_stubs.py: do not edit.

import builtins
from typing import Any

from tensorplay._core.core import Tensor as Tensor
from tensorplay.base import dtypes as _dtypes
from tensorplay.ops import results as _results
from tensorplay.ops.linalg_base import LinAlgError as LinAlgError

__all__: builtins.list

def cholesky(A: Tensor, *, upper: builtins.bool = False, out: Any = None) -> Tensor:
    """The lower triangular L with A = L L^H (upper: U with A = U^H U), for positive definite A."""

def cholesky_ex(
    A: Tensor,
    *,
    upper: builtins.bool = False,
    check_errors: builtins.bool = False,
    out: Any = None,
) -> _results.linalg_cholesky_ex:
    """`cholesky` without an error for matrices that are not positive definite: (L, info)."""

def cond(A: Tensor, p: Any = None, *, out: Any = None) -> Tensor:
    """The condition numbers of matrices: norm(A, p) * norm(inv(A), p); inf for a singular one."""

def cross(input: Tensor, other: Tensor, *, dim: builtins.int = -1, out: Any = None) -> Tensor:
    """The vector product of vectors of length 3 along `dim`; the other dims broadcast."""

def det(A: Tensor, *, out: Any = None) -> Tensor:
    """The determinants of square matrices A, (..., n, n)."""

def diagonal(
    A: Tensor,
    *,
    offset: builtins.int = 0,
    dim1: builtins.int = -2,
    dim2: builtins.int = -1,
) -> Tensor:
    """The diagonals of matrices in dims dim1 and dim2, as a view; see `tensorplay.diagonal`."""

def eig(A: Tensor, *, out: Any = None) -> _results.linalg_eig:
    """Eigenvalues and eigenvectors (columns, of norm one) of square matrices, always complex."""

def eigh(A: Tensor, UPLO: builtins.str = "L", *, out: Any = None) -> _results.linalg_eigh:
    """Eigenvalues, ascending, and orthonormal eigenvectors (columns) of Hermitian matrices."""

def eigvals(A: Tensor, *, out: Any = None) -> Tensor:
    """Eigenvalues of square matrices, always complex; see `eig`."""

def eigvalsh(A: Tensor, UPLO: builtins.str = "L", *, out: Any = None) -> Tensor:
    """Eigenvalues, ascending, of symmetric or Hermitian matrices; see `eigh`."""

def householder_product(A: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
    """The first n columns of the product of Householder reflections I - tau_i v_i v_i^H."""

def inv(A: Tensor, *, out: Any = None) -> Tensor:
    """The inverses of square matrices A, (..., n, n)."""

def inv_ex(
    A: Tensor,
    *,
    check_errors: builtins.bool = False,
    out: Any = None,
) -> _results.linalg_inv_ex:
    """`inv` without an error for singular matrices: (inverse, info)."""

def ldl_factor(
    A: Tensor,
    *,
    hermitian: builtins.bool = False,
    out: Any = None,
) -> _results.linalg_ldl_factor:
    """The decomposition A = L D L^T (with hermitian: L D L^H) as LAPACK stores it: (LD, pivots)."""

def ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: builtins.bool = False,
    check_errors: builtins.bool = False,
    out: Any = None,
) -> _results.linalg_ldl_factor_ex:
    """`ldl_factor` without an error for singular matrices: (LD, pivots, info)."""

def ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The solution of AX = B from the decomposition of A that `ldl_factor` returned."""

def lstsq(
    A: Tensor,
    B: Tensor,
    rcond: builtins.float | None = None,
    *,
    driver: builtins.str | None = None,
    out: Any = None,
) -> _results.linalg_lstsq:
    """The X of least norm that minimises the norm of AX - B: (solution, residuals, rank, S)."""

def lu(A: Tensor, *, pivot: builtins.bool = True, out: Any = None) -> _results.linalg_lu:
    """The decomposition A = P L U: P a permutation, L unit lower triangular, U upper triangular."""

def lu_factor(
    A: Tensor,
    *,
    pivot: builtins.bool = True,
    out: Any = None,
) -> _results.linalg_lu_factor:
    """The LU decomposition with partial pivoting, packed: (LU, pivots)."""

def lu_factor_ex(
    A: Tensor,
    *,
    pivot: builtins.bool = True,
    check_errors: builtins.bool = False,
    out: Any = None,
) -> _results.linalg_lu_factor_ex:
    """`lu_factor` without an error for singular matrices: (LU, pivots, info)."""

def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: builtins.bool = True,
    adjoint: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The solution of AX = B (XA = B with left=False) from the LU decomposition of A."""

def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The matrix product of two tensors, batched over leading dims, which broadcast."""

def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of A^k / k!."""

def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = ...,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The norms of matrices in the two dims `dim`."""

def matrix_power(input: Tensor, n: builtins.int, *, out: Any = None) -> Tensor:
    """The n-th power of square matrices, by repeated squaring; of their inverses for negative n."""

def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: builtins.bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Tensor:
    """How many singular values of matrices A, (..., m, n), exceed max(atol, rtol * largest)."""

def multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of two and more matrices, multiplied in the order that needs the least work."""

def norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The norm of vectors or of matrices."""

def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: builtins.bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Tensor:
    """The pseudoinverses (Moore-Penrose) of matrices A, (..., m, n)."""

def qr(A: Tensor, mode: builtins.str = "reduced", *, out: Any = None) -> _results.linalg_qr:
    """The decomposition A = QR: Q with orthonormal columns, R upper triangular."""

def slogdet(A: Tensor, *, out: Any = None) -> _results.linalg_slogdet:
    """Sign (for complex matrices: phase) and log of the absolute value of the determinants."""

def solve(A: Tensor, B: Tensor, *, left: builtins.bool = True, out: Any = None) -> Tensor:
    """The solution X of AX = B, or of XA = B with left=False."""

def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: builtins.bool = True,
    check_errors: builtins.bool = False,
    out: Any = None,
) -> _results.linalg_solve_ex:
    """`solve` without an error for singular matrices: (result, info)."""

def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: builtins.bool,
    left: builtins.bool = True,
    unitriangular: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The solution X of AX = B (of XA = B with left=False) for a triangular A."""

def svd(
    A: Tensor,
    full_matrices: builtins.bool = True,
    *,
    driver: builtins.str | None = None,
    out: Any = None,
) -> _results.linalg_svd:
    """The decomposition A = U diag(S) Vh: orthonormal columns of U and rows of Vh, S descending."""

def svdvals(A: Tensor, *, driver: builtins.str | None = None, out: Any = None) -> Tensor:
    """Singular values of matrices (..., m, n), descending; see `svd`."""

def tensorinv(A: Tensor, ind: builtins.int = 2, *, out: Any = None) -> Tensor:
    """The inverse of A for `tensordot` over the first `ind` dims of A."""

def tensorsolve(A: Tensor, B: Tensor, dims: Any = None, *, out: Any = None) -> Tensor:
    """The solution X of tensordot(A, X, X.ndim) = B."""

def vander(x: Tensor, N: builtins.int | None = None) -> Tensor:
    """The matrices (..., n, N) whose columns are the powers 0, 1, ..., N - 1 of x, (..., n)."""

def vecdot(x: Tensor, y: Tensor, *, dim: builtins.int = -1, out: Any = None) -> Tensor:
    """The sums of conjugate(x) * y over a dim; the others broadcast."""

def vector_norm(
    x: Tensor,
    ord: builtins.float = 2,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """(sum |x| ** ord) ** (1 / ord) over `dim` (by default over all elements)."""
