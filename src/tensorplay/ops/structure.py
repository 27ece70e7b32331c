"""Operators that the machinery itself needs: casts, copies, broadcasting and its transpose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import (
    batch_elementwise,
    batch_size,
    front,
    install_method,
    linear,
    materialize,
    primitive,
    signature,
)


def _cast_back(g: Any, source: dtypes.dtype) -> Any:
    """A cotangent in the dtype of the input: complex to real keeps the real part."""
    if g.dtype.is_complex and not source.is_complex:
        g = g.real
    return convert(g, source)


# `source` is the dtype of the input: what the reverse rule needs of it.
cast_op = primitive(
    "to_dtype",
    core.cast_kernel,
    params=("dtype", "source"),
    vjp=_cast_back,
    jvp=lambda t, dtype: cast(t, dtype) if dtype.category >= dtypes.FLOAT else None,
    batch=batch_elementwise,
    quiet=True,
    node_name="ToCopyBackward0",
)


@signature(cast_op)
def _to_dtype(input: Tensor, dtype: dtypes.dtype) -> Tensor:
    """`input` in another dtype, as a copy."""
    return cast_op(input, dtype, input.dtype)


def cast(x: Tensor, dtype: dtypes.dtype) -> Tensor:
    """x in another dtype, as a copy."""
    return cast_op(x, dtype, x.dtype)


clone = linear("clone", core.copy_kernel, lambda g: g, batch=batch_elementwise, quiet=True)


def _batch_expand(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = front(values[0], bdims[0])
    (shape,) = params
    missing = len(shape) - (x.ndim - 1)
    if missing:
        x = x.reshape((x.shape[0],) + (1,) * missing + tuple(x.shape[1:]))
    return p(x, (x.shape[0], *shape)), 0


expand_to = linear(
    "expand",
    core.broadcast_kernel,
    lambda g, x_shape: sum_to(g, x_shape),
    params=("shape",),
    batch=_batch_expand,
    view=True,
    quiet=True,
)


def _batch_sum_to(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = front(values[0], bdims[0])
    (shape,) = params
    extra = (x.ndim - 1) - len(shape)
    if extra:  # sum the added dims first, so that the batch stays in front
        x = x.sum(tuple(range(1, extra + 1)))
    return p(x, (x.shape[0], *shape)), 0


sum_to = linear(
    "sum_to",
    core.sum_to_kernel,
    lambda g, x_shape: expand_to(g, x_shape),
    params=("shape",),
    batch=_batch_sum_to,
    quiet=True,
    node_name="SumToSizeBackward0",
)


# --- writing through views ------------------------------------------------------------------------


def follow(x: Any, chain: Any) -> Any:
    """The view of x that a chain of (primitive, params, output number) describes."""
    for step, params, number in chain:
        x = step(x, *params)
        if step.outputs != 1:
            x = x[number]
    return x


def _view_of(array: np.ndarray, chain: Any) -> np.ndarray:
    for step, params, number in chain:
        array = step.kernel(array, *params)
        if step.outputs != 1:
            array = array[number]
    return array


def _view_places(shape: tuple[int, ...], is_complex: bool, chain: Any) -> np.ndarray:
    """Flat positions of the real numbers that a chain of views leads to, in a tensor of a shape.

    A complex number counts as two real ones: real and imaginary parts are views too. -1 stands for
    memory beside the tensor (which `as_strided` can reach).
    """
    count = math.prod(shape) * (2 if is_complex else 1)
    numbers = np.arange(1.0, count + 1)
    found = _view_of((numbers.view(np.complex128) if is_complex else numbers).reshape(shape), chain)
    if found.dtype.kind == "c":
        found = np.stack([found.real, found.imag], -1)
    return found.astype(np.int64) - 1


def _real_numbers(x: np.ndarray) -> np.ndarray:
    """A contiguous array as a vector of real numbers, in the same memory."""
    return x.reshape(-1).view(x.real.dtype)


def _view_scatter_kernel(base: np.ndarray, source: np.ndarray, chain: Any) -> np.ndarray:
    result = np.array(base, order="C", copy=True)
    view = _view_of(result, chain)
    if np.may_share_memory(view, result) or view.size == 0:
        view[...] = source
    else:  # a step that could look into the strides of the base copied this array
        places = _view_places(base.shape, base.dtype.kind == "c", chain).reshape(-1)
        written = np.array(np.broadcast_to(source, view.shape), order="C", dtype=view.dtype)
        _real_numbers(result)[places[places >= 0]] = _real_numbers(written)[places >= 0]
    return result


def _batch_view_scatter(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    # The same steps on boxes over a copy of the base: their batching rules find the views.
    size = batch_size(values, bdims)
    base, source = (materialize(x, b, size) for x, b in zip(values, bdims, strict=True))
    if not _fits(source, base):
        return _written_by_position(base, source, params[0]), 0
    base = core.registry["contiguous"](base)
    level = core.push_level("vmap", size, "error")
    try:
        target = follow(core.box(base, 0, level), params[0])
        shares = np.may_share_memory(_payload(target), _payload(base))
        if shares:
            core.assign(target, core.box(source, 0, level), "copy_")
    finally:
        core.pop_level(level)
    return base if shares else _written_by_position(base, source, params[0]), 0


def _boxes(x: Tensor) -> list[Tensor]:
    """A tensor and what is inside its boxes, the plain tensor last."""
    levels = {each.id: each for each in core.active_levels()}
    found = [x]
    while x.is_box:
        x, _ = core.unbox(x, levels[core.box_level(x)])
        found.append(x)
    return found


def _payload(x: Tensor) -> np.ndarray:
    """The array inside all boxes."""
    return core.array_of(_boxes(x)[-1])


def _fits(source: Tensor, base: Tensor) -> bool:
    """Whether a tensor is boxed only at levels of another, and differs only where that differs."""
    levels = {core.box_level(each) for each in _boxes(base)[:-1]}
    if any(core.box_level(each) not in levels for each in _boxes(source)[:-1]):
        return False
    return set(core.batched_levels(source)) <= set(core.batched_levels(base))


def _written_by_position(base: Tensor, source: Tensor, chain: Any) -> Tensor:
    """A batch of tensors with `source` at the elements that a chain leads to, found by number."""
    size, shape, is_complex = base.shape[0], tuple(base.shape), base.dtype.is_complex
    places = _view_places(shape[1:], is_complex, chain).reshape(-1)
    if source.dtype.is_complex:
        source = core.registry["view_as_real"](source)
    if is_complex:
        base = core.registry["view_as_real"](base)
    numbers, written = base.reshape(size, -1), source.reshape(size, -1)
    if places.size and places.min() < 0:
        written = written.index_select(1, core.from_array(np.flatnonzero(places >= 0)))
        places = places[places >= 0]
    numbers = numbers.index_copy(1, core.from_array(places), written).reshape(tuple(base.shape))
    return core.registry["view_as_complex"](numbers) if is_complex else numbers


view_scatter = linear(
    "view_scatter",
    _view_scatter_kernel,
    (
        lambda g, chain: view_scatter(g, core.zeros_of(follow(g, chain)), chain),
        lambda g, chain: follow(g, chain),
    ),
    inputs=("x", "y"),
    params=("chain",),
    batch=_batch_view_scatter,
    node_name="CopySlices",
)


# --- dtype conversions ----------------------------------------------------------------------------


def convert(x: Tensor, dtype: dtypes.dtype, copy: bool = False) -> Tensor:
    """x in another dtype; x itself when nothing changes, unless `copy`."""
    if x.dtype is dtype:
        return clone(x) if copy else x
    return cast(x, dtype)


def _conversion(name: str, dtype: dtypes.dtype) -> Any:
    def to_this(self: Tensor, memory_format: Any = None) -> Tensor:
        return convert(self, dtype)

    to_this.__name__ = name
    to_this.__doc__ = f"This tensor in dtype {dtype!r}."
    return to_this


for _name, _dtype in (
    ("bool", dtypes.bool), ("byte", dtypes.uint8), ("char", dtypes.int8), ("short", dtypes.int16),
    ("int", dtypes.int32), ("long", dtypes.int64), ("half", dtypes.float16),
    ("bfloat16", dtypes.bfloat16), ("float", dtypes.float32), ("double", dtypes.float64),
    ("cfloat", dtypes.complex64), ("cdouble", dtypes.complex128),
):  # fmt: skip
    install_method(_name, _conversion(_name, _dtype))
