"""Sampling images at arbitrary points: affine_grid and grid_sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.elementwise import where
from tensorplay.ops.kinds import batch_elementwise, constant, public, publish
from tensorplay.ops.picking import pick
from tensorplay.ops.resampling import cubic_weights

_MODES = ("bilinear", "nearest", "bicubic")
_PADDING = ("zeros", "border", "reflection")


# --- affine_grid ----------------------------------------------------------------------------------


def _line(count: int, align_corners: bool, dtype: Any) -> np.ndarray:
    """Coordinates of `count` elements, the image reaching from -1 to 1."""
    if align_corners:
        line = np.linspace(-1, 1, count) if count > 1 else np.zeros(count)
    else:
        line = (2 * np.arange(count) + 1) / max(count, 1) - 1
    return line.astype(dtype.numpy)


@public("affine_grid", namespace="nn.functional", method=False)
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Grids for grid_sample from affine maps.

    theta: (N, 2, 3) or (N, 3, 4). size: of the images, (N, C, H, W) or (N, C, D, H, W).
    align_corners: -1 and 1 are the centres of the outermost elements, not their edges.

    Raises:
        ValueError, RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> theta = tp.tensor([[[1., 0., 0.], [0., 1., 0.]]])
    >>> tp.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    if not theta.dtype.is_floating_point:
        raise ValueError(
            f"affine_grid(): expected theta to have floating point type, got {theta.dtype}"
        )
    sizes = tuple(size)[2:]
    spatial = len(sizes)
    if spatial not in (2, 3):
        raise NotImplementedError(
            f"affine_grid(): expected size of 4 or 5 entries, got {tuple(size)}"
        )
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (spatial, spatial + 1):
        raise ValueError(
            f"affine_grid(): expected a batch of {spatial} x {spatial + 1} affine matrices for "
            f"size {tuple(size)}, got theta of shape {list(theta.shape)}"
        )
    if any(s <= 0 for s in size):
        raise ValueError(f"affine_grid(): expected non-zero, positive size, got {tuple(size)}")
    lines = [_line(n, bool(align_corners), theta.dtype) for n in sizes]
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]  # x, the last dim, comes first
    base = np.stack([*mesh, np.ones(sizes, theta.dtype.numpy)], -1).reshape(-1, spatial + 1)
    grid = core.from_array(base) @ theta.transpose(1, 2)
    return grid.reshape((theta.shape[0], *sizes, spatial))


# --- where samples lie ----------------------------------------------------------------------------

# Integers, so that no derivative goes through them; NaN and what is far away become 0.
floor_index = constant(
    "floor_index",
    lambda x: _to_index(np.floor(x)),
    batch=batch_elementwise,
)
round_index = constant(
    "round_index",
    lambda x: _to_index(np.rint(x)),
    batch=batch_elementwise,
)


def _to_index(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < 2**31, x, -(2**31)).astype(np.int64)


def _clipped(at: Tensor, size: int) -> Tensor:
    """Coordinates limited to the image; the derivative is 0 at and beyond its ends."""
    inside = (at > 0) & (at < size - 1)
    limited = where(at > 0, float(size - 1), 0.0).to(at.dtype)
    return where(inside, at, limited)


def _reflected(at: Tensor, size: int, align_corners: bool) -> Tensor:
    """Coordinates reflected at the ends of the image until they are inside."""
    low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
    span = high - low
    if span <= 0:
        return at * 0
    distance = (at - low).abs()
    flips = floor_index(distance / span)
    extra = distance - flips.to(at.dtype) * span
    return where(flips % 2 == 0, extra + low, high - extra)


def _in_image(at: Tensor, size: int, padding: str, align_corners: bool) -> Tensor:
    if padding == "reflection":
        at = _reflected(at, size, align_corners)
    return at if padding == "zeros" else _clipped(at, size)


def _pixels(grid: Tensor, sizes: tuple[int, ...], align_corners: bool) -> list[Tensor]:
    """Coordinates in elements, per dim of the image (the grid's first is the last dim)."""
    found = []
    for axis, size in enumerate(sizes):
        x = grid.select(-1, len(sizes) - 1 - axis)
        if align_corners:
            found.append((x + 1) * ((size - 1) / 2))
        else:
            found.append(((x + 1) * size - 1) / 2)
    return found


class _Image:
    """An image's elements, to be read at integer coordinates."""

    def __init__(self, input: Tensor, points: int) -> None:
        self.sizes = tuple(input.shape[2:])
        self.flat = input.reshape((*input.shape[:2], -1))
        self.shape = (*input.shape[:2], points)

    def read(self, index: list[Tensor]) -> Tensor:
        """(N, C, points) at (N, points) coordinates; 0 outside."""
        flat: Any = 0
        valid: Any = None
        for i, size in zip(index, self.sizes, strict=True):
            flat = flat * size + i.clamp(0, size - 1)
            inside = (i >= 0) & (i < size)
            valid = inside if valid is None else valid & inside
        values = pick(self.flat, flat.unsqueeze(1).expand(self.shape))
        return values * valid.unsqueeze(1)


def _linear_sample(image: _Image, at: list[Tensor]) -> Tensor:
    low = [floor_index(a) for a in at]
    share = [a - i.to(a.dtype) for a, i in zip(at, low, strict=True)]
    total: Any = 0
    for corner in np.ndindex(*(2,) * len(at)):
        index = [i + c for i, c in zip(low, corner, strict=True)]
        weight: Any = 1
        for s, c in zip(share, corner, strict=True):
            weight = weight * (s if c else 1 - s)
        total = total + image.read(index) * weight.unsqueeze(1)
    return total


def _cubic_sample(image: _Image, at: list[Tensor], padding: str, align_corners: bool) -> Tensor:
    low = [floor_index(a) for a in at]
    weights = [cubic_weights(a - i.to(a.dtype)) for a, i in zip(at, low, strict=True)]
    # Each neighbour, rather than the point, is brought into the image.
    taps = []
    for axis, (i, size) in enumerate(zip(low, image.sizes, strict=True)):
        kind = at[axis].dtype
        shifted = [(i + k - 1).to(kind) for k in range(4)]
        taps.append([floor_index(_in_image(s, size, padding, align_corners)) for s in shifted])
    total: Any = 0
    for corner in np.ndindex(4, 4):
        index = [taps[axis][k] for axis, k in enumerate(corner)]
        weight = weights[0][corner[0]] * weights[1][corner[1]]
        total = total + image.read(index) * weight.unsqueeze(1)
    return total


@public("grid_sample", namespace="nn.functional", method=False)
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The input sampled at the points of a grid, with interpolation.

    input: (N, C, H, W) or (N, C, D, H, W). grid: (N, ..., 2) or (N, ..., 3), coordinates
    (x, y[, z]) with the image from -1 to 1. mode: 'bilinear', 'nearest' or (4 dims) 'bicubic'.
    padding_mode: what is outside: 'zeros', 'border' or 'reflection'. align_corners: -1 and 1 are
    the centres of the outermost elements, not their edges.

    Raises:
        ValueError: for an unknown mode.
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> x = tp.tensor([[[[0., 1.]]]])
    >>> tp.nn.functional.grid_sample(x, tp.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[0.5000]]]])
    """
    _check_sample(input, grid, mode, padding_mode)
    corners = bool(align_corners)
    outputs = tuple(grid.shape[1:-1])
    points = math.prod(outputs)
    flat = grid.reshape((grid.shape[0], points, grid.shape[-1]))
    image = _Image(input, points)
    at = _pixels(flat, image.sizes, corners)
    if mode == "bicubic":
        result = _cubic_sample(image, at, padding_mode, corners)
    else:
        at = [
            _in_image(a, size, padding_mode, corners)
            for a, size in zip(at, image.sizes, strict=True)
        ]
        if mode == "nearest":
            result = image.read([round_index(a) for a in at])
        else:
            result = _linear_sample(image, at)
    return result.reshape((*input.shape[:2], *outputs))


def _check_sample(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> None:
    if mode not in _MODES:
        raise ValueError(f"grid_sample(): mode must be one of {_MODES}, got {mode!r}")
    if padding_mode not in _PADDING:
        raise ValueError(
            f"grid_sample(): padding_mode must be one of {_PADDING}, got {padding_mode!r}"
        )
    given = f"got input of shape {list(input.shape)} and grid of shape {list(grid.shape)}"
    spatial = input.ndim - 2
    if spatial not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != spatial:
        raise RuntimeError(
            "grid_sample(): expected input (N, C, H, W) with grid (N, ..., 2), or input "
            f"(N, C, D, H, W) with grid (N, ..., 3), {given}"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sample(): expected one grid per image, {given}")
    if not all(input.shape[2:]):
        raise RuntimeError(f"grid_sample(): expected images that are not empty, {given}")
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sample(): expected one dtype, got input of {input.dtype} and grid of "
            f"{grid.dtype}"
        )
    if mode == "bicubic" and spatial != 2:
        raise RuntimeError(f"grid_sample(): bicubic interpolation takes 4-dim input only, {given}")


@public(method=False)
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """grid_sample with the modes as numbers (0, 1, 2 in the order in which they are listed)."""
    return grid_sample(
        input, grid, _MODES[interpolation_mode], _PADDING[padding_mode], align_corners
    )


for _name in ("grid_sampler_2d", "grid_sampler_3d"):
    publish(grid_sampler, _name, method=False)
