"""Losses that compare numbers, element by element, and how every loss is reduced."""

from __future__ import annotations

import warnings
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public
from tensorplay.ops.shaping import broadcast_shapes_of

REDUCTIONS = ("none", "mean", "sum")


def reduction_of(name: str, reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction asked for, also through PyTorch's two deprecated arguments.

    Raises:
        ValueError: for an unknown reduction.
    """
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        wanted = "none" if reduce is not None and not reduce else "mean" if average else "sum"
        warnings.warn(
            f"{name}(): size_average and reduce are deprecated, use reduction='{wanted}'",
            stacklevel=3,
        )
        return wanted
    if reduction not in REDUCTIONS:
        raise ValueError(f"{name}(): reduction must be one of {REDUCTIONS}, got {reduction!r}")
    return reduction


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """`loss` as it is, its mean, or its sum."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


# --- mean squared error ---------------------------------------------------------------------------


def warn_broadcast(name: str, input: Tensor, target: Tensor) -> None:
    """PyTorch's warning about an input and a target of different shapes."""
    if input.shape != target.shape:
        broadcast_shapes_of(name, input.shape, target.shape)
        warnings.warn(
            f"{name}(): the target's shape {list(target.shape)} differs from the input's "
            f"{list(input.shape)}; they are broadcast, which is likely not what is meant",
            stacklevel=3,
        )


@public(namespace="nn.functional", method=False)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference of `input` and `target` (of one shape), averaged by default.

    weight: factors of the squared differences; the mean is then over the sum of the weights.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.mse_loss(tp.tensor([1., 2.]), tp.tensor([1., 4.]))
    tensor(2.)
    """
    reduction = reduction_of("mse_loss", reduction, size_average, reduce)
    warn_broadcast("mse_loss", input, target)
    loss = (input - target).square()
    return reduced(loss, reduction) if weight is None else weighted(loss, weight, reduction)


def weighted(loss: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """`loss` times `weight`, reduced; a mean is over the weights."""
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.expand_as(loss).sum()
    return reduced(loss, reduction)
