"""`x[index] = value`: in place, with a gradient to the value and zero to what was overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.changes import Prepared, changing, writable_array
from tensorplay.ops.elementwise import where
from tensorplay.ops.index_primitives import index_put_op, mask_put_op, mask_select_op
from tensorplay.ops.indexing import (
    Parts,
    check_mask,
    getitem,
    index_tensor,
    is_plain_slice,
    joined_index,
    read,
    take_apart,
    viewed,
)
from tensorplay.ops.slicing import FULL
from tensorplay.ops.structure import convert, expand_to

Number = (bool, int, float, complex, np.bool_, np.number)


# --- values ---------------------------------------------------------------------------------------


def number_array(value: Any, dtype: dtypes.dtype, name: str) -> np.ndarray:
    """A number as a 0-dim array of a dtype.

    Raises:
        RuntimeError: if the dtype cannot hold it.
    """
    if type(value) is float and dtype.category >= dtypes.FLOAT:
        return np.array(value, dtype.numpy)
    if isinstance(value, np.generic):
        value = value.item()
    if dtype.category < dtypes.COMPLEX and isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"{name}(): the value {value} cannot be converted to {dtype}")
        value = value.real
    if dtype.category == dtypes.INTEGER:
        try:
            value = int(value)
        except (ValueError, OverflowError):  # not a number, infinite
            raise RuntimeError(
                f"{name}(): the value {value} cannot be converted to {dtype}"
            ) from None
        bits = 8 * dtype.itemsize
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - dtype.is_signed):
            raise RuntimeError(f"{name}(): the value {value} does not fit into {dtype}")
        value %= 2**bits
        return np.array(value, np.dtype(f"u{dtype.itemsize}")).astype(dtype.numpy)
    return np.array(value, dtype.numpy)


def value_tensor(value: Any, dtype: dtypes.dtype, name: str) -> Tensor:
    """A value to be written as a tensor of a dtype.

    Raises:
        TypeError: unless it is a number, a tensor or an array.
    """
    if isinstance(value, Tensor):
        return convert(value, dtype)
    if isinstance(value, np.ndarray):
        return convert(core.from_array(value), dtype)
    if isinstance(value, Number):
        return core.from_array(number_array(value, dtype, name))
    raise TypeError(
        f"{name}(): cannot assign a value of type {type(value).__name__} to a tensor of dtype "
        f"{dtype}; expected a number or a Tensor"
    )


def fitted(value: Tensor, shape: tuple[int, ...], name: str) -> Tensor:
    """A value broadcast to the shape of what it replaces (leading dims of size one may go).

    Raises:
        RuntimeError: if it does not broadcast.
    """
    own = tuple(value.shape)
    if own == shape:
        return value
    extra = max(len(own) - len(shape), 0)
    kept = own[extra:]
    missing = len(shape) - len(kept)
    if any(s != 1 for s in own[:extra]) or any(
        a not in (1, b) for a, b in zip(kept, shape[missing:], strict=True)
    ):
        raise RuntimeError(
            f"{name}(): a value of shape {list(own)} cannot be broadcast to the indexed part of "
            f"shape {list(shape)}"
        )
    return expand_to(value.reshape(kept) if extra else value, shape)


# --- straight into memory -------------------------------------------------------------------------


def _numpy_key(index: Any) -> Any:
    """The same index for NumPy, where it is a common one that means the same there; else None."""
    kind = type(index)
    if kind is Tensor:
        dtype = index.dtype
        if index.ndim and (dtype is dtypes.int64 or dtype is dtypes.bool):
            return core.array_of(index)
        return None
    return index if _basic_numpy_key(index) else None


def _basic_numpy_key(index: Any) -> bool:
    kind = type(index)
    if kind is tuple:
        return all(
            type(i) is int or i is None or (type(i) is slice and is_plain_slice(i)) for i in index
        )
    return kind is int or (kind is slice and is_plain_slice(index))


def _write(x: Tensor, index: Any, value: Any) -> None:
    """Write into the memory of a plain tensor; nothing is changed where an error is raised."""
    array = writable_array(x, "setitem")
    source = (
        number_array(value, x.dtype, "setitem")
        if isinstance(value, Number)
        else core.array_of(value_tensor(value, x.dtype, "setitem"))
    )
    key = _numpy_key(index)
    if key is not None:
        try:
            array[key] = source
            core.bump_version(x)
            return
        except (IndexError, TypeError, ValueError):
            pass  # say what is wrong below
    parts = take_apart(x, index, "setitem")
    target = array[parts.key]
    if not parts.entries:
        if target.shape != source.shape:
            source = _fitted_array(source, target.shape)
        target[...] = source
    else:
        fancy = _fancy_key(target.ndim, parts)
        try:
            target[fancy] = source
        except (IndexError, TypeError, ValueError):
            shape = read(x, parts, "setitem").shape  # raises for an index that is out of range
            target[fancy] = _fitted_array(source, tuple(shape))
    core.bump_version(x)


def _fancy_key(ndim: int, parts: Parts) -> tuple[Any, ...]:
    """Index tensors and masks as an index for NumPy."""
    key: list[Any] = [FULL] * ndim
    for dim, item in parts.entries:
        found = core.array_of(item)
        if found.dtype == np.bool_ and len(parts.entries) > 1:
            for i, column in enumerate(np.nonzero(found)):
                key[dim + i] = column
        elif found.dtype == np.bool_:
            key[dim : dim + found.ndim] = [found]
        else:
            key[dim] = found
    return tuple(key)


def _fitted_array(source: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return core.array_of(fitted(core.from_array(source), shape, "setitem"))


# --- recorded -------------------------------------------------------------------------------------


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """`self[index] = value`: `value` is a number or a tensor that broadcasts to `self[index]`.

    Raises:
        IndexError: if an index is out of range, has too many entries or is no index.
        RuntimeError: if the value does not fit, or the tensor is a leaf that requires grad.
        TypeError: if the value is no number and no tensor.
    """
    if core.is_plain(self) and (not isinstance(value, Tensor) or core.is_plain(value)):
        if not _has_box(index):
            _write(self, index, value)
            return
    core.check_inplace(self, "setitem")
    parts = take_apart(self, index, "setitem")
    item = value_tensor(value, self.dtype, "setitem")
    if not (parts.entries or parts.selects):
        target = viewed(self, parts)
        core.assign(target, fitted(item, tuple(target.shape), "setitem"), "setitem")
        return
    if parts.view is None:
        target, source = self, core.alias_with_history(self)
    else:
        target = source = viewed(self, parts)
    core.assign(target, _with_value(source, parts, item), "setitem")


def _has_box(index: Any) -> bool:
    items = index if type(index) in (tuple, list) else (index,)
    return any(
        (isinstance(i, Tensor) and i.is_box) or (isinstance(i, (list, tuple)) and _has_box(i))
        for i in items
    )


def _with_value(x: Tensor, parts: Parts, value: Tensor) -> Tensor:
    """x (the basic view) with a value at index tensors or a mask."""
    entries, selects = parts.entries, parts.selects
    if len(entries) == 1 and not selects and entries[0][1].dtype is dtypes.bool:
        dim, mask = entries[0]
        if value.numel() == 1 or core.batched_levels(mask):
            return _masked_write(x, dim, mask, value)
        part = mask_select_op(core.detach(x), mask, dim)  # its shape is wanted
        return mask_put_op(x, mask, fitted(value, tuple(part.shape), "setitem"), dim)
    if len(entries) + len(selects) == 1 or not selects:
        index, dims = joined_index([*entries, *selects], "setitem")
        shape = _result_shape(tuple(x.shape), index, dims)
        return index_put_op(x, index, fitted(value, shape, "setitem"), dims, False)
    # A 0-dim index whose value is not known counts as an int: find out which elements are meant.
    shape = tuple(x.shape)
    places = core.from_array(np.arange(x.numel()).reshape(shape))
    places = read(places, Parts((...,), None, entries, selects), "setitem")
    value = fitted(value, tuple(places.shape), "setitem")
    return index_put_op(x.reshape(-1), places, value, (0,), False).reshape(shape)


def _result_shape(shape: tuple[int, ...], index: Tensor, dims: tuple[int, ...]) -> tuple[int, ...]:
    common = tuple(index.shape[len(dims) > 1 :])
    first = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0
    rest = [(d, s) for d, s in enumerate(shape) if d not in dims]
    before = tuple(s for d, s in rest if d < first)
    return before + common + tuple(s for d, s in rest if d >= first)


def _masked_write(x: Tensor, dim: int, mask: Tensor, value: Tensor) -> Tensor:
    """x with one value, the same for every element along the mask's dims, where the mask holds."""
    after = x.ndim - dim - mask.ndim
    mask_shape = (1,) * dim + tuple(mask.shape) + (1,) * after
    shape = tuple(value.shape)
    while len(shape) > after + 1 + dim and shape[0] == 1:
        shape = shape[1:]
    if value.numel() == 1:
        value = value.reshape(())
    elif len(shape) > after:
        lead, chosen, trail = shape[: -after - 1], shape[-after - 1], shape[len(shape) - after :]
        if chosen != 1 or len(lead) > dim:
            raise RuntimeError(
                "setitem(): inside vmap a mask chooses a different number of elements in every "
                f"sample, so a value of shape {list(value.shape)} cannot be spread over them; use "
                "where(mask, value, x) or masked_scatter"
            )
        value = value.reshape(lead + (1,) * mask.ndim + trail)
    target = x.shape
    result = where(mask.reshape(mask_shape), value, x)
    if result.shape != target:
        raise RuntimeError(
            f"setitem(): a value of shape {list(shape)} cannot be broadcast to the indexed part of "
            f"a tensor of shape {list(target)}"
        )
    return result


# --- index_put ------------------------------------------------------------------------------------


def put_entries(input: Tensor, indices: Sequence[Any], name: str) -> list[tuple[int, Tensor]]:
    """(dim, index tensor or mask) for indices of the leading dims, None standing for a whole dim.

    Raises:
        IndexError: if there are too many indices, none at all, or a mask does not match.
    """
    entries, dim = [], 0
    for item in indices:
        if item is None:
            dim += 1
            continue
        tensor = index_tensor(item, name)
        if tensor.dtype is dtypes.bool:
            check_mask(input, tensor, dim, name)
        entries.append((dim, tensor))
        dim += tensor.ndim if tensor.dtype is dtypes.bool else 1
    if dim > input.ndim or not entries:
        raise IndexError(
            f"{name}(): expected indices for 1 to {input.ndim} dims of a tensor of shape "
            f"{list(input.shape)}, got {dim if entries else 'no tensor'}"
        )
    return entries


@changing
def index_put(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Prepared:
    """A copy of `input` with `values` written at (accumulate=True: added to) `input[indices]`.

    indices: a tuple of index tensors or masks, for the leading dims (None: every place of a dim).
    values: broadcast to the shape of `input[indices]`, in the dtype of `input`. Elements named
    twice receive every value with accumulate=True, else the last one.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if dtypes differ, or values do not broadcast.

    >>> import tensorplay as tp
    >>> tp.index_put(tp.zeros(3), (tp.tensor([0, 0, 2]),), tp.ones(()), accumulate=True)
    tensor([2., 0., 1.])
    """
    if values.dtype is not input.dtype:
        raise RuntimeError(
            f"index_put(): values must have the dtype of input, got {values.dtype} for "
            f"{input.dtype}; convert with values.to(input.dtype)"
        )
    entries = put_entries(input, indices, "index_put")
    index, dims = joined_index(entries, "index_put")
    shape = _result_shape(tuple(input.shape), index, dims)
    return (
        index_put_op, (input, index, fitted(values, shape, "index_put")), (dims, bool(accumulate)),
    )  # fmt: skip


core.set_operator("getitem", getitem)
core.set_operator("setitem", setitem)
