"""Tensors to and from NumPy, DLPack, buffers, pickles and copies."""

from __future__ import annotations

import copy as copy_module
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.devices import check_placement
from tensorplay.ops.creation import finished
from tensorplay.ops.data import array_from_data, cast_array, dtype_argument, native
from tensorplay.ops.kinds import install_method, method, public
from tensorplay.ops.structure import convert

# --- NumPy ----------------------------------------------------------------------------------------


@public(method=False)
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor over the memory of an array: changes of either are seen in both.

    Any strides will do, negative ones included.

    Raises:
        TypeError: for anything but an ndarray of a dtype that tensors have.
        ValueError: for an array in foreign byte order.

    >>> import numpy as np, tensorplay as tp
    >>> array = np.zeros(2)
    >>> tp.from_numpy(array).add_(1)
    tensor([1., 1.], dtype=tensorplay.float64)
    >>> array
    array([1., 1.])
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy(): expected np.ndarray (got {type(ndarray).__name__})")
    array, _ = native(ndarray, "from_numpy")
    if not ndarray.dtype.isnative:
        raise ValueError(
            "from_numpy(): the array is in foreign byte order, so its memory cannot be shared; use "
            "tensorplay.tensor to copy it"
        )
    return finished(array, "from_numpy")


def _check_nothing_is_lost(x: Tensor, name: str, error: type[Exception], call: str) -> None:
    if x.requires_grad:
        raise error(
            f"{name}(): this tensor requires grad, and what is done with an array is not recorded; "
            f"use x.detach().{call}"
        )
    while x.is_box:
        level = core.level_of(x)
        if level is not None and level.kind == "interpret":
            raise error(
                f"{name}(): here a tensor stands for more than its values, and NumPy would lose "
                "the rest; use tensor operations, or put the NumPy code into an autograd.Function"
            )
        x = core.unboxed(x)


@method()
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """An array over the memory of this tensor.

    force: also where the tensor requires grad.

    Raises:
        RuntimeError: if the tensor requires grad; inside vmap.

    >>> import tensorplay as tp
    >>> tp.tensor([1., 2.]).numpy()
    array([1., 2.], dtype=float32)
    """
    if not force:
        _check_nothing_is_lost(self, "numpy", RuntimeError, "numpy()")
    return core.array_of(self, "numpy()")


@method("__array__")
def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    _check_nothing_is_lost(self, "__array__", RuntimeError, "numpy()")
    return np.array(core.array_of(self, "an array"), dtype=dtype, copy=copy)


@method("__array_wrap__")
def _array_wrap(
    self: Tensor, array: np.ndarray, context: Any = None, return_scalar: bool = False
) -> Tensor:
    # NumPy's own functions applied to a tensor give a tensor.
    return finished(np.asarray(array), "__array_wrap__")


# Higher than an array's, so that `array * tensor` is left to the tensor.
install_method("__array_priority__", 1000)


@method()
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers; a number for a tensor without dimensions.

    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    array = core.array_of(self, "tolist()")
    if self.dtype is dtypes.bfloat16:
        array = array.astype(np.float32)
    return array.tolist()


@public(method=False)
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`obj` as a tensor: memory is shared where possible, always (copy=False) or never (copy=True).

    obj: a tensor, an array, an object with DLPack or buffer protocol, or data as for `tensor`.

    Raises:
        ValueError: if copy=False and memory cannot be shared.
        RuntimeError: for requires_grad with an integer or bool dtype.
    """
    check_placement("asarray", device)
    target = None if dtype is None else dtype_argument(dtype, "asarray")
    if isinstance(obj, Tensor):
        if copy is False and target not in (None, obj.dtype):
            raise ValueError("asarray(): copy=False, but another dtype needs a copy")
        x = convert(obj, target or obj.dtype, bool(copy))
        if requires_grad and not x.requires_grad:
            return finished(core.detach(x), "asarray", True)
        return x if requires_grad else core.detach(x) if x.requires_grad else x
    array = _shared_array(obj)
    if array is None:
        if copy is False:
            raise ValueError(
                f"asarray(): copy=False, but {type(obj).__name__} has no memory to share"
            )
        return finished(array_from_data(obj, target, "asarray"), "asarray", requires_grad)
    if target is not None and array.dtype != target.numpy:
        if copy is False:
            raise ValueError("asarray(): copy=False, but another dtype needs a copy")
        array = cast_array(array, target)
    elif copy:
        array = array.copy()
    return finished(array, "asarray", requires_grad)


def _shared_array(obj: Any) -> np.ndarray | None:
    if isinstance(obj, np.ndarray):
        return native(obj, "asarray")[0]
    if hasattr(obj, "__dlpack__"):
        return np.from_dlpack(obj)
    if isinstance(obj, (bytes, bytearray, memoryview)) or hasattr(obj, "typecode"):
        return native(np.asarray(memoryview(obj)), "asarray")[0]
    return None


@public(method=False)
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor of one dimension over the memory of an object with the buffer protocol.

    count: how many elements; all by default. offset: bytes to skip at the start.

    Raises:
        ValueError: if the buffer is empty, too small, or no multiple of the element size.

    >>> import tensorplay as tp
    >>> tp.frombuffer(bytearray([1, 2, 3]), dtype=tp.uint8, offset=1)
    tensor([2, 3], dtype=tensorplay.uint8)
    """
    target = dtype_argument(dtype, "frombuffer")
    if count == 0 or memoryview(buffer).nbytes == 0:
        raise ValueError("frombuffer(): both the buffer length and count must not be 0")
    try:
        array = np.frombuffer(buffer, dtype=target.numpy, count=count, offset=offset)
    except ValueError as error:
        raise ValueError(f"frombuffer(): {error}") from None
    return finished(array, "frombuffer", requires_grad)


# --- DLPack ---------------------------------------------------------------------------------------


@method("__dlpack__")
def _dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    _check_nothing_is_lost(self, "__dlpack__", BufferError, "__dlpack__()")
    array = core.array_of(self, "__dlpack__()")
    if self.dtype is dtypes.bfloat16:
        raise BufferError("__dlpack__(): NumPy exports no bfloat16; convert it with .float()")
    return array.__dlpack__(
        stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )  # fmt: skip


@method("__dlpack_device__")
def _dlpack_device(self: Tensor) -> tuple[int, int]:
    return (1, 0)  # kDLCPU


class _Capsule:
    """An object with the DLPack protocol around a bare capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@public(method=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object of another library, through DLPack.

    ext_tensor: an object with `__dlpack__`, or a capsule. copy: True for memory of its own, False
    to refuse a copy.

    Raises:
        BufferError: if the memory cannot be taken over.

    >>> import numpy as np, tensorplay as tp
    >>> tp.from_dlpack(np.arange(3))
    tensor([0, 1, 2])
    """
    check_placement("from_dlpack", device)
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    elif not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(
            f"from_dlpack(): {type(ext_tensor).__name__} is neither a DLPack capsule nor an object "
            "with __dlpack__"
        )
    return finished(np.from_dlpack(ext_tensor, copy=copy), "from_dlpack")


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor's memory; `from_dlpack` takes the tensor itself as well."""
    return tensor.__dlpack__()


# --- copies and pickles ---------------------------------------------------------------------------


install_method("__dict__", property(core.attributes_of, doc="Attributes that users set."))


def _remade(kind: type, array: np.ndarray, requires_grad: bool, state: dict[str, Any]) -> Tensor:
    made: Any = Tensor.__new__(kind)
    core.set_data(made, core.from_array(array))
    made.requires_grad = requires_grad
    made.__dict__.update(state)
    return made


@method("__reduce_ex__")
def _reduce_ex(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    array = core.array_of(self, "a pickle")
    return _remade, (type(self), array, self.requires_grad, dict(self.__dict__))


@method("__copy__")
def _copy(self: Tensor) -> Tensor:
    """Another tensor over the same memory: a leaf of its own, where this is one."""
    if self.is_box or not self.is_leaf:
        return core.alias_with_history(self)
    made = _remade(type(self), core.array_of(self), False, self.__dict__)
    core.share_version(made, self)
    made.requires_grad = self.requires_grad
    return made


@method("__deepcopy__")
def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "__deepcopy__(): only leaf tensors, which no operation made, can be deep-copied; use "
            "x.detach().clone(), or x.clone() for a copy inside the graph"
        )
    if self.is_box:
        made = core.detach(self).clone()
    else:
        made = _remade(type(self), core.array_of(self).copy(order="K"), self.requires_grad, {})
    memo[id(self)] = made
    if self.grad is not None:
        made.grad = copy_module.deepcopy(self.grad, memo)
    made.__dict__.update(copy_module.deepcopy(self.__dict__, memo))
    return made
