"""What the kernels of elementwise operators share: dtypes they take, half precision, SciPy.

A compiled loop takes contiguous float32 and float64 arrays before any kernel is asked. A kernel is
for everything else, and says what it is for: `typed` refuses the other dtypes by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tensorplay._core import core
from tensorplay.base import dtypes
from tensorplay.base.lazy import lazy_module

special = lazy_module("scipy.special")

# One letter per category of dtype: bool, integer, floating point, complex. (bfloat16 is 'V'.)
FLOAT32 = np.dtype(np.float32)
_CATEGORY = {"b": "b", "i": "i", "u": "i", "f": "f", "V": "f", "c": "c"}


def refuse(name: str, dtype: np.dtype[Any]) -> NoReturn:
    """Say that an operator does not exist for a dtype."""
    raise NotImplementedError(
        f"{name}(): not implemented for dtype {dtypes.from_numpy(dtype).name}; convert the input "
        "first, e.g. with .float()"
    )


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def typed(
    name: str, function: Callable[..., Any], categories: str = "bif", *, widen: bool = True
) -> Callable[..., Any]:
    """A kernel for arrays (of one dtype) and parameters that refuses other dtypes than it says.

    categories: letters of 'bifc' for bool, integer, floating point, complex. widen: compute
    float16 and bfloat16 through float32, as PyTorch does.
    """

    def kernel(*args: Any) -> Any:
        dtype = args[0].dtype
        if _CATEGORY[dtype.kind] not in categories:
            refuse(name, dtype)
        if widen and is_half(dtype):
            return through_float32(function, *args)
        return function(*args)

    return kernel


def through_float32(function: Callable[..., Any], *args: Any) -> Any:
    """function(*args) with half-precision arrays as float32, and its results as halves again."""
    half = args[0].dtype
    wide = [
        core.cast(a, FLOAT32) if isinstance(a, np.ndarray) and is_half(a.dtype) else a for a in args
    ]
    result = function(*wide)
    if isinstance(result, tuple):
        return tuple(_narrow(r, half) for r in result)
    return _narrow(result, half)


def _narrow(result: Any, half: np.dtype[Any]) -> Any:
    return core.cast(np.asarray(result), half) if result.dtype.kind == "f" else result


def scipy_kernel(name: str, function: str, *, order: Any = None) -> Callable[..., Any]:
    """`scipy.special.<function>` as a kernel for floating-point arrays.

    order: a number that SciPy's function takes before the arrays.
    """

    def compute(*arrays: np.ndarray) -> Any:
        found = getattr(special, function)
        result = found(*arrays) if order is None else found(order, *arrays)
        return np.asarray(result).astype(arrays[0].dtype, copy=False)

    return typed(name, compute, "f")


def refuse_zero(name: str, dividend: np.ndarray, divisor: np.ndarray) -> None:
    """Say that integers cannot be divided by zero."""
    if divisor.dtype.kind in "iu" and dividend.size and not np.all(divisor):
        raise RuntimeError(
            f"{name}(): ZeroDivisionError: an integer tensor is divided by zero; convert to "
            "floating point for inf and nan"
        )


# --- choosing without branches --------------------------------------------------------------------

_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_SMALL = 2048  # elements below which one call of np.where costs less than several others


def _mask(condition: np.ndarray, bits: Any) -> Any:
    """All bits set where the condition holds, none elsewhere."""
    return np.negative(condition.view(np.int8)).astype(bits)


def _into(function: Any, x: np.ndarray, y: np.ndarray) -> Any:
    """function(x, y) in x's memory where it fits: a new page of memory costs more than the work."""
    if x.shape == y.shape:
        return function(x, y, out=x)
    return function(x, y)


def masked(condition: np.ndarray, x: np.ndarray) -> Any:
    """`x` where the condition holds, else zeros, whatever x is there (inf, nan).

    np.where decides element by element, which costs tens of times more on random conditions.
    """
    bits = _SIGNED.get(x.dtype.itemsize)
    if bits is None or x.size < _SMALL:
        zero = np.zeros((), x.dtype)
        small = core.select_small(condition, x, zero)
        return np.where(condition, x, zero) if small is None else small
    return _into(np.bitwise_and, _mask(condition, bits), x.view(bits)).view(x.dtype)


def select(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    """`x` where the condition holds, else `y`, of one dtype: np.where without branches."""
    small = core.select_small(condition, x, y)
    if small is not None:
        return small
    bits = _SIGNED.get(x.dtype.itemsize)
    if bits is None or x.dtype != y.dtype or condition.size < _SMALL:
        return np.where(condition, x, y)
    change = np.bitwise_xor(x.view(bits), y.view(bits))
    change = _into(np.bitwise_and, np.asarray(change), _mask(condition, bits))
    return _into(np.bitwise_xor, change, y.view(bits)).view(x.dtype)
