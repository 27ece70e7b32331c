"""Losses with margins: rankings, embeddings, hinges, triplets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.activations import logsigmoid_op
from tensorplay.ops.distances import pairwise_distance
from tensorplay.ops.elementwise import where
from tensorplay.ops.kinds import public, publish
from tensorplay.ops.losses import reduced, reduction_of


@public(namespace="nn.functional", method=False)
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin - target * (input1 - input2)): target 1 wants input1 larger, -1 input2.

    Raises:
        RuntimeError: if the three differ in number of dims.
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> one = tp.ones(1)
    >>> tp.nn.functional.margin_ranking_loss(one, 2 * one, one, margin=0.5)
    tensor(1.5000)
    """
    reduction = reduction_of("margin_ranking_loss", reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss(): input1, input2 and target must have as many dims, got shapes "
            f"{list(input1.shape)}, {list(input2.shape)} and {list(target.shape)}"
        )
    return reduced((-target * (input1 - input2) + float(margin)).clamp(min=0), reduction)


@public(namespace="nn.functional", method=False)
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x where the target is 1, max(0, margin - x) where it is -1.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.hinge_embedding_loss(tp.tensor([0.5, 0.5]), tp.tensor([1, -1]))
    tensor(0.5000)
    """
    reduction = reduction_of("hinge_embedding_loss", reduction, size_average, reduce)
    apart = where(target != 1, (margin - input).clamp(min=0), 0.0)
    return reduced(apart + where(target != -1, input, 0.0), reduction)


@public(namespace="nn.functional", method=False)
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target * input)), for targets 1 and -1.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.soft_margin_loss(tp.zeros(2), tp.tensor([1., -1.]))
    tensor(0.6931)
    """
    reduction = reduction_of("soft_margin_loss", reduction, size_average, reduce)
    return reduced(-logsigmoid_op(target * input), reduction)


@public(namespace="nn.functional", method=False)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross entropy of logits and targets 0 and 1, averaged over the classes.

    input, target: (..., C). weight: (C,), a factor per class.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> F = tp.nn.functional
    >>> F.multilabel_soft_margin_loss(tp.zeros(1, 2), tp.tensor([[1., 0.]]))
    tensor(0.6931)
    """
    reduction = reduction_of("multilabel_soft_margin_loss", reduction, size_average, reduce)
    loss = -(target * logsigmoid_op(input) + (1 - target) * logsigmoid_op(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(-1), reduction)


# --- several classes ------------------------------------------------------------------------------


def classes_mask(target: Tensor, classes: int) -> Tensor:
    """A new last dim of size `classes`: True at the class that each target is."""
    return target.unsqueeze(-1) == core.from_array(np.arange(classes))


def _check_rows(name: str, input: Tensor, shape_of_target: Any, wanted: Any) -> None:
    if input.ndim not in (1, 2) or tuple(shape_of_target) != tuple(wanted):
        raise RuntimeError(
            f"{name}(): expected input of shape (C,) or (N, C) and a target that fits, got input "
            f"of shape {list(input.shape)} and target of shape {list(shape_of_target)}"
        )


@public(namespace="nn.functional", method=False)
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The sum over the wrong classes j of max(0, margin - x[target] + x[j])^p, over C.

    input: (C,) or (N, C). target: class indices, () or (N,). weight: (C,), a factor per target.

    Raises:
        ValueError: for a p other than 1 and 2, an unknown reduction, or a weight of several dims.
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.multi_margin_loss(tp.tensor([[0.5, 0., 1.]]), tp.tensor([0]))
    tensor(0.6667)
    """
    reduction = reduction_of("multi_margin_loss", reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss(): only p == 1 and p == 2 are supported, got {p}")
    if input.ndim == 0:
        input = input.unsqueeze(0)
    one = target.ndim <= 1 and target.numel() == 1  # of one sample, in either shape
    _check_rows(
        "multi_margin_loss",
        input,
        (1,) if one else target.shape,
        (*input.shape[:-1], *(1,) * (2 - input.ndim)),
    )
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != input.shape[-1]):
        raise (ValueError if weight.ndim != 1 else RuntimeError)(
            f"multi_margin_loss(): weight must have one entry for each of the {input.shape[-1]} "
            f"classes, got shape {list(weight.shape)}"
        )
    classes = input.shape[-1]
    index = target.reshape(input.shape[:-1])
    right = input.gather(-1, index.unsqueeze(-1))
    terms = (margin - right + input).relu()
    if p == 2:
        terms = terms * terms
    if weight is not None:
        terms = terms * weight.index_select(0, index.reshape(-1)).reshape(index.shape).unsqueeze(-1)
    terms = where(classes_mask(index, classes), 0.0, terms)
    return reduced((terms.sum(-1) / classes).reshape(target.shape), reduction)


@public(namespace="nn.functional", method=False)
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The sum over target classes j and other classes i of max(0, 1 - x[j] + x[i]), over C.

    input: (C,) or (N, C). target: of the input's shape, class indices up to the first -1.

    Raises:
        ValueError: for an unknown reduction.
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> F = tp.nn.functional
    >>> F.multilabel_margin_loss(tp.tensor([[0.1, 0.2, 0.4, 0.8]]), tp.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """
    reduction = reduction_of("multilabel_margin_loss", reduction, size_average, reduce)
    if input.ndim == 0:
        input, target = input.unsqueeze(0), target.reshape(1)
    _check_rows("multilabel_margin_loss", input, target.shape, input.shape)
    classes = input.shape[-1]
    if not classes:
        raise RuntimeError(
            f"multilabel_margin_loss(): input of shape {list(input.shape)} must have classes"
        )
    valid = (target >= 0).long().cumprod(-1) > 0
    index = target.clamp(min=0)
    named = (classes_mask(index, classes) & valid.unsqueeze(-1)).any(-2)
    right = input.gather(-1, index).unsqueeze(-1)
    terms = (1 - right + input.unsqueeze(-2)).relu()
    counted = valid.unsqueeze(-1) & ~named.unsqueeze(-2)
    return reduced(where(counted, terms, 0.0).sum((-2, -1)) / classes, reduction)


# --- embeddings -----------------------------------------------------------------------------------


@public(method=False)
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1.

    input1, input2: (D,) or (N, D). target: () or (N,).

    Raises:
        RuntimeError: for shapes that do not fit.
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> x = tp.tensor([[1., 0.]])
    >>> tp.nn.functional.cosine_embedding_loss(x, x, tp.tensor([-1]))
    tensor(1.)
    """
    reduction = reduction_of("cosine_embedding_loss", reduction, size_average, reduce)
    if target.ndim > 1 or not target.ndim + 1 == input1.ndim == input2.ndim:
        raise RuntimeError(
            "cosine_embedding_loss(): expected target () with inputs (D,), or target (N,) with "
            f"inputs (N, D), got target of shape {list(target.shape)} and inputs of shapes "
            f"{list(input1.shape)} and {list(input2.shape)}"
        )
    tiny = 1e-12  # PyTorch's: keeps the cosine of zero vectors defined
    lengths = ((input1 * input1).sum(-1) + tiny) * ((input2 * input2).sum(-1) + tiny)
    cosine = (input1 * input2).sum(-1) / lengths.sqrt()
    near = where(target == 1, 1 - cosine, 0.0)
    return reduced(near + where(target == -1, (cosine - margin).clamp(min=0), 0.0), reduction)


@public(method=False)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin), in the p-norm of the last dim.

    swap: take the distance of positive and negative where it is smaller than that of anchor and
    negative (Balntas et al., BMVC 2016).

    Raises:
        RuntimeError: if the three differ in number of dims.
        ValueError: for a margin that is not positive, or an unknown reduction.

    >>> import tensorplay as tp
    >>> x = tp.zeros(1, 2)
    >>> tp.nn.functional.triplet_margin_loss(x, x, x + 3., eps=0.)
    tensor(0.)
    """
    reduction = reduction_of("triplet_margin_loss", reduction, size_average, reduce)

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return pairwise_distance(a, b, p, eps)

    return _triplet("triplet_margin_loss", anchor, positive, negative, distance, margin, swap,
                    reduction)  # fmt: skip


@public(namespace="nn.functional", method=False)
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with any distance: `distance_function(a, b)`, by default Euclidean.

    Raises:
        RuntimeError: if the three differ in number of dims.
        ValueError: for a margin that is not positive, or an unknown reduction.

    >>> import tensorplay as tp
    >>> x = tp.zeros(1, 2)
    >>> F = tp.nn.functional
    >>> F.triplet_margin_with_distance_loss(x, x, x, distance_function=lambda a, b: (a - b).sum(-1))
    tensor(1.)
    """
    reduction = reduction_of("triplet_margin_with_distance_loss", reduction)
    distance = pairwise_distance if distance_function is None else distance_function
    return _triplet("triplet_margin_with_distance_loss", anchor, positive, negative, distance,
                    margin, swap, reduction)  # fmt: skip


def _triplet(
    name: str, anchor: Tensor, positive: Tensor, negative: Tensor, distance: Any, margin: float,
    swap: bool, reduction: str,
) -> Tensor:  # fmt: skip
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"{name}(): anchor, positive and negative must have as many dims, got shapes "
            f"{list(anchor.shape)}, {list(positive.shape)} and {list(negative.shape)}"
        )
    if margin <= 0:
        raise ValueError(f"{name}(): margin must be greater than 0, got {margin}")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)


for _name, _function in (
    ("cosine_embedding_loss", cosine_embedding_loss), ("triplet_margin_loss", triplet_margin_loss),
):  # fmt: skip
    publish(_function, _name, namespace="nn.functional", method=False)
