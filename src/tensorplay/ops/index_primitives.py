"""The primitives behind index tensors and masks, for reading and for writing.

`index` gathers at index tensors for some dims, stacked into one input; its transpose is `index_put`
with accumulation. A mask has primitives of its own, because it names no element twice.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tensorplay._core import core
from tensorplay.ops import positions as at
from tensorplay.ops.choices import keep
from tensorplay.ops.joining import cat_op
from tensorplay.ops.kinds import batch_size, constant, front, linear, materialize, shift
from tensorplay.ops.slicing import FULL
from tensorplay.ops.structure import expand_to

# --- primitives: index tensors along dims ---------------------------------------------------------


def _columns(index: np.ndarray, dims: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return (index,) if len(dims) == 1 else tuple(index)


def _checked_columns(
    shape: tuple[int, ...], index: np.ndarray, dims: tuple[int, ...], name: str
) -> tuple[np.ndarray, ...]:
    try:
        return tuple(
            at.check_range(i, shape[d], d, name, IndexError)
            for i, d in zip(_columns(index, dims), dims, strict=True)
        )
    except IndexError as error:
        raise IndexError(f"{error} of a tensor of shape {list(shape)}") from None


def _index_kernel(x: np.ndarray, index: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    try:
        if len(dims) == 1:
            small = core.entries_kernel(x, index, dims[0])
            if small is not None:
                return small
            if x.flags.c_contiguous:
                return x.take(index, axis=dims[0])
            return np.asarray(x[(FULL,) * dims[0] + (index, ...)])
        first = dims[0]
        if x.flags.c_contiguous and at.are_adjacent(dims):
            rows, shape = core.index_rows(x.shape, index, dims, "index"), x.shape
            size = at.numel(shape[first : dims[-1] + 1])
            return x.reshape((*shape[:first], size, *shape[dims[-1] + 1 :])).take(rows, axis=first)
        key: list[Any] = [FULL] * x.ndim
        for i, d in zip(index, dims, strict=True):
            key[d] = i
        return x[tuple(key)]
    except IndexError:
        _checked_columns(x.shape, index, dims, "index")
        raise


def _batched_index(index: Any, dims: tuple[int, ...], bdim: int) -> Any:
    """An index tensor with its batch in front (behind the column that tells the dims apart)."""
    return index.movedim(bdim, 1) if len(dims) > 1 else front(index, bdim)


def _with_batch_column(index: Any, dims: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """The batched index with a column for a batch that is dim 0 of x: sample b looks into x[b]."""
    if len(dims) == 1:
        index = index.unsqueeze(0)
    size, shape = index.shape[1], tuple(index.shape[1:])
    rows = core.from_array(np.arange(size).reshape((1, size) + (1,) * (len(shape) - 1)))
    return cat_op([expand_to(rows, (1, *shape)), index], 0), (0, *shift(dims))


def _batch_index(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    (x, index), (x_bdim, index_bdim), (dims,) = values, bdims, params
    adjacent = at.are_adjacent(dims)
    if index_bdim is None:
        rank = index.ndim - (len(dims) > 1)
        return p(front(x, x_bdim), index, shift(dims)), 0 if adjacent else rank
    index = _batched_index(index, dims, index_bdim)
    rank = index.ndim - 1 - (len(dims) > 1)
    if x_bdim is None:
        return p(x, index, dims), dims[0] if adjacent else 0
    index, inner = _with_batch_column(index, dims)
    out = p(front(x, x_bdim), index, inner)
    return _move_block(out, rank, 1, dims[0] + 1 if adjacent else 1), 0


def _move_block(x: Any, rank: int, source: int, target: int) -> Any:
    """x with `rank` neighbouring dims moved from `source` to `target`."""
    if source == target or rank == 0:
        return x
    return x.movedim(tuple(range(source, source + rank)), tuple(range(target, target + rank)))


index_op = linear(
    "index",
    _index_kernel,
    (
        lambda g, x_shape, index, dims: index_put_op(
            core.zeros_shaped(g, x_shape), index, g, dims, True
        ),
        None,
    ),
    inputs=("x", "index"),
    params=("dims",),
    batch=_batch_index,
    quiet=True,
)


def put_into(
    out: np.ndarray, index: np.ndarray, values: np.ndarray, dims: tuple[int, ...], add: bool
) -> None:
    """Write or add values into an array at an index."""
    if at.are_adjacent(dims):
        shape, first = out.shape, dims[0]
        rows = core.index_rows(shape, index, dims, "index_put")
        outer, size = at.numel(shape[:first]), at.numel(shape[first : dims[-1] + 1])
        if core.put_at_rows(out, rows, values, outer, size, add):
            return
    columns = _checked_columns(out.shape, index, dims, "index_put")
    if add and out.flags.c_contiguous:
        at.add_at(out, at.index_positions(out.shape, columns, dims), values)
        return
    key: list[Any] = [FULL] * out.ndim
    for i, d in zip(columns, dims, strict=True):
        key[d] = i
    if add:
        np.add.at(out, tuple(key), values)
    else:
        out[tuple(key)] = values


def _index_put_kernel(
    x: np.ndarray, index: np.ndarray, values: np.ndarray, dims: tuple[int, ...], accumulate: bool
) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    put_into(out, index, values, dims, accumulate)
    return out


def _batch_index_put(p: Any, inputs: Any, bdims: Any, params: Any) -> Any:
    (x, index, values), (dims, accumulate) = inputs, params
    size = batch_size(inputs, bdims)
    x = materialize(x, bdims[0], size)
    values = materialize(values, bdims[2], size)
    adjacent = at.are_adjacent(dims)
    if bdims[1] is None:
        rank = index.ndim - (len(dims) > 1)
        if not adjacent:
            values = values.movedim(0, rank)
        return p(x, index, values, shift(dims), accumulate), 0
    index = _batched_index(index, dims, bdims[1])
    rank = index.ndim - 1 - (len(dims) > 1)
    index, inner = _with_batch_column(index, dims)
    values = _move_block(values, rank, dims[0] + 1 if adjacent else 1, 1)
    return p(x, index, values, inner, accumulate), 0


def _put_values_transpose(g: Any, x_shape: Any, index: Any, dims: Any, accumulate: bool) -> Any:
    found = index_op(g, index, dims)
    if accumulate:
        return found
    # Of several values written to one element only the last one counts.
    last = last_written_op(index, tuple(x_shape[d] for d in dims))
    first = dims[0] if at.are_adjacent(dims) else 0
    after = len(x_shape) - len(dims) - first
    return keep(found, last.reshape(tuple(last.shape) + (1,) * after))


index_put_op = linear(
    "index_put",
    _index_put_kernel,
    (
        lambda g, index, values_shape, dims, accumulate: (
            g
            if accumulate
            else index_put_op(g, index, core.zeros_shaped(g, values_shape), dims, False)
        ),
        None,
        _put_values_transpose,
    ),
    inputs=("x", "index", "values"),
    params=("dims", "accumulate"),
    batch=_batch_index_put,
    quiet=True,
)


index_put_op.into = put_into


def _last_written_kernel(index: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    columns = _checked_columns(sizes, index, tuple(range(len(sizes))), "index_put")
    places = at.index_positions(sizes, columns, tuple(range(len(sizes))))
    return at.last_written(places, at.numel(sizes))


def _batch_last_written(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    (sizes,) = params
    dims = tuple(range(len(sizes)))
    index, _ = _with_batch_column(_batched_index(values[0], dims, bdims[0]), dims)
    return p(index, (index.shape[1], *sizes)), 0


#: Which entries of an index are the last to name their element.
last_written_op = constant(
    "last_written",
    _last_written_kernel,
    inputs=("index",),
    params=("sizes",),
    batch=_batch_last_written,
    quiet=True,
)


def _mask_index_kernel(mask: np.ndarray) -> np.ndarray:
    found = np.nonzero(mask)
    return found[0] if len(found) == 1 else np.array(found)


def refuse_batched(name: str, advice: str) -> Any:
    """Batching of an operator whose result has a shape that depends on the values."""

    def batch(p: Any, values: Any, bdims: Any, params: Any) -> NoReturn:
        raise RuntimeError(
            f"{name}(): inside vmap the shape of the result would differ from sample to sample; "
            f"{advice}"
        )

    return batch


def _batch_mask_select(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    if bdims[1] is not None:
        return mask_index_op.batch(p, values, bdims, params)
    return p(front(values[0], bdims[0]), values[1], params[0] + 1), 0


#: The slices of x that a mask of dims from `dim` on names: `x[:, mask]` for dim 1.
mask_select_op = linear(
    "mask_select",
    lambda x, mask, dim: x[(FULL,) * dim + (mask,)],
    (
        lambda g, x_shape, mask, dim: mask_put_op(core.zeros_shaped(g, x_shape), mask, g, dim),
        None,
    ),
    inputs=("x", "mask"),
    params=("dim",),
    batch=_batch_mask_select,
    quiet=True,
    node_name="IndexBackward0",
)


def mask_put_into(out: np.ndarray, mask: np.ndarray, values: np.ndarray, dim: int) -> None:
    """Write values into an array where a mask of dims from `dim` on holds."""
    out[(FULL,) * dim + (mask,)] = values


def _mask_put_kernel(x: np.ndarray, mask: np.ndarray, values: np.ndarray, dim: int) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    mask_put_into(out, mask, values, dim)
    return out


def _batch_mask_put(p: Any, inputs: Any, bdims: Any, params: Any) -> Any:
    if bdims[1] is not None:
        return mask_index_op.batch(p, inputs, bdims, params)
    size = batch_size(inputs, bdims)
    x, values = (materialize(inputs[i], bdims[i], size) for i in (0, 2))
    return p(x, inputs[1], values, params[0] + 1), 0


#: x with `values` in the slices that a mask names.
mask_put_op = linear(
    "mask_put",
    _mask_put_kernel,
    (
        lambda g, mask, values_shape, dim: mask_put_op(
            g, mask, core.zeros_shaped(g, values_shape), dim
        ),
        None,
        lambda g, mask, dim: mask_select_op(g, mask, dim),
    ),
    inputs=("x", "mask", "values"),
    params=("dim",),
    batch=_batch_mask_put,
    quiet=True,
    node_name="IndexPutBackward0",
)
mask_put_op.into = mask_put_into

#: The elements that a mask of one or more dims names, as an index tensor.
mask_index_op = constant(
    "mask_index",
    _mask_index_kernel,
    inputs=("mask",),
    batch=refuse_batched(
        "index", "use where(mask, x, other) in the place of x[mask], or x[mask] = number"
    ),
    quiet=True,
)
