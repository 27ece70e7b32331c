"""Binary cross entropy of probabilities and of logits, and the Kullback-Leibler divergence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops.activations import logsigmoid_op
from tensorplay.ops.elementwise import where
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import elementwise, public, publish
from tensorplay.ops.losses import reduced, reduction_of

# PyTorch limits the logarithms to -100 and the denominator of the gradient to 1e-12, so that loss
# and gradient stay finite at probabilities 0 and 1.
_LEAST_LOG = -100.0
_LEAST_VARIANCE = 1e-12


def _bce_kernel(x: np.ndarray, t: np.ndarray) -> Any:
    return (t - 1) * np.maximum(np.log1p(-x), _LEAST_LOG) - t * np.maximum(np.log(x), _LEAST_LOG)


#: The logarithm, and its derivative, with these limits.
limited_log = elementwise(
    "limited_log",
    typed("limited_log", lambda x: np.maximum(np.log(x), _LEAST_LOG), "f"),
    lambda x: x.clamp(min=_LEAST_VARIANCE).reciprocal(),
)

bce_op = elementwise(
    "binary_cross_entropy",
    typed("binary_cross_entropy", _bce_kernel, "f"),
    lambda x, y: (x - y) / (x * (1 - x)).clamp(min=_LEAST_VARIANCE),
    lambda x: limited_log(1 - x) - limited_log(x),
)


def _bce_logits_kernel(x: np.ndarray, t: np.ndarray) -> Any:
    return np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x)))


bce_logits_op = elementwise(
    "binary_cross_entropy_with_logits",
    typed("binary_cross_entropy_with_logits", _bce_logits_kernel, "f"),
    lambda x, y: x.sigmoid() - y,
    lambda x: -x,
)


def _same_shape(name: str, input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        raise ValueError(
            f"{name}(): target of shape {list(target.shape)} must have the shape of the input, "
            f"{list(input.shape)}"
        )


@public(namespace="nn.functional", method=False)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t log(x) + (1 - t) log(1 - x)) of probabilities x and targets t from 0 to 1.

    weight: factors of the losses, broadcast to their shape.

    Raises:
        ValueError: when the shapes differ, or for an unknown reduction.
        RuntimeError: for an input or target outside of [0, 1].

    >>> import tensorplay as tp
    >>> tp.nn.functional.binary_cross_entropy(tp.tensor([0.5]), tp.tensor([1.]))
    tensor(0.6931)
    """
    reduction = reduction_of("binary_cross_entropy", reduction, size_average, reduce)
    _same_shape("binary_cross_entropy", input, target)
    for x, argument in ((input, "input"), (target, "target")):
        if not x.is_box and not bool(((x >= 0) & (x <= 1)).all()):
            raise RuntimeError(
                f"binary_cross_entropy(): all elements of {argument} should be between 0 and 1; "
                "for logits use binary_cross_entropy_with_logits()"
            )
    loss = bce_op(input, target)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


@public(method=False)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The binary cross entropy of sigmoid(input) and targets from 0 to 1, without overflow.

    weight: factors of the losses. pos_weight: factors of the term of target 1; both are broadcast.

    Raises:
        ValueError: when the shapes differ, or for an unknown reduction.

    >>> import tensorplay as tp
    >>> tp.nn.functional.binary_cross_entropy_with_logits(tp.tensor([0.]), tp.tensor([1.]))
    tensor(0.6931)
    """
    name = "binary_cross_entropy_with_logits"
    reduction = reduction_of(name, reduction, size_average, reduce)
    _same_shape(name, input, target)
    if pos_weight is None:
        loss = bce_logits_op(input, target)
    else:
        factor = (pos_weight - 1) * target + 1
        loss = (1 - target) * input - factor * logsigmoid_op(input)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


publish(
    binary_cross_entropy_with_logits, "binary_cross_entropy_with_logits",
    namespace="nn.functional", method=False,
)  # fmt: skip


@public(namespace="nn.functional", method=False)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """t (log(t) - x): the divergence of log-probabilities x from probabilities t.

    log_target: the target holds log-probabilities too. reduction: also 'batchmean', the sum over
    the size of dim 0, which is the mathematical definition.

    Raises:
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> x = tp.tensor([[0.5, 0.5]])
    >>> tp.nn.functional.kl_div(x.log(), tp.tensor([[1., 0.]]), reduction="batchmean")
    tensor(0.6931)
    """
    batchmean = reduction == "batchmean" and size_average is None and reduce is None
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "kl_div(): reduction: 'mean' divides the total loss by both the batch size and the "
            "support size; 'batchmean' divides by the batch size only, and aligns with the "
            "definition of the divergence",
            stacklevel=2,
        )
    if not batchmean:
        reduction = reduction_of("kl_div", reduction, size_average, reduce)
    if log_target:
        loss = target.exp() * (target - input)
    else:
        # At t = 0 the entropy t log(t) and, by choice, its derivative are 0.
        entropy = where(target == 0, 0.0, target * where(target == 0, 1.0, target).log())
        loss = entropy - target * input
    if batchmean:
        return loss.sum() / input.shape[0] if input.ndim else loss
    return reduced(loss, reduction)
