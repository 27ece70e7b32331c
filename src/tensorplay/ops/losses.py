"""Losses that compare numbers, element by element, and how every loss is reduced."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.elementwise import where
from tensorplay.ops.kinds import elementwise, public
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
    if not core.of_one_shape(input, target):
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
    return (
        reduced(loss, reduction)
        if weight is None
        else weighted("mse_loss", loss, weight, reduction)
    )


def weighted(name: str, loss: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """`loss` times `weight`, reduced; a mean is over the weights.

    Raises:
        ValueError: when their shapes differ.
    """
    if loss.shape != weight.shape:
        raise ValueError(
            f"{name}(): weight of shape {list(weight.shape)} must have the shape of the input, "
            f"{list(loss.shape)}"
        )
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


# --- absolute differences, and their smooth relatives ---------------------------------------------


@public(namespace="nn.functional", method=False)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference of `input` and `target` (of one shape), averaged by default.

    weight: factors of the differences; the mean is then over the sum of the weights.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.l1_loss(tp.tensor([1., 2.]), tp.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = reduction_of("l1_loss", reduction, size_average, reduce)
    warn_broadcast("l1_loss", input, target)
    loss = (input - target).abs()
    if weight is not None:
        return weighted("l1_loss", loss, weight, reduction)
    return reduced(loss, reduction)


@public(namespace="nn.functional", method=False)
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d = input - target
    (arXiv:1504.08083).

    Raises:
        RuntimeError: for a negative beta.
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.smooth_l1_loss(tp.tensor([1., 2.]), tp.tensor([1., 4.]))
    tensor(0.7500)
    """
    reduction = reduction_of("smooth_l1_loss", reduction, size_average, reduce)
    warn_broadcast("smooth_l1_loss", input, target)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss(): beta must not be negative, got {beta}")
    difference = input - target
    size = difference.abs()
    if beta == 0:
        return reduced(size, reduction)
    bowl = difference * difference * (0.5 / beta)
    return reduced(where(size < beta, bowl, size - 0.5 * beta), reduction)


@public(namespace="nn.functional", method=False)
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d^2 / 2 where |d| <= delta, else delta * (|d| - delta / 2), with d = input - target.

    weight: factors of the losses; the mean is then over the sum of the weights.

    Raises:
        RuntimeError: for a delta that is not positive.
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.huber_loss(tp.tensor([1., 2.]), tp.tensor([1., 4.]))
    tensor(0.7500)
    """
    reduction = reduction_of("huber_loss", reduction)
    warn_broadcast("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError(f"huber_loss(): delta must be positive, got {delta}")
    difference = input - target
    size = difference.abs()
    bowl = difference * difference * 0.5
    loss = where(size <= delta, bowl, delta * (size - 0.5 * delta))
    if weight is not None:
        return weighted("huber_loss", loss, weight, reduction)
    return reduced(loss, reduction)


# --- likelihoods of counts and of numbers with a variance -----------------------------------------


@public(namespace="nn.functional", method=False)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions.

    input: the expected counts, or (log_input) their logarithms. full: add Stirling's approximation
    of log(target!) for targets above 1. eps: added to the input before its logarithm is taken.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.poisson_nll_loss(tp.tensor([0., 1.]), tp.tensor([1., 2.]))
    tensor(0.8591)
    """
    reduction = reduction_of("poisson_nll_loss", reduction, size_average, reduce)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        large = target > 1
        safe = where(large, target, 1.0)
        stirling = safe * safe.log() - safe + 0.5 * (2 * math.pi * safe).log()
        loss = loss + where(large, stirling, 0.0)
    return reduced(loss, reduction)


#: At least eps, with the derivative of x itself: what is too small still learns to grow.
limited = elementwise(
    "limited", lambda x, eps: np.maximum(x, x.dtype.type(eps)), 1, params=("eps",), promote="same"
)


@public(namespace="nn.functional", method=False)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of `target` under normal distributions.

    input: the means. var: the variances, a number, or a tensor of the input's shape, of that shape
    without its last dim, or with a size of one; limited from below by `eps` (which the gradient
    ignores). full: add the constant log(2 pi) / 2.

    Raises:
        ValueError: for a `var` that has a negative entry or does not fit.

    >>> import tensorplay as tp
    >>> F = tp.nn.functional
    >>> F.gaussian_nll_loss(tp.tensor([0., 1.]), tp.tensor([1., 1.]), tp.tensor([1., 1.]))
    tensor(0.2500)
    """
    reduction = reduction_of("gaussian_nll_loss", reduction)
    if not isinstance(var, Tensor):
        var = (input * 0).detach() + var
    shape, given = tuple(input.shape), tuple(var.shape)
    if given != shape:
        if shape[:-1] == given:
            var = var.unsqueeze(-1)
        elif len(shape) != len(given) or any(
            b not in (1, a) for a, b in zip(shape, given, strict=True)
        ):
            raise ValueError(
                f"gaussian_nll_loss(): var of shape {list(given)} does not fit input of shape "
                f"{list(shape)}"
            )
    if not var.is_box and bool((var < 0).any()):
        raise ValueError("gaussian_nll_loss(): var has negative entry/entries")
    var = limited(var, eps)
    difference = input - target
    loss = 0.5 * (var.log() + difference * difference / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)
