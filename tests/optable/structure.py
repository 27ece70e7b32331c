"""Rows of casts, copies, broadcasting, and of the views that only move or split dims."""

import numpy as np

from tensorplay._core import core
from tensorplay.base import dtypes
from tests.optable.schema import Op, register, sample

_cast = core.registry["to_dtype"]


def _views(make):
    return [
        sample(make(2, 6), (3, 4)),
        sample(make(2, 6), (-1,)),
        sample(make(12), (2, 3, 2)),
        sample(make(2, 0), (0, 3)),
        sample(make(), (1, 1)),
        sample(make(1), ()),
    ]


def _reshape(x, shape):
    return np.reshape(x, shape)


register(
    Op(
        "to_dtype",
        lambda make: [
            sample(make(3, 4), dtypes.complex128),
            sample(make(), dtypes.complex128),
            sample(make(0, 2), dtypes.complex128),
        ],
        primitives=("to_dtype",),
        reference=lambda x, dtype: x.astype(dtype.numpy),
        torch=lambda x, dtype: x.to(dtype),
        complex=True,
        method=False,
        float32=False,
    ),
    Op(
        "to_dtype:same category",
        lambda make: [sample(make(3, 4), make.dtype)],
        function=lambda x, dtype: _cast(x, dtype),
        primitives=("to_dtype",),
        reference=lambda x, dtype: x.astype(dtype.numpy),
        method=False,
        float32=False,
    ),
    Op(
        "to_dtype:from integers",
        lambda make: [sample(make.int((3, 4)), make.dtype), sample(make.bool((3,)), make.dtype)],
        function=lambda x, dtype: _cast(x, dtype),
        primitives=("to_dtype",),
        reference=lambda x, dtype: x.astype(dtype.numpy),
        complex=True,
        float32=False,
    ),
    Op(
        "clone",
        lambda make: [sample(make(3, 4)), sample(make()), sample(make(0, 2))],
        primitives=("clone",),
        reference=np.copy,
        complex=True,
    ),
    Op(
        "Tensor.contiguous",
        lambda make: [sample(make(3, 4).t()), sample(make(2, 3, 4).permute(2, 0, 1))],
        primitives=("contiguous",),
        reference=np.copy,
        complex=True,
    ),
    Op(
        "Tensor.expand",
        lambda make: [
            sample(make(3, 1), 3, 4),
            sample(make(3, 1), (2, 3, 4)),
            sample(make(), (2, 2)),
            sample(make(1, 4), -1, 4),
            sample(make(1, 3), 0, 3),
        ],
        primitives=("expand", "sum_to"),
        complex=True,
    ),
    Op(
        "broadcast_to",
        lambda make: [sample(make(3, 1), (3, 4)), sample(make(4), (2, 3, 4)), sample(make(), ())],
        primitives=("expand",),
        reference=np.broadcast_to,
        complex=True,
    ),
    Op(
        "broadcast_tensors",
        lambda make: [sample(make(3, 1), make(4)), sample(make(2, 1, 1), make(), make(3, 1))],
        primitives=("expand",),
        reference=lambda *xs: list(np.broadcast_arrays(*xs)),
        complex=True,
    ),
    Op(
        "Tensor.expand_as",
        lambda make: [sample(make(3, 1), make.constant(make(3, 4)))],
        primitives=("expand",),
        complex=True,
        skip={"vmap": "what the second argument is batched over is only its shape"},
    ),
    Op(
        "Tensor.sum_to_size",
        lambda make: [
            sample(make(3, 4), 3, 1),
            sample(make(2, 3, 4), (4,)),
            sample(make(2, 3), ()),
            sample(make(0, 3), (1, 3)),
        ],
        primitives=("sum_to",),
        complex=True,
    ),
)

register(
    Op("Tensor.view", _views, primitives=("view",), reference=_reshape, complex=True),
    Op("reshape", _views, primitives=("view",), reference=_reshape, complex=True),
    Op(
        "reshape:of a transpose",
        lambda make: [
            sample(make(3, 4).t(), (6, 2)),
            sample(make(2, 3, 4).transpose(0, 2), (4, -1)),
        ],
        primitives=("view", "contiguous"),
        reference=_reshape,
        complex=True,
    ),
    Op(
        "flatten",
        lambda make: [
            sample(make(2, 3, 4)),
            sample(make(2, 3, 4), 1),
            sample(make(2, 3, 4), 0, -2),
            sample(make()),
            sample(make(0, 3)),
        ],
        primitives=("view",),
        complex=True,
    ),
    Op(
        "unflatten",
        lambda make: [sample(make(2, 6), 1, (2, 3)), sample(make(8, 2), 0, (2, -1, 2))],
        primitives=("view",),
        complex=True,
    ),
    Op(
        "ravel",
        lambda make: [sample(make(2, 3)), sample(make()), sample(make(0, 2))],
        primitives=("view",),
        reference=np.ravel,
        complex=True,
    ),
    Op(
        "permute",
        lambda make: [
            sample(make(2, 3, 4), (2, 0, 1)),
            sample(make(2, 3), (-1, 0)),
            sample(make(), ()),
            sample(make(0, 2), (1, 0)),
        ],
        primitives=("permute",),
        reference=np.transpose,
        complex=True,
    ),
    Op(
        "transpose",
        lambda make: [
            sample(make(2, 3, 4), 0, 2),
            sample(make(2, 3), -1, -2),
            sample(make(3), 0, -1),
            sample(make(), 0, 0),
        ],
        primitives=("permute",),
        complex=True,
    ),
    Op(
        "t",
        lambda make: [sample(make(2, 3)), sample(make(3)), sample(make())],
        primitives=("permute",),
        reference=np.transpose,
        complex=True,
    ),
    Op(
        "movedim",
        lambda make: [
            sample(make(2, 3, 4), 0, -1),
            sample(make(2, 3, 4), (0, 2), (1, 0)),
            sample(make(2, 3), 1, 0),
        ],
        primitives=("permute",),
        reference=np.moveaxis,
        complex=True,
    ),
    Op(
        "unsqueeze",
        lambda make: [sample(make(2, 3), 1), sample(make(2, 3), -1), sample(make(), 0)],
        primitives=("unsqueeze", "squeeze"),
        reference=np.expand_dims,
        complex=True,
    ),
    Op(
        "squeeze",
        lambda make: [
            sample(make(2, 1, 3, 1)),
            sample(make(2, 1, 3), 1),
            sample(make(2, 1, 3), 0),
            sample(make(1, 2, 1), (0, -1)),
            sample(make()),
        ],
        primitives=("squeeze",),
        complex=True,
    ),
)


def _write_through(base, source):
    """`source` written into a copy of `base`, through a view of a view."""
    target = base + 0 * source.sum()  # batched by vmap where either is
    target.transpose(0, 1).expand(3, 2).copy_(source)
    return target


register(
    Op(
        "view_scatter",
        lambda make: [sample(make(2, 3), make(3, 2)), sample(make(2, 3), make(2))],
        function=_write_through,
        primitives=("view_scatter",),
        reference=lambda base, source: np.broadcast_to(source, (3, 2)).T,
        torch=lambda base, source: source.expand(3, 2).t().clone() + 0 * base,
        skip={"parity_dtype": "the formula that stands for it in PyTorch promotes otherwise"},
        complex=True,
        method=False,
    ),
)
