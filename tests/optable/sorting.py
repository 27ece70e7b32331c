"""Rows of sorting, searching, distinct values and histograms."""

import numpy as np

from tests.optable.schema import Op, register, sample


def _sort(x, dim=-1, descending=False, stable=False):
    if not x.ndim:
        return x, np.zeros((), np.int64)
    order = np.argsort(x, axis=dim, kind="stable")
    if descending:
        order = np.flip(order, dim)
    return np.take_along_axis(x, order, dim), order


def _topk(x, k, dim=-1, largest=True, sorted=True):
    values, order = _sort(x, dim, largest)
    if not x.ndim:
        return values, order
    return np.take(values, range(k), dim), np.take(order, range(k), dim)


def _orders(make):
    return [
        sample(make.distinct(3, 4)),
        sample(make.distinct(3, 4), 0),
        sample(make.distinct(2, 3, 2), 1, True),
        sample(make.distinct(5), dim=-1, descending=True, stable=True),
        sample(make.distinct(), 0),
        sample(make.distinct(0, 3), 0),
    ]


_NAN = float("nan")

register(
    Op("sort", _orders, primitives=("sort", "argsort"), reference=_sort, out=True),
    Op(
        "sort:ties and nan",
        lambda make: [
            sample(make.fixed([2.0, 1.0, _NAN, 2.0, 1.0, -np.inf]), stable=True),
            sample(make.fixed([2.0, 1.0, _NAN, 2.0, 1.0]), 0, True, True),
        ],
        primitives=("argsort",),
        torch=lambda x, dim=0, descending=False, stable=True: x.sort(
            dim=dim, descending=descending, stable=True
        ),
        nonsmooth=True,
    ),
    Op(
        "argsort",
        _orders,
        primitives=("argsort",),
        reference=lambda *args, **kwargs: _sort(*args, **kwargs)[1],
    ),
    Op(
        "msort",
        lambda make: [sample(make.distinct(4, 2)), sample(make.distinct(5))],
        primitives=("sort",),
        reference=lambda x: np.sort(x, axis=0),
        out=True,
    ),
    Op(
        "topk",
        lambda make: [
            sample(make.distinct(3, 4), 2),
            sample(make.distinct(3, 4), 2, 0, False),
            sample(make.distinct(200), 5),
            sample(make.distinct(2, 100), 3, largest=False),
            sample(make.distinct(4), 0),
            sample(make.distinct(), 1),
        ],
        primitives=("topk", "topk_indices"),
        reference=_topk,
        out=True,
        skip={"parity_dtype": "integers repeat, and equal elements may be taken in any order"},
    ),
    Op(
        "topk:in any order",
        lambda make: [sample(make.distinct(100), 5)],
        function=lambda x, k: x.topk(k, sorted=False).values.sum(),
        torch=lambda x, k: x.topk(k, sorted=False).values.sum(),
        primitives=("topk_indices",),
    ),
    Op(
        "kthvalue",
        lambda make: [
            sample(make.distinct(3, 4), 2),
            sample(make.distinct(3, 4), 3, 0, True),
            sample(make.distinct(5), 1),
            sample(make.distinct(), 1),
        ],
        primitives=("kthvalue", "kthvalue_index"),
        out=True,
        skip={"parity_dtype": "PyTorch orders complex numbers here, by chance"},
    ),
    Op(
        "searchsorted",
        lambda make: [
            sample(make.fixed([-1.0, 0.0, 0.0, 1.5]), make(3, 2)),
            sample(make.fixed([-1.0, 0.0, 0.0, 1.5]), make.fixed([0.0, 1.5, -9.0, 9.0])),
            sample(make.fixed([-1.0, 0.0, 0.0, 1.5]), make.fixed([0.0, 1.5]), right=True),
            sample(make.fixed([[0.0, 1.0, 3.0], [0.5, 1.0, 1.0]]), make(2, 4), side="right"),
            sample(make.fixed([[0.0, 1.0, 3.0], [0.5, 1.0, 1.0]]), make.fixed([[1.0], [1.0]])),
            sample(make.fixed([0.0, 1.0]), make(2), out_int32=True),
            sample(make.fixed([0.0, 1.0]), 0.5),
            sample(make(0), make(2)),
        ],
        primitives=("searchsorted",),
        nonsmooth=True,
    ),
    Op(
        "bucketize",
        lambda make: [
            sample(make(3, 2), make.fixed([-1.0, 0.0, 1.0])),
            sample(make.fixed([-1.0, 0.0, 2.0]), make.fixed([-1.0, 0.0, 1.0]), right=True),
        ],
        primitives=("searchsorted",),
        nonsmooth=True,
    ),
)

register(
    Op(
        "unique",
        lambda make: [
            sample(make.int((3, 4), 0, 4)),
            sample(make.int((10,), 0, 4), return_inverse=True, return_counts=True),
            sample(make.int((6, 2), 0, 2), dim=0, return_inverse=True),
            sample(make.int((2, 6), 0, 2), dim=1, return_counts=True),
            sample(make.int((0,), 0, 2)),
        ],
        primitives=("unique",),
        vmap=False,
    ),
    Op(
        "unique_consecutive",
        lambda make: [
            sample(make.int((10,), 0, 2)),
            sample(make.int((10,), 0, 2), return_inverse=True, return_counts=True),
            sample(make.int((6, 2), 0, 2), dim=0),
        ],
        primitives=("unique",),
        vmap=False,
    ),
    Op(
        "isin",
        lambda make: [
            sample(make.int((3, 4), 0, 5), make.int((3,), 0, 5)),
            sample(make.int((3,), 0, 5), make.int((2, 2), 0, 5), invert=True),
            sample(make.int((3,), 0, 5), 2),
        ],
        primitives=("isin",),
        reference=lambda x, tests, invert=False: np.isin(x, tests, invert=invert),
    ),
    Op(
        "bincount",
        lambda make: [
            sample(make.int((8,), 0, 5)),
            sample(make.int((8,), 0, 5), make.constant(make(8)), minlength=9),
            sample(make.int((0,), 0, 5), minlength=2),
        ],
        primitives=("bincount",),
        skip={"parity_dtype": "PyTorch drops the imaginary part of complex weights"},
        vmap=False,
        gradgrad=False,
        forward=False,
        nonsmooth=True,
    ),
    Op(
        "histc",
        lambda make: [
            sample(make.constant(make(20)), 5),
            sample(make.constant(make(4, 5)), bins=3, min=-1, max=1),
        ],
        primitives=("histogram",),
        skip={"parity_dtype": "PyTorch finds the bins in the precision of the input"},
        vmap=False,
        nonsmooth=True,
    ),
    Op(
        "histogram",
        lambda make: [
            sample(make.constant(make(20)), 5),
            sample(make.constant(make(20)), 4, range=(-1.0, 1.0), density=True),
            sample(make.constant(make(20)), make.constant([-1.0, 0.0, 2.0])),
            sample(make.constant(make(6)), 4, weight=make.constant(make.positive(6))),
        ],
        primitives=("histogram",),
        vmap=False,
        nonsmooth=True,
    ),
    Op(
        "histogramdd",
        lambda make: [
            sample(make.constant(make(20, 2)), bins=[2, 3]),
            sample(make.constant(make(20, 2)), 2, range=(-1.0, 1.0, -2.0, 2.0), density=True),
        ],
        primitives=("histogramdd",),
        vmap=False,
        nonsmooth=True,
        skip={"parity_dtype": "PyTorch finds the bins in the precision of the input"},
    ),
    Op(
        "unravel_index",
        lambda make: [
            sample(make.index((2, 3), 24), (2, 3, 4)),
            sample(make.index((), 5), 5),
            sample(make.index((0,), 5), (5,)),
        ],
        primitives=("unravel_index",),
        reference=lambda index, shape: list(np.unravel_index(index, shape)),
    ),
)
