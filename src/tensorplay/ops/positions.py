"""Where the elements that an index names lie in memory: arrays only, shared by the index kernels.

Kernels work on flat positions in a C-contiguous array, because NumPy is fastest there: `take`, and
`np.add.at`, which adds repeated positions one after the other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def check_range(
    index: np.ndarray, size: int, dim: int, name: str, error: type[Exception], negative: bool = True
) -> np.ndarray:
    """`index` with negative entries counted from the end.

    Raises:
        error: where an entry names no element of a dim of this size.
    """
    if index.size == 0:
        return index
    low, high = int(index.min()), int(index.max())
    if high >= size or low < (-size if negative else 0):
        bad = high if high >= size else low
        raise error(f"{name}(): index {bad} is out of bounds for dimension {dim} with size {size}")
    return np.where(index < 0, index + size, index) if low < 0 else index


def strides_of(shape: Shape) -> Shape:
    """Strides, in elements, of a C-contiguous array."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return tuple(strides)


def are_adjacent(dims: Shape) -> bool:
    """Whether increasing dims follow each other without a gap."""
    return dims[-1] - dims[0] == len(dims) - 1


def offset_grid(shape: Shape, strides: Shape, dims: Shape, lead: int, trail: int) -> np.ndarray:
    """Positions of the elements along `dims`, with `lead` and `trail` further dims of size one."""
    total = np.zeros((1,) * (lead + len(dims) + trail), np.intp)
    for i, d in enumerate(dims):
        line = np.arange(shape[d], dtype=np.intp) * strides[d]
        total = total + line.reshape((-1,) + (1,) * (len(dims) - 1 - i + trail))
    return total


def index_positions(shape: Shape, index: tuple[np.ndarray, ...], dims: Shape) -> np.ndarray:
    """Flat positions of `x[..., index, ...]` for x of this shape, in the shape of that result.

    index: one array (of a common shape, entries not negative) per dim of `dims`. Its dims stand
    where the indexed dims stood, or in front when those are not adjacent.
    """
    strides = strides_of(shape)
    common = index[0].shape
    named = sum(i * strides[d] for i, d in zip(index, dims, strict=True))
    first = dims[0] if are_adjacent(dims) else 0
    before = tuple(range(first))
    after = tuple(d for d in range(first, len(shape)) if d not in dims)
    named = np.asarray(named).reshape(common + (1,) * len(after))
    if before:
        named = named + offset_grid(shape, strides, before, 0, len(common) + len(after))
    return named + offset_grid(shape, strides, after, 0, 0) if after else named


def along_positions(shape: Shape, index: np.ndarray, dim: int) -> np.ndarray:
    """Flat positions of `gather(x, dim, index)` for x of this shape (entries not negative)."""
    strides = strides_of(shape)
    total = index * strides[dim] if strides[dim] != 1 else index
    for d, size in enumerate(index.shape):
        if d != dim and size > 1:
            line = np.arange(size, dtype=np.intp) * strides[d]
            total = total + line.reshape((-1,) + (1,) * (index.ndim - 1 - d))
    return total


def flat(x: np.ndarray) -> np.ndarray:
    """A C-contiguous array as one dimension, sharing its memory."""
    return x.reshape(-1)


def add_at(out: np.ndarray, positions: np.ndarray, values: Any) -> None:
    """Add values at flat positions of a C-contiguous array; repeated positions accumulate."""
    line = flat(out)
    source = np.broadcast_to(values, positions.shape).reshape(-1)
    where = positions.reshape(-1)
    if out.dtype.kind in "fciub" and out.dtype.isnative:
        with np.errstate(all="ignore"):
            np.add.at(line, where, source.astype(out.dtype, copy=False))
    else:  # a type without compiled loops (bfloat16): add in float32
        total = np.zeros(line.shape, np.float32)
        np.add.at(total, where, source.astype(np.float32))
        line += total.astype(out.dtype)


def last_written(positions: np.ndarray, size: int) -> np.ndarray:
    """Which entries are the last to name their position: whose value stays when all are written."""
    line = positions.reshape(-1)
    order = np.arange(line.size)
    table = np.empty(size, np.intp)
    table[line] = order
    return (table[line] == order).reshape(positions.shape)


def occurrence(positions: np.ndarray) -> np.ndarray:
    """For each entry how many earlier entries name the same position."""
    line = positions.reshape(-1)
    if line.size == 0:
        return np.zeros(positions.shape, np.int64)
    order = np.argsort(line, kind="stable")
    ordered = line[order]
    starts = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    counter = np.arange(line.size)
    rank = np.empty(line.size, np.int64)
    rank[order] = counter - np.maximum.accumulate(np.where(starts, counter, 0))
    return rank.reshape(positions.shape)


def numel(shape: Shape) -> int:
    """The number of elements of an array of this shape."""
    return math.prod(shape)
