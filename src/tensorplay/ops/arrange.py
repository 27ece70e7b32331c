"""Elements in another order or number: flip, roll, repeat, triangles, diagonals, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.index_primitives import index_op, refuse_batched
from tensorplay.ops.kinds import (
    batch_size,
    constant,
    front,
    linear,
    materialize,
    method,
    pad_rank,
    primitive,
    public,
    shifting,
    wrap_dim,
    wrap_dims,
)
from tensorplay.ops.reductions import sum_op
from tensorplay.ops.shaping import reshape_to, sizes_of
from tensorplay.ops.structure import expand_to

# --- flip and roll --------------------------------------------------------------------------------

flip_op = linear(
    "flip",
    core.flip_kernel,
    lambda g, dims: flip_op(g, dims),
    params=("dims",),
    batch=shifting(dims=("dims",)),
    quiet=True,
)


@public()
def flip(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """`input` with the order along `dims` reversed, as a copy.

    Raises:
        IndexError: if a dim is out of range.
        RuntimeError: if one appears twice.

    >>> import tensorplay as tp
    >>> tp.flip(tp.tensor([[1, 2], [3, 4]]), [1])
    tensor([[2, 1],
            [4, 3]])
    """
    order = sizes_of((dims, *more), "flip")
    return flip_op(input, wrap_dims(order, input, "flip", empty_is_all=False))


@public()
def fliplr(input: Tensor) -> Tensor:
    """A matrix (or stack of rows) with its columns in reverse order: flip along dim 1."""
    if input.ndim < 2:
        raise RuntimeError(f"fliplr(): expected at least 2 dims, got shape {list(input.shape)}")
    return flip_op(input, (1,))


@public()
def flipud(input: Tensor) -> Tensor:
    """A tensor with its rows in reverse order: flip along dim 0."""
    if input.ndim < 1:
        raise RuntimeError("flipud(): expected at least 1 dim, got 0")
    return flip_op(input, (0,))


roll_op = linear(
    "roll",
    core.roll_kernel,
    lambda g, shifts, dims: roll_op(g, tuple(-s for s in shifts), dims),
    params=("shifts", "dims"),
    batch=shifting(dims=("dims",)),
    quiet=True,
)


@public()
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """`input` rolled along dims: what leaves at the end comes in at the start.

    shifts, dims: ints, or equally long tuples. Without dims the flattened tensor is rolled.

    Raises:
        RuntimeError: if shifts and dims differ in length.
        IndexError: if a dim is out of range.

    >>> import tensorplay as tp
    >>> tp.roll(tp.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    moves = (int(shifts),) if isinstance(shifts, (int, Tensor)) else tuple(map(int, shifts))
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        if len(moves) != 1:
            raise RuntimeError(f"roll(): {len(moves)} shifts {moves} need as many dims, got none")
        return roll_op(input.reshape(-1), moves, (0,)).reshape(tuple(input.shape))
    given = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(moves) != len(given):
        raise RuntimeError(f"roll(): shifts {moves} and dims {given} differ in length")
    if not input.ndim:
        raise IndexError(f"roll(): a 0-dim tensor has no dims {given} to roll along")
    return roll_op(input, moves, tuple(wrap_dim(d, input, "roll") for d in given))


@public()
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """`input` turned by k quarter turns, from the first of `dims` towards the second.

    Raises:
        RuntimeError: unless dims are two different dims.
    """
    if len(dims) != 2:
        raise RuntimeError(f"rot90(): expected two dims, got {list(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"rot90(): expected at least 2 dims, got shape {list(input.shape)}")
    a, b = (wrap_dim(d, input, "rot90") for d in dims)
    if a == b:
        raise RuntimeError(f"rot90(): the two dims must differ, got {list(dims)}")
    turns = k % 4
    if turns == 0:
        return input.clone()
    if turns == 2:
        return flip_op(input, tuple(sorted((a, b))))
    turned = flip_op(input, (b if turns == 1 else a,))
    return turned.transpose(a, b)


# --- repetition -----------------------------------------------------------------------------------


def _sum_repeats(g: Any, x_shape: Any, repeats: tuple[int, ...]) -> Any:
    sizes = (1,) * (len(repeats) - len(x_shape)) + tuple(x_shape)
    parts = tuple(n for pair in zip(repeats, sizes, strict=True) for n in pair)
    total = reshape_to(g, parts).sum(tuple(range(0, len(parts), 2)))
    return reshape_to(total, tuple(x_shape))


def _batch_repeat(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    (repeats,) = params
    return p(pad_rank(front(values[0], bdims[0]), len(repeats)), (1, *repeats)), 0


repeat_op = linear(
    "repeat",
    core.repeat_kernel,
    _sum_repeats,
    params=("repeats",),
    batch=_batch_repeat,
    quiet=True,
)


def _repeated(input: Tensor, repeats: tuple[int, ...], name: str) -> Tensor:
    if len(repeats) < input.ndim:
        raise RuntimeError(
            f"{name}(): {len(repeats)} repeats {list(repeats)} are too few for a tensor of "
            f"shape {list(input.shape)}"
        )
    if repeats and min(repeats) < 0:
        raise RuntimeError(f"{name}(): repeats must not be negative, got {list(repeats)}")
    return repeat_op(input, repeats)


@public()
def tile(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """`input` laid out again and again: `dims[i]` times along each dim, counted from the last.

    >>> import tensorplay as tp
    >>> tp.tile(tp.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    """
    repeats = sizes_of((dims, *more), "tile")
    return _repeated(input, (1,) * (input.ndim - len(repeats)) + repeats, "tile")


@method()
def repeat(self: Tensor, repeats: Any, *more: Any) -> Tensor:
    """This tensor repeated along each dim; more repeats than dims add dims in front.

    Raises:
        RuntimeError: if there are fewer repeats than dims, or a negative one.
    """
    return _repeated(self, sizes_of((repeats, *more), "repeat"), "repeat")


#: Positions that repeat each place i as often as repeats[i] says.
repeat_index_op = constant(
    "repeat_index",
    lambda repeats: np.repeat(np.arange(repeats.size), repeats),
    inputs=("repeats",),
    batch=refuse_batched("repeat_interleave", "give a number of repeats"),
    quiet=True,
)


@public()
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """`input` with each slice along `dim` repeated (without dim: each element, as a vector).

    repeats: a number, or an int tensor with one number per slice. With `repeats` alone (a tensor),
    the positions 0, 1, ... each repeated that often.

    Raises:
        RuntimeError: if a number of repeats is negative or there are not as many as slices.

    >>> import tensorplay as tp
    >>> tp.repeat_interleave(tp.tensor([1, 2]), tp.tensor([2, 1]))
    tensor([1, 1, 2])
    """
    if repeats is None:
        return repeat_index_op(_repeats(input, input.numel()))
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = wrap_dim(dim, input, "repeat_interleave")
    x = input if input.ndim else input.reshape(1)
    size = x.shape[dim]
    if isinstance(repeats, Tensor) and repeats.numel() == 1 and not core.batched_levels(repeats):
        _repeats(repeats.reshape(-1), 1)
        repeats = int(repeats.item())
    if isinstance(repeats, Tensor):
        return index_op(x, repeat_index_op(_repeats(repeats, size)), (dim,))
    repeats = int(repeats)
    if repeats < 0:
        raise RuntimeError(f"repeat_interleave(): repeats must not be negative, got {repeats}")
    shape = tuple(x.shape)
    wide = expand_to(x.unsqueeze(dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return core.apart(reshape_to(wide, (*shape[:dim], size * repeats, *shape[dim + 1 :])), input)


def _repeats(repeats: Tensor, size: int) -> Tensor:
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(  # which is a RuntimeError
            f"repeat_interleave(): repeats must be of dtype int64 or int32, got {repeats.dtype}"
        )
    if repeats.ndim != 1 or repeats.numel() != size:
        raise RuntimeError(
            f"repeat_interleave(): expected a vector of {size} repeats, one per slice, got shape "
            f"{list(repeats.shape)}"
        )
    if not core.batched_levels(repeats) and size and int(repeats.min().item()) < 0:
        raise RuntimeError("repeat_interleave(): repeats must not be negative")
    return repeats


# --- triangles ------------------------------------------------------------------------------------


def _triangle(name: str, kernel: Any, doc: str) -> Any:
    op = linear(
        name,
        kernel,
        lambda g, diagonal: op(g, diagonal),
        params=("diagonal",),
        batch=shifting(),
        quiet=True,
    )

    def triangle(input: Tensor, diagonal: int = 0) -> Tensor:
        if input.ndim < 2:
            raise RuntimeError(f"{name}(): expected at least 2 dims, got shape {list(input.shape)}")
        return op(input, int(diagonal))

    triangle.__name__ = triangle.__qualname__ = name
    triangle.__doc__ = doc
    return public(inplace=True, out=True)(triangle)


tril = _triangle(
    "tril", core.lower_kernel,
    """The lower triangle of matrices (the last two dims), zero above diagonal number `diagonal`.

    Raises:
        RuntimeError: if the tensor has fewer than two dims.
    """,
)  # fmt: skip
triu = _triangle(
    "triu", core.upper_kernel,
    """The upper triangle of matrices (the last two dims), zero below diagonal number `diagonal`.

    Raises:
        RuntimeError: if the tensor has fewer than two dims.
    """,
)  # fmt: skip

# --- diagonals ------------------------------------------------------------------------------------


diagonal_kernel = core.diagonal_kernel

diagonal_op = linear(
    "diagonal",
    diagonal_kernel,
    lambda g, x_shape, offset, dim1, dim2: diagonal_embed(g, tuple(x_shape), offset, dim1, dim2),
    params=("offset", "dim1", "dim2"),
    batch=shifting(dims=("dim1", "dim2")),
    view=True,
    quiet=True,
)


#: Zeros of a shape with x on a diagonal: the transpose of taking the diagonal.
diagonal_embed = linear(
    "diagonal_backward",
    core.diagonal_embed_kernel,
    lambda g, offset, dim1, dim2: diagonal_op(g, offset, dim1, dim2),
    params=("shape", "offset", "dim1", "dim2"),
    batch=shifting(dims=("dim1", "dim2"), sizes=("shape",)),
    quiet=True,
)


def _two_dims(input: Tensor, dim1: int, dim2: int, name: str, *, added: int = 0) -> tuple[int, int]:
    a, b = wrap_dim(dim1, input, name, added=added), wrap_dim(dim2, input, name, added=added)
    if a == b:
        raise RuntimeError(f"{name}(): the two dims must differ, got {dim1} and {dim2}")
    return a, b


@public()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dims, as the last dim of a view.

    offset: above (positive) or below (negative) the main diagonal.

    Raises:
        RuntimeError: if the dims are the same.
        IndexError: if a dim is out of range.

    >>> import tensorplay as tp
    >>> tp.diagonal(tp.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return diagonal_op(input, offset, *_two_dims(input, dim1, dim2, "diagonal"))


@public()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros with the last dim of `input` on a diagonal, in dims dim1 and dim2.

    >>> import tensorplay as tp
    >>> tp.diag_embed(tp.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    if input.ndim == 0:
        raise RuntimeError("diag_embed(): expected at least 1 dim, got 0")
    a, b = _two_dims(input, dim1, dim2, "diag_embed", added=1)
    size = input.shape[-1] + abs(offset)
    shape = list(input.shape[:-1])
    for d in sorted((a, b)):
        shape.insert(d, size)
    return diagonal_embed(input, tuple(shape), offset, a, b)


@public(out=True)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix (a copy).

    Raises:
        RuntimeError: unless the tensor has one or two dims.
    """
    if input.ndim == 1:
        size = input.shape[0] + abs(diagonal)
        return diagonal_embed(input, (size, size), diagonal, 0, 1)
    if input.ndim == 2:
        return diagonal_op(input, diagonal, 0, 1).clone()
    raise RuntimeError(f"diag(): expected a tensor of 1 or 2 dims, got shape {list(input.shape)}")


@public()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with the elements of `input` on a diagonal."""
    return diag_embed(input.reshape(-1), offset)


@public()
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix.

    Raises:
        RuntimeError: unless the tensor has two dims.
    """
    found = core.small_trace(input)
    if found is not None:
        return found
    if input.ndim != 2:
        raise RuntimeError(f"trace(): expected a matrix, got a tensor of {input.ndim} dims")
    return sum_op(diagonal_op(input, 0, 0, 1), (0,), False)


@public()
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy of `input` with `src` on a diagonal.

    Raises:
        RuntimeError: unless src has the shape of that diagonal.
    """
    a, b = _two_dims(input, dim1, dim2, "diagonal_scatter")
    part = diagonal_op(input, offset, a, b)
    if part.shape != src.shape:
        raise RuntimeError(
            f"diagonal_scatter(): expected src to have the shape {list(part.shape)} of the "
            f"diagonal, got {list(src.shape)}"
        )
    return diagonal_replace(input, src.to(input.dtype), offset, a, b)


def _diagonal_replace_kernel(
    x: np.ndarray, source: np.ndarray, offset: int, dim1: int, dim2: int
) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    diagonal_kernel(out, offset, dim1, dim2)[...] = source
    return out


def _batch_diagonal_replace(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = batch_size(values, bdims)
    x, source = (materialize(v, b, size) for v, b in zip(values, bdims, strict=True))
    offset, dim1, dim2 = params
    return p(x, source, offset, dim1 + 1, dim2 + 1), 0


#: x with `source` written on a diagonal.
diagonal_replace = linear(
    "diagonal_scatter",
    _diagonal_replace_kernel,
    (
        lambda g, y_shape, offset, dim1, dim2: diagonal_replace(
            g, core.zeros_shaped(g, tuple(y_shape)), offset, dim1, dim2
        ),
        lambda g, offset, dim1, dim2: diagonal_op(g, offset, dim1, dim2),
    ),
    inputs=("x", "y"),
    params=("offset", "dim1", "dim2"),
    batch=_batch_diagonal_replace,
    quiet=True,
)

# --- padding with a constant ----------------------------------------------------------------------


def _batch_pad(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    pads, value = params
    return p(front(values[0], bdims[0]), ((0, 0), *pads), value), 0


#: x with `pads[d]` = (before, after) places of a value added to (negative: taken off) each dim.
pad_op = primitive(
    "constant_pad_nd",
    core.pad_kernel,
    params=("pads", "value"),
    vjp=lambda g, pads: pad_op(g, tuple((-a, -b) for a, b in pads), 0),
    jvp=lambda t, pads: pad_op(t, pads, 0),
    batch=_batch_pad,
    quiet=True,
)


def constant_pad(input: Tensor, pad: Sequence[int], value: Any = 0, name: str = "pad") -> Tensor:
    """`input` with places of a value before and after each of its last dims.

    pad: (before, after) of the last dim, then of the one before it, and so on; negative numbers
    take places off.

    Raises:
        RuntimeError: if pad has an odd length, is too long, or takes off more than there is.
    """
    plain = core.plain_pads(input, pad)
    if plain is not None:
        return pad_op(input, plain, 0 if value is None else value)
    amounts = tuple(int(n) for n in pad)
    if len(amounts) % 2 or len(amounts) > 2 * input.ndim:
        raise RuntimeError(
            f"{name}(): pad must hold an even number of values, at most two for each dim of "
            f"an input of shape {list(input.shape)}, got {list(amounts)}"
        )
    pairs = [(amounts[i], amounts[i + 1]) for i in range(0, len(amounts), 2)]
    pads = ((0, 0),) * (input.ndim - len(pairs)) + tuple(reversed(pairs))
    for d, (size, (before, after)) in enumerate(zip(input.shape, pads, strict=True)):
        if size + before + after < 0 or -min(before, 0) > size or -min(after, 0) > size:
            raise RuntimeError(
                f"{name}(): pad {list(amounts)} takes more than the size {size} off dim {d} of an "
                f"input of shape {list(input.shape)}"
            )
    return pad_op(input, pads, 0 if value is None else value)


@public(method=False)
def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """`input` with places of a value before and after each of its last dims; see `pad`."""
    return constant_pad(input, pad, value, "constant_pad_nd")
