"""Arrays from Python data: numbers, nested sequences, arrays, tensors, in any mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes

_CATEGORIES = {bool: dtypes.BOOL, int: dtypes.INTEGER, float: dtypes.FLOAT, complex: dtypes.COMPLEX}
_NUMBERS = frozenset(_CATEGORIES)
_LISTS = frozenset((list, tuple))

_SINGLE_AND_DOUBLE = (dtypes.float32, dtypes.float64)

# The NumPy type that holds every Python number of a category exactly.
_WIDE = (np.bool_, np.int64, np.float64, np.complex128)


def dtype_argument(dtype: Any, name: str) -> dtypes.dtype:
    """The argument ``dtype`` of the function `name` as a dtype.

    Raises:
        TypeError: if it does not describe one.
    """
    try:
        return dtypes.as_dtype(dtype)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None


def default_for(category: int) -> dtypes.dtype:
    """The dtype of a tensor made from Python numbers of a category (bool, int, float, complex)."""
    if category == dtypes.FLOAT:
        return dtypes.get_default_dtype()
    if category == dtypes.COMPLEX:
        return dtypes.get_default_dtype().to_complex()
    return dtypes.int64 if category == dtypes.INTEGER else dtypes.bool


def array_from_data(data: Any, dtype: dtypes.dtype | None, name: str) -> np.ndarray:
    """A new array with the elements of `data`, in `dtype` or in the dtype that they suggest.

    Raises:
        TypeError: for strings, and for numbers that the dtype cannot take (complex to real).
        ValueError: for sequences that are not of the same length.
        RuntimeError: for objects that are no data, and integers out of range of the dtype.
    """
    if isinstance(data, (Tensor, np.ndarray)):  # converted as `to` does
        array, found = _mixed(data, name)
        return array if dtype in (None, found) else cast_array(array, dtype or found)
    if type(data) is float and -3e38 < data < 3e38 and dtype in (None, dtypes.float32):
        if dtype is not None or dtypes.get_default_dtype() is dtypes.float32:
            return np.array(data, np.float32)
    kinds: set[type] = set()
    shape = _regular_shape(data, kinds)
    if shape is None:
        array, found = _mixed(data, name)
    elif kinds:
        category = max(_CATEGORIES[kind] for kind in kinds)
        found = default_for(category)
        array = _numbers(data, category, dtype or found, name)
    else:
        array, found = np.zeros(shape, np.float32), dtypes.get_default_dtype()
    return converted(array, dtype or found, name)


def _regular_shape(data: Any, kinds: set[type]) -> tuple[int, ...] | None:
    """The shape of equally long nested lists of Python numbers, whose types are added to `kinds`.

    None for everything else, errors included: that takes a closer look.
    """
    if type(data) in _NUMBERS:
        kinds.add(type(data))
        return ()
    if type(data) not in _LISTS:
        return None
    inside = set(map(type, data))
    if inside <= _NUMBERS:
        kinds |= inside
        return (len(data),)
    if not inside <= _LISTS:
        return None
    shapes = {_regular_shape(item, kinds) for item in data}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    return None if shape is None else (len(data), *shape)


def _numbers(data: Any, category: int, target: dtypes.dtype, name: str) -> np.ndarray:
    try:
        return np.array(data, dtype=_WIDE[category])
    except OverflowError:
        pass
    try:
        wide = target.numpy if target.category == dtypes.INTEGER else _WIDE[target.category]
        return np.array(data, dtype=wide)
    except OverflowError:
        raise ValueError(
            f"{name}(): an integer of data is too large for dtype {target}; give a floating point "
            "dtype"
        ) from None


def cast_array(array: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    """A copy in another dtype; integers wrap, complex numbers lose their imaginary part."""
    if array.dtype.kind == "c" and dtype.category in (dtypes.INTEGER, dtypes.FLOAT):
        array = array.real
    with np.errstate(all="ignore"):
        return array.astype(dtype.numpy)


def converted(array: np.ndarray, dtype: dtypes.dtype, name: str) -> np.ndarray:
    """Numbers of `array` in another dtype: itself where it has that dtype already.

    Raises:
        TypeError: for complex numbers and a real dtype.
        RuntimeError: for integers out of range of an integer dtype.
    """
    if array.dtype == dtype.numpy:
        return array
    kind = array.dtype.kind
    if kind == "c" and not dtype.is_complex:
        if dtype is not dtypes.bool:
            raise TypeError(
                f"{name}(): complex numbers cannot become dtype {dtype}; take the real part first"
            )
    if dtype.category == dtypes.INTEGER and array.size:
        check_range(array, dtype, name)
    with np.errstate(all="ignore"):
        return array.astype(dtype.numpy)


def check_range(array: np.ndarray, dtype: dtypes.dtype, name: str) -> None:
    """Raise where numbers do not fit an integer dtype (negative ones wrap in unsigned dtypes).

    Raises:
        RuntimeError: for a number out of range.
    """
    limits = np.iinfo(dtype.numpy)
    low = limits.min if limits.min or array.dtype.kind == "f" else -limits.max - 1
    smallest, largest = array.min(), array.max()
    if not (low <= smallest and largest <= limits.max):
        wrong = largest if low <= smallest else smallest
        raise RuntimeError(
            f"{name}(): the value {wrong} cannot be converted to {dtype} without overflow"
        )


def _mixed(data: Any, name: str) -> tuple[np.ndarray, dtypes.dtype]:
    """The array of any data, one item at a time, and the dtype that it suggests."""
    if isinstance(data, Tensor):
        return core.copied(core.array_of(data, f"{name}(): data")), data.dtype
    if type(data) is np.ndarray and data.dtype.kind in "biufc":
        return native(core.copied(data), name)
    if isinstance(data, (np.ndarray, np.generic)):
        return native(np.array(data), name)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"{name}(): data has the invalid type '{type(data).__name__}'")
    if isinstance(data, (bool, int, float, complex)):
        category = dtypes.number_dtype(data).category
        found = default_for(category)
        return _numbers(data, category, found, name), found
    if hasattr(data, "__array__"):
        return native(np.array(data), name)
    if not isinstance(data, (Sequence, bytearray, memoryview)) and not (
        hasattr(data, "__len__") and hasattr(data, "__getitem__") and not hasattr(data, "keys")
    ):
        raise RuntimeError(f"{name}(): no dtype can be inferred for data of {type(data).__name__}")
    if len(data) == 0:
        return np.zeros(0, np.float32), dtypes.get_default_dtype()
    parts = [_item(item, name) for item in data]
    found = parts[0][1]
    for array, each in parts:
        if array.ndim != parts[0][0].ndim:
            raise TypeError(f"{name}(): data mixes numbers with sequences, or depths of sequences")
        if array.shape != parts[0][0].shape:
            raise ValueError(
                f"{name}(): data is ragged: expected items of shape "
                f"{list(parts[0][0].shape)}, got one of shape {list(array.shape)}"
            )
        found = dtypes.promote_types(found, each)
    return np.stack([array.astype(found.numpy) for array, _ in parts]), found


def _item(data: Any, name: str) -> tuple[np.ndarray, dtypes.dtype]:
    # A tensor in a sequence stands for a number.
    if not isinstance(data, Tensor):
        return _mixed(data, name)
    if data.numel() != 1:
        raise ValueError(
            f"{name}(): only tensors of one element can be among the items of data, got one of "
            f"shape {list(data.shape)}; use tensorplay.stack to join tensors"
        )
    array, dtype = _mixed(data, name)
    return array.reshape(()), dtype


def native(array: np.ndarray, name: str) -> tuple[np.ndarray, dtypes.dtype]:
    """An array as a plain ndarray in native byte order, and its dtype.

    Raises:
        TypeError: for dtypes that tensors do not have.
    """
    try:
        dtype = dtypes.from_numpy(array.dtype)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None
    return np.asarray(array, dtype=dtype.numpy), dtype


def number_array(value: Any, dtype: dtypes.dtype, name: str) -> np.ndarray:
    """A number as a 0-dim array of a dtype.

    Raises:
        TypeError: if `value` is not a number.
        RuntimeError: if the dtype cannot take it.
    """
    if type(value) is float and -3e38 < value < 3e38 and dtype in _SINGLE_AND_DOUBLE:
        return np.array(value, dtype.numpy)
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(
            f"{name}(): the value must be a number or a tensor without dimensions, not "
            f"{type(value).__name__}"
        )
    if isinstance(value, complex) and not dtype.is_complex:
        if value.imag:
            raise RuntimeError(
                f"{name}(): the complex value {value} cannot be converted to {dtype} without "
                "overflow; give a complex dtype"
            )
        value = value.real
    array = _numbers(value, dtypes.number_dtype(value).category, dtype, name)
    return converted(array, dtype, name)
