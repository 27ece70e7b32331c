"""nll_loss and cross_entropy: losses over classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import batch_size, linear, materialize, public
from tensorplay.ops.losses import reduced, reduction_of
from tensorplay.ops.products import linear as linear_op
from tensorplay.ops.softmax import log_softmax_op

# --- negative log likelihood ----------------------------------------------------------------------
#
# x has a class at `dim`; `target` has x's shape without that dim. The first `lead` dims of both are
# batches of vmap: a mean or sum is taken over the other dims only.


def _checked_target(target: np.ndarray, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """(indices with 0 where ignored, which are kept or None for all)."""
    index = target if target.dtype == np.int64 else target.astype(np.int64)
    # Seen as unsigned, negative numbers are too large as well: one comparison for both ends.
    if index.size and index.view(np.uint64).max() >= classes:
        kept = index != ignore_index
        bad = index[kept & ((index < 0) | (index >= classes))]
        if bad.size:
            raise IndexError(
                f"nll_loss(): target {bad.flat[0]} is out of bounds for {classes} classes"
            )
        return np.where(kept, index, 0), kept
    return index, index != ignore_index if 0 <= ignore_index < classes else None


def _places(index: np.ndarray, classes: int, dim: int) -> np.ndarray:
    """Where the elements of the indexed classes are in the flattened array."""
    inner = math.prod(index.shape[dim:])
    outer = index.reshape(-1, inner)
    if inner == 1:
        return outer[:, 0] + np.arange(0, outer.shape[0] * classes, classes)
    rows = np.arange(outer.shape[0])[:, None] * (classes * inner)
    return (outer * inner + rows + np.arange(inner)).ravel()


def _counts(target: np.ndarray, kept: Any, lead: int) -> Any:
    """How many targets each sample's mean is over."""
    shape = target.shape[:lead]
    if kept is None:
        return math.prod(target.shape[lead:])
    return np.sum(kept, axis=tuple(range(lead, target.ndim))).reshape(shape)


def _nll_kernel(
    x: np.ndarray, target: np.ndarray, dim: int, lead: int, ignore_index: int, reduction: str
) -> np.ndarray:
    index, kept = _checked_target(target, x.shape[dim], ignore_index)
    picked = x.reshape(-1).take(_places(index, x.shape[dim], dim)).reshape(index.shape)
    np.negative(picked, out=picked)
    if kept is not None:
        picked = np.where(kept, picked, 0).astype(x.dtype)
    if reduction == "none":
        return picked
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    total = picked.sum(axis=tuple(range(lead, picked.ndim)), dtype=wide)
    if reduction == "mean":
        total = np.divide(total, np.asarray(_counts(index, kept, lead), dtype=wide))
    return np.asarray(total, dtype=x.dtype)


def _nll_transpose_kernel(
    g: np.ndarray, target: np.ndarray, classes: int, dim: int, lead: int, ignore_index: int,
    reduction: str,
) -> np.ndarray:  # fmt: skip
    index, kept = _checked_target(target, classes, ignore_index)
    if reduction != "none":
        if reduction == "mean":
            g = np.asarray(g / _counts(index, kept, lead), dtype=g.dtype)
        g = g.reshape(g.shape + (1,) * (index.ndim - lead))
    values = -g
    if kept is not None:
        values = np.where(kept, values, 0).astype(g.dtype)
    out = np.zeros(index.shape[:dim] + (classes,) + index.shape[dim:], dtype=g.dtype)
    flat = np.broadcast_to(values, index.shape).ravel() if values.ndim else values
    out.reshape(-1)[_places(index, classes, dim)] = flat
    return out


def _batch_nll(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = batch_size(values, bdims)
    moved = [materialize(x, b, size) for x, b in zip(values, bdims, strict=True)]
    shifted = [
        value + 1 if name in ("dim", "lead") else value
        for name, value in zip(p.param_names, params, strict=True)
    ]
    return p.apply(moved, *shifted), 0


nll_op = linear(
    "nll_loss",
    core.ClassLossKernel(_nll_kernel),
    (
        lambda g, x_shape, target, dim, lead, ignore_index, reduction: nll_transpose(
            g, target, x_shape[dim], dim, lead, ignore_index, reduction
        ),
        None,
    ),
    inputs=("x", "target"),
    params=("dim", "lead", "ignore_index", "reduction"),
    batch=_batch_nll,
    quiet=True,
)
nll_transpose = linear(
    "nll_loss_transpose",
    core.ClassSpreadKernel(_nll_transpose_kernel),
    (
        lambda g, target, dim, lead, ignore_index, reduction: nll_op(
            g, target, dim, lead, ignore_index, reduction
        ),
        None,
    ),
    inputs=("u", "target"),
    params=("classes", "dim", "lead", "ignore_index", "reduction"),
    batch=_batch_nll,
    quiet=True,
    node_name="NllLossBackward0",
)


def _check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None) -> int:
    """The class dim of `input`, after checking shapes and dtypes against class indices `target`."""
    if weight is None and core.names_classes(input, target):
        return 1
    shape, wanted = tuple(input.shape), tuple(target.shape)
    if len(shape) < 1:
        raise ValueError(f"{name}(): expected input with at least 1 dim, got a 0-dim tensor")
    if target.dtype.category != dtypes.INTEGER:
        raise RuntimeError(
            f"{name}(): expected target to hold class indices of an integer dtype, got "
            f"{target.dtype} of shape {list(wanted)} for input of shape {list(shape)}"
        )
    dim = 0 if len(shape) == 1 else 1
    if shape[:dim] + shape[dim + 1 :] != wanted:
        error = ValueError if len(shape) > 1 and shape[:1] != wanted[:1] else RuntimeError
        raise error(
            f"{name}(): target of shape {list(wanted)} does not fit input of shape {list(shape)}: "
            f"expected {list(shape[:dim] + shape[dim + 1 :])}, the input's without its class dim"
        )
    if weight is not None and tuple(weight.shape) != (shape[dim],):
        raise RuntimeError(
            f"{name}(): weight must have one entry for each of the {shape[dim]} classes, got "
            f"shape {list(weight.shape)}"
        )
    return dim


def _picked_weights(weight: Tensor, target: Tensor, ignore_index: int) -> Tensor:
    """The weight of each target's class, 0 where it is ignored."""
    kept = target != ignore_index
    safe = target.long() * kept
    return weight.index_select(0, safe.reshape(-1)).reshape(safe.shape) * kept


@public(namespace="nn.functional", method=False)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of the target classes.

    input: log-probabilities, (C,), (N, C) or (N, C, d1, ...). target: class indices, the input's
    shape without C; `ignore_index` marks those that do not count. weight: (C,), a factor per
    class; the mean is over the weights of the targets.

    Raises:
        ValueError: when the batch sizes differ, or for an unknown reduction.
        RuntimeError: for other shapes that do not fit, or targets that are not integers.
        IndexError: for a target that is not a class.

    >>> import tensorplay as tp
    >>> tp.nn.functional.nll_loss(tp.tensor([[-0.5, -1.], [-2., -0.1]]), tp.tensor([0, 1]))
    tensor(0.3000)
    """
    reduction = reduction_of("nll_loss", reduction, size_average, reduce)
    dim = _check_classes("nll_loss", input, target, weight)
    return _nll(input, target, weight, dim, ignore_index, reduction)


def _nll(
    x: Tensor, target: Tensor, weight: Tensor | None, dim: int, ignore_index: int, reduction: str
) -> Tensor:
    if weight is None:
        return nll_op(x, target, dim, 0, ignore_index, reduction)
    factors = _picked_weights(weight, target, ignore_index)
    loss = nll_op(x, target, dim, 0, ignore_index, "none") * factors
    if reduction == "mean":
        return loss.sum() / factors.sum()
    return reduced(loss, reduction)


# --- cross entropy --------------------------------------------------------------------------------


@public(namespace="nn.functional", method=False)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of logits and targets: nll_loss of log_softmax.

    input: logits, (C,), (N, C) or (N, C, d1, ...). target: class indices (the input's shape
    without C), or probabilities of the classes (the input's shape, floating point). weight: (C,), a
    factor per class. ignore_index: the index of targets that do not count. label_smoothing: from 0
    to 1, the share of the target that is spread over all classes (arXiv:1512.00567).

    Raises:
        ValueError: when the batch sizes differ, or for an unknown reduction.
        RuntimeError: for other shapes or dtypes that do not fit.
        IndexError: for a target that is not a class.

    >>> import tensorplay as tp
    >>> tp.nn.functional.cross_entropy(tp.zeros(2, 4), tp.tensor([0, 3]))
    tensor(1.3863)
    """
    reduction = reduction_of("cross_entropy", reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            f"cross_entropy(): label_smoothing must be from 0 to 1, got {label_smoothing}"
        )
    if target.dtype.category == dtypes.FLOAT and target.shape == input.shape:
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    dim = _check_classes("cross_entropy", input, target, weight)
    logs = log_softmax_op(input, dim)
    try:
        if label_smoothing == 0:
            return _nll(logs, target, weight, dim, ignore_index, reduction)
        return _smoothed(logs, target, weight, dim, ignore_index, reduction, label_smoothing)
    except IndexError as error:  # a class that is not there
        raise IndexError(str(error).replace("nll_loss()", "cross_entropy()", 1)) from None


def _along_classes(weight: Tensor, ndim: int, dim: int) -> Tensor:
    """Class weights in a shape that broadcasts along the class dim."""
    return weight.reshape((-1,) + (1,) * (ndim - dim - 1))


def _smoothed(
    logs: Tensor, target: Tensor, weight: Tensor | None, dim: int, ignore_index: int,
    reduction: str, smoothing: float,
) -> Tensor:  # fmt: skip
    hard = _nll(logs, target, weight, dim, ignore_index, "none")
    kept = target != ignore_index
    if weight is None:
        factors = kept.to(logs.dtype)
        soft = -logs.sum(dim) * kept
    else:
        factors = _picked_weights(weight, target, ignore_index)
        soft = -(logs * _along_classes(weight, logs.ndim, dim)).sum(dim) * kept
    loss = (1 - smoothing) * hard + (smoothing / logs.shape[dim]) * soft
    if reduction == "mean":
        return loss.sum() / factors.sum()
    return reduced(loss, reduction)


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    """Cross entropy with the classes' probabilities as target; the mean is over the samples."""
    if input.ndim == 0:
        raise ValueError("cross_entropy(): expected input with at least 1 dim, got a 0-dim tensor")
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"cross_entropy(): weight must have one entry for each of the {classes} classes, got "
            f"shape {list(weight.shape)}"
        )
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    logs = log_softmax_op(input, dim)
    if weight is not None:
        target = target * _along_classes(weight, input.ndim, dim)
    terms = logs * target
    if reduction == "none":
        return -terms.sum(dim)
    total = -terms.sum()
    return total / (input.numel() // classes) if reduction == "mean" else total


@public(namespace="nn.functional", method=False)
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target).

    input: (D,) or (N, D). linear_weight: (C, D), or (C, d1, ..., D) for several targets per sample.
    linear_bias: the weight's shape without D. options: of PyTorch's computation in chunks; ignored.
    The others: as in cross_entropy().

    Raises:
        ValueError, RuntimeError, IndexError: as linear() and cross_entropy() do.

    >>> import tensorplay as tp
    >>> F = tp.nn.functional
    >>> F.linear_cross_entropy(tp.ones(1, 2), tp.zeros(4, 2), tp.tensor([3]))
    tensor(1.3863)
    """
    outputs = tuple(linear_weight.shape[:-1])
    flat = linear_weight.reshape((-1, linear_weight.shape[-1]))
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear_op(input, flat, bias)
    if len(outputs) > 1:
        logits = logits.reshape((*input.shape[:-1], *outputs))
    return cross_entropy(
        logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction, label_smoothing=label_smoothing,
    )  # fmt: skip
