"""Sequences of several lengths in one tensor: padded, or packed without the padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.joining import cat, stack
from tensorplay.ops.kinds import require_tensor


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


class PackedSequence(_Fields):
    """Sequences step by step, longest sequence first, without padding.

    data: (sum of the lengths, ...): the elements of the first step of all sequences, then those of
    the second step of the sequences that have one, and so on. batch_sizes: how many sequences have
    each step (int64). sorted_indices: where each of the sequences was among those given;
    unsorted_indices: the inverse. Made by `pack_padded_sequence` and `pack_sequence`.
    """

    __slots__ = ()

    def __new__(
        cls, data: Tensor, batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None, unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:  # fmt: skip
        require_tensor(data, "PackedSequence", "data")
        require_tensor(batch_sizes, "PackedSequence", "batch_sizes")
        assert batch_sizes is not None
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With `data.to(...)`."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def float(self) -> PackedSequence:
        """With data of dtype float32."""
        return self._replace(data=self.data.float())

    def double(self) -> PackedSequence:
        """With data of dtype float64."""
        return self._replace(data=self.data.double())

    def cpu(self) -> PackedSequence:
        """Itself: everything is on the CPU."""
        return self


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another one (None stays None).

    >>> import tensorplay as tp
    >>> tp.nn.utils.rnn.invert_permutation(tp.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    order = np.empty(permutation.numel(), np.int64)
    order[permutation.numpy()] = np.arange(order.size)
    return core.from_array(order)


def _lengths(lengths: Any) -> np.ndarray:
    values = lengths.numpy() if isinstance(lengths, Tensor) else np.asarray(lengths)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise RuntimeError(
            f"pack_padded_sequence(): lengths must be a list or vector of ints, got shape "
            f"{list(values.shape)} of dtype {values.dtype}"
        )
    return values.astype(np.int64)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (L, N, ...), with batch_first (N, L, ...), packed.

    lengths: of each of the N sequences. enforce_sorted: they must descend; False sorts them.

    Raises:
        RuntimeError: if lengths do not fit the input, are not positive, or do not descend.

    >>> import tensorplay as tp
    >>> x = tp.tensor([[1, 2, 0], [3, 4, 5]])
    >>> tp.nn.utils.rnn.pack_padded_sequence(x, [2, 3], True, enforce_sorted=False).data
    tensor([3, 1, 4, 2, 5])
    """
    require_tensor(input, "pack_padded_sequence")
    sizes = _lengths(lengths)
    x = input.transpose(0, 1) if batch_first else input
    if sizes.size != x.shape[1]:
        raise RuntimeError(
            f"pack_padded_sequence(): expected {x.shape[1]} lengths for input of shape "
            f"{list(input.shape)}, got {sizes.size}"
        )
    if sizes.size == 0 or sizes.min() <= 0 or sizes.max() > x.shape[0]:
        raise RuntimeError(
            f"pack_padded_sequence(): lengths must be from 1 to {x.shape[0]}, the steps of the "
            f"input, got {sizes.tolist()}"
        )
    order = None
    if not enforce_sorted:
        places = np.argsort(-sizes, kind="stable")
        sizes, order = sizes[places], core.from_array(places.astype(np.int64))
        x = x.index_select(1, order)
    elif (np.diff(sizes) > 0).any():
        raise RuntimeError(
            "pack_padded_sequence(): lengths must descend, got "
            f"{sizes.tolist()}; give enforce_sorted=False to have the sequences sorted"
        )
    batch_sizes = (sizes[None] > np.arange(sizes[0])[:, None]).sum(1)
    data = cat([x[step, : int(n)] for step, n in enumerate(batch_sizes)])
    return PackedSequence(data, core.from_array(batch_sizes.astype(np.int64)), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(padded sequences, their lengths) of a packed one, in the order in which they were packed.

    total_length: pad to so many steps.

    Raises:
        ValueError: if total_length is less than the longest sequence.

    >>> import tensorplay as tp
    >>> rnn = tp.nn.utils.rnn
    >>> rnn.pad_packed_sequence(rnn.pack_sequence([tp.tensor([1, 2]), tp.tensor([3])]), True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    sizes = sequence.batch_sizes.numpy()
    steps, count = len(sizes), int(sizes[0])
    total = steps if total_length is None else total_length
    if total < steps:
        raise ValueError(
            f"pad_packed_sequence(): total_length must be at least {steps}, the length of the "
            f"longest sequence, got {total_length}"
        )
    shape = (total, count, *sequence.data.shape[1:])
    padded = sequence.data.new_full(shape, padding_value)
    step = np.repeat(np.arange(steps), sizes)
    place = np.concatenate([np.arange(n) for n in sizes])
    where = (core.from_array(step), core.from_array(place.astype(np.int64)))
    padded = padded.index_put(where, sequence.data)
    lengths = core.from_array((sizes[:, None] > np.arange(count)).sum(0).astype(np.int64))
    order = sequence.unsorted_indices
    if order is not None:
        padded, lengths = padded.index_select(1, order), lengths.index_select(0, order)
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:  # fmt: skip
    """Sequences (length, ...) stacked as (L, N, ...), with batch_first (N, L, ...), and padded.

    padding_side: 'right' or 'left'.

    Raises:
        RuntimeError: for another padding_side, or no sequences.

    >>> import tensorplay as tp
    >>> tp.nn.utils.rnn.pad_sequence([tp.tensor([1, 2]), tp.tensor([3])], True)
    tensor([[1, 2],
            [3, 0]])
    """
    if padding_side not in ("right", "left"):
        raise RuntimeError(
            f"pad_sequence(): padding_side must be 'right' or 'left', got {padding_side!r}"
        )
    given = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not given:
        raise RuntimeError("pad_sequence(): expected at least one sequence")
    longest = max(x.shape[0] for x in given)
    padded = []
    for x in given:
        fill = x.new_full((longest - x.shape[0], *x.shape[1:]), padding_value)
        padded.append(cat([x, fill] if padding_side == "right" else [fill, x]))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences that were padded to (L, N, ...), with batch_first (N, L, ...).

    >>> import tensorplay as tp
    >>> tp.nn.utils.rnn.unpad_sequence(tp.tensor([[1, 2], [3, 0]]), tp.tensor([2, 1]), True)
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [rows[i, : int(n)] for i, n in enumerate(lengths.tolist())]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, ...) packed; lengths must descend unless enforce_sorted is False."""
    lengths = [x.shape[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, True)
    return unpad_sequence(padded, lengths, True)
