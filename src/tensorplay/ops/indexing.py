"""Indices taken apart, and `x[index]`.

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
from tensorplay.ops.index_primitives import index_op, mask_index_op, mask_select_op
from tensorplay.ops.joining import join_columns
from tensorplay.ops.slicing import FULL, alias_view, newaxis_view, select_view, slice_view
from tensorplay.ops.structure import convert

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


def _basic_key(index: tuple[Any, ...]) -> tuple[Any, Primitive] | None:
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
            if all(type(i) is Tensor and i.ndim and i.dtype is dtypes.int64 for i in index):
                if 1 < len(index) <= self.ndim:
                    return index_op(self, join_columns(index), tuple(range(len(index))))
        elif kind is Tensor and self.ndim:
            if index.dtype is dtypes.int64 and index.ndim:
                return index_op(self, index, (0,))
            if index.dtype is dtypes.bool and index.ndim:
                check_mask(self, index, 0, "getitem")
                return mask_select_op(self, index, 0)
        elif index is None:
            return newaxis_view(self, (None, ...))
    except IndexError:
        if kind is Tensor:
            raise
        # Say what is wrong below.
    except RuntimeError:
        if kind is not tuple:
            raise
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
    if len(entries) == 1 and entries[0][1].dtype is dtypes.bool:
        return mask_select_op(x, entries[0][1], entries[0][0])
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
