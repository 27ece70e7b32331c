"""Rows of joining tensors and taking them apart."""

import numpy as np

from tests.optable.schema import Op, register, sample

ALL = slice(None)


def _lists(make):
    return [
        sample([make(3, 4), make(2, 4)]),
        sample([make(3, 4), make(3, 1), make(3, 2)], 1),
        sample([make(2, 3), make(2, 3)], dim=-1),
        sample([make(3)]),
        sample([make(0, 2), make(3, 2)]),
    ]


register(
    Op(
        "cat",
        lambda make: [*_lists(make), sample([make(0), make(3, 2)], note="an empty one is skipped")],
        primitives=("cat",),
        complex=True,
        out=True,
    ),
    Op(
        "cat:mixed dtypes",
        lambda make: [
            sample([make(2, 3), make.int((2, 3))]),
            sample([make.int((3,)), make.bool((2,)), make(1)]),
        ],
        primitives=("cat",),
        reference=lambda xs: np.concatenate([np.asarray(x) for x in xs]),
        float32=False,
    ),
    Op(
        "stack",
        lambda make: [
            sample([make(3, 4), make(3, 4)]),
            sample([make(3, 4), make(3, 4), make(3, 4)], 1),
            sample([make(3), make(3)], dim=-1),
            sample([make(), make()]),
            sample([make(0, 2), make(0, 2)], 2),
        ],
        primitives=("stack", "unbind"),
        reference=lambda xs, dim=0: np.stack(xs, dim),
        complex=True,
        out=True,
    ),
    Op(
        "hstack",
        lambda make: [
            sample([make(3), make(2)]),
            sample([make(2, 3), make(2, 1)]),
            sample([make(), make(2)]),
        ],
        primitives=("cat",),
        reference=np.hstack,
        complex=True,
    ),
    Op(
        "vstack",
        lambda make: [sample([make(3), make(3)]), sample([make(2, 3), make(3)])],
        primitives=("cat",),
        reference=np.vstack,
        complex=True,
    ),
    Op(
        "dstack",
        lambda make: [sample([make(3), make(3)]), sample([make(2, 3), make(2, 3)])],
        primitives=("cat",),
        reference=np.dstack,
        complex=True,
    ),
    Op(
        "column_stack",
        lambda make: [sample([make(3), make(3)]), sample([make(3, 2), make(3)])],
        primitives=("cat",),
        reference=np.column_stack,
        complex=True,
    ),
    Op(
        "block_diag",
        lambda make: [
            sample(make(2, 3), make(1, 2)),
            sample(make(2), make(), make(3, 1)),
            sample(make(2, 2)),
        ],
        primitives=("cat",),
        complex=True,
    ),
    Op(
        "meshgrid",
        lambda make: [
            sample(make(3), make(2), indexing="ij"),
            sample(make(3), make(2), make(), indexing="xy"),
            sample([make(3), make(2)], indexing="ij"),
        ],
        primitives=("expand",),
        complex=True,
    ),
    Op(
        "cartesian_prod",
        lambda make: [sample(make(3), make(2)), sample(make(2), make(2), make(3)), sample(make(3))],
        primitives=("stack", "expand"),
        complex=True,
    ),
    Op(
        "combinations",
        lambda make: [
            sample(make(4)),
            sample(make(4), r=3),
            sample(make(3), 2, with_replacement=True),
            sample(make(1)),
        ],
        primitives=("index",),
        complex=True,
    ),
    Op(
        "atleast_1d",
        lambda make: [sample(make()), sample(make(2, 3)), sample(make(), make(2))],
        primitives=("view",),
        complex=True,
    ),
    Op(
        "atleast_2d",
        lambda make: [sample(make()), sample(make(3)), sample(make(), make(2, 3))],
        primitives=("view",),
        complex=True,
    ),
    Op(
        "atleast_3d",
        lambda make: [sample(make()), sample(make(3)), sample(make(2, 3)), sample(make(1, 2, 3))],
        primitives=("view", "unsqueeze"),
        complex=True,
    ),
)

register(
    Op(
        "split",
        lambda make: [
            sample(make(5, 2), 2),
            sample(make(5, 2), 2, -1),
            sample(make(5, 2), [1, 4]),
            sample(make(3), 5),
            sample(make(0, 2), 2),
        ],
        primitives=("split", "split_with_sizes"),
        complex=True,
    ),
    Op(
        "split:one part used",
        lambda make: [sample(make(5, 2), 2), sample(make(5, 2), [1, 4])],
        function=lambda x, sizes: x.split(sizes)[1],
        torch=lambda x, sizes: x.split(sizes)[1],
        primitives=("split", "split_with_sizes"),
        complex=True,
    ),
    Op(
        "split_with_sizes",
        lambda make: [sample(make(5, 2), [2, 0, 3]), sample(make(2, 5), (1, 4), 1)],
        primitives=("split_with_sizes",),
        complex=True,
    ),
    Op(
        "chunk",
        lambda make: [
            sample(make(5, 2), 2),
            sample(make(2, 7), 3, dim=1),
            sample(make(3), 5),
            sample(make(0, 2), 3),
        ],
        primitives=("split",),
        complex=True,
    ),
    Op(
        "tensor_split",
        lambda make: [
            sample(make(7, 2), 3),
            sample(make(2, 5), (1, 3), dim=1),
            sample(make(4), (3, 2, 9)),
        ],
        primitives=("slice",),
        complex=True,
    ),
    Op(
        "hsplit",
        lambda make: [sample(make(4), 2), sample(make(2, 5), [1, 3])],
        primitives=("slice",),
        complex=True,
    ),
    Op("vsplit", lambda make: [sample(make(4, 2), 2)], primitives=("slice",), complex=True),
    Op("dsplit", lambda make: [sample(make(1, 2, 4), [1])], primitives=("slice",), complex=True),
    Op(
        "unbind",
        lambda make: [sample(make(3, 4)), sample(make(3, 4), 1), sample(make(2), 0)],
        primitives=("unbind",),
        complex=True,
    ),
    Op(
        "unbind:one part used",
        lambda make: [sample(make(3, 4), 1)],
        function=lambda x, dim: x.unbind(dim)[1],
        torch=lambda x, dim: x.unbind(dim)[1],
        primitives=("unbind",),
        complex=True,
    ),
)
