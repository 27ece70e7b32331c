"""`x[index]` and `x[index] = value`, and `index_put`.

An index is taken apart once (`take_apart`) into a basic index, which is one view (see slicing.py),
and index tensors for some dims of that view. Those are one gather with the index tensors stacked
into one input; its transpose adds into zeros, so that elements named twice receive both gradients.

Placement is PyTorch's: ints count as slices, not as index tensors; the dims of the index tensors
stand where the indexed dims stood when those are adjacent, else in front.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Primitive, Tensor
from tensorplay.base import dtypes
from tensorplay.ops import positions as at
from tensorplay.ops.choices import keep
from tensorplay.ops.joining import cat_op, join_columns
from tensorplay.ops.kinds import (
    batch_size,
    constant,
    front,
    linear,
    materialize,
    shift,
)
from tensorplay.ops.slicing import FULL, alias_view, newaxis_view, select_view, slice_view
from tensorplay.ops.structure import convert, expand_to

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
            if x.flags.c_contiguous:
                return x.take(index, axis=dims[0])
            return np.asarray(x[(FULL,) * dims[0] + (index, ...)])
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


# --- taking an index apart ------------------------------------------------------------------------


class Parts(NamedTuple):
    """A basic index with the view primitive to use, and (dim of that view, tensor) for the rest."""

    key: tuple[Any, ...]
    view: Primitive | None
    entries: list[tuple[int, Tensor]]
    selects: list[tuple[int, Tensor]]  # 0-dim indices whose value is not known (inside vmap)


def _integer(value: Any) -> int:
    if isinstance(value, Tensor):
        if value.numel() != 1 or value.dtype.category > dtypes.INTEGER:
            raise TypeError("only integer tensors of a single element can be slice bounds")
        return int(value.item())
    return operator.index(value)


def _slice_of(item: slice, name: str) -> slice:
    start, stop, step = (
        None if v is None else _integer(v) for v in (item.start, item.stop, item.step)
    )
    if step is not None and step <= 0:
        raise ValueError(f"{name}(): step must be greater than zero, got {step}; use flip()")
    return slice(start, stop, step)


def _refuse(item: Any, name: str) -> NoReturn:
    raise IndexError(
        f"{name}(): only integers, slices (`:`), ellipsis (`...`), None and integer or bool "
        f"tensors, arrays and lists are valid indices, got {type(item).__name__}"
    )


def index_tensor(item: Any, name: str) -> Tensor:
    """A list, array or tensor as a bool or int64 index tensor.

    Raises:
        IndexError: if it is of another dtype.
    """
    if isinstance(item, Tensor):
        tensor = item
    elif isinstance(item, np.ndarray):
        tensor = core.from_array(item)
    elif any(isinstance(x, Tensor) for x in item):
        tensor = join_columns([index_tensor(x, name) for x in item])
    else:
        try:
            array = np.asarray(item)
        except ValueError as error:
            raise IndexError(f"{name}(): index list is not rectangular: {error}") from None
        if array.dtype.kind not in "biuf":
            _refuse(item, name)
        tensor = core.from_array(array if array.size else array.astype(np.int64))
    dtype = tensor.dtype
    if dtype is dtypes.int64 or dtype is dtypes.bool:
        return tensor
    if dtype is dtypes.int32:
        return convert(tensor, dtypes.int64)
    if dtype is dtypes.uint8:
        warnings.warn(
            f"{name}(): indexing with dtype tensorplay.uint8 is deprecated, use bool instead",
            UserWarning, stacklevel=4,
        )  # fmt: skip
        return convert(tensor, dtypes.bool)
    raise IndexError(
        f"{name}(): tensors used as indices must be of dtype int64, int32, uint8 or bool, got "
        f"{dtype}"
    )


def _is_tuple(index: Any) -> bool:
    """Whether a sequence stands for a tuple of indices (PyTorch's rule for old code)."""
    if type(index) is tuple:
        return True
    if not isinstance(index, Sequence) or isinstance(index, str) or len(index) >= 32:
        return False
    if any(isinstance(x, (Tensor, Sequence, slice)) or x is None or x is ... for x in index):
        warnings.warn(
            "index: a sequence that is not a tuple, used for several dims, is deprecated; write "
            "x[tuple(index)]", UserWarning, stacklevel=4,
        )  # fmt: skip
        return True
    return False


def _width(item: Any) -> int:
    """How many dims of the tensor an item takes up."""
    if item is None or item is ... or isinstance(item, (bool, np.bool_)):
        return 0
    if isinstance(item, Tensor) and item.dtype is dtypes.bool:
        return item.ndim
    return 1


class _Taker:
    """Takes the items of an index one by one; `dim` counts in the view, `source` in x."""

    def __init__(self, x: Tensor, name: str, taken: int) -> None:
        self.x, self.name, self.hidden = x, name, x.ndim - taken
        self.key: list[Any] = []
        self.view: Primitive | None = None
        self.entries: list[tuple[int, Tensor]] = []
        self.selects: list[tuple[int, Tensor]] = []
        self.dim = self.source = 0

    def take(self, item: Any) -> None:
        if item is None:
            self.new_dim()
        elif item is ...:
            if ... not in self.key:  # a second one stands for nothing
                self.key.append(...)
                self.dim += self.hidden
                self.source += self.hidden
        elif isinstance(item, slice):
            part = _slice_of(item, self.name)
            if part != FULL:
                self.view = slice_view
            self.keep_dims(part)
        elif isinstance(item, (bool, np.bool_)):
            self.new_dim(core.from_array(np.zeros(int(item), np.int64)))
        elif isinstance(item, Tensor):
            self.take_tensor(item)
        else:
            try:
                number = operator.index(item)
            except TypeError:
                _refuse(item, self.name)
            self.take_int(number)

    def take_tensor(self, item: Tensor) -> None:
        if item.dtype is dtypes.bool and item.ndim == 0:
            self.new_dim(item.reshape(1))
        elif item.dtype is dtypes.bool:
            check_mask(self.x, item, self.source, self.name)
            self.entries.append((self.dim, item))
            self.keep_dims(*[FULL] * item.ndim)
        elif item.ndim == 0 and not item.is_box:
            self.take_int(int(core.array_of(item)))
        else:
            (self.entries if item.ndim else self.selects).append((self.dim, item))
            self.keep_dims(FULL)

    def take_int(self, number: int) -> None:
        _check_int(self.x, number, self.source, self.name)
        self.key.append(number)
        self.view = select_view
        self.source += 1

    def keep_dims(self, *parts: slice) -> None:
        self.key.extend(parts)
        self.dim += len(parts)
        self.source += len(parts)

    def new_dim(self, entry: Tensor | None = None) -> None:
        self.key.append(None)
        self.view = newaxis_view
        if entry is not None:
            self.entries.append((self.dim, entry))
        self.dim += 1


def take_apart(x: Tensor, index: Any, name: str) -> Parts:
    """An index of x as a basic index followed by index tensors.

    Raises:
        IndexError: if it has too many entries, or one that is no index.
        ValueError: for a step that is not positive.
    """
    items = [
        index_tensor(item, name)
        if isinstance(item, (Tensor, np.ndarray, list, tuple, range))
        else item
        for item in (index if _is_tuple(index) else (index,))
    ]
    taken = sum(map(_width, items))
    if taken > x.ndim:
        _explain(x, items, taken, name)
    taker = _Taker(x, name, taken)
    for item in items:
        taker.take(item)
    if ... not in taker.key:
        taker.key.append(...)
    return Parts(tuple(taker.key), taker.view, taker.entries, taker.selects)


def _check_int(x: Tensor, number: int, dim: int, name: str) -> None:
    size = x.shape[dim]
    if not -size <= number < size:
        raise IndexError(
            f"{name}(): index {number} is out of bounds for dimension {dim} with size {size} of a "
            f"tensor of shape {list(x.shape)}"
        )


def check_mask(x: Tensor, mask: Tensor, dim: int, name: str) -> None:
    if tuple(x.shape[dim : dim + mask.ndim]) != tuple(mask.shape):
        raise IndexError(
            f"{name}(): the mask of shape {list(mask.shape)} does not match the shape "
            f"{list(x.shape)} of the indexed tensor at dim {dim}"
        )


def _explain(x: Tensor, items: list[Any], taken: int, name: str) -> NoReturn:
    if x.ndim == 0:
        raise IndexError(
            f"{name}(): invalid index of a 0-dim tensor; use .item() to convert it to a number"
        )
    for dim, item in enumerate(items[: x.ndim]):
        if isinstance(item, Tensor) and item.dtype is dtypes.bool:
            check_mask(x, item, dim, name)
    raise IndexError(
        f"{name}(): too many indices for a tensor of {x.ndim} dims and shape {list(x.shape)}: "
        f"{taken}"
    )


def _basic_key(index: tuple[Any, ...]) -> tuple[Any, Primitive | None] | None:
    """(key, view) of a tuple with plain ints, slices, None and at most one Ellipsis; else None.

    The common cases, without the checks of `take_apart`: NumPy's bounds check comes later.
    """
    view, open_end = alias_view, True
    for item in index:
        kind = type(item)
        if kind is int:
            view = select_view
        elif kind is slice:
            if not is_plain_slice(item):
                return None
            if item.start is not None or item.stop is not None:
                view = slice_view
        elif item is None:
            view = newaxis_view
        elif item is ... and open_end:
            open_end = False
        else:
            return None
    return ((*index, ...) if open_end else index), view


def is_plain_slice(item: slice) -> bool:
    start, stop = item.start, item.stop
    return (
        item.step is None
        and (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
    )


# --- reading --------------------------------------------------------------------------------------


def getitem(self: Tensor, index: Any) -> Tensor:
    """`self[index]`: a view for ints, slices, None and Ellipsis; a copy for tensors and masks.

    Raises:
        IndexError: if an index is out of range, has too many entries or is no index.
        ValueError: for a slice whose step is not positive.
    """
    kind = type(index)
    try:
        if kind is int:
            return select_view(self, (index, ...))
        if kind is slice and is_plain_slice(index) and self.ndim:
            if index.start is None and index.stop is None:
                return alias_view(self, (index, ...))
            return slice_view(self, (index, ...))
        if kind is tuple:
            basic = _basic_key(index)
            if basic is not None:
                return basic[1](self, basic[0])
        elif kind is Tensor and self.ndim:
            if index.dtype is dtypes.int64 and index.ndim:
                return index_op(self, index, (0,))
            if index.dtype is dtypes.bool and index.ndim == 1:
                check_mask(self, index, 0, "getitem")
                return index_op(self, mask_index_op(index), (0,))
        elif index is None:
            return newaxis_view(self, (None, ...))
    except IndexError:
        if kind is Tensor:
            raise
        # Say what is wrong below.
    parts = take_apart(self, index, "getitem")
    return read(self, parts, "getitem")


def viewed(x: Tensor, parts: Parts) -> Tensor:
    """x after the basic half of an index."""
    if parts.view is None and (parts.entries or parts.selects):
        return x
    return (parts.view or alias_view)(x, parts.key)


def read(x: Tensor, parts: Parts, name: str) -> Tensor:
    """x at an index that was taken apart."""
    x = viewed(x, parts)
    entries = parts.entries
    for dim, item in reversed(parts.selects):
        x = index_op(x, item, (dim,))
        entries = [(d - (d > dim), tensor) for d, tensor in entries]
    if not entries:
        return x
    index, dims = joined_index(entries, name)
    return index_op(x, index, dims)


def joined_index(entries: list[tuple[int, Tensor]], name: str) -> tuple[Tensor, tuple[int, ...]]:
    """Index tensors and masks for dims as one index tensor, and the dims.

    Raises:
        IndexError: if the index tensors do not broadcast.
    """
    columns: list[Tensor] = []
    dims: list[int] = []
    for dim, item in entries:
        if item.dtype is not dtypes.bool:
            columns.append(item)
            dims.append(dim)
            continue
        found = mask_index_op(item)
        if item.ndim == 1:
            columns.append(found)
        elif len(entries) == 1:
            return found, tuple(range(dim, dim + item.ndim))
        else:
            columns.extend(found.unbind(0))
        dims.extend(range(dim, dim + item.ndim))
    if len(columns) == 1:
        return columns[0], tuple(dims)
    try:
        return join_columns(columns), tuple(dims)
    except RuntimeError:
        shapes = ", ".join(str(list(c.shape)) for c in columns)
        raise IndexError(
            f"{name}(): shape mismatch: indexing tensors of shapes {shapes} cannot be broadcast "
            "together"
        ) from None
