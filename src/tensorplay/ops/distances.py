"""Distances and angles between vectors, and vectors scaled to length one."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public, publish
from tensorplay.ops.pairs import pdist
from tensorplay.ops.shaping import broadcast_shapes_of


@public(method=False)
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dim.

    Raises:
        RuntimeError: for shapes that do not broadcast.

    >>> import tensorplay as tp
    >>> tp.nn.functional.pairwise_distance(tp.tensor([[3., 4.]]), tp.zeros(1, 2), eps=0.)
    tensor([5.])
    """
    broadcast_shapes_of("pairwise_distance", x1.shape, x2.shape)
    return (x1 - x2 + eps).norm(p, -1, keepdim)


@public(method=False)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)), along `dim` of the broadcast inputs.

    Raises:
        RuntimeError: for shapes that do not broadcast.
        IndexError: for a `dim` out of range.

    >>> import tensorplay as tp
    >>> tp.nn.functional.cosine_similarity(tp.tensor([1., 0.]), tp.tensor([1., 1.]), dim=0)
    tensor(0.7071)
    """
    shape = broadcast_shapes_of("cosine_similarity", x1.shape, x2.shape)
    x1, x2 = x1.expand(shape), x2.expand(shape)
    lengths = [x.norm(2, dim, True).clamp(min=eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


@public(namespace="nn.functional", method=False, out=True)
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x / max(|x|, eps), with the p-norm along `dim`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.normalize(tp.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    return input / input.norm(p, dim, True).clamp(min=eps)


for _name, _function in (
    ("pairwise_distance", pairwise_distance), ("cosine_similarity", cosine_similarity),
    ("pdist", pdist),
):  # fmt: skip
    publish(_function, _name, namespace="nn.functional", method=False)
