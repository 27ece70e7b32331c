"""Views by strides: `as_strided`, sliding windows (`unfold`), memory seen as another dtype.

`as_strided` knows the strides of the tensor it was asked of (`layout`), because what it means
depends on them: given other memory, such as a tangent, it lays a copy out in the same way first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import positions as at
from tensorplay.ops.choices import keep
from tensorplay.ops.index_primitives import index_op
from tensorplay.ops.kinds import constant, front, linear, method, public, shifting, wrap_dim
from tensorplay.ops.slicing import FULL
from tensorplay.ops.structure import view_scatter

Shape = tuple[int, ...]

# --- layouts --------------------------------------------------------------------------------------


def layout_of(x: Tensor) -> Shape:
    """The strides of x in elements; inside vmap those of one sample."""
    if not x.is_box:
        array = core.array_of(x)
        return tuple(s // array.itemsize for s in array.strides)
    level = next(each for each in core.active_levels() if each.id == core.box_level(x))
    value, bdim = core.unbox(x, level)
    strides = layout_of(value)
    return strides if bdim is None else strides[:bdim] + strides[bdim + 1 :]


def extent(shape: Shape, strides: Shape) -> tuple[int, int]:
    """The lowest and the highest position that a layout reaches, from its first element."""
    if 0 in shape:
        return 0, -1
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)


def memory_of(x: np.ndarray) -> tuple[np.ndarray, int] | None:
    """The bytes of the memory that x looks into, and where x starts; None if not one block."""
    owner = x
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not owner.flags.forc:
        return None
    block = owner if owner.flags.c_contiguous else owner.T
    memory = block.reshape(-1).view(np.uint8)
    return memory, x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]


def view_into(
    memory: np.ndarray, dtype: Any, start: int, size: Shape, stride: Shape
) -> np.ndarray | None:
    """A view into bytes from `start` on; None where it would reach beyond them."""
    low, high = extent(size, stride)
    item = dtype.itemsize
    if start + low * item < 0 or start + (high + 1) * item > memory.size:
        return None
    raw = np.ndarray(size, np.dtype(f"V{item}"), memory, start, tuple(s * item for s in stride))
    return raw.view(dtype)


class Block:
    """Memory that holds elements laid out as x was, and those that a strided view asks for."""

    def __init__(self, shape: Shape, layout: Shape, size: Shape, stride: Shape, offset: int):
        low, high = extent(shape, layout)
        view_low, view_high = extent(size, stride)
        self.first = -min(low, offset + view_low, 0)
        self.count = max(high, offset + view_high, 0) + self.first + 1
        self.shape, self.layout = shape, layout
        self.size, self.stride, self.offset = size, stride, offset

    def of_x(self, memory: np.ndarray) -> Any:
        """The elements laid out as x is."""
        start = self.first * memory.itemsize
        return view_into(memory.view(np.uint8), memory.dtype, start, self.shape, self.layout)

    def of_view(self, memory: np.ndarray) -> Any:
        """The elements of the strided view."""
        start = (self.first + self.offset) * memory.itemsize
        return view_into(memory.view(np.uint8), memory.dtype, start, self.size, self.stride)


# --- as_strided -----------------------------------------------------------------------------------


def _as_strided_kernel(
    x: np.ndarray, size: Shape, stride: Shape, offset: int, layout: Shape
) -> np.ndarray:
    if tuple(s // x.itemsize for s in x.strides) == layout:
        found = memory_of(x)
        if found is not None:
            memory, start = found
            view = view_into(memory, x.dtype, start + offset * x.itemsize, size, stride)
            if view is not None:
                return view
    block = Block(x.shape, layout, size, stride, offset)
    laid_out = np.zeros(block.count, x.dtype)
    block.of_x(laid_out)[...] = x
    return block.of_view(laid_out)


def _batch_as_strided(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = front(values[0], bdims[0])
    size, stride, offset, layout = params
    shape, own = tuple(x.shape), layout_of(x)
    if own[1:] == layout:
        low, high = extent(shape[1:], layout)
        view_low, view_high = extent(size, stride)
        if offset + view_low < low or offset + view_high > high:
            raise RuntimeError(
                f"as_strided(): inside vmap, size {list(size)} and stride {list(stride)} reach "
                "beyond the memory of one sample"
            )
        return p(x, (shape[0], *size), (own[0], *stride), offset, own), 0
    # A tangent or cotangent: find the elements by number (0: not an element of x).
    numbers = np.arange(1, math.prod(shape[1:]) + 1).reshape(shape[1:])
    places = np.array(_as_strided_kernel(numbers, size, stride, offset, layout))
    taken = index_op(x.reshape(shape[0], -1), core.from_array(np.maximum(places - 1, 0)), (1,))
    return keep(taken, core.from_array(places > 0)), 0


as_strided_op = linear(
    "as_strided",
    _as_strided_kernel,
    lambda g, x_shape, size, stride, offset, layout: strided_sum(
        g, tuple(x_shape), size, stride, offset, layout
    ),
    params=("size", "stride", "offset", "layout"),
    batch=_batch_as_strided,
    view=True,
    quiet=True,
)


core.register_layer(as_strided=as_strided_op)


def _strided_sum_kernel(
    g: np.ndarray, shape: Shape, size: Shape, stride: Shape, offset: int, layout: Shape
) -> np.ndarray:
    block = Block(shape, layout, size, stride, offset)
    places = np.arange(block.count)
    total = np.zeros(block.count, g.dtype)
    np.add.at(total, block.of_view(places).reshape(-1), g.reshape(-1))
    out = np.array(block.of_x(total))
    if any(n > 1 and s == 0 for n, s in zip(shape, layout, strict=True)):
        # Elements of x that share memory (an expanded x) share its cotangent.
        shared = np.bincount(block.of_x(places).reshape(-1), minlength=block.count)
        out /= block.of_x(shared).astype(out.dtype)
    return out


def _batch_strided_sum(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    g = front(values[0], bdims[0])
    shape, size, stride, offset, layout = params
    count = Block(shape, layout, size, stride, offset).count
    batch = g.shape[0]
    return p(g, (batch, *shape), (batch, *size), (count, *stride), offset, (count, *layout)), 0


#: The transpose of `as_strided`: what overlapping windows say about an element is added up.
strided_sum = linear(
    "as_strided_backward",
    _strided_sum_kernel,
    lambda g, size, stride, offset, layout: as_strided_op(g, size, stride, offset, layout),
    params=("shape", "size", "stride", "offset", "layout"),
    batch=_batch_strided_sum,
    quiet=True,
)


def _strided_arguments(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None, name: str
) -> tuple[Shape, Shape, int, Shape]:
    sizes, strides = tuple(map(int, size)), tuple(map(int, stride))
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"{name}(): size {list(sizes)} and stride {list(strides)} differ in length"
        )
    if min(sizes, default=0) < 0 or min(strides, default=0) < 0:
        raise RuntimeError(
            f"{name}(): sizes and strides must not be negative, got {list(sizes)} and "
            f"{list(strides)}"
        )
    layout, offset = layout_of(input), 0
    if input.is_box:
        offset = storage_offset or 0
        return sizes, strides, offset, layout
    found = memory_of(core.array_of(input))
    if found is not None:
        memory, start = found
        dtype = core.array_of(input).dtype
        if storage_offset is not None:
            offset = int(storage_offset) - start // dtype.itemsize
        if view_into(memory, dtype, start + offset * dtype.itemsize, sizes, strides) is None:
            raise RuntimeError(
                f"{name}(): size {list(sizes)}, stride {list(strides)} and storage_offset "
                f"{storage_offset} reach beyond the {memory.size // dtype.itemsize} elements of "
                "the tensor's memory"
            )
    return sizes, strides, offset, layout


@public(inplace=False)
def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A view into the memory of `input` with any sizes and strides.

    storage_offset: from the start of the memory; None: from where `input` starts. The gradient of
    an element that the view names several times is the sum.

    Raises:
        RuntimeError: if size and stride differ in length or reach beyond the memory.

    >>> import tensorplay as tp
    >>> tp.as_strided(tp.arange(4), (3, 2), (1, 1))
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    arguments = _strided_arguments(input, size, stride, storage_offset, "as_strided")
    return as_strided_op(input, *arguments)


@public()
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A copy of `input` with `src` in the place of `input.as_strided(size, stride, ...)`.

    Raises:
        RuntimeError: unless src has that size.
    """
    arguments = _strided_arguments(input, size, stride, storage_offset, "as_strided_scatter")
    if input.is_box:  # a sample stands for a tensor of its own, contiguous
        arguments = (*arguments[:3], at.strides_of(tuple(input.shape)))
    if tuple(src.shape) != arguments[0]:
        raise RuntimeError(
            f"as_strided_scatter(): expected src of shape {list(arguments[0])}, got "
            f"{list(src.shape)}"
        )
    return view_scatter(input, src.to(input.dtype), ((as_strided_op, arguments, 0),))


# --- sliding windows ------------------------------------------------------------------------------


def _unfold_kernel(x: np.ndarray, dim: int, size: int, step: int) -> np.ndarray:
    view = np.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=x.flags.writeable)
    return view[(FULL,) * dim + (slice(None, None, step),)]


def _fold_kernel(g: np.ndarray, shape: Shape, dim: int, size: int, step: int) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    lead, count = (FULL,) * dim, g.shape[dim]
    for k in range(size):  # place k of every window at once
        out[(*lead, slice(k, k + (count - 1) * step + 1, step))] += g[..., k]
    return out


unfold_op = linear(
    "unfold",
    _unfold_kernel,
    lambda g, x_shape, dim, size, step: fold_windows(g, tuple(x_shape), dim, size, step),
    params=("dim", "size", "step"),
    batch=shifting(dims=("dim",)),
    view=True,
    quiet=True,
)

#: The transpose of `unfold`: overlapping windows are added up.
fold_windows = linear(
    "unfold_backward",
    _fold_kernel,
    lambda g, dim, size, step: unfold_op(g, dim, size, step),
    params=("shape", "dim", "size", "step"),
    batch=shifting(dims=("dim",), sizes=("shape",)),
    quiet=True,
)


@method()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` places along a dim, `step` apart, as a new last dim (a view).

    Raises:
        RuntimeError: if a window is larger than the dim, or the step is not positive.
    """
    dim = wrap_dim(dimension, self, "unfold")
    x = self if self.ndim else self.reshape(1)
    if not 0 <= size <= x.shape[dim]:
        raise RuntimeError(
            f"unfold(): size {size} must be at least 0 and at most {x.shape[dim]}, the size of "
            f"dim {dim}"
        )
    if step < 1:
        raise RuntimeError(f"unfold(): step must be positive, got {step}")
    windows = unfold_op(x, dim, size, step)
    return windows if self.ndim else windows.reshape(size)


# --- another dtype --------------------------------------------------------------------------------


def _view_dtype_kernel(x: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    old, new = x.itemsize, dtype.itemsize
    if old != new:
        if x.ndim == 0:
            raise RuntimeError(
                f"view(): a 0-dim tensor cannot be seen as {dtype}, whose elements have another "
                "size"
            )
        if x.shape[-1] * old % new:
            raise RuntimeError(
                f"view(): the last dim of size {x.shape[-1]} does not hold a whole number of "
                f"elements of {dtype}"
            )
        if x.strides[-1] != old and x.shape[-1] > 1:
            raise RuntimeError(
                f"view(): the last dim must be contiguous to be seen as {dtype}; use .contiguous()"
            )
    return x.view(dtype.numpy)


#: The same bytes as elements of another dtype: not differentiable.
view_dtype = constant(
    "view_dtype",
    _view_dtype_kernel,
    params=("dtype",),
    batch=lambda p, values, bdims, params: (p(front(values[0], bdims[0]), *params), 0),
    view=True,
    quiet=True,
)
