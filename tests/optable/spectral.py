"""Rows of eigenvalues and singular values."""

import numpy as np

from tensorplay.ops.kinds import PUBLIC
from tests.optable.schema import Op, register, sample

_HALF = {"parity_dtype": "PyTorch takes float16, but for empty matrices only"}
_SIGNS = {"parity_dtype": "vectors are determined up to a sign, which libraries choose differently"}


def _hermitian(name):
    """The function of the Hermitian part, so that every direction keeps matrices Hermitian."""

    def function(a, *args, **kwargs):
        return PUBLIC["linalg", name]((a + a.mH) / 2, *args, **kwargs)

    return function


def _symmetric(make):
    return [
        sample(make.symmetric(3)), sample(make.symmetric(2, 3, 3)), sample(make.symmetric(3), "U"),
        sample(make.symmetric(1)), sample(make.symmetric(0)), sample(make.symmetric(0, 2, 2)),
    ]  # fmt: skip


def _projectors(vectors):
    """Rank-one projectors on the columns: all that does not depend on their phases."""
    columns = vectors.unsqueeze(-2).transpose(-1, -3)
    return columns * columns.conj().transpose(-1, -2) if vectors.numel() else vectors.abs()


def _eigen_invariant(value):
    values, vectors = value
    return values, _projectors(vectors)


def _distinct_squares(make):
    return [
        sample(make.invertible(3)), sample(make.invertible(2, 4, 4)), sample(make.invertible(1)),
        sample(make.invertible(0)), sample(make.invertible(0, 2, 2)),
    ]  # fmt: skip


register(
    Op(
        "linalg.eigh", _symmetric, primitives=("linalg_eigh",), function=_hermitian("eigh"),
        results=_eigen_invariant, complex=True,
    ),
    Op(
        "linalg.eigh:values", lambda make: _symmetric(make)[:3], torch="linalg.eigh",
        primitives=("linalg_eigh",), results=lambda value: (value[0], _projectors(value[1])),
        complex=True,
        skip=dict.fromkeys(
            ("reverse", "gradgrad", "forward", "forward_forward", "jvp_of_grad", "grad_of_jvp",
             "jet"),
            "it reads one triangle; derivatives are those of Hermitian matrices",
        )
        | {"parity_jvp": "PyTorch takes a tangent for Hermitian; its Hermitian part counts here"}
        | _SIGNS,
    ),
    Op(
        "linalg.eigvalsh", _symmetric, primitives=("linalg_eigvalsh",),
        function=_hermitian("eigvalsh"), reference=np.linalg.eigvalsh, complex=True,
    ),
    Op(
        "linalg.eigvalsh:repeated",
        lambda make: [
            sample(make.fixed(np.eye(3))), sample(make.fixed(np.diag([1.0, 2.0, 2.0]))),
            sample(make.fixed(np.zeros((2, 2)))),
        ],
        function=_hermitian("eigvalsh"), results=lambda values: values.sum(-1), complex=True,
        skip=dict.fromkeys(
            ("gradgrad", "forward_forward", "jvp_of_grad", "grad_of_jvp", "jet"),
            "the second derivative passes through single eigenvectors, which are not defined here",
        ),
    ),
    Op(
        "linalg.eig", _distinct_squares, primitives=("linalg_eig", "check_phase"),
        results=_eigen_invariant, complex=True, skip=_SIGNS,
    ),
    Op(
        "linalg.eigvals", _distinct_squares, primitives=("linalg_eigvals",),
        reference=np.linalg.eigvals, complex=True, out=True,
    ),
)  # fmt: skip


def _any_matrices(make):
    return [
        sample(make.full_rank(3, 3)), sample(make.full_rank(4, 2)), sample(make.full_rank(2, 4)),
        sample(make.full_rank(2, 3, 2)), sample(make.full_rank(2, 2, 3)),
        sample(make.full_rank(0, 3)), sample(make.full_rank(0, 3, 2)),
    ]  # fmt: skip


def _reduced(make):
    return [sample(*one.args, full_matrices=False) for one in _any_matrices(make)]


def _singular_invariant(value):
    """Values, and the products of their left and right vectors."""
    u, s, vh = value
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    if not s.numel():
        return s
    pairs = u.mT.unsqueeze(-1) * vh.unsqueeze(-2)
    return s, pairs


def _complements(value):
    """Projectors on what the singular vectors span and on the rest."""
    u, s, vh = value
    k = s.shape[-1]
    rest, others = u[..., k:], vh[..., k:, :]
    return rest @ rest.mH, others.mH @ others


register(
    Op(
        "linalg.svd", _any_matrices, primitives=("linalg_svd", "check_phase"),
        results=_singular_invariant, complex=True, skip=_SIGNS,
    ),
    Op("linalg.svd:reduced", _reduced, results=_singular_invariant, complex=True, skip=_SIGNS),
    Op(
        "linalg.svd:complement",
        lambda make: [sample(make.full_rank(4, 2)), sample(make.full_rank(2, 3))],
        results=_complements, complex=True,
        skip={
            "parity_grad": "PyTorch leaves out the derivative of the complement",
            "parity_gradgrad": "PyTorch leaves out the derivative of the complement",
            "parity_jvp": "PyTorch leaves out the derivative of the complement",
            **_SIGNS,
        },
    ),
    Op(
        "svd",
        lambda make: [sample(make.full_rank(3, 2)), sample(make.full_rank(2, 2, 3), some=False)],
        results=lambda value: _singular_invariant((value[0], value[1], value[2].mH)), complex=True,
        skip=_SIGNS,
    ),
    Op(
        "linalg.svdvals", _any_matrices, primitives=("linalg_svdvals",),
        reference=lambda a: np.linalg.svd(a, compute_uv=False), complex=True, out=True,
        skip=_HALF,
    ),
    Op(
        "linalg.svdvals:repeated",
        lambda make: [
            sample(make.fixed(np.eye(3))), sample(make.fixed(np.diag([1.0, 2.0, 2.0]))),
            sample(make.fixed(np.eye(3, 2))),
        ],
        function="linalg.svdvals", results=lambda values: values.sum(-1), complex=True,
        skip=dict.fromkeys(
            ("gradgrad", "forward_forward", "jvp_of_grad", "grad_of_jvp", "jet"),
            "the second derivative passes through single singular vectors, not defined here",
        ),
    ),
)  # fmt: skip
