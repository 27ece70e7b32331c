"""Steps inside of PyTorch's public operators that programs made by its tools call by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor, zeros_shaped
from tensorplay.ops.assignment import index_put
from tensorplay.ops.choices import drop, where
from tensorplay.ops.creation import full
from tensorplay.ops.kinds import batch_size, linear, materialize, public
from tensorplay.ops.matrices import matrix_along
from tensorplay.ops.picking import pick, put_add_kernel
from tensorplay.ops.resampling import interpolate, smooth_matrix


@public("_upsample_bilinear2d_aa", method=False)
def upsample_bilinear2d_aa(
    input: Tensor,
    output_size: Sequence[int] | None,
    align_corners: bool,
    scales_h: float | Sequence[float] | None = None,
    scales_w: float | None = None,
    *,
    scale_factors: Sequence[float] | None = None,
) -> Tensor:
    """interpolate(mode='bilinear', antialias=True) to output_size, or by scale_factors.

    scales_h, scales_w: with output_size, the factors that place the outputs.

    Raises:
        ValueError: if both or neither of output_size and scale_factors are given.
    """
    factors = scales_h if isinstance(scales_h, Sequence) else scale_factors
    if output_size is None or factors is not None:
        return interpolate(input, output_size, factors, "bilinear", align_corners, antialias=True)
    for dim, count, scale in zip((-2, -1), output_size, (scales_h, scales_w), strict=True):
        matrix = smooth_matrix(input.shape[dim], count, scale, align_corners, False)
        input = matrix_along(input, matrix, input.ndim + dim)
    return input


def _pool_kernel(u: np.ndarray, x: np.ndarray, index: np.ndarray) -> np.ndarray:
    lead = x.shape[:-2]
    flat, places = (a.reshape((*lead, math.prod(a.shape[-2:]))) for a in (u, index))
    return put_add_kernel(flat, places, math.prod(x.shape[-2:])).reshape(x.shape)


def _pool_transpose(g: Any, index: Any) -> Any:
    flat = [t.reshape((*t.shape[:-2], math.prod(t.shape[-2:]))) for t in (g, index)]
    return pick(*flat).reshape(tuple(index.shape))


def _pool_batch(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = batch_size(values, bdims)
    return p(*[materialize(x, b, size) for x, b in zip(values, bdims, strict=True)]), 0


#: A constant function of x, of which it takes the shape, as in PyTorch.
max_pool_backward = linear(
    "max_pool_backward",
    _pool_kernel,
    (_pool_transpose, lambda g, x_shape: zeros_shaped(g, x_shape), None),
    inputs=("u", "x", "index"),
    batch=_pool_batch,
)


@public("max_pool2d_with_indices_backward", method=False)
def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """The cotangent of max_pool2d's input: grad_output added up at the indices of the maxima.

    Raises:
        RuntimeError: if grad_output and indices differ in shape or dims before the last two.
    """
    shapes = [tuple(t.shape) for t in (grad_output, indices, input)]
    if shapes[0] != shapes[1] or shapes[1][:-2] != shapes[2][:-2]:
        raise RuntimeError(
            f"max_pool2d_with_indices_backward(): grad_output of shape {list(shapes[0])} and "
            f"indices of shape {list(shapes[1])} must have one shape, with the leading dims of "
            f"input, whose shape is {list(shapes[2])}"
        )
    return max_pool_backward(grad_output, input, indices)


def _clamped(input: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Indices (one per dim from the first on) within bounds."""
    return [
        None if index is None else index.clamp(-size, size - 1)
        for index, size in zip(indices, input.shape, strict=False)
    ]


@public("_unsafe_masked_index", method=False)
def unsafe_masked_index(
    input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Any
) -> Tensor:
    """input[indices], with `fill` where the mask is False (whatever the index there)."""
    key: Any = tuple(slice(None) if i is None else i for i in _clamped(input, indices))
    return where(mask, input[key], full((), fill, dtype=input.dtype))


@public("_unsafe_masked_index_put_accumulate", method=False)
def unsafe_masked_index_put_accumulate(
    input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """input with `values` added at the indices, but for those where the mask is False."""
    kept = drop(values, mask.logical_not())
    return index_put(input, _clamped(input, indices), kept, accumulate=True)
