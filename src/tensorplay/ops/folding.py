"""unfold and fold of images: all windows as columns, and back by adding them up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import front, linear, public
from tensorplay.ops.windows import (
    add_windows,
    out_sizes,
    padded,
    per_dim,
    require_positive,
    unpadded,
    windows,
)


def _unfold_kernel(
    x: np.ndarray, kernel: Any, dilation: Any, padding: Any, stride: Any
) -> np.ndarray:
    counts = out_sizes(x.shape[-2:], kernel, stride, padding, dilation)
    view = windows(padded(x, padding), kernel, stride, dilation, counts)
    lead = x.shape[:-3]
    return np.ascontiguousarray(view).reshape(
        *lead, x.shape[-3] * math.prod(kernel), math.prod(counts)
    )


def _fold_kernel(
    y: np.ndarray, sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any
) -> np.ndarray:
    counts = out_sizes(sizes, kernel, stride, padding, dilation)
    lead = (*y.shape[:-2], y.shape[-2] // math.prod(kernel))
    wide = tuple(s + low + high for s, (low, high) in zip(sizes, padding, strict=True))
    out = np.zeros((*lead, *wide), y.dtype)
    add_windows(out, y.reshape(*lead, *kernel, *counts), stride, dilation)
    return np.ascontiguousarray(unpadded(out, sizes, padding))


def _batch_front(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    return p(front(values[0], bdims[0]), *params), 0


unfold_op = linear(
    "im2col",
    typed("unfold", _unfold_kernel, "bifc", widen=False),
    lambda g, x_shape, kernel, dilation, padding, stride: fold_op(
        g, tuple(x_shape[-2:]), kernel, dilation, padding, stride
    ),
    params=("kernel", "dilation", "padding", "stride"),
    batch=_batch_front,
)
fold_op = linear(
    "col2im",
    typed("fold", _fold_kernel, "bifc"),
    lambda g, kernel, dilation, padding, stride: unfold_op(g, kernel, dilation, padding, stride),
    params=("sizes", "kernel", "dilation", "padding", "stride"),
    batch=_batch_front,
)


def _arguments(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    kernel = per_dim(name, "kernel_size", kernel_size, 2)
    dil = per_dim(name, "dilation", dilation, 2)
    pad = per_dim(name, "padding", padding, 2)
    step = per_dim(name, "stride", stride, 2)
    require_positive(name, kernel_size=kernel, dilation=dil, stride=step)
    if any(p < 0 for p in pad):
        raise RuntimeError(f"{name}(): padding should be non-negative, got {pad}")
    return kernel, dil, tuple((p, p) for p in pad), step


@public("unfold", namespace="nn.functional", method=False)
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """All windows of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel elements, windows).

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.unfold(tp.ones(1, 1, 3, 3), 2).shape
    tensorplay.Size([1, 4, 4])
    """
    arguments = _arguments("unfold", kernel_size, dilation, padding, stride)
    kernel, dil, pads, step = arguments
    if input.ndim not in (3, 4) or not all(input.shape[-3:]):
        raise RuntimeError(
            "unfold(): expected 3D or 4D (batch mode) tensor with non-zero sizes, got shape "
            f"{list(input.shape)}"
        )
    counts = out_sizes(input.shape[-2:], kernel, step, pads, dil)
    if any(c < 1 for c in counts):
        raise RuntimeError(
            f"unfold(): given input of shape {list(input.shape)}, kernel_size={kernel}, "
            f"dilation={dil}, padding={pads}, there would be {counts} windows"
        )
    return unfold_op(input, *arguments)


@public("fold", namespace="nn.functional", method=False)
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Images of `output_size` from their windows as columns, overlaps added: unfold's transpose.

    input: (N, C * kernel elements, windows), or without N.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.fold(tp.ones(1, 4, 4), (3, 3), 2)[0, 0]
    tensor([[1., 2., 1.],
            [2., 4., 2.],
            [1., 2., 1.]])
    """
    arguments = _arguments("fold", kernel_size, dilation, padding, stride)
    kernel, dil, pads, step = arguments
    sizes = per_dim("fold", "output_size", output_size, 2)
    shape = tuple(input.shape)
    counts = out_sizes(sizes, kernel, step, pads, dil)
    if input.ndim not in (2, 3) or shape[-2] % math.prod(kernel):
        raise RuntimeError(
            f"fold(): expected input of shape (N, C * {math.prod(kernel)}, L) or (C * "
            f"{math.prod(kernel)}, L) for kernel_size={kernel}, got shape {list(shape)}"
        )
    if any(c < 1 for c in counts) or shape[-1] != math.prod(counts):
        raise RuntimeError(
            f"fold(): output_size={sizes} has {counts[0]} * {counts[1]} windows, but input of "
            f"shape {list(shape)} has {shape[-1]}"
        )
    return fold_op(input, sizes, *arguments)
