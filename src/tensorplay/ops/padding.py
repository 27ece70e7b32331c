"""pad in every mode: with a constant, by reflection, by repeating the edge, around the circle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.arrange import constant_pad
from tensorplay.ops.kinds import public

_MODES = ("constant", "reflect", "replicate", "circular")


def _source(size: int, low: int, high: int, mode: str) -> np.ndarray:
    """Which element stands at each place of the padded dim."""
    at = np.arange(-low, size + high)
    if mode == "replicate":
        return np.clip(at, 0, size - 1)
    if mode == "circular":  # around what is left where one side is cropped
        first, end = max(-low, 0), size - max(-high, 0)
        return (at - first) % (end - first) + first
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)


def _check(input: Tensor, pad: Sequence[int], mode: str) -> None:
    shape, count = tuple(input.shape), len(pad) // 2
    if len(pad) % 2 or count not in (1, 2, 3) or input.ndim - count not in (1, 2):
        raise NotImplementedError(
            f"pad(): mode {mode!r} pads the last 1 to 3 dims of (C, ...) or (N, C, ...), got "
            f"pad={tuple(pad)} for input of shape {list(shape)}"
        )
    if not all(shape[1 if input.ndim - count == 2 else 0 :]):
        raise RuntimeError(f"pad(): expected non-zero sizes but for the batch, got {list(shape)}")
    for i in range(count):
        size, low, high = shape[-1 - i], pad[2 * i], pad[2 * i + 1]
        limit = {"reflect": size - 1, "circular": size}.get(mode)
        if limit is not None and max(low, high) > limit:
            raise RuntimeError(
                f"pad(): for mode {mode!r} padding ({low}, {high}) must be at most {limit} at dim "
                f"{input.ndim - 1 - i} of input of shape {list(shape)}"
            )
        if size + low + high < 1:
            raise RuntimeError(
                f"pad(): padding ({low}, {high}) leaves nothing of dim {input.ndim - 1 - i} of "
                f"input of shape {list(shape)}"
            )


@public("pad", namespace="nn.functional", method=False)
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """The input with its last dims padded (negative: cropped).

    pad: (before, after) of the last dim, then of the one before it, and so on. mode: 'constant'
    (with `value`, 0 by default), 'reflect', 'replicate' or 'circular'.

    Raises:
        RuntimeError: for a padding that does not fit.
        NotImplementedError: for an unknown mode, or dims that a mode does not pad.

    >>> import tensorplay as tp
    >>> tp.nn.functional.pad(tp.tensor([[1., 2., 3.]]), (1, 1), mode="reflect")
    tensor([[2., 1., 2., 3., 2.]])
    """
    if mode not in _MODES:
        raise NotImplementedError(f"pad(): mode must be one of {_MODES}, got {mode!r}")
    if mode == "constant":
        return constant_pad(input, pad, 0 if value is None else value)
    if value:
        raise ValueError(f"pad(): mode {mode!r} takes no value, got {value}")
    _check(input, pad, mode)
    for i in range(len(pad) // 2):
        low, high = pad[2 * i], pad[2 * i + 1]
        if low or high:
            dim = input.ndim - 1 - i
            index = core.from_array(_source(input.shape[dim], low, high, mode))
            input = input.index_select(dim, index)
    return input
