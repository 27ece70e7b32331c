"""Tensors computed from a few numbers: ranges, identity matrices, indices of triangles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.devices import check_placement
from tensorplay.ops.creation import finished, number_argument, target_dtype
from tensorplay.ops.kinds import public


@public(method=False)
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from `start` up to, but without, `end`, in steps of `step`.

    With one argument, the numbers from 0 up to it. The dtype is int64 when all are integers, else
    the default dtype.

    Raises:
        RuntimeError: if `step` is zero, or leads away from `end`.

    >>> import tensorplay as tp
    >>> tp.arange(3), tp.arange(1, 2, 0.5)
    (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    if dtype is None:
        made = core.counting(start, end, step, (out, layout, device), requires_grad)
        if made is not None:
            return made
    check_placement("arange", device, layout)
    if end is None:
        start, end = 0, start
    start, end, step = (
        number_argument(value, "arange", label)
        for value, label in ((start, "start"), (end, "end"), (step, "step"))
    )
    integral = all(isinstance(value, int) for value in (start, end, step))
    default = dtypes.int64 if integral else dtypes.get_default_dtype()
    target = target_dtype(dtype, out, default, "arange")
    if any(isinstance(value, complex) for value in (start, end, step)):
        raise RuntimeError(f"arange(): complex numbers have no order, got {start}, {end}, {step}")
    if target is dtypes.int64 and all(math.isfinite(value) for value in (start, end, step)):
        start, end, step, integral = int(start), int(end), int(step), True
    if step == 0:
        raise RuntimeError("arange(): step must not be zero")
    if not all(math.isfinite(value) for value in (start, end)):
        raise RuntimeError(f"arange(): the range from {start} to {end} is not finite")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange(): step {step} leads away from {end}, starting at {start}")
    if integral:
        array = np.arange(start, end, step, dtype=np.int64)
    elif target.category <= dtypes.INTEGER:
        count = math.ceil((end - start) / step)
        array = int(start) + int(step) * np.arange(count, dtype=np.int64)
    else:
        array = start + step * np.arange(math.ceil((end - start) / step))
    return finished(array.astype(target.numpy, copy=False), "arange", requires_grad, out)


_REAL = frozenset((int, float))


def _evenly(start: Any, end: Any, steps: Any, dtype: Any, out: Any, name: str) -> Any:
    """(`steps` numbers from start to end, both exact, computed from the nearer end; the dtype)."""
    if steps is None:
        raise TypeError(f"{name}(): missing the required argument 'steps'")
    steps = number_argument(steps, name, "steps")
    if not isinstance(steps, int):
        raise TypeError(f"{name}(): argument 'steps' must be int, not {type(steps).__name__}")
    if steps < 0:
        raise RuntimeError(f"{name}(): the number of steps must not be negative, got {steps}")
    first, last = (number_argument(v, name, "start or end") for v in (start, end))
    default = dtypes.get_default_dtype()
    if isinstance(first, complex) or isinstance(last, complex):
        default = default.to_complex()
    target = target_dtype(dtype, out, default, name)
    if target.category <= dtypes.INTEGER:  # the two ends are converted first, as in PyTorch
        first, last = (int(np.array(int(v)).astype(target.numpy)) for v in (first, last))
    if steps < 2:
        return np.array([first] * steps, dtype=np.result_type(type(first), float)), target
    if type(first) in _REAL and type(last) in _REAL:
        return core.evenly_spaced(first, last, steps), target
    step = (last - first) / (steps - 1)
    positions = np.arange(steps)
    return np.where(
        positions < steps // 2, first + step * positions, last - step * (steps - 1 - positions)
    ), target


@public(method=False)
def linspace(
    start: Any,
    end: Any,
    steps: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers at equal distances from `start` to `end`, both included.

    For an integer dtype start and end lose their fractions first, and then so does each number.

    Raises:
        RuntimeError: for a negative number of steps.

    >>> import tensorplay as tp
    >>> tp.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    made = core.spaced(start, end, steps, (out, dtype, layout, device), requires_grad)
    if made is not None:
        return made
    check_placement("linspace", device, layout)
    array, target = _evenly(start, end, steps, dtype, out, "linspace")
    return finished(array.astype(target.numpy), "linspace", requires_grad, out)


@public(method=False)
def logspace(
    start: Any,
    end: Any,
    steps: int | None = None,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`base` to the power of `steps` numbers at equal distances from `start` to `end`.

    Raises:
        RuntimeError: for a negative number of steps.

    >>> import tensorplay as tp
    >>> tp.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    check_placement("logspace", device, layout)
    exponents, target = _evenly(start, end, steps, dtype, out, "logspace")
    with np.errstate(all="ignore"):
        array = np.power(float(base), exponents).astype(target.numpy)
    return finished(array, "logspace", requires_grad, out)


@public(method=False)
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A matrix of n rows and m (by default n) columns with ones on the diagonal.

    Raises:
        RuntimeError: if n or m is negative.
    """
    check_placement("eye", device, layout)
    columns = n if m is None else m
    if n < 0 or columns < 0:
        raise RuntimeError(f"eye(): n and m must not be negative, got n={n}, m={m}")
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), "eye")
    return finished(core.identity_array(n, columns, target.numpy), "eye", requires_grad, out)


def _triangle(name: str, indices: Any, row: int, col: int, dtype: Any) -> Tensor:
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}(): row and col must not be negative, got {row} and {col}")
    target = target_dtype(dtype, None, dtypes.int64, name)
    return finished(np.stack(indices).astype(target.numpy, copy=False), name)


@public(method=False)
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """The row and column indices (two rows of int64) of the lower triangle of a row x col matrix.

    offset: the diagonal up to which elements count; 0 is the main one, positive ones lie above.

    >>> import tensorplay as tp
    >>> tp.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    check_placement("tril_indices", device, layout)
    indices = np.tril_indices(max(row, 0), offset, max(col, 0))
    return _triangle("tril_indices", indices, row, col, dtype)


@public(method=False)
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """The row and column indices (two rows of int64) of the upper triangle of a row x col matrix.

    offset: the diagonal from which elements count; 0 is the main one, positive ones lie above.
    """
    check_placement("triu_indices", device, layout)
    indices = np.triu_indices(max(row, 0), offset, max(col, 0))
    return _triangle("triu_indices", indices, row, col, dtype)


@public(method=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of the elements of a vector, one row per element (a Vandermonde matrix).

    x: (n). N: the number of columns, by default n. increasing: powers from 0 to N - 1, instead of
    downwards.

    Raises:
        RuntimeError: if `x` is no vector, or N is negative.

    >>> import tensorplay as tp
    >>> tp.vander(tp.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x.ndim != 1:
        raise RuntimeError(f"vander(): x must be a vector, got shape {list(x.shape)}")
    columns = x.shape[0] if N is None else N
    if columns < 0:
        raise RuntimeError(f"vander(): N must not be negative, got {N}")
    powers = np.arange(columns) if increasing else np.arange(columns)[::-1].copy()
    return x.unsqueeze(-1) ** core.from_array(powers)
