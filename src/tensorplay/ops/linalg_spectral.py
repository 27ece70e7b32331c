"""Eigenvalues and singular values, with their vectors.

Vectors are defined up to a factor of absolute value one (a sign, in the real case). Rules here hold
for functions that do not depend on it; for complex matrices a dependence is detected, as PyTorch
does, and raises. Functions of the values alone have finite derivatives at repeated values too,
because the rules use only the cotangents that arrived.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, conjugate
from tensorplay.ops import results
from tensorplay.ops.elementwise import drop, where
from tensorplay.ops.kinds import batch_elementwise, leading, primitive, public
from tensorplay.ops.linalg_base import (
    LinAlgError,
    adjoint,
    check_matrix,
    diagonal_matrix,
    diagonal_of,
    lapack_function,
    real_part,
)
from tensorplay.ops.linalg_solve import solve_op
from tensorplay.ops.products import matmul, matmul_nt, matmul_tn

# --- what the rules share -------------------------------------------------------------------------


def _check_phase_kernel(x: np.ndarray, phase: np.ndarray, name: str) -> np.ndarray:
    if np.any(np.abs(phase) > 1e-2):
        raise RuntimeError(
            f"{name}(): the function that is differentiated depends on the phase of complex "
            "vectors, which is arbitrary: they are determined up to a factor e^(i phi) only, so "
            "its gradient is not defined"
        )
    return x.copy()


# x itself; an error where `phase`, the derivative by the vectors' phases, is not zero.
check_phase = primitive(
    "check_phase",
    _check_phase_kernel,
    inputs=("x", "phase"),
    params=("name",),
    vjp=(lambda g: g, None),
    jvp=(lambda t: t, None),
    batch=batch_elementwise,
)


def off_diagonal(x: Any, differences: Any) -> Any:
    """x over the differences, and zeros on the diagonal."""
    eye = core.from_array(np.eye(x.shape[-1], dtype=bool))
    return drop(x / where(eye, 1, differences), eye)


def differences(values: Any) -> Any:
    """[i, j]: value j minus value i."""
    return values.unsqueeze(-2) - values.unsqueeze(-1)


def imag_diagonal(x: Any) -> Any:
    """The imaginary parts of the main diagonal."""
    return diagonal_of(x).imag


# --- Hermitian matrices ---------------------------------------------------------------------------


def _raise_not_converged(name: str) -> NoReturn:
    raise LinAlgError(
        f"{name}(): the algorithm did not converge; the matrix may hold infinities or nans"
    )


def _eigh_kernel(a: np.ndarray, uplo: Any) -> tuple[np.ndarray, np.ndarray]:
    if a.ndim == 2 and 0 < a.size <= 256 and a.dtype.kind == "f":
        # LAPACK itself: for small matrices NumPy's function spends most of its time around it.
        values, vectors, failed = lapack_function("syev", a.dtype)(a, lower=uplo == "L")
        if not failed:
            return values, np.ascontiguousarray(vectors)
    try:
        values, vectors = np.linalg.eigh(a, uplo)
    except np.linalg.LinAlgError:
        _raise_not_converged("linalg.eigh")
    return values, vectors


def _eigh_vjp(g: Any, out: Any) -> Any:
    (g_values, g_vectors), (values, vectors) = g, out
    inner = None
    if g_vectors is not None:
        product = matmul_tn(vectors, g_vectors)
        if product.dtype.is_complex:
            product = check_phase(product, imag_diagonal(product), "linalg.eigh")
        # Half the skew part: the gradient is that of a function of Hermitian matrices.
        inner = off_diagonal(0.5 * (product - adjoint(product)), differences(values))
    if inner is None:
        return matmul_nt(vectors * g_values.unsqueeze(-2), vectors)
    if g_values is not None:
        inner = inner + diagonal_matrix(g_values)
    return matmul(vectors, matmul_nt(inner, vectors))


def _eigh_jvp(t: Any, out: Any) -> Any:
    values, vectors = out
    inner = matmul_tn(vectors, matmul(0.5 * (t + adjoint(t)), vectors))
    turn = off_diagonal(inner, differences(values))
    return real_part(diagonal_of(inner)), matmul(vectors, turn)


eigh_op = primitive(
    "linalg_eigh",
    _eigh_kernel,
    inputs=("a",),
    params=("uplo",),
    vjp=_eigh_vjp,
    jvp=_eigh_jvp,
    batch=leading(2),
    outputs=2,
    quiet=True,
)


def _eigvalsh_kernel(a: np.ndarray, uplo: Any) -> np.ndarray:
    try:
        return np.linalg.eigvalsh(a, uplo)
    except np.linalg.LinAlgError:
        _raise_not_converged("linalg.eigvalsh")


def _eigvalsh_vjp(g: Any, a: Any, uplo: Any) -> Any:
    vectors = eigh_op(a, uplo)[1]
    return matmul_nt(vectors * g.unsqueeze(-2), vectors)


def _eigvalsh_jvp(t: Any, a: Any, uplo: Any) -> Any:
    vectors = eigh_op(a, uplo)[1]
    return real_part((conjugate(vectors) * matmul(t, vectors)).sum(-2))


eigvalsh_op = primitive(
    "linalg_eigvalsh",
    _eigvalsh_kernel,
    inputs=("a",),
    params=("uplo",),
    vjp=_eigvalsh_vjp,
    jvp=_eigvalsh_jvp,
    batch=leading(2),
    quiet=True,
)


def _check_uplo(name: str, uplo: Any) -> str:
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"{name}(): UPLO must be 'L' or 'U', got {uplo!r}")
    return uplo.upper()


@public(namespace="linalg", method=False, out=True)
def eigh(A: Tensor, UPLO: str = "L") -> results.linalg_eigh:
    """Eigenvalues, ascending, and orthonormal eigenvectors (columns) of Hermitian matrices.

    A: (..., n, n), symmetric or Hermitian; only its lower (UPLO 'U': upper) triangle is read.
    Derivatives are those of a function of Hermitian matrices: gradients are Hermitian, and of a
    tangent the Hermitian part counts. Gradients of the vectors are infinite or nan at repeated
    eigenvalues; those of the values are finite.

    Raises:
        LinAlgError: if the algorithm does not converge.
        RuntimeError: if A is not a batch of square matrices of a floating point or complex dtype.
    """
    check_matrix("linalg.eigh", A, square=True)
    return results.linalg_eigh(*eigh_op(A, _check_uplo("linalg.eigh", UPLO)))


@public(namespace="linalg", method=False, out=True)
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues, ascending, of symmetric or Hermitian matrices; see `eigh`."""
    check_matrix("linalg.eigvalsh", A, square=True)
    return eigvalsh_op(A, _check_uplo("linalg.eigvalsh", UPLO))


# --- any square matrices --------------------------------------------------------------------------


def _check_finite(name: str, a: np.ndarray) -> None:
    if not np.isfinite(a).all():
        raise RuntimeError(f"{name}(): the matrix A must not hold infinities or nans")


def _complex_of(kind: np.dtype) -> np.dtype:
    return np.result_type(kind, np.complex64)


def _eig_kernel(a: np.ndarray, real: bool) -> tuple[np.ndarray, np.ndarray]:
    _check_finite("linalg.eig", a)
    try:
        values, vectors = np.linalg.eig(a)
    except np.linalg.LinAlgError:
        _raise_not_converged("linalg.eig")
    kind = _complex_of(a.dtype)
    return values.astype(kind, copy=False), vectors.astype(kind, copy=False)


def _of_kind(x: Any, real: bool) -> Any:
    return x.real if real else x


def _eig_vjp(g: Any, out: Any, real: Any) -> Any:
    # C. Boeddeker et al., "On the computation of complex-valued gradients with application to
    # statistically optimum beamforming", 2017; vectors are kept at norm one.
    (g_values, g_vectors), (values, vectors) = g, out
    inner = None
    if g_vectors is not None:
        product = matmul_tn(vectors, g_vectors)
        product = check_phase(product, imag_diagonal(product), "linalg.eig")
        norms = matmul_tn(vectors, vectors) * diagonal_of(product).real.unsqueeze(-2)
        inner = off_diagonal(product - norms, conjugate(differences(values)))
    if g_values is not None:
        diagonal = diagonal_matrix(g_values)
        inner = diagonal if inner is None else inner + diagonal
    return _of_kind(solve_op(adjoint(vectors), matmul_nt(inner, vectors), None)[0], real)


def _eig_jvp(t: Any, out: Any, real: Any) -> Any:
    values, vectors = out
    t = t.to(values.dtype)
    inner = solve_op(vectors, matmul(t, vectors), None)[0]
    turn = matmul(vectors, off_diagonal(inner, differences(values)))
    along = (conjugate(vectors) * turn).sum(-2, keepdim=True).real
    return diagonal_of(inner), turn - vectors * along


eig_op = primitive(
    "linalg_eig",
    _eig_kernel,
    inputs=("a",),
    params=("real",),
    vjp=_eig_vjp,
    jvp=_eig_jvp,
    batch=leading(2),
    outputs=2,
)


def _eigvals_kernel(a: np.ndarray, real: bool) -> np.ndarray:
    _check_finite("linalg.eigvals", a)
    try:
        return np.linalg.eigvals(a).astype(_complex_of(a.dtype), copy=False)
    except np.linalg.LinAlgError:
        _raise_not_converged("linalg.eigvals")


def _eigvals_vjp(g: Any, a: Any, real: Any) -> Any:
    vectors = eig_op(a, real)[1]
    scaled = diagonal_matrix(g)
    return _of_kind(solve_op(adjoint(vectors), matmul_nt(scaled, vectors), None)[0], real)


def _eigvals_jvp(t: Any, a: Any, out: Any, real: Any) -> Any:
    vectors = eig_op(a, real)[1]
    return diagonal_of(solve_op(vectors, matmul(t.to(out.dtype), vectors), None)[0])


eigvals_op = primitive(
    "linalg_eigvals",
    _eigvals_kernel,
    inputs=("a",),
    params=("real",),
    vjp=_eigvals_vjp,
    jvp=_eigvals_jvp,
    batch=leading(2),
)


@public(namespace="linalg", method=False, out=True)
def eig(A: Tensor) -> results.linalg_eig:
    """Eigenvalues and eigenvectors (columns, of norm one) of square matrices, always complex.

    A: (..., n, n), diagonalizable. The order is LAPACK's. Gradients are finite where the
    eigenvalues are distinct.

    Raises:
        LinAlgError: if the algorithm does not converge.
        RuntimeError: if A holds infinities or nans, or is not a batch of square matrices of a
            floating point or complex dtype.
    """
    check_matrix("linalg.eig", A, square=True)
    return results.linalg_eig(*eig_op(A, not A.dtype.is_complex))


@public(namespace="linalg", method=False, out=True)
def eigvals(A: Tensor) -> Tensor:
    """Eigenvalues of square matrices, always complex; see `eig`."""
    check_matrix("linalg.eigvals", A, square=True)
    return eigvals_op(A, not A.dtype.is_complex)
