"""Rows of pseudoinverses, norms and functions of matrices, and products of vectors."""

import numpy as np
import scipy.linalg

import tensorplay as tp
from tensorplay.ops.kinds import PUBLIC
from tests.optable.schema import Op, register, sample

_HALF = {"parity_dtype": "PyTorch takes float16, but for empty matrices only"}


def _hermitian(name):
    """The function of the Hermitian part, so that every direction keeps matrices Hermitian."""

    def function(a, *args, **kwargs):
        return PUBLIC["linalg", name]((a + a.mH) / 2, *args, **kwargs)

    return function


def _extreme(a, k, b=None, **options):
    """`lobpcg` of Hermitian parts."""
    b = b if b is None else (b + b.mH) / 2
    return tp.lobpcg((a + a.mH) / 2, k, b, **options)


def _matrices(make):
    return [
        sample(make.full_rank(3, 3)), sample(make.full_rank(4, 2)), sample(make.full_rank(2, 4)),
        sample(make.full_rank(2, 3, 2)), sample(make.full_rank(0, 3)),
        sample(make.full_rank(0, 3, 2)),
    ]  # fmt: skip


def _least_squares(make, **options):
    return [
        sample(make.full_rank(4, 2), make(4, 3), **options),
        sample(make.full_rank(2, 4, 2), make(2, 4, 3), **options),
        sample(make.full_rank(4, 2), make(4), **options),
        sample(make.full_rank(2, 4), make(2, 3), **options),
        sample(make.full_rank(3, 3), make(3, 2), **options),
    ]


register(
    Op(
        "linalg.pinv", _matrices, primitives=("linalg_pinv",),
        reference=np.linalg.pinv, complex=True, out=True, skip=_HALF,
    ),
    Op(
        "linalg.pinv:tolerances",
        lambda make: [
            sample(make.full_rank(4, 2), rtol=1e-10), sample(make.full_rank(3, 4), atol=0.1),
            sample(make.full_rank(2, 3, 2), atol=make.constant(tp.tensor([0.1, 0.2]))),
            sample(make.full_rank(4, 2), 1e-8),
        ],
        complex=True, torch="linalg.pinv",
        skip=_HALF,
    ),
    Op(
        "linalg.pinv:hermitian",
        lambda make: [
            sample(make.symmetric(3), hermitian=True),
            sample(make.symmetric(2, 4, 4), hermitian=True),
        ],
        function=_hermitian("pinv"), complex=True,
    ),
    Op("pinverse", lambda make: _matrices(make)[:4], reference=np.linalg.pinv, complex=True),
    Op(
        "linalg.matrix_rank",
        lambda make: [
            sample(make.full_rank(3, 2)), sample(make.fixed([[1.0, 2.0], [2.0, 4.0]])),
            sample(make.full_rank(2, 3, 3), atol=1.0), sample(make.full_rank(3, 3), rtol=0.5),
            sample(make.full_rank(3, 3), 1.0), sample(make.symmetric(3), hermitian=True),
            sample(make.full_rank(0, 3)),
        ],
        primitives=("linalg_matrix_rank",), complex=True,
    ),
    Op(
        "linalg.lstsq", _least_squares, results=lambda value: value.solution, complex=True,
    ),
    Op(
        "linalg.lstsq:broadcast",
        lambda make: [
            sample(make.full_rank(4, 2), make(2, 4, 3)),
            sample(make.full_rank(2, 4, 2), make(4, 3)),
        ],
        results=lambda value: value.solution, complex=True, torch=None,
    ),
    Op(
        "linalg.lstsq:gelsd", lambda make: _least_squares(make, driver="gelsd")[:2],
        results=lambda value: (value.solution, value.residuals), complex=True, torch="linalg.lstsq",
        skip={"parity_grad": "PyTorch has no derivative of the residuals",
              "parity_gradgrad": "PyTorch has no derivative of the residuals",
              "parity_jvp": "PyTorch has no derivative of the residuals"},
    ),
)  # fmt: skip


def _norm_samples(make):
    orders = ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf)
    return [sample(make.full_rank(3, 2), ord) for ord in orders] + [
        sample(make.full_rank(2, 3, 2), ord, keepdim=True) for ord in orders
    ] + [
        sample(make.full_rank(3, 2, 4), 1, dim=(0, 2)),
        sample(make.full_rank(3, 2, 4), np.inf, dim=(2, 0), keepdim=True),
        sample(make.full_rank(2, 3, 3), "nuc", dim=(1, 2)),
    ]  # fmt: skip


def _matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False):
    return np.linalg.norm(x, ord, dim, keepdim)


def _any_norm(x, ord=None, dim=None, keepdim=False):
    return np.linalg.norm(x.ravel() if ord is None and dim is None else x, ord, dim, keepdim)


register(
    Op(
        "linalg.vector_norm",
        lambda make: [sample(make(3, 4), p) for p in (2, 1, 0, 3, 0.5, -1, np.inf, -np.inf)]
        + [sample(make(3, 4), 2, 1), sample(make(2, 3, 4), 3, dim=(0, 2), keepdim=True),
           sample(make(3)), sample(make())],
        complex=True, out=True,
    ),
    Op("linalg.matrix_norm", _norm_samples, reference=_matrix_norm, complex=True, out=True),
    Op(
        "linalg.norm",
        lambda make: [
            sample(make(3, 4)), sample(make(2, 3, 4)), sample(make(5), 3),
            sample(make(3, 4), "fro"), sample(make.full_rank(3, 3), 2),
            sample(make(3, 4), 1, dim=1),
            sample(make(3, 4), dim=(0, 1)), sample(make.full_rank(2, 3, 2), "nuc", dim=(1, 2)),
            sample(make(3, 4), np.inf, 0, True),
        ],
        reference=_any_norm, complex=True, out=True,
    ),
    Op(
        "linalg.norm:zero",
        lambda make: [sample(make.fixed(np.zeros((2, 2)))), sample(make.fixed([0.0, 0.0]))],
        torch="linalg.norm", nonsmooth=True,
        skip={"parity_gradgrad": "PyTorch's second derivative at zero is nan"},
    ),
    Op(
        "linalg.cond",
        lambda make: [
            sample(make.full_rank(3, 2)), sample(make.full_rank(3, 2), -2),
            *[sample(make.invertible(3), p) for p in ("fro", "nuc", 1, -1, np.inf, -np.inf, 2)],
            sample(make.invertible(2, 3, 3), 1),
        ],
        reference=lambda a, p=None: np.linalg.cond(a, p), complex=True, out=True,
        skip={"parity_grad": "PyTorch's derivative of orders other than 2 raises"},
    ),
    Op(
        "matrix_power",
        lambda make: [sample(make.invertible(3), n) for n in (-2, -1, 0, 1, 2, 3, 5)]
        + [sample(make.invertible(2, 3, 3), 3), sample(make.invertible(0), 2)],
        reference=np.linalg.matrix_power, complex=True, out=True, method=True,
    ),
    Op("linalg.matrix_power", lambda make: [sample(make.invertible(3), 4)],
       reference=np.linalg.matrix_power, complex=True),
    Op(
        "matrix_exp",
        lambda make: [
            sample(make(3, 3)), sample(make(2, 2, 2)), sample(make(1, 1)), sample(make(0, 0)),
            sample(make(0, 2, 2)),
        ],
        primitives=("linalg_matrix_exp",), complex=True, method=True, skip=_HALF,
        reference=lambda a: scipy.linalg.expm(a) if a.size else a,
    ),
    Op("linalg.matrix_exp", lambda make: [sample(make(3, 3))], reference=scipy.linalg.expm,
       complex=True, skip={"parity_dtype": "PyTorch's result in float16 is nan"}),
)  # fmt: skip


register(
    Op(
        "linalg.multi_dot",
        lambda make: [
            sample([make(2, 3), make(3, 5), make(5, 2), make(2, 4)]),
            sample([make(3), make(3, 5), make(5)]), sample([make(2, 3), make(3)]),
        ],
        reference=np.linalg.multi_dot, complex=True,
    ),
    Op(
        "linalg.vander",
        lambda make: [
            sample(make(3)), sample(make(3), N=5), sample(make(2, 3), N=2),
            sample(make.fixed([0.0, 1.0, 2.0])),
        ],
        complex=True,
    ),
    Op(
        "linalg.vecdot",
        lambda make: [
            sample(make(2, 3), make(2, 3)), sample(make(2, 3), make(3)),
            sample(make(2, 3), make(2, 3), dim=0),
        ],
        reference=lambda x, y, dim=-1: (x.conj() * y).sum(dim), complex=True, out=True,
    ),
    Op(
        "linalg.cross",
        lambda make: [
            sample(make(3), make(3)), sample(make(2, 3), make(2, 3)),
            sample(make(3, 2), make(3, 2), dim=0), sample(make(2, 3), make(1, 3)),
            sample(make(0, 3), make(0, 3)),
        ],
        primitives=("linalg_cross",), complex=True, out=True,
        reference=lambda x, y, dim=-1: np.cross(x, y, axis=dim),
    ),
    Op(
        "cross", lambda make: [sample(make(3, 2), make(3, 2)), sample(make(2, 3), make(2, 3), 1)],
        complex=True, method=True,
    ),
    Op(
        "linalg.diagonal",
        lambda make: [sample(make(3, 4)), sample(make(2, 3, 4), offset=1, dim1=0, dim2=2)],
        complex=True,
    ),
    Op("linalg.matmul", lambda make: [sample(make(2, 3), make(3, 4))], reference=np.matmul,
       complex=True),
    Op(
        "lobpcg",
        lambda make: [
            sample(make.symmetric(5), 2), sample(make.symmetric(5), 2, largest=False),
            sample(make.symmetric(5), 1, make.spd(5)), sample(make.symmetric(2, 6, 6), 2),
        ],
        function=_extreme, torch=None,
        results=lambda value: (value[0], (value[1] * value[1].conj()).abs()), complex=True,
    ),
    Op("svd_lowrank", lambda make: [sample(make.full_rank(5, 4), 2)], complex=True, random=True),
    Op("pca_lowrank", lambda make: [sample(make.full_rank(5, 4), 2)], complex=True, random=True),
)  # fmt: skip
