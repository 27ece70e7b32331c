"""interpolate: images of another size. Every mode is a constant matrix along each dim."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public
from tensorplay.ops.matrices import Matrix, matrix_along
from tensorplay.ops.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

_DIMS = {
    "nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "linear": (1,), "bilinear": (2,),
    "bicubic": (2,), "trilinear": (3,), "area": (1, 2, 3),
}  # fmt: skip
_CUBIC = -0.75  # the sharpness of the cubic kernel that PyTorch takes; -0.5 with antialias
_CUBIC_SMOOTH = -0.5


# --- matrices of one dim --------------------------------------------------------------------------


def _places(size: int, count: int, scale: float | None, align_corners: bool) -> np.ndarray:
    """Where each output lies among the inputs, in input elements."""
    if align_corners:
        return np.arange(count) * ((size - 1) / (count - 1) if count > 1 else 0.0)
    ratio = 1 / scale if scale else size / count
    return ratio * (np.arange(count) + 0.5) - 0.5


def cubic_weights(t: Any, a: float = _CUBIC) -> list[Any]:
    """Weights of the elements at -1, 0, 1, 2 for a point at t in [0, 1) (Keys, 1981).

    For arrays and tensors alike.
    """

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@functools.lru_cache(maxsize=256)
def linear_matrix(size: int, count: int, scale: float | None, align_corners: bool) -> Matrix:
    """Linear interpolation between two neighbours."""
    at = np.maximum(_places(size, count, scale, align_corners), 0.0)
    low = np.minimum(np.floor(at).astype(np.int64), size - 1)
    share = np.clip(at - low, 0.0, 1.0)
    taps = np.stack([low, np.minimum(low + 1, size - 1)], 1)
    return Matrix.from_taps(taps, np.stack([1 - share, share], 1), size)


@functools.lru_cache(maxsize=256)
def cubic_matrix(size: int, count: int, scale: float | None, align_corners: bool) -> Matrix:
    """Cubic interpolation between four neighbours; those outside repeat the edge."""
    at = _places(size, count, scale, align_corners)
    low = np.floor(at)
    taps = np.clip(low[:, None].astype(np.int64) + np.arange(-1, 3), 0, size - 1)
    return Matrix.from_taps(taps, np.stack(cubic_weights(at - low), 1), size)


@functools.lru_cache(maxsize=256)
def smooth_matrix(
    size: int, count: int, scale: float | None, align_corners: bool, cubic: bool
) -> Matrix:
    """Interpolation whose kernel widens with the step between outputs (antialias)."""
    if align_corners:
        ratio = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        ratio = 1 / scale if scale else size / count
    widened = max(ratio, 1.0)
    support = (2.0 if cubic else 1.0) * widened
    centre = ratio * (np.arange(count) + 0.5)
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + support + 0.5).astype(np.int64), size)
    width = int((end - first).max())
    taps = first[:, None] + np.arange(width)
    x = np.abs((taps - centre[:, None] + 0.5) / widened)
    if cubic:
        near, far = cubic_weights(x, _CUBIC_SMOOTH)[1], cubic_weights(x - 1, _CUBIC_SMOOTH)[0]
        weights = np.where(x < 1, near, np.where(x < 2, far, 0.0))
    else:
        weights = np.where(x < 1, 1 - x, 0.0)
    weights = np.where(taps < end[:, None], weights, 0.0)
    weights /= weights.sum(1, keepdims=True)
    return Matrix.from_taps(np.minimum(taps, size - 1), weights, size)


def nearest_index(size: int, count: int, scale: float | None, exact: bool) -> np.ndarray:
    """The nearest input of each output, in float32 as PyTorch computes it."""
    ratio = np.float32(1 / scale) if scale else np.float32(size) / np.float32(count)
    at = np.arange(count, dtype=np.float32)
    if exact:
        at = at + np.float32(0.5)
    return np.minimum(np.floor(at * ratio).astype(np.int64), size - 1)


# --- interpolate ----------------------------------------------------------------------------------


def _sizes(
    sizes: tuple[int, ...], size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """(output sizes, scales that place the outputs; None: by the sizes)."""
    spatial = len(sizes)
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "interpolate(): only one of size or scale_factor should be defined, got "
            f"size={size} and scale_factor={scale_factor}"
        )
    if size is not None:
        wanted = (size,) * spatial if isinstance(size, int) else tuple(size)
        if len(wanted) != spatial:
            raise ValueError(
                f"interpolate(): size must be an int or {spatial} ints for this input, got {size}"
            )
        if recompute:
            raise ValueError(
                "interpolate(): recompute_scale_factor is not meaningful with an explicit size"
            )
        return wanted, (None,) * spatial
    scales = (
        tuple(float(s) for s in scale_factor)
        if isinstance(scale_factor, Sequence)
        else (float(scale_factor),) * spatial
    )
    if len(scales) != spatial:
        raise ValueError(
            f"interpolate(): scale_factor must be a number or {spatial} numbers for this input, "
            f"got {scale_factor}"
        )
    wanted = tuple(math.floor(n * s) for n, s in zip(sizes, scales, strict=True))
    return wanted, ((None,) * spatial if recompute else scales)


def _check(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> int:
    spatial = input.ndim - 2
    if mode not in _DIMS:
        raise NotImplementedError(
            f"interpolate(): mode must be one of {tuple(_DIMS)}, got {mode!r}"
        )
    if spatial not in _DIMS[mode]:
        raise NotImplementedError(
            f"interpolate(): mode {mode!r} takes inputs of "
            f"{' or '.join(str(n + 2) for n in _DIMS[mode])} dims, got shape {list(input.shape)}"
        )
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            "interpolate(): align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            "interpolate(): antialias is restricted to modes 'bilinear' and 'bicubic', got "
            f"{mode!r}"
        )
    return spatial


@public("interpolate", namespace="nn.functional", method=False)
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The input (N, C, ...) with its dims after the first two resampled to another size.

    size, scale_factor: one of the two, a number or one per dim. mode: 'nearest', 'nearest-exact',
    'area', 'linear' (3 dims), 'bilinear', 'bicubic' (4 dims) or 'trilinear' (5 dims).
    align_corners: keep the outermost elements, rather than the outermost edges, in place.
    recompute_scale_factor: place outputs by the sizes, not by scale_factor. antialias: widen the
    kernel when making smaller ('bilinear', 'bicubic').

    Raises:
        ValueError: for options that contradict each other.
        NotImplementedError: for a mode that does not fit the number of dims.
        RuntimeError: for an empty output.

    >>> import tensorplay as tp
    >>> x = tp.tensor([[[0., 1.]]])
    >>> tp.nn.functional.interpolate(x, scale_factor=2, mode="linear")
    tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    spatial = _check(input, mode, align_corners, antialias)
    sizes = tuple(input.shape[2:])
    wanted, scales = _sizes(sizes, size, scale_factor, recompute_scale_factor)
    if not all(wanted) or not all(sizes):
        raise RuntimeError(
            f"interpolate(): input and output sizes should be greater than 0, got {sizes} and "
            f"{wanted}"
        )
    if mode == "area":
        pool = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[spatial - 1]
        return pool(input, wanted)
    corners = bool(align_corners)
    for axis, (n, m, scale) in enumerate(zip(sizes, wanted, scales, strict=True)):
        dim = axis + 2
        if n == m and mode in ("linear", "bilinear", "trilinear"):
            continue  # as it is, whatever the scale: as in PyTorch
        if mode in ("nearest", "nearest-exact"):
            index = nearest_index(n, m, scale, mode == "nearest-exact")
            input = input.index_select(dim, core.from_array(index))
        elif antialias:
            matrix = smooth_matrix(n, m, scale, corners, mode == "bicubic")
            input = matrix_along(input, matrix, dim)
        else:
            make = cubic_matrix if mode == "bicubic" else linear_matrix
            input = matrix_along(input, make(n, m, scale, corners), dim)
    return input if wanted != sizes else input.clone()


def _deprecated(name: str) -> None:
    warnings.warn(f"{name}(): deprecated, use interpolate() instead", stacklevel=3)


@public("upsample", namespace="nn.functional", method=False)
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """interpolate(), under its old name."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public("upsample_nearest", namespace="nn.functional", method=False)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate() by nearest neighbours, under its old name."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


@public("upsample_bilinear", namespace="nn.functional", method=False)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate() bilinearly with aligned corners, under its old name."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)
