"""Rows of rearrangements, repetition, triangles, diagonals, padding and strided views."""

import numpy as np

from tests.optable.schema import Op, register, sample

register(
    Op(
        "flip",
        lambda make: [
            sample(make(3, 4), (0,)),
            sample(make(3, 4), [0, -1]),
            sample(make(3, 4), ()),
            sample(make(0, 2), (1,)),
        ],
        primitives=("flip",),
        reference=lambda x, dims: np.flip(x, tuple(dims)),
        complex=True,
    ),
    Op(
        "fliplr",
        lambda make: [sample(make(3, 4))],
        primitives=("flip",),
        reference=np.fliplr,
        complex=True,
    ),
    Op(
        "flipud",
        lambda make: [sample(make(3, 4)), sample(make(3))],
        primitives=("flip",),
        reference=np.flipud,
        complex=True,
    ),
    Op(
        "roll",
        lambda make: [
            sample(make(3, 4), 1),
            sample(make(3, 4), -2, 1),
            sample(make(3, 4), (1, 2), (0, -1)),
            sample(make(3, 4), (1, 2), (1, 1)),
            sample(make(), 1),
            sample(make(0, 2), 3, 0),
        ],
        primitives=("roll",),
        reference=lambda x, shifts, dims=None: np.roll(x, shifts, dims),
        complex=True,
    ),
    Op(
        "rot90",
        lambda make: [
            sample(make(3, 4)),
            sample(make(3, 4), 2),
            sample(make(2, 3, 4), -1, [1, 2]),
            sample(make(3, 4), 4, (1, 0)),
            sample(make(3, 4), 3, (1, 0)),
        ],
        primitives=("flip", "permute"),
        reference=lambda x, k=1, dims=(0, 1): np.rot90(x, k, tuple(dims)),
        complex=True,
    ),
    Op(
        "tile",
        lambda make: [sample(make(2, 3), (2,)), sample(make(3), (2, 2)), sample(make(), (3,))],
        primitives=("repeat",),
        reference=np.tile,
        complex=True,
    ),
    Op(
        "Tensor.repeat",
        lambda make: [
            sample(make(2, 3), 2, 3),
            sample(make(3), (2, 1, 2)),
            sample(make(3), 0),
            sample(make(), 3),
            sample(make(0, 2), 2, 2),
        ],
        primitives=("repeat",),
        complex=True,
    ),
    Op(
        "repeat_interleave",
        lambda make: [
            sample(make(2, 3), 2),
            sample(make(2, 3), 2, 1),
            sample(make(3), 0),
            sample(make(), 2),
        ],
        primitives=("expand", "view"),
        complex=True,
    ),
    Op(
        "repeat_interleave:a number for each slice",
        lambda make: [
            sample(make(2, 3), make.constant(make.int((3,), 0, 3)), dim=1),
            sample(make(3), make.constant(make.int((3,), 0, 3))),
            sample(make(2, 2), make.constant(make.int((1,), 2, 3)), dim=0),
        ],
        primitives=("repeat_index", "index"),
        complex=True,
        skip=dict.fromkeys(
            ("vmap_ints", "parity_vmap"),
            "a batched number of repeats would give results of different shapes",
        ),
    ),
    Op(
        "tril",
        lambda make: [
            sample(make(3, 4)),
            sample(make(2, 3, 3), 1),
            sample(make(3, 4), -1),
            sample(make(3, 4), diagonal=-9),
            sample(make(0, 3)),
        ],
        primitives=("tril",),
        reference=lambda x, diagonal=0: np.tril(x, diagonal),
        complex=True,
        inplace=True,
    ),
    Op(
        "triu",
        lambda make: [
            sample(make(3, 4)),
            sample(make(2, 3, 3), 1),
            sample(make(3, 4), -1),
            sample(make(3, 4), diagonal=9),
        ],
        primitives=("triu",),
        reference=lambda x, diagonal=0: np.triu(x, diagonal),
        complex=True,
        inplace=True,
    ),
)

register(
    Op(
        "diagonal",
        lambda make: [
            sample(make(3, 4)),
            sample(make(3, 4), 1),
            sample(make(2, 3, 4), -1, 1, 2),
            sample(make(2, 3, 4), 0, -1, 0),
            sample(make(3, 4), 7),
        ],
        primitives=("diagonal", "diagonal_backward"),
        reference=lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2),
        complex=True,
    ),
    Op(
        "diag_embed",
        lambda make: [
            sample(make(3)),
            sample(make(2, 3), 1),
            sample(make(2, 3), -1, 0, 2),
            sample(make(2, 3), 0, 1, 0),
        ],
        primitives=("diagonal_backward",),
        complex=True,
    ),
    Op(
        "diag",
        lambda make: [
            sample(make(3)),
            sample(make(3, 4)),
            sample(make(3), -1),
            sample(make(3, 4), 2),
        ],
        primitives=("diagonal", "diagonal_backward"),
        reference=np.diag,
        complex=True,
    ),
    Op(
        "diagflat",
        lambda make: [sample(make(2, 2)), sample(make(3), 1), sample(make())],
        primitives=("diagonal_backward",),
        reference=np.diagflat,
        complex=True,
    ),
    Op(
        "trace",
        lambda make: [sample(make(3, 4)), sample(make(2, 2)), sample(make(0, 3))],
        primitives=("diagonal", "sum"),
        reference=np.trace,
        complex=True,
    ),
    Op(
        "diagonal_scatter",
        lambda make: [
            sample(make(3, 4), make(3)),
            sample(make(2, 3, 4), make(2, 2), -1, 1, 2),
        ],
        primitives=("diagonal_scatter",),
        complex=True,
    ),
    Op(
        "constant_pad_nd",
        lambda make: [
            sample(make(3, 4), (1, 2)),
            sample(make(3, 4), (1, 2, 0, 1), 1.5),
            sample(make(3, 4), (-1, 2, 0, -2), 2.0),
            sample(make(3), ()),
            sample(make(0, 2), (0, 0, 1, 1), -1.0),
        ],
        primitives=("constant_pad_nd",),
        complex=True,
    ),
)


_STRIDES = dict.fromkeys(
    ("layout", "vmap_vmap", "vmap_empty"),
    "what strides mean depends on how the elements lie in memory",
)

register(
    Op(
        "as_strided",
        lambda make: [
            sample(make(12), (3, 4), (4, 1)),
            sample(make(6), (4, 3), (1, 1), note="overlapping"),
            sample(make(3, 4), (2, 2), (4, 2), 1),
            sample(make(4), (), (), 2),
            sample(make(4), (3, 0), (1, 1)),
        ],
        primitives=("as_strided", "as_strided_backward"),
        skip=_STRIDES,
        complex=True,
    ),
    Op(
        "as_strided:of a transpose",
        lambda make: [sample(make(3, 3))],
        function=lambda x: (x * 1).transpose(0, 1).as_strided((2, 2), (1, 3), 1),
        torch=lambda x: (x * 1).transpose(0, 1).as_strided((2, 2), (1, 3), 1),
        primitives=("as_strided",),
        skip=_STRIDES,
        complex=True,
    ),
    Op(
        "as_strided_scatter",
        lambda make: [
            sample(make(3, 4), make(2, 2), (2, 2), (4, 2), 1),
            sample(make(12), make(3), (3,), (4,)),
        ],
        primitives=("view_scatter",),
        skip={
            **_STRIDES,
            "parity_grad": "PyTorch 2.13 keeps the gradient of the elements that were overwritten",
            "parity_gradgrad": "as for the gradient",
        },
        complex=True,
    ),
    Op(
        "Tensor.unfold",
        lambda make: [
            sample(make(7), 0, 3, 1),
            sample(make(2, 7), 1, 3, 2),
            sample(make(4, 3), 0, 2, 2),
            sample(make(4), 0, 2, 5),
            sample(make(), 0, 1, 1),
        ],
        primitives=("unfold", "unfold_backward"),
        complex=True,
    ),
    Op(
        "Tensor.view:another dtype",
        lambda make: [sample(make.int((3, 4)))],
        function=lambda x: x.view(x.int().dtype),
        torch=lambda x: x.view(x.int().dtype),
        primitives=("view_dtype",),
        skip={"layout": "elements of another size must lie next to each other"},
        float32=False,
    ),
)
