"""Rows of the extrema: amax, amin, aminmax, max, min, argmax, argmin."""

import numpy as np

from tests.optable.reductions import _axis, _reduce
from tests.optable.schema import Op, register, sample


def _dims(make):
    return [
        sample(make.distinct(3, 4)),
        sample(make.distinct(3, 4), 1),
        sample(make.distinct(3, 4), dim=0, keepdim=True),
        sample(make.distinct(2, 3, 4), dim=(0, 2)),
        sample(make.distinct(2, 3, 4), dim=(1, 2), keepdim=True),
        sample(make.distinct(2, 3, 4), dim=(-1,)),
        sample(make.distinct(3, 4), dim=()),
        sample(make()),
        sample(make(), 0),
        sample(make(0, 3), dim=1),
    ]


def _ties(make):
    return [
        sample(make.fixed([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), 1),
        sample(make.fixed([[1.0, 2.0, 2.0], [2.0, 1.0, 2.0]]), dim=(0, 1)),
        sample(make.fixed([[1.0, 2.0, 2.0], [1.0, 1.0, 2.0]]), dim=0, keepdim=True),
        sample(make.fixed([-0.0, 0.0, 0.0])),
    ]


def _along(make):
    return [
        sample(make.distinct(3, 4), 1),
        sample(make.distinct(3, 4), dim=0, keepdim=True),
        sample(make.distinct(2, 3, 4), -2),
        sample(make(), 0),
        sample(make(0, 3), 1),
    ]


def _everything(make):
    return [sample(make.distinct(3, 4)), sample(make()), sample(make.distinct(1, 1, 2))]


def _pairs(make):
    return [
        sample(make.distinct(3, 4), make.distinct(3, 4, low=-1.9, high=2.1)),
        sample(make.distinct(3, 4), make.distinct(4, low=-1.9, high=2.1)),
        sample(make.distinct(3, 1), make.fixed(0.25)),
        sample(make(0, 2), make(2)),
    ]


def _extremum(name, function, place):
    """(values, indices) along a dim."""

    def reference(x, dim, keepdim=False):
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        index = place(x, axis=dim, keepdims=True)
        values = np.take_along_axis(x, index, dim)
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    return reference


for _name, _numpy in (("amax", np.max), ("amin", np.min)):
    register(
        Op(
            _name, _dims, primitives=(_name,), reference=_reduce(_numpy), out=True,
            skip={"parity_dtype": "PyTorch takes complex numbers where there is one element"},
        ),
        Op(
            f"{_name}:ties", _ties, primitives=(_name, "agreement"), reference=_reduce(_numpy),
            nonsmooth=True,
        ),
        Op(
            f"{_name}:integers",
            lambda make: [sample(make.int((3, 4)), 0), sample(make.bool((3, 4)), 1)],
            reference=_reduce(_numpy),
        ),
    )  # fmt: skip

for _name, _numpy, _place, _pair in (
    ("max", np.max, np.argmax, np.maximum),
    ("min", np.min, np.argmin, np.minimum),
):
    register(
        Op(f"{_name}:all", _everything, reference=_numpy, out=True),
        Op(
            f"{_name}:all, ties",
            lambda make: [sample(make.fixed([[1.0, 2.0, 2.0], [2.0, 1.0, 1.0]]))],
            reference=_numpy,
            nonsmooth=True,
        ),
        Op(
            f"{_name}:dim",
            _along,
            primitives=(f"{_name}_dim",),
            reference=_extremum(_name, _numpy, _place),
            out=True,
        ),
        Op(
            f"{_name}:dim, ties",
            lambda make: [
                sample(make.fixed([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), 1),
                sample(make.fixed([[1.0, np.nan, 2.0], [3.0, np.nan, np.nan]]), 1, True),
            ],
            primitives=(f"{_name}_dim",),
            reference=_extremum(_name, _numpy, _place),
            nonsmooth=True,
        ),
        Op(f"{_name}:other", _pairs, reference=_pair, out=True),
    )

for _name, _numpy in (("argmax", np.argmax), ("argmin", np.argmin)):
    register(
        Op(
            _name,
            lambda make: [
                sample(make.distinct(3, 4)),
                sample(make.distinct(3, 4), 1),
                sample(make.distinct(3, 4), dim=0, keepdim=True),
                sample(make.distinct(2, 3, 4), -1),
                sample(make.fixed([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), 1, note="ties"),
                sample(make.fixed([1.0, np.nan, 2.0, np.nan])),
                sample(make.int((3, 4)), 1),
                sample(make()),
                sample(make(0, 3), 1),
            ],
            primitives=(_name,),
            reference=lambda x, dim=None, keepdim=False, find=_numpy: find(
                x, axis=_axis(dim), keepdims=keepdim
            ),
            out=True,
        )
    )

register(
    Op(
        "aminmax",
        lambda make: [
            sample(make.distinct(3, 4)),
            sample(make.distinct(3, 4), dim=1),
            sample(make.distinct(3, 4), dim=0, keepdim=True),
            sample(make()),
        ],
        reference=lambda x, dim=None, keepdim=False: (
            np.min(x, axis=dim, keepdims=keepdim),
            np.max(x, axis=dim, keepdims=keepdim),
        ),
        out=True,
    )
)
