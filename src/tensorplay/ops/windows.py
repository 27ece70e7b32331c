"""Sliding windows over padded arrays: what convolution, pooling and unfolding share.

An array is (N, C, *sizes); a window is given per spatial dim by its kernel size, stride, padding
(a pair: before, after) and dilation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Pairs = tuple[tuple[int, int], ...]


def per_dim(name: str, argument: str, value: Any, count: int) -> tuple[int, ...]:
    """An int, or a sequence of one or `count` ints, as `count` ints.

    Raises:
        RuntimeError: for a sequence of another length.
        TypeError: for anything else.
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return (int(value),) * count
    if not isinstance(value, Sequence):
        raise TypeError(
            f"{name}(): {argument} must be an int or a sequence of ints, got {type(value).__name__}"
        )
    if len(value) == 1:
        return (int(value[0]),) * count
    if len(value) != count:
        raise RuntimeError(
            f"{name}(): {argument} must be an int or {count} ints for this input, got "
            f"{tuple(value)}"
        )
    return tuple(int(v) for v in value)


def plan_of(plan: Any, *args: Any) -> Any:
    """A cached plan; lists in the arguments (which no cache takes) count as tuples."""
    try:
        return plan(*args)
    except TypeError:
        return plan(*[tuple(arg) if isinstance(arg, list) else arg for arg in args])


def require_positive(name: str, **arguments: tuple[int, ...]) -> None:
    """Refuse sizes that are not positive.

    Raises:
        RuntimeError: naming the argument.
    """
    for argument, value in arguments.items():
        if any(v <= 0 for v in value):
            raise RuntimeError(f"{name}(): {argument} must be greater than zero, got {value}")


def out_sizes(
    sizes: Sequence[int], kernel: Sequence[int], stride: Any, padding: Pairs, dilation: Any
) -> tuple[int, ...]:
    """How many windows fit along each dim."""
    return tuple(
        (size + low + high - d * (k - 1) - 1) // s + 1
        for size, k, s, (low, high), d in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )


def padded(x: Any, padding: Pairs, value: float = 0) -> np.ndarray:
    """x with its last dims padded (negative: cropped); x itself where nothing is to be done."""
    if not any(low or high for low, high in padding):
        return x
    lead = x.ndim - len(padding)
    sizes = [size + low + high for size, (low, high) in zip(x.shape[lead:], padding, strict=True)]
    shape = x.shape[:lead] + tuple(sizes)
    out: Any = np.zeros(shape, x.dtype) if value == 0 else np.full(shape, value, x.dtype)
    inner, source = inner_slices(x.shape[lead:], padding)
    out[(..., *inner)] = x[(..., *source)]
    return out


def inner_slices(sizes: Sequence[int], padding: Pairs) -> tuple[list[slice], list[slice]]:
    """Where the original lies in the padded array, and which part of the original that is."""
    inner, source = [], []
    for size, (low, high) in zip(sizes, padding, strict=True):
        first, last = max(-low, 0), size - max(-high, 0)
        source.append(slice(first, last))
        inner.append(slice(first + low, last + low))
    return inner, source


def unpadded(x: Any, sizes: Sequence[int], padding: Pairs) -> np.ndarray:
    """The transpose of `padded`: what of x lies over the original (0 where it was cropped)."""
    if not any(low or high for low, high in padding):
        return x
    inner, source = inner_slices(sizes, padding)
    if all(low >= 0 and high >= 0 for low, high in padding):
        return x[(..., *inner)]
    out: Any = np.zeros(x.shape[: x.ndim - len(padding)] + tuple(sizes), x.dtype)
    out[(..., *source)] = x[(..., *inner)]
    return out


def windows(
    x: np.ndarray, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int],
    outputs: Sequence[int], writeable: bool = False,
) -> np.ndarray:  # fmt: skip
    """A view (..., *kernel, *outputs) of an already padded x."""
    spatial = len(kernel)
    lead = x.ndim - spatial
    steps = x.strides[lead:]
    return as_strided(
        x,
        x.shape[:lead] + tuple(kernel) + tuple(outputs),
        x.strides[:lead]
        + tuple(d * s for d, s in zip(dilation, steps, strict=True))
        + tuple(j * s for j, s in zip(stride, steps, strict=True)),
        writeable=writeable,
    )


def add_windows(target: Any, values: Any, stride: Sequence[int], dilation: Sequence[int]) -> None:
    """The transpose of `windows`: add values (..., *kernel, *outputs) where they were taken from.

    One slice at a time, along the shorter of kernel and outputs.
    """
    spatial = len(stride)
    kernel = values.shape[-2 * spatial : -spatial]
    outputs = values.shape[-spatial:]
    if math.prod(kernel) <= math.prod(outputs):
        steps, starts, counts, lead = stride, dilation, outputs, True
        positions = itertools.product(*map(range, kernel))
    else:
        steps, starts, counts, lead = dilation, stride, kernel, False
        positions = itertools.product(*map(range, outputs))
    for at in positions:
        where = tuple(
            slice(i * first, i * first + step * (count - 1) + 1, step)
            for i, first, step, count in zip(at, starts, steps, counts, strict=True)
        )
        part = values[(..., *at, *(slice(None),) * spatial)] if lead else values[(..., *at)]
        target[(..., *where)] += part
