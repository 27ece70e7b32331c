"""Losses of very many classes, together with the linear maps that they come after."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorplay._core.core import Tensor
from tensorplay.nn import functional as F
from tensorplay.nn.containers import ModuleList, Sequential
from tensorplay.nn.layers_linear import Linear
from tensorplay.nn.layers_loss import _WeightedLoss
from tensorplay.nn.module import Module
from tensorplay.ops.joining import cat


class _Output(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probability of targets among very many classes, rare ones in clusters of their own
    (arXiv:1609.04309).

    Classes are numbered by falling frequency. cutoffs: where the clusters begin; classes below the
    first are in the head. div_value: how much smaller the features of each cluster are than those
    of the one before. head_bias: a bias in the head. Gives (output, loss): the log probability of
    each target, and minus their mean.

    Raises:
        ValueError: for cutoffs that do not ascend from 1 to n_classes - 1.
        RuntimeError: for targets that do not fit the input, or are out of range.

    >>> import tensorplay as tp
    >>> layer = tp.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
    >>> layer(tp.rand(3, 8), tp.tensor([0, 7, 19])).output.shape
    tensorplay.Size([3])
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs)) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):  # fmt: skip
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                f"order, where each value is between 1 and n_classes-1, got {cutoffs}"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, False, dtype=dtype),
                    Linear(hidden, size, False, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        for layer in [self.head, *(part for pair in self.tail for part in pair)]:
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _Output:
        self._check(input_, target_)
        single = target_.ndim == 0
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if target.is_box:  # which rows are in a cluster is not known inside of vmap
            output = self.log_prob(x).gather(1, target.unsqueeze(1)).squeeze(1)
        else:
            output = self._output(x, target)
        loss = -output.mean()
        return _Output(output.squeeze(0) if single else output, loss)

    def _output(self, x: Tensor, target: Tensor) -> Tensor:
        head = self.head(x).log_softmax(1)
        place = target.clone()  # of the target, or of its cluster, in the head
        for i in range(self.n_clusters):
            within = (target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])
            place = place.masked_fill(within, self.shortlist_size + i)
        output = head.gather(1, place.unsqueeze(1)).squeeze(1)
        for i in range(self.n_clusters):
            within = (target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])
            rows = within.nonzero().squeeze(1)
            if rows.numel():
                own = self.tail[i](x.index_select(0, rows)).log_softmax(1)
                which = target.index_select(0, rows) - self.cutoffs[i]
                output = output.index_add(0, rows, own.gather(1, which.unsqueeze(1)).squeeze(1))
        return output

    def _check(self, input_: Tensor, target_: Tensor) -> None:
        if target_.ndim == 1:
            if input_.ndim != 2 or input_.shape[0] != target_.shape[0]:
                raise RuntimeError(
                    "AdaptiveLogSoftmaxWithLoss: input of shape (N, in_features) and target of "
                    "shape (N,) should have the same size in the batch dimension, got shapes "
                    f"{list(input_.shape)} and {list(target_.shape)}"
                )
        elif target_.ndim == 0:
            if input_.ndim != 1:
                raise RuntimeError(
                    "AdaptiveLogSoftmaxWithLoss: 0D target tensor expects 1D input tensors, but "
                    f"found inputs with size {list(input_.shape)}"
                )
        else:
            raise RuntimeError(
                "AdaptiveLogSoftmaxWithLoss: 0D or 1D target tensor expected, multi-target not "
                f"supported, got shape {list(target_.shape)}"
            )
        if target_.is_box or not target_.numel():
            return
        low, high = int(target_.min()), int(target_.max())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"AdaptiveLogSoftmaxWithLoss: target values should be in [0, {self.n_classes - 1}] "
                f"(range [0, n_classes-1]), but values in range [{low}, {high}] were found"
            )

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities (N, n_classes) of all classes."""
        head = self.head(input).log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            own = cluster(input).log_softmax(1)
            parts.append(own + head[:, self.shortlist_size + i].unsqueeze(1))
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The class (N,) of highest probability."""
        return self.log_prob(input).argmax(1)


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch divides `linear_cross_entropy` into chunks; accepted, and ignored here."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of a linear map of the input, whose weight is `linear.weight`.

    in_features: of the input. num_classes: of the target. out_features: sizes of several targets
    per sample. bias: add one. weight, reduction, ignore_index, label_smoothing: as in
    `CrossEntropyLoss`. options: accepted as PyTorch does.

    >>> import tensorplay as tp
    >>> tp.nn.LinearCrossEntropyLoss(2, 4)(tp.zeros(3, 2), tp.tensor([0, 1, 3]))
    tensor(1.3863, grad_fn=<NllLossBackward0>)
    """

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (),
        bias: bool = False, device: Any = None, dtype: Any = None, reduction: str = "mean",
        weight: Tensor | None = None, ignore_index: int | None = None,
        label_smoothing: float = 0.0, options: LinearCrossEntropyOptions | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction=reduction)
        self.in_features, self.num_classes = in_features, num_classes
        self.out_features, self.bias = tuple(out_features), bias
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.options = options
        rows = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, rows, bias, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        outputs = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape((*outputs, self.in_features)), target,
            linear_bias=None if bias is None else bias.reshape(outputs), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.bias}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, "
            f"options={self.options}"
        )
