"""Rows of the Cholesky, QR, LU and LDL decompositions."""

import numpy as np
import scipy.linalg

import tensorplay as tp
from tensorplay.ops.kinds import PUBLIC
from tests.optable.schema import Op, register, sample

_HALF = {"parity_dtype": "PyTorch takes float16, but for empty matrices only"}
_NO_RULE = "its derivative is not defined, and raises"
_NOT_DIFFERENTIABLE = dict.fromkeys(
    (
        "reverse", "gradgrad", "forward", "forward_forward", "jvp_of_grad", "grad_of_jvp",
        "vmap_reverse", "vmap_forward", "compose", "jet", "float32", "layout", "parity_grad",
        "parity_gradgrad", "parity_jvp",
    ),
    _NO_RULE,
)  # fmt: skip


def _find(name, namespace="linalg"):
    return PUBLIC[namespace, name]


def _hermitian(name, namespace="linalg"):
    """The function of the Hermitian part, so that every direction keeps matrices Hermitian."""

    def function(a, *args, **kwargs):
        return _find(name, namespace)((a + a.mH) / 2, *args, **kwargs)

    return function


def _definite(make):
    return [
        sample(make.spd(3)), sample(make.spd(2, 3, 3)), sample(make.spd(3), upper=True),
        sample(make.spd(0)), sample(make.spd(0, 2, 2)),
    ]  # fmt: skip


def _cholesky(a, upper=False):
    return np.linalg.cholesky(a, upper=upper)


def _factor(make, *shape):
    return make.fixed(np.linalg.cholesky(make.spd(*shape).numpy()))


_TRIANGLE = {
    "parity_grad": "PyTorch's gradient is not zero in the triangle that is not read",
    "parity_gradgrad": "PyTorch's gradient is not zero in the triangle that is not read",
    "parity_jvp": "PyTorch's tangent depends on the triangle that is not read",
}

register(
    Op(
        "linalg.cholesky:hermitian", _definite, primitives=("linalg_cholesky_ex",),
        function=_hermitian("cholesky"), reference=_cholesky, complex=True,
    ),
    Op(
        "linalg.cholesky", _definite, primitives=("linalg_cholesky_ex",), reference=_cholesky,
        complex=True, out=True,
        skip={
            "reverse": "it reads one triangle; derivatives are those of Hermitian matrices",
            "gradgrad": "it reads one triangle; derivatives are those of Hermitian matrices",
            "forward": "it reads one triangle; derivatives are those of Hermitian matrices",
            "forward_forward": "it reads one triangle; derivatives are those of Hermitian matrices",
            "jvp_of_grad": "it reads one triangle; derivatives are those of Hermitian matrices",
            "grad_of_jvp": "it reads one triangle; derivatives are those of Hermitian matrices",
            "jet": "it reads one triangle; derivatives are those of Hermitian matrices",
            "parity_jvp": "PyTorch takes a tangent for Hermitian; its Hermitian part counts here",
            "parity_gradgrad": "PyTorch's second derivative holds for Hermitian matrices only",
            "parity_grad": "PyTorch's complex gradients are not Hermitian",
            **_HALF,
        },
    ),
    Op(
        "linalg.cholesky_ex:hermitian", _definite, function=_hermitian("cholesky_ex"), complex=True,
    ),
    Op(
        "cholesky:hermitian",
        lambda make: [sample(make.spd(3)), sample(make.spd(2, 3, 3), True)],
        function=_hermitian("cholesky", ""), complex=True,
    ),
    Op(
        "cholesky_solve",
        lambda make: [
            sample(make(3, 2), _factor(make, 3)),
            sample(make(2, 3, 2), _factor(make, 3)),
            sample(make(3, 2), make.fixed(_factor(make, 3).numpy().conj().T), upper=True),
        ],
        complex=True, skip=_TRIANGLE,
    ),
    Op(
        "cholesky_inverse",
        lambda make: [
            sample(_factor(make, 3)), sample(_factor(make, 2, 3, 3)),
            sample(_factor(make, 3), True),
        ],
        complex=True,
        skip=_TRIANGLE | {"parity_value": "PyTorch reads both triangles of complex matrices"},
    ),
)  # fmt: skip


def _any_matrices(make):
    return [
        sample(make.full_rank(3, 3)), sample(make.full_rank(4, 2)), sample(make.full_rank(2, 4)),
        sample(make.full_rank(2, 3, 3)), sample(make.full_rank(2, 4, 2)),
        sample(make.full_rank(2, 2, 3)), sample(make.full_rank(0, 3)),
        sample(make.full_rank(3, 0)), sample(make.full_rank(0, 3, 2)),
    ]  # fmt: skip


def _reflections(make):
    return [
        sample(make(4, 3), make(3)), sample(make(3, 3), make(2)), sample(make(2, 4, 2), make(2, 2)),
        sample(make(4, 2), make.fixed([0.0, 0.0])), sample(make(3, 0), make(0)),
    ]  # fmt: skip


def _product(a, tau):
    """Of Householder reflections, one after the other."""
    rows, columns = a.shape[-2:]
    result = np.zeros(a.shape, a.dtype)
    for place in np.ndindex(a.shape[:-2]):
        q = np.eye(rows, dtype=a.dtype)
        for i in range(tau.shape[-1]):
            v = np.r_[np.zeros(i), 1, a[place][i + 1 :, i]]
            q = q @ (np.eye(rows) - tau[place][i] * np.outer(v, v.conj()))
        result[place] = q[:, :columns]
    return result


register(
    Op(
        "linalg.qr", _any_matrices, primitives=("linalg_qr",), complex=True,
        reference=lambda a: tuple(np.linalg.qr(a)),
    ),
    Op(
        "linalg.qr:modes",
        lambda make: [sample(make.full_rank(*s), mode="r") for s in ((4, 2), (2, 4), (3, 3))]
        + [sample(make.full_rank(2, 4), mode="complete")],
        complex=True, results=lambda value: value.R,
        skip={
            "parity_grad": "PyTorch has no derivative in mode 'r'",
            "parity_gradgrad": "PyTorch has no derivative in mode 'r'",
            "parity_jvp": "PyTorch has no derivative in mode 'r'",
        },
    ),
    Op(
        "linalg.qr:complete", lambda make: [sample(make.full_rank(4, 2), mode="complete")],
        reference=lambda a, mode: tuple(np.linalg.qr(a, mode)), complex=True,
        skip=_NOT_DIFFERENTIABLE,
    ),
    Op("qr", lambda make: [sample(make.full_rank(4, 2)), sample(make.full_rank(2, 3), False)],
       complex=True),
    Op(
        "linalg.householder_product", _reflections, reference=_product, complex=True, out=True,
    ),
    Op("orgqr", lambda make: _reflections(make)[:1], reference=_product, complex=True),
    Op(
        "ormqr",
        lambda make: [
            sample(make(4, 3), make(3), make(4, 2)),
            sample(make(4, 3), make(3), make(4, 2), transpose=True),
            sample(make(4, 3), make(3), make(2, 4), left=False),
            sample(make(2, 4, 2), make(2, 2), make(2, 2, 4), left=False, transpose=True),
        ],
        complex=True,
    ),
    Op(
        "geqrf",
        lambda make: [sample(make.full_rank(4, 2)), sample(make.full_rank(2, 2, 3))],
        primitives=("geqrf",), complex=True, skip=_NOT_DIFFERENTIABLE,
    ),
)  # fmt: skip


def _lu(a):
    if a.size == 0:
        k = min(a.shape[-2:])
        m, n = a.shape[-2:]
        batch = a.shape[:-2]
        return (
            np.broadcast_to(np.eye(m), (*batch, m, m)), np.zeros((*batch, m, k)),
            np.zeros((*batch, k, n)),
        )  # fmt: skip
    return scipy.linalg.lu(a)


def _packed(make, *shape):
    """(LU, pivots) of an invertible matrix, the pivots as a constant."""
    packed, pivots = _find("lu_factor")(make.invertible(*shape))
    return packed, make.constant(pivots)


def _lu_solve_samples(make):
    return [
        sample(*_packed(make, 3), make(3, 2)),
        sample(*_packed(make, 3), make(3, 2), adjoint=True),
        sample(*_packed(make, 3), make(2, 3), left=False),
        sample(*_packed(make, 3), make(2, 3), left=False, adjoint=True),
        sample(*_packed(make, 2, 3, 3), make(3, 2)),
        sample(*_packed(make, 3), make(2, 3, 2)),
    ]


def _ldl(make, hermitian, *shape):
    a = make.symmetric(*shape).numpy()
    a = a if hermitian else np.tril(a) + np.tril(a, -1).swapaxes(-1, -2)
    packed, pivots = _find("ldl_factor")(tp.tensor(a), hermitian=hermitian)
    return make.constant(packed), make.constant(pivots)


register(
    Op(
        "linalg.lu_factor", _any_matrices, primitives=("linalg_lu_factor_ex",), complex=True,
        skip=_HALF,
    ),
    Op("linalg.lu_factor_ex", _any_matrices, complex=True, skip=_HALF),
    Op(
        "linalg.lu", _any_matrices, primitives=("lu_permutation",), reference=_lu, complex=True,
        skip=_HALF,
    ),
    Op("lu_older", lambda make: _any_matrices(make)[:2], function="lu", torch=None, complex=True),
    Op(
        "lu_permutation",
        lambda make: [sample(make.constant(np.array([3, 3, 3], np.int32)), 3, tp.float64)],
        primitives=("lu_permutation",), torch=None, float32=False,
    ),
    Op(
        "lu_unpack",
        lambda make: [sample(*_packed(make, 3)), sample(*_packed(make, 2, 3, 3))],
        complex=True, skip=_HALF,
    ),
    Op("linalg.lu_solve", _lu_solve_samples, complex=True, out=True, skip=_HALF),
    Op(
        "lu_solve",
        lambda make: [sample(make(3, 2), *_packed(make, 3))],
        complex=True, skip=_HALF,
    ),
    Op(
        "linalg.ldl_factor",
        lambda make: [sample(make.symmetric(3)), sample(make.symmetric(2, 3, 3), hermitian=True)],
        primitives=("linalg_ldl_factor_ex",), complex=True, skip=_NOT_DIFFERENTIABLE,
    ),
    Op(
        "linalg.ldl_factor_ex", lambda make: [sample(make.symmetric(3), hermitian=True)],
        complex=True, skip=_NOT_DIFFERENTIABLE,
    ),
    Op(
        "linalg.ldl_solve",
        lambda make: [
            sample(*_ldl(make, False, 3), make(3, 2)),
            sample(*_ldl(make, True, 3), make(3, 2), hermitian=True),
            sample(*_ldl(make, False, 2, 3, 3), make(3, 2)),
        ],
        primitives=("linalg_ldl_solve",), complex=True,
        skip=_HALF | {"parity_grad": "PyTorch has no derivative of it"},
    ),
)  # fmt: skip
