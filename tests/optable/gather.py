"""Rows of gather, scatter and their reductions."""

import numpy as np

from tests.optable.schema import Op, register, sample


def _gather(x, dim, index):
    return np.take_along_axis(x, index, dim)


def _scatters(make, unique=True):
    """(input, dim, index, src): of the same size, smaller, of another size along dim."""
    return [
        sample(make(4, 3), 0, make.index((3, 4), 4, unique=unique).t(), make(4, 3)),
        sample(make(4, 3), 1, make.index((2, 2), 3, unique=unique), make(2, 2)),
        sample(make(5), -1, make.index((3,), 5, unique=unique), make(3)),
        sample(make(), 0, make.index((), 1), make()),
        sample(make(3, 2), 0, make.index((0, 2), 3), make(0, 2), note="nothing"),
    ]


def _smaller(make):
    """An index that is smaller than src."""
    return [
        sample(make(4, 3), 1, make.index((2, 2), 3, unique=True), make(3, 4)),
        sample(make(3), 0, make.index((0,), 3), make(2)),
    ]


_ONE_SHAPE = dict.fromkeys(
    ("parity_grad", "parity_gradgrad"), "PyTorch's gradient needs index and src of one shape"
)


_NO_FORWARD = "PyTorch has no forward mode for products that are scattered"

register(
    Op(
        "gather",
        lambda make: [
            sample(make(4, 3), 0, make.index((5, 3), 4), note="repeated"),
            sample(make(4, 3), 1, make.index((4, 2), 3)),
            sample(make(4, 3), 1, make.index((2, 5), 3), note="smaller"),
            sample(make(2, 3, 4), -2, make.index((2, 2, 4), 3)),
            sample(make(5), 0, make.index((), 5)),
            sample(make(), 0, make.index((), 1)),
            sample(make(3, 2), 0, make.index((0, 2), 3)),
        ],
        primitives=("gather",),
        complex=True,
    ),
    Op(
        "gather:values",
        lambda make: [sample(make(4, 3), 0, make.index((5, 3), 4))],
        primitives=("gather",),
        reference=_gather,
        complex=True,
    ),
    Op(
        "scatter_add",
        lambda make: _scatters(make, unique=False),
        primitives=("scatter_add",),
        inplace=True,
        complex=True,
    ),
    Op(
        "scatter",
        _scatters,
        primitives=("scatter", "scatter_last"),
        inplace=True,
        complex=True,
    ),
    Op(
        "scatter:an index smaller than src",
        _smaller,
        primitives=("scatter", "slice"),
        inplace=True,
        complex=True,
        skip=_ONE_SHAPE,
    ),
    Op(
        "scatter_add:an index smaller than src",
        _smaller,
        primitives=("scatter_add", "slice"),
        inplace=True,
        complex=True,
        skip=_ONE_SHAPE,
    ),
    Op(
        "scatter:a number",
        lambda make: [
            sample(make(4, 3), 1, make.index((2, 2), 3), 1.5),
            sample(make(4, 3), 0, make.index((2, 2), 4), value=2),
        ],
        primitives=("scatter",),
        inplace=True,
        complex=True,
    ),
    Op(
        "scatter:repeated, the last one stays",
        lambda make: [sample(make(4), 0, make.constant(make.index((6,), 4)), make(6))],
        primitives=("scatter", "scatter_last"),
        reference=lambda x, dim, index, src: _in_order(x, index, src),
        torch=None,
        complex=True,
    ),
    Op(
        "scatter:with a reduction",
        lambda make: [
            sample(make(4, 3), 1, make.index((2, 4), 3), make(2, 4), reduce="add"),
            sample(make(4, 3), 1, make.index((2, 4), 3), make(2, 4), reduce="multiply"),
        ],
        primitives=("scatter_add", "scatter_product", "occurrence"),
        torch=lambda x, dim, index, src, reduce: x.scatter_reduce(
            dim, index, src, {"add": "sum", "multiply": "prod"}[reduce]
        ),
        skip={"parity_jvp": _NO_FORWARD},
    ),
)


def _in_order(x, index, src):
    x = x.copy()
    for place, value in zip(index, src, strict=True):
        x[place] = value
    return x


def _reductions(name):
    def samples(make):
        return [
            sample(make.distinct(4, 3), dim, index, make.distinct(*shape), name, include_self=own)
            for own in (True, False)
            for dim, index, shape in (
                (0, make.index((5, 3), 4), (5, 3)),
                (1, make.index((2, 2), 3), (2, 2)),
            )
        ] + [sample(make.distinct(3), 0, make.index((0,), 3), make(0), name)]

    return samples


_HIGHER = "PyTorch's gradient counts input where include_self=False leaves it out"

register(
    *[
        Op(
            f"scatter_reduce:{name}",
            _reductions(name),
            primitives=more,
            inplace=True,
            skip={"parity_grad": _HIGHER}
            if name in ("amax", "amin")
            else {"parity_jvp": _NO_FORWARD}
            if name == "prod"
            else {},
        )
        for name, more in (
            ("sum", ("scatter_add", "scatter_count")),
            ("mean", ("scatter_add", "scatter_count")),
            ("prod", ("scatter_product", "occurrence", "scatter_count")),
            ("amax", ("scatter_extreme",)),
            ("amin", ("scatter_extreme",)),
        )
    ],
    Op(
        "scatter_reduce:zero factors",
        lambda make: [
            sample(
                make.fixed([0.0, 2.0, 3.0]),
                0,
                make.constant(make.index((4,), 1)),
                make.fixed([0.0, 1.5, 0.0, 2.0]),
                "prod",
            ),
            sample(
                make.fixed([0.5, 2.0, 3.0]),
                0,
                make.constant(make.index((3,), 1)),
                make.fixed([0.0, 1.5, 2.0]),
                "prod",
            ),
        ],
        primitives=("scatter_product", "occurrence"),
        skip={
            "parity_gradgrad": "PyTorch refuses the second derivative with several zeros",
            "parity_jvp": _NO_FORWARD,
        },
    ),
    *[
        Op(
            f"index_reduce:{name}",
            lambda make, name=name: [
                sample(make.distinct(4, 3), 0, make.index((5,), 4), make.distinct(5, 3), name),
                sample(
                    make.distinct(4, 3),
                    1,
                    make.index((2,), 3),
                    make.distinct(4, 2),
                    name,
                    include_self=False,
                ),
            ],
            primitives=("scatter_count",) if name == "mean" else (),
            inplace=True,
        )
        for name in ("mean", "prod", "amax", "amin")
    ],
)
