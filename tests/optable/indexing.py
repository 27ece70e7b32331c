"""Rows of indexing: views, index tensors and masks, reading and writing, and named forms."""

import numpy as np

from tensorplay._core import core
from tests.optable.schema import Op, register, sample

ALL = slice(None)


def _getitem(x, index):
    return x[index]


def _setitem(x, index, value):
    x = x + 0 * value.sum()  # batched by vmap where either is
    x[index] = value
    return x


def _set_number(x, index):
    x = x * 1
    x[index] = 2.5
    return x


def _ints(make, *values):
    return make.constant(core.from_array(np.array(values, np.int64)))


def _mask(*values):
    return core.from_array(np.array(values, bool))


def _basic(make):
    return [
        sample(make(3, 4), 1),
        sample(make(3, 4), -1),
        sample(make(3, 4), (1, 2)),
        sample(make(3, 4), slice(1, 3)),
        sample(make(3, 4), (ALL, slice(0, 4, 2))),
        sample(make(2, 3, 4), (..., 1)),
        sample(make(2, 3, 4), (0, None, ..., slice(-2, None))),
        sample(make(3, 4), None),
        sample(make(3, 4), ...),
        sample(make(3, 4), ALL),
        sample(make(3, 4), slice(5, 9)),
        sample(make(), ()),
        sample(make(0, 3), (ALL, 1)),
    ]


def _advanced(make):
    return [
        sample(make(4, 3), (make.index((5,), 4),), note="repeated"),
        sample(make(4, 3), (make.index((2, 2), 4, negative=True),)),
        sample(make(2, 4, 3), (ALL, make.index((3,), 4))),
        sample(make(2, 4, 3), (..., make.index((2, 2), 3))),
        sample(make(4, 3), (make.index((5,), 4), make.index((5,), 3))),
        sample(make(4, 3), (make.index((2, 1), 4), make.index((3,), 3)), note="broadcast"),
        sample(make(2, 4, 3), (make.index((2,), 2), ALL, make.index((2,), 3)), note="not adjacent"),
        sample(make(2, 4, 3, 2), (ALL, make.index((2,), 4), make.index((2,), 3)), note="inner"),
        sample(make(2, 4, 3, 2), (ALL, make.index((2,), 4), ALL, make.index((2,), 2))),
        sample(make(2, 3, 4), (0, ALL, make.index((2,), 4)), note="an int does not move dims"),
        sample(make(2, 3), (None, make.index((2,), 2))),
        sample(make(4, 3), (make.index((0,), 4),), note="nothing"),
        sample(make(3), True),
        sample(make(3), False),
    ]


def _masks(make):
    return [
        sample(make(3), _mask(True, False, True)),
        sample(make(3, 2), _mask([True, False], [False, True], [True, True])),
        sample(make(2, 3), (ALL, _mask(True, False, True))),
        sample(make(3, 2), _mask(False, False, False)),
        sample(make(2, 3), (_mask(True, True), _ints(make, 2, 0)), note="with an index tensor"),
        sample(make(), core.from_array(np.array(True))),
    ]


_BATCHED_MASK = "a batched mask would give results of different shapes"

register(
    Op(
        "Tensor.__getitem__",
        _basic,
        primitives=("select", "slice", "newaxis", "alias", "slice_backward"),
        reference=_getitem,
        function=_getitem,
        torch=_getitem,
        complex=True,
    ),
    Op(
        "Tensor.__getitem__:index tensors",
        _advanced,
        primitives=("index", "index_put"),
        function=_getitem,
        torch=_getitem,
        complex=True,
    ),
    Op(
        "Tensor.__getitem__:masks",
        _masks,
        primitives=("mask_index", "mask_select", "mask_put"),
        function=_getitem,
        torch=_getitem,
        complex=True,
        skip={
            "vmap_ints": _BATCHED_MASK,
            "parity_vmap": _BATCHED_MASK,
        },
    ),
    Op(
        "Tensor.__setitem__",
        lambda make: [
            sample(make(3, 4), 1, make(4)),
            sample(make(3, 4), (ALL, 2), make(3)),
            sample(make(3, 4), (slice(1, 3), slice(0, 4, 2)), make(2), note="broadcast"),
            sample(make(3, 4), 1, make(1, 1, 4), note="leading ones"),
            sample(make(3, 4), ..., make()),
            sample(make(2), 0, make()),
            sample(make(3), slice(1, 1), make(0)),
        ],
        function=_setitem,
        torch=_setitem,
        primitives=("view_scatter",),
        complex=True,
    ),
    Op(
        "Tensor.__setitem__:index tensors",
        lambda make: [
            sample(make(4, 3), (make.index((2,), 4, unique=True),), make(2, 3)),
            sample(make(4, 3), (make.index((2,), 4, unique=True),), make(3), note="broadcast"),
            sample(make(2, 4, 3), (ALL, make.index((2,), 4, unique=True)), make(2, 2, 3)),
            sample(make(4, 3), (_ints(make, 0, 2), _ints(make, 1, 1)), make(2)),
            sample(make(2, 4, 3), (_ints(make, 0, 1), ALL, _ints(make, 2, 1)), make(2, 4)),
            sample(make(2, 3, 4), (0, ALL, _ints(make, 3, 1)), make(3, 2)),
            sample(make(4), (_ints(make, -1, 0),), make()),
        ],
        function=_setitem,
        torch=_setitem,
        primitives=("index_put", "last_written"),
        complex=True,
    ),
    Op(
        "Tensor.__setitem__:masks",
        lambda make: [
            sample(make(3, 4), make.bool((3, 4)), make()),
            sample(make(3, 4), make.bool((3,)), make(4), note="one row for every chosen one"),
            sample(make(3, 4), make.bool((3,)), make(1, 4)),
            sample(make(2, 3), (ALL, make.bool((3,))), make(2, 1)),
        ],
        function=_setitem,
        torch=_setitem,
        complex=True,
    ),
    Op(
        "Tensor.__setitem__:masks with a value for each",
        lambda make: [
            sample(make(3), _mask(True, False, True), make(2)),
            sample(make(2, 3), (ALL, _mask(True, False, True)), make(2, 2)),
        ],
        function=_setitem,
        torch=_setitem,
        complex=True,
        skip={
            "vmap_ints": _BATCHED_MASK,
            "parity_vmap": _BATCHED_MASK,
        },
    ),
    Op(
        "Tensor.__setitem__:a number",
        lambda make: [
            sample(make(3, 4), 1),
            sample(make(3, 4), (make.index((2,), 3),)),
            sample(make(3, 4), make.bool((3, 4))),
            sample(make(2), 0),
        ],
        function=_set_number,
        torch=_set_number,
        complex=True,
    ),
    Op(
        "index_put",
        lambda make: [
            sample(make(4, 3), (make.index((2,), 4, unique=True),), make(2, 3)),
            sample(make(4, 3), (make.index((5,), 4),), make(5, 3), accumulate=True),
            sample(make(4, 3), (make.index((5,), 4), make.index((5,), 3)), make(), True),
            sample(make(4, 3), (make.index((2, 1), 4), make.index((3,), 3)), make(2, 3), True),
        ],
        primitives=("index_put",),
        inplace=True,
        complex=True,
    ),
    Op(
        "select",
        lambda make: [
            sample(make(3, 4), 0, 1),
            sample(make(3, 4), -1, -2),
            sample(make(2, 3, 4), 1, 0),
            sample(make(5), 0, 3),
        ],
        primitives=("select",),
        reference=lambda x, dim, index: np.take(x, index, axis=dim),
        complex=True,
    ),
    Op(
        "narrow",
        lambda make: [
            sample(make(3, 4), 1, 1, 2),
            sample(make(3, 4), -2, -2, 1),
            sample(make(4), 0, 4, 0),
        ],
        primitives=("slice",),
        complex=True,
    ),
    Op(
        "select_scatter",
        lambda make: [
            sample(make(3, 4), make(4), 0, 1),
            sample(make(3, 4), make(3), -1, -1),
            sample(make(3), make(), 0, 2),
        ],
        primitives=("slice_scatter",),
        complex=True,
    ),
    Op(
        "slice_scatter",
        lambda make: [
            sample(make(4, 2), make(2, 2), start=1, end=3),
            sample(make(2, 5), make(2, 2), 1, 0, 4, 2),
            sample(make(3), make(3)),
            sample(make(3), make(0), 0, 3, 9),
        ],
        primitives=("slice_scatter",),
        complex=True,
    ),
)


def _put_in_order(x, indices, values):
    x = x.copy()
    for place, value in zip(indices[0], values, strict=True):
        x[place] = value
    return x


register(
    Op(
        "index_put:repeated, the last one stays",
        lambda make: [sample(make(4), (_ints(make, 1, 2, 1),), make(3))],
        primitives=("index_put", "last_written"),
        torch=None,
        complex=True,
        reference=_put_in_order,
    ),
)


# --- slices by an index vector, flat positions ----------------------------------------------------

register(
    Op(
        "index_select",
        lambda make: [
            sample(make(4, 3), 0, make.index((5,), 4)),
            sample(make(4, 3), -1, make.index((2,), 3)),
            sample(make(4, 3), 1, make.index((), 3)),
            sample(make(4, 3), 0, make.index((0,), 4)),
            sample(make(), 0, make.index((1,), 1)),
        ],
        primitives=("index",),
        complex=True,
    ),
    Op(
        "index_add",
        lambda make: [
            sample(make(4, 3), 0, make.index((5,), 4), make(5, 3)),
            sample(make(4, 3), 1, make.index((2,), 3), make(4, 2), alpha=2.5),
            sample(make(4, 3), 0, make.index((0,), 4), make(0, 3)),
            sample(make(), 0, make.index((), 1), make()),
        ],
        primitives=("index_put",),
        inplace=True,
        complex=True,
    ),
    Op(
        "index_copy",
        lambda make: [
            sample(make(4, 3), 0, make.index((3,), 4, unique=True), make(3, 3)),
            sample(make(4, 3), -1, make.index((2,), 3, unique=True), make(4, 2)),
            sample(make(), 0, make.index((), 1), make()),
        ],
        primitives=("index_put",),
        inplace=True,
        complex=True,
    ),
    Op(
        "index_fill",
        lambda make: [
            sample(make(4, 3), 0, make.index((2,), 4), 1.5),
            sample(make(4, 3), 1, make.index((2,), 3), make()),
            sample(make(4, 3), 1, make.index((), 3), 2),
            sample(make(), 0, make.index((), 1), make()),
        ],
        primitives=("index_put",),
        inplace=True,
        complex=True,
    ),
    Op(
        "take",
        lambda make: [
            sample(make(3, 4), make.index((5,), 12)),
            sample(make(3, 4), make.index((2, 2), 12, negative=True)),
            sample(make(3), make.index((), 3)),
            sample(make(0), make.index((0,), 1)),
        ],
        primitives=("index", "checked_index"),
        reference=np.take,
        complex=True,
    ),
    Op(
        "put",
        lambda make: [
            sample(make(3, 4), make.index((3,), 12, unique=True), make(3)),
            sample(make(3, 4), make.index((2, 3), 12), make(6), accumulate=True),
            sample(make(3), make.index((0,), 1), make(0)),
        ],
        primitives=("index_put",),
        inplace=True,
        complex=True,
    ),
    Op(
        "take_along_dim",
        lambda make: [
            sample(make(3, 4), make.index((3, 2), 4), 1),
            sample(make(3, 4), make.index((1, 4), 3), dim=0),
            sample(make(1, 4), make.index((3, 2), 4), 1),
            sample(make(3, 4), make.index((5,), 12)),
        ],
        primitives=("gather",),
        complex=True,
    ),
)

# --- masks ----------------------------------------------------------------------------------------

register(
    Op(
        "masked_fill",
        lambda make: [
            sample(make(3, 4), make.bool((3, 4)), 1.5),
            sample(make(3, 4), make.bool((4,)), make()),
            sample(make(4), make.bool((3, 4)), -2),
            sample(make(), make.bool(()), make()),
            sample(make(0), make.bool((0,)), 1.0),
        ],
        primitives=("masked_fill",),
        reference=lambda x, mask, value: np.where(mask, value, x),
        complex=True,
    ),
    Op(
        "Tensor.masked_fill",
        lambda make: [
            sample(make(3, 4), make.bool((3, 4)), 1.5),
            sample(make(80, 80), make.bool((80, 80)), make()),
            sample(make(80, 80), make.bool((80,)), 0),
        ],
        primitives=("masked_fill",),
        reference=lambda x, mask, value: np.where(mask, value, x),
        complex=True,
        gradgrad=False,
    ),
    Op(
        "masked_select",
        lambda make: [
            sample(make(3, 4), make.bool((3, 4))),
            sample(make(3, 4), make.bool((4,))),
            sample(make(4), make.bool((3, 4))),
            sample(make(), make.constant(core.from_array(np.array(True)))),
        ],
        primitives=("mask_select", "mask_put"),
        complex=True,
        skip={
            "vmap_ints": _BATCHED_MASK,
            "parity_vmap": _BATCHED_MASK,
        },
    ),
    Op(
        "masked_scatter",
        lambda make: [
            sample(make(3, 4), make.bool((3, 4)), make(12)),
            sample(make(3, 4), make.bool((4,)), make(3, 5)),
            sample(make(3), core.from_array(np.zeros(3, bool)), make(1)),
        ],
        primitives=("mask_order", "index", "where"),
        complex=True,
    ),
    Op(
        "nonzero",
        lambda make: [
            sample(make.int((3, 4), 0, 2)),
            sample(make.bool((3,))),
            sample(make.int((), 1, 2)),
            sample(make.int((), 0, 1)),
            sample(make.fixed([0.0, 1.5, -0.0])),
        ],
        primitives=("nonzero",),
        reference=lambda x: np.argwhere(x) if x.ndim else np.zeros((int(x != 0), 0), np.int64),
        vmap=False,
    ),
    Op(
        "argwhere",
        lambda make: [sample(make.int((3, 4), 0, 2)), sample(make.int((0, 2)))],
        primitives=("nonzero",),
        reference=np.argwhere,
        vmap=False,
    ),
    Op(
        "nonzero_static",
        lambda make: [
            sample(make.int((3, 4), 0, 2), size=4),
            sample(make.int((3, 4), 0, 2), size=15, fill_value=-7),
            sample(make.int((4,), 0, 2), size=0),
        ],
        primitives=("nonzero_static",),
    ),
)
