"""Determinants: det, slogdet, logdet, finite at singular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core.core import Tensor, conjugate
from tensorplay.ops import results
from tensorplay.ops.elementwise import log, where
from tensorplay.ops.kinds import leading, primitive, public, publish
from tensorplay.ops.linalg_base import adjoint, check_matrix, real_part, trace_of
from tensorplay.ops.linalg_solve import inverse_op
from tensorplay.ops.products import matmul

# The determinant is a polynomial of the entries, so it has derivatives of every order everywhere.
# The first is the matrix of cofactors C, which is det(A) inv(A)^T only where A is not singular.
# With A = U S V^H, det is det(U) det(V^H) times the product of the singular values, and
#     C = det(U) det(V^H) conjugate(U) diag(product of the other singular values) conjugate(V^H)
# (N. Higham, "What is the adjugate of a matrix?", 2020). The second derivative is bilinear:
# between directions U X V^H and U Y V^H it is the sum over i < j of
#     (x_ii y_jj + x_jj y_ii - x_ij y_ji - x_ji y_ij) times the product of the others.


def _products_around(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per element the product of those before it and of those after it, in the last dim."""
    before, after = np.ones_like(s), np.ones_like(s)
    before[..., 1:] = np.cumprod(s[..., :-1], axis=-1)
    after[..., :-1] = np.cumprod(s[..., :0:-1], axis=-1)[..., ::-1]
    return before, after


def _other_products(s: np.ndarray) -> np.ndarray:
    """Per element the product of all others in the last dim."""
    before, after = _products_around(s)
    return before * after


def _pair_products(s: np.ndarray) -> np.ndarray:
    """Per pair (i, j) the product of all elements but these two; zero where i = j."""
    n = s.shape[-1]
    before, after = _products_around(s)
    right = np.where(np.tri(n, n, 0, dtype=bool), np.ones((), s.dtype), s[..., None, :])
    between = np.ones_like(right)  # [i, j]: the product over i < k < j
    between[..., 1:] = np.cumprod(right, axis=-1)[..., :-1]
    pairs = np.triu(before[..., :, None] * between * after[..., None, :], 1)
    return pairs + pairs.swapaxes(-1, -2)


def _svd_with_phase(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _singular_cofactors(a: np.ndarray) -> np.ndarray:
    u, s, vh, phase = _svd_with_phase(a)
    return phase * np.matmul(u.conj() * _other_products(s)[..., None, :], vh.conj())


def _cofactor_kernel(a: np.ndarray) -> np.ndarray:
    """The cofactors: from the inverse where that is well conditioned, else from the SVD."""
    if a.shape[-1] == 0:
        return a.copy()
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return _singular_cofactors(a)
    cofactors = np.linalg.det(a)[..., None, None] * inverse.swapaxes(-1, -2)
    condition = np.abs(a).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
    poor = ~(condition < np.finfo(a.dtype).eps ** -0.25) | ~np.isfinite(cofactors).all((-1, -2))
    if poor.any():
        cofactors[poor] = _singular_cofactors(a[poor])
    return cofactors


def _cofactor_change_kernel(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of the cofactors of a in direction x."""
    if a.shape[-1] == 0:
        return np.zeros(np.broadcast_shapes(a.shape, x.shape), a.dtype)
    u, s, vh, phase = _svd_with_phase(a)
    turned = u.conj().swapaxes(-1, -2) @ x @ vh.conj().swapaxes(-1, -2)
    pairs = _pair_products(s)
    change = -pairs * turned.swapaxes(-1, -2)
    diagonal = np.einsum("...ij,...jj->...i", pairs, turned)
    index = np.arange(a.shape[-1])
    change[..., index, index] = diagonal
    return (phase * np.matmul(u.conj() @ change, vh.conj())).astype(a.dtype, copy=False)


def _second_change(a: Any, x: Any, y: Any) -> Any:
    """The second derivative of the cofactors of an invertible a in directions x and y.

    Product rule on det(a) inv(a)^T; symmetric in x, y and the cotangent. At most quadratic
    determinants have none.
    """
    n = a.shape[-1]
    if n < 3:
        return (x * y) * 0
    inverse = inverse_op(a, None)[0]
    bx, by = matmul(inverse, x), matmul(inverse, y)
    xy, yx = matmul(bx, by), matmul(by, bx)
    tx, ty, txy = trace_of(bx), trace_of(by), trace_of(xy)
    total = matmul(xy + yx - ty * bx - tx * by, inverse) + (tx * ty - txy) * inverse
    return det(a).unsqueeze(-1).unsqueeze(-1) * total.mT


cofactor_op = primitive(
    "linalg_cofactor",
    _cofactor_kernel,
    inputs=("a",),
    vjp=lambda g, a: conjugate(cofactor_change_op(a, conjugate(g))),
    jvp=lambda t, a: cofactor_change_op(a, t),
    batch=leading(2),
)
cofactor_change_op = primitive(
    "linalg_cofactor_change",
    _cofactor_change_kernel,
    inputs=("a", "x"),
    vjp=(
        lambda g, a, x: conjugate(_second_change(a, x, conjugate(g))),
        lambda g, a: conjugate(cofactor_change_op(a, conjugate(g))),
    ),
    jvp=(lambda t, a, x: _second_change(a, x, t), lambda t, a: cofactor_change_op(a, t)),
    batch=leading(2, 2),
    broadcasts=True,
)
det_op = primitive(
    "linalg_det",
    np.linalg.det,
    inputs=("a",),
    vjp=lambda g, a: g.unsqueeze(-1).unsqueeze(-1) * conjugate(cofactor_op(a)),
    jvp=lambda t, a: (cofactor_op(a) * t).sum((-2, -1)),
    batch=leading(2),
)


@public(namespace="linalg", method=False, out=True)
def det(A: Tensor) -> Tensor:
    """The determinants of square matrices A, (..., n, n).

    First and second derivatives are exact for singular matrices too (the adjugate); those of
    third and higher order need an invertible matrix.

    Raises:
        RuntimeError: if A is not a batch of square matrices of a floating point or complex dtype.

    >>> import tensorplay as tp
    >>> tp.linalg.det(tp.tensor([[1., 2.], [3., 5.]]))
    tensor(-1.)
    """
    check_matrix("linalg.det", A, square=True)
    return det_op(A)


publish(det, "det")


# --- sign and logarithm ---------------------------------------------------------------------------


def _slogdet_kernel(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sign, size = np.linalg.slogdet(a)
    return np.asarray(sign), np.asarray(size)


def _slogdet_vjp(g: Any, a: Any, out: Any) -> Any:
    g_sign, g_size = g
    coefficient = g_size
    if g_sign is not None and a.dtype.is_complex:
        turn = 1j * (g_sign * conjugate(out[0])).imag
        coefficient = turn if g_size is None else turn + g_size
    if coefficient is None:  # the sign of a real matrix is constant
        return None
    inverse = inverse_op(a, None)[0]
    return coefficient.unsqueeze(-1).unsqueeze(-1) * adjoint(inverse)


def _slogdet_jvp(t: Any, a: Any, out: Any) -> Any:
    trace = trace_of(matmul(inverse_op(a, None)[0], t)).squeeze((-1, -2))
    if not a.dtype.is_complex:
        return None, trace
    return 1j * trace.imag * out[0], trace.real


slogdet_op = primitive(
    "linalg_slogdet",
    _slogdet_kernel,
    inputs=("a",),
    vjp=_slogdet_vjp,
    jvp=_slogdet_jvp,
    batch=leading(2),
    outputs=2,
)


@public(namespace="linalg", method=False, out=True)
def slogdet(A: Tensor) -> results.linalg_slogdet:
    """Sign (for complex matrices: phase) and log of the absolute value of the determinants.

    For a singular matrix they are 0 and -inf, and the derivative of the logarithm is infinite.

    Raises:
        RuntimeError: if A is not a batch of square matrices of a floating point or complex dtype.
    """
    check_matrix("linalg.slogdet", A, square=True)
    return results.linalg_slogdet(*slogdet_op(A))


publish(slogdet, "slogdet")


@public()
def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants: nan for a negative one, -inf for zero.

    Raises:
        RuntimeError: if input is not a batch of square matrices of a floating point or complex
            dtype.
    """
    check_matrix("logdet", input, square=True, argument="input")
    sign, size = slogdet_op(input)
    if sign.dtype.is_complex:
        return log(sign) + size
    return where(real_part(sign) < 0, float("nan"), size)
