"""Rows of linear systems, inverses and determinants."""

import numpy as np

from tests.optable.schema import Op, register, sample

_HALF = {"parity_dtype": "PyTorch takes float16, but for empty matrices only"}


def _solve(a, b, left=True):
    vectors = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    b = b[..., None] if vectors else b
    if not left:
        return np.linalg.solve(a.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    x = np.linalg.solve(a, b)
    return x[..., 0] if vectors else x


def _solve_samples(make):
    return [
        sample(make.invertible(3), make(3, 2)),
        sample(make.invertible(3), make(3), note="a vector"),
        sample(make.invertible(2, 3, 3), make(2, 3), note="vectors"),
        sample(make.invertible(2, 3, 3), make(2, 3, 2)),
        sample(make.invertible(3), make(2, 3, 2), note="A broadcast"),
        sample(make.invertible(2, 3, 3), make(3, 2), note="B broadcast"),
        sample(make.invertible(2, 1, 3, 3), make(4, 3, 2)),
        sample(make.invertible(3), make(2, 3), left=False),
        sample(make.invertible(0), make(0, 2)),
        sample(make.invertible(0, 3, 3), make(0, 3, 2)),
    ]


def _triangular(a, b, upper, left=True, unitriangular=False):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        n = a.shape[-1]
        a = np.where(np.eye(n, dtype=bool), 1, a)
    return _solve(a, b, left)


def _triangular_samples(make):
    def matrix(*shape):
        return make.fixed(_strong_diagonal(make(*shape)))

    return [
        sample(matrix(3, 3), make(3, 2), upper=True),
        sample(matrix(3, 3), make(3, 2), upper=False),
        sample(matrix(3, 3), make(3, 2), upper=False, unitriangular=True),
        sample(matrix(2, 3, 3), make(2, 3, 2), upper=True, unitriangular=True),
        sample(matrix(3, 3), make(2, 3, 2), upper=True),
        sample(matrix(2, 3, 3), make(3, 2), upper=False),
        sample(matrix(3, 3), make(2, 3), upper=False, left=False),
        sample(matrix(0, 0), make(0, 2), upper=True),
        sample(matrix(0, 3, 3), make(0, 3, 2), upper=True),
    ]


def _strong_diagonal(x):
    x = x.numpy()
    return x + 3 * np.eye(x.shape[-1])


def _squares(make):
    return [
        sample(make.invertible(3)),
        sample(make.invertible(1)),
        sample(make.invertible(2, 3, 3)),
        sample(make.invertible(0)),
        sample(make.invertible(0, 2, 2)),
    ]


register(
    Op(
        "linalg.solve", _solve_samples, primitives=("linalg_solve_ex",), reference=_solve,
        complex=True, out=True, skip=_HALF,
    ),
    Op(
        "linalg.solve_ex", lambda make: _solve_samples(make)[:4],
        results=lambda value: (value.result, value.info), complex=True,
    ),
    Op(
        "linalg.solve_triangular", _triangular_samples, primitives=("linalg_solve_triangular",),
        reference=_triangular, complex=True, out=True,
    ),
    Op(
        "triangular_solve",
        lambda make: [
            sample(make(3, 2), make.fixed(_strong_diagonal(make(3, 3))), *flags)
            for flags in ((), (False,), (True, True), (False, True), (True, False, True))
        ],
        complex=True, skip={"parity_jvp": "PyTorch's forward rule contradicts its values"},
    ),
    Op(
        "linalg.inv", _squares, primitives=("linalg_inv_ex",), reference=np.linalg.inv,
        complex=True, out=True,
    ),
    Op("inverse", _squares, reference=np.linalg.inv, complex=True, out=True, method=True),
    Op("linalg.inv_ex", _squares, complex=True),
    Op(
        "linalg.tensorinv",
        lambda make: [
            sample(_as_tensor(make, (2, 3, 6))), sample(_as_tensor(make, (4, 2, 2)), ind=1),
            sample(_as_tensor(make, (4, 2, 2)), 1),
        ],
        reference=np.linalg.tensorinv, complex=True, out=True,
    ),
    Op(
        "linalg.tensorsolve",
        lambda make: [
            sample(_as_tensor(make, (2, 3, 6)), make(2, 3)),
            sample(_as_tensor(make, (2, 3, 6)), make(2, 3), None),
            sample(_as_tensor(make, (2, 6, 3)), make(2, 3), dims=(1,)),
        ],
        complex=True, out=True,
    ),
)  # fmt: skip


def _as_tensor(make, shape):
    """An invertible matrix with its elements in another shape."""
    n = round(np.prod(shape) ** 0.5)
    return make.fixed(make.invertible(n).numpy().reshape(shape))


def _singular(make):
    """Matrices of every rank, some with repeated singular values."""
    columns = make.invertible(4).numpy()
    rank3 = columns * np.array([1.0, 2.0, 3.0, 0.0]) @ make.invertible(4).numpy()
    rank2 = columns * np.array([1.0, 2.0, 0.0, 0.0]) @ make.invertible(4).numpy()
    return [
        sample(make.fixed([[1.0, 2.0], [2.0, 4.0]])),
        sample(make.fixed([[0.0, 0.0], [0.0, 0.0]])),
        sample(make.fixed(np.eye(3))),
        sample(make.fixed(np.diag([1.0, 1.0, 0.0]))),
        sample(make.fixed(np.stack([rank3, rank2, columns]))),
        sample(make.fixed(np.zeros((1, 1)))),
    ]


register(
    Op(
        "linalg.det", _squares, primitives=("linalg_det", "linalg_cofactor"),
        reference=np.linalg.det, complex=True, out=True, skip=_HALF,
    ),
    Op("det", _squares, reference=np.linalg.det, complex=True, method=True, skip=_HALF),
    Op(
        "det:singular", _singular, reference=np.linalg.det, complex=True, torch=None,
        skip={"jet": "third derivatives pass through inverses, which do not exist here"},
    ),
    Op(
        "linalg_cofactor", _squares, primitives=("linalg_cofactor", "linalg_cofactor_change"),
        complex=True, torch=None,
    ),
    Op(
        "linalg_cofactor_change",
        lambda make: [
            sample(make.invertible(3), make(3, 3)), sample(make.invertible(2, 4, 4), make(4, 4)),
            sample(make.invertible(2), make(2, 2)), sample(make.invertible(1), make(1, 1)),
        ],
        primitives=("linalg_cofactor_change",), complex=True, torch=None,
    ),
    Op(
        "linalg.slogdet", _squares, primitives=("linalg_slogdet",),
        reference=lambda a: tuple(np.linalg.slogdet(a)), complex=True,
    ),
    Op("slogdet", _squares, complex=True, method=True),
    Op(
        "logdet",
        lambda make: [sample(make.spd(3)), sample(make.spd(2, 3, 3)), sample(make.spd(0))],
        complex=True, method=True,
    ),
)  # fmt: skip
