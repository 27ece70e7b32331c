"""Tensors from data, filled tensors, ranges, and filled tensors like another one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.devices import check_placement
from tensorplay.ops.data import (
    array_from_data,
    cast_array,
    default_for,
    dtype_argument,
    number_array,
)
from tensorplay.ops.filling import fill_op
from tensorplay.ops.kinds import constant, method, public
from tensorplay.ops.shaping import sizes_of
from tensorplay.ops.structure import convert

# --- what every function of this file does with its arguments -------------------------------------


def lifted(x: Tensor) -> Tensor:
    """A new tensor as a value of the function-transform gradients it was made in.

    So it can take, in place, values that depend on the inputs of that transform. The inputs of a
    forward level are lifted to the innermost level around it (`core.lift`), which may be a vmap:
    what is made inside lives there too.
    """
    wanted, innermost = [], None
    for level in core.active_levels():
        if level.kind == "forward":
            if innermost is not None and innermost.kind == "vmap":
                wanted.append(innermost)
                innermost = None
            continue
        innermost = level
        if level.kind in ("grad", "interpret"):
            wanted.append(level)
    for level in wanted:
        if level.id > core.box_level(x):
            x = core.box(x, None, level)
    return x


def finished(
    array: np.ndarray | Tensor, name: str, requires_grad: bool = False, out: Tensor | None = None
) -> Tensor:
    """The result of a creation function: a new leaf, or `out` filled.

    Raises:
        RuntimeError: if it is to require grad and has no floating point or complex dtype.
    """
    x = array if isinstance(array, Tensor) else core.from_array(array)
    if not core.no_levels():
        x = lifted(x)
    if requires_grad:
        check_requires_grad(x, name)
    if out is not None:
        x = core.write_out(name, out, x)
    if requires_grad:
        x.requires_grad = True
    return x


def check_requires_grad(x: Tensor, name: str) -> None:
    """Raise where gradients are not defined for the dtype of x."""
    if not core.is_differentiable_dtype(x):
        raise RuntimeError(
            f"{name}(): requires_grad=True needs a floating point or complex dtype, got {x.dtype}; "
            "give dtype=tensorplay.float32, for example"
        )


def target_dtype(dtype: Any, out: Tensor | None, default: dtypes.dtype, name: str) -> dtypes.dtype:
    """The dtype of a result: as given, else that of `out`, else the default.

    Raises:
        TypeError: if `dtype` is no dtype.
        RuntimeError: if both are given and differ.
    """
    if dtype is not None:
        dtype = dtype_argument(dtype, name)
    if out is None:
        return dtype or default
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if dtype not in (None, out.dtype):
        raise RuntimeError(
            f"{name}(): dtype {dtype} does not match the dtype {out.dtype} of the out parameter"
        )
    return out.dtype


def size_argument(sizes: tuple[Any, ...], size: Any, name: str) -> tuple[int, ...]:
    """Sizes given one by one, as one sequence, or as ``size=``.

    Raises:
        TypeError: if there are none, or they are not ints.
        RuntimeError: if one is negative.
    """
    if size is not None:
        sizes = (size,)
    elif not sizes:
        raise TypeError(f"{name}(): missing the required argument 'size'")
    shape = sizes_of(sizes, name)
    if shape and min(shape) < 0:
        raise RuntimeError(f"{name}(): sizes must not be negative, got {list(shape)}")
    return shape


def number_argument(value: Any, name: str, argument: str) -> Any:
    """An argument that is a Python number, or a tensor of one element standing for it.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(value, (Tensor, np.generic)):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(
            f"{name}(): argument '{argument}' must be a number, not {type(value).__name__}"
        )
    return value


# --- from data ------------------------------------------------------------------------------------


@public(method=False)
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of the given numbers.

    data: a number, nested sequences of numbers, a NumPy array or scalar. dtype: by default that of
    the array, or the one the numbers suggest: bool, int64, the default dtype, or its complex dtype.

    Raises:
        TypeError: for strings, and for complex numbers with a real dtype.
        ValueError: for sequences of unequal length.
        RuntimeError: for integers out of range, for what is no data, for requires_grad with an
            integer or bool dtype.

    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> tp.tensor(0.5, dtype=tp.float64, requires_grad=True)
    tensor(0.5000, dtype=tensorplay.float64, requires_grad=True)
    """
    array = core.array_of_numbers(data, dtype)
    if array is not None and device is None:
        return finished(array, "tensor", requires_grad)
    check_placement("tensor", device)
    if dtype is not None:
        dtype = dtype_argument(dtype, "tensor")
    if isinstance(data, Tensor):
        warnings.warn(
            "tensor(): to copy a tensor, use source.detach().clone(), or "
            "source.detach().clone().requires_grad_(True)",
            UserWarning,
            stacklevel=2,
        )
        return finished(_copied(data, dtype), "tensor", requires_grad)
    return finished(array_from_data(data, dtype, "tensor"), "tensor", requires_grad)


def _copied(x: Tensor, dtype: dtypes.dtype | None) -> Tensor:
    return convert(core.detach(x), dtype or x.dtype, copy=True)


@public(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where none is needed.

    A tensor of the right dtype is returned itself, and a conversion of one is differentiable; a
    NumPy array of the right dtype shares its memory with the result; anything else is copied as
    `tensor` does.

    >>> import numpy as np, tensorplay as tp
    >>> array = np.zeros(2)
    >>> x = tp.as_tensor(array)
    >>> array[0] = 1.0
    >>> x
    tensor([1., 0.], dtype=tensorplay.float64)
    """
    check_placement("as_tensor", device)
    if dtype is not None:
        dtype = dtype_argument(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return convert(data, dtype or data.dtype)
    if isinstance(data, np.ndarray):
        array = np.asarray(data)
        if dtype is not None and array.dtype != dtype.numpy:
            array = cast_array(array, dtype)
        return finished(array, "as_tensor")
    return finished(array_from_data(data, dtype, "as_tensor"), "as_tensor")


@method()
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor from data, by default in the dtype of this tensor."""
    check_placement("new_tensor", device, layout)
    dtype = self.dtype if dtype is None else dtype_argument(dtype, "new_tensor")
    if isinstance(data, Tensor):
        return finished(_copied(data, dtype), "new_tensor", requires_grad)
    return finished(array_from_data(data, dtype, "new_tensor"), "new_tensor", requires_grad)


@public(method=False)
def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A number as a tensor without dimensions, by default in the default dtype."""
    check_placement("scalar_tensor", device, layout)
    target = target_dtype(dtype, None, dtypes.get_default_dtype(), "scalar_tensor")
    value = number_argument(s, "scalar_tensor", "s")
    return finished(number_array(value, target, "scalar_tensor"), "scalar_tensor", requires_grad)


# --- filled ---------------------------------------------------------------------------------------


@public(method=False)
def zeros(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of zeros.

    sizes: ints, or one sequence of ints.

    Raises:
        RuntimeError: for a negative size.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    made = core.filled(sizes, 0, dtype, (size, out, layout, device), requires_grad)
    if made is not None:
        return made
    check_placement("zeros", device, layout)
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), "zeros")
    shape = size_argument(sizes, size, "zeros")
    return finished(np.zeros(shape, target.numpy), "zeros", requires_grad, out)


@public(method=False)
def ones(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones; arguments as for `zeros`."""
    made = core.filled(sizes, 1, dtype, (size, out, layout, device), requires_grad)
    if made is not None:
        return made
    check_placement("ones", device, layout)
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), "ones")
    shape = size_argument(sizes, size, "ones")
    return finished(_full_array(shape, 1, target, "ones"), "ones", requires_grad, out)


@public(method=False)
def empty(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor whose elements are whatever its memory held; arguments as for `zeros`."""
    check_placement("empty", device, layout)
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), "empty")
    shape = size_argument(sizes, size, "empty")
    return finished(core.empty(shape, target.numpy), "empty", requires_grad, out)


@public(method=False)
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the given size whose elements lie `stride` elements apart along each dimension.

    Raises:
        RuntimeError: if `size` and `stride` differ in length, or a stride is negative.
    """
    check_placement("empty_strided", device, layout)
    target = target_dtype(dtype, None, dtypes.get_default_dtype(), "empty_strided")
    shape = size_argument((size,), None, "empty_strided")
    steps = sizes_of((stride,), "empty_strided")
    if len(steps) != len(shape) or any(step < 0 for step in steps):
        raise RuntimeError(
            f"empty_strided(): stride {list(steps)} must have as many entries as size "
            f"{list(shape)}, none of them negative"
        )
    extent = 1 + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    memory = np.empty(0 if 0 in shape else extent, target.numpy)
    view = np.lib.stride_tricks.as_strided(memory, shape, [s * target.itemsize for s in steps])
    return finished(view, "empty_strided", requires_grad)


@method()
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """`empty_strided`, by default in this tensor's dtype."""
    return empty_strided(
        size, stride, dtype=dtype or self.dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


@public(method=False)
def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one value, by default in the dtype that the value suggests.

    fill_value: a number, or a tensor without dimensions.

    Raises:
        RuntimeError: for a negative size, or a value that the dtype cannot take.

    >>> import tensorplay as tp
    >>> tp.full((2,), 3)
    tensor([3, 3])
    """
    if type(fill_value) is float and not isinstance(size, int):
        made = core.filled((size,), fill_value, dtype, (out, layout, device), requires_grad)
        if made is not None:
            return made
    check_placement("full", device, layout)
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' must be a tuple of ints, not int")
    shape = size_argument((size,), None, "full")
    if isinstance(fill_value, Tensor):
        category = fill_value.dtype.category
    else:
        fill_value = number_argument(fill_value, "full", "fill_value")
        category = dtypes.number_dtype(fill_value).category
    target = target_dtype(dtype, out, default_for(category), "full")
    if isinstance(fill_value, Tensor):
        made = filled_with(core.empty(shape, target.numpy), fill_value, "full")
        return finished(made, "full", requires_grad, out)
    return finished(_full_array(shape, fill_value, target, "full"), "full", requires_grad, out)


def _full_array(shape: tuple[int, ...], value: Any, dtype: dtypes.dtype, name: str) -> np.ndarray:
    if type(value) is int and value == 0:
        return np.zeros(shape, dtype.numpy)
    array = core.empty(shape, dtype.numpy)
    if type(value) is int and value == 1:
        array.fill(1)
    else:
        array.fill(number_array(value, dtype, name)[()])
    return array


def filled_with(like: np.ndarray | Tensor, value: Tensor, name: str) -> Tensor:
    """A tensor like another one, filled with the value of a tensor without dimensions.

    Raises:
        RuntimeError: if `value` has dimensions.
    """
    if value.ndim:
        raise RuntimeError(
            f"{name}(): the value must be a number or a tensor without dimensions, got shape "
            f"{list(value.shape)}"
        )
    target = like if isinstance(like, Tensor) else core.from_array(like)
    return fill_op(target, convert(core.detach(value), target.dtype))


# --- filled like another tensor -------------------------------------------------------------------


def _filled_kernel(x: np.ndarray, shape: Any, value: Any, dtype: dtypes.dtype) -> np.ndarray:
    if shape is None:
        return np.full_like(x, value, dtype=dtype.numpy)
    return np.full(shape, value, dtype=dtype.numpy)


def _batch_filled(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    shape, value, dtype = params
    if shape is None:
        return p(values[0], None, value, dtype), bdims[0]
    return p(values[0], (values[0].shape[bdims[0]], *shape), value, dtype), 0


# A tensor made like a batched one is batched too, so that it can take batched values in place.
filled_like = constant(
    "full_like", _filled_kernel, params=("shape", "value", "dtype"), batch=_batch_filled
)


def _like(
    name: str,
    x: Tensor,
    shape: tuple[int, ...] | None,
    value: Any,
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    if shape is None:
        made = core.filled_like_plain(x, value, dtype, (layout, device), requires_grad)
        if made is not None:
            return made
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    check_placement(name, device, layout)
    target = x.dtype if dtype is None else dtype_argument(dtype, name)
    if isinstance(value, Tensor):
        base: Any = filled_like(x, shape, 0, target)
        return finished(filled_with(base, value, name), name, requires_grad)
    if not x.is_box and (shape is not None or x.is_contiguous()):
        wanted = tuple(x.shape) if shape is None else shape
        return finished(_full_array(wanted, value, target, name), name, requires_grad)
    number = number_array(value, target, name)[()]
    return finished(filled_like(x, shape, number, target), name, requires_grad)


@public(method=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Zeros in the shape and (unless given) the dtype of a tensor.

    >>> import tensorplay as tp
    >>> tp.zeros_like(tp.tensor([1, 2]))
    tensor([0, 0])
    """
    return _like("zeros_like", input, None, 0, dtype, layout, device, requires_grad)


@public(method=False)
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Ones in the shape and (unless given) the dtype of a tensor."""
    return _like("ones_like", input, None, 1, dtype, layout, device, requires_grad)


@public(method=False)
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor in the shape and (unless given) the dtype of another; its elements are arbitrary."""
    return _like("empty_like", input, None, 0, dtype, layout, device, requires_grad)


@public(method=False)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of one value in the shape and (unless given) the dtype of another."""
    return _like("full_like", input, None, fill_value, dtype, layout, device, requires_grad)


def _new_filled(name: str, value: Any, doc: str) -> None:
    def new(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Tensor:
        shape = size_argument(sizes, size, name)
        return _like(name, self, shape, value, dtype, layout, device, requires_grad)

    new.__name__ = new.__qualname__ = name
    new.__doc__ = doc
    method(name)(new)


_new_filled("new_zeros", 0, "Zeros of the given size, by default in this tensor's dtype.")
_new_filled("new_ones", 1, "Ones of the given size, by default in this tensor's dtype.")
_new_filled("new_empty", 0, "A tensor of the given size, by default in this tensor's dtype.")


@method()
def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the given size and value, by default in this tensor's dtype."""
    shape = size_argument((size,), None, "new_full")
    return _like("new_full", self, shape, fill_value, dtype, layout, device, requires_grad)
