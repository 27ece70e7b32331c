"""Conversions between dtypes, copies and aliases, and what a tensor says of itself."""

from __future__ import annotations

from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.devices import CPU, check_placement, device, strided
from tensorplay.ops.data import dtype_argument
from tensorplay.ops.kinds import install_method, method, public, publish
from tensorplay.ops.structure import clone as clone_op
from tensorplay.ops.structure import convert

# --- dtype and device -----------------------------------------------------------------------------


@method()
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """This tensor in another dtype; itself when nothing changes, unless `copy=True`.

    Call forms, as in PyTorch: `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)` for the
    dtype of another tensor; each with `non_blocking=False, copy=False, memory_format=None`.

    Raises:
        RuntimeError: for a device other than the CPU.
        TypeError: for any other call.

    >>> import tensorplay as tp
    >>> tp.tensor([1, 2]).to(tp.float64)
    tensor([1., 2.], dtype=tensorplay.float64)
    """
    dtype, copy = _to_arguments(args, kwargs)
    return convert(self, dtype or self.dtype, copy)


def _to_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
    names: tuple[str, ...] = ("device", "dtype", "non_blocking", "copy")
    if "other" in kwargs or (args and isinstance(args[0], Tensor)):
        names = ("other", "non_blocking", "copy")
    elif args and args[0] is not None and not isinstance(args[0], (str, int, device)):
        names = ("dtype", "non_blocking", "copy")
    elif args and isinstance(args[0], int):
        raise RuntimeError(f"to(): only the device 'cpu' is available, got the index {args[0]}")
    if len(args) > len(names):
        raise TypeError(f"to(): takes at most {len(names)} positional arguments, got {len(args)}")
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name in given or name not in (*names, "memory_format"):
            raise TypeError(f"to(): unexpected or repeated argument '{name}'")
        given[name] = value
    for name in ("non_blocking", "copy"):
        if not isinstance(given.get(name, False), bool):
            raise TypeError(
                f"to(): argument '{name}' must be bool, not {type(given[name]).__name__}"
            )
    check_placement("to", given.get("device"))
    dtype = given.get("dtype")
    if "other" in given:
        dtype = given["other"].dtype
    if dtype is not None:
        dtype = dtype_argument(dtype, "to")
    return dtype, bool(given.get("copy", False))


_TYPE_NAMES = {
    "Bool": dtypes.bool, "Byte": dtypes.uint8, "Char": dtypes.int8, "Short": dtypes.int16,
    "Int": dtypes.int32, "Long": dtypes.int64, "UInt16": dtypes.uint16, "UInt32": dtypes.uint32,
    "UInt64": dtypes.uint64, "Half": dtypes.float16, "BFloat16": dtypes.bfloat16,
    "Float": dtypes.float32, "Double": dtypes.float64, "ComplexFloat": dtypes.complex64,
    "ComplexDouble": dtypes.complex128,
}  # fmt: skip


@method("type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, such as 'tensorplay.FloatTensor', or a conversion.

    dtype: a dtype or such a name.

    Raises:
        ValueError: for an unknown name.
    """
    if dtype is None:
        for name, each in _TYPE_NAMES.items():
            if each is self.dtype:
                return f"tensorplay.{name}Tensor"
    if isinstance(dtype, str):
        name = dtype.removeprefix("tensorplay.").removesuffix("Tensor")
        if name not in _TYPE_NAMES:
            raise ValueError(f"type(): invalid type: '{dtype}'")
        return convert(self, _TYPE_NAMES[name])
    return convert(self, dtype_argument(dtype, "type"))


@method()
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype of `other`."""
    return convert(self, other.dtype)


@method()
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """This tensor itself: every tensor is on the CPU."""
    return self


# --- what a tensor says of itself -----------------------------------------------------------------


@public()
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating point one."""
    return input.dtype.is_floating_point


@public()
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return input.dtype.is_complex


@public()
def is_signed(input: Tensor) -> bool:
    """Whether the dtype can hold negative numbers."""
    return input.dtype.is_signed


@method()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input.shape == other.shape


@public()
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made under `inference_mode`."""
    return core.is_inference(input)


@public(method=False)
def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


@public(method=False)
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of a sum of two tensors or numbers.

    >>> import tensorplay as tp
    >>> tp.result_type(tp.tensor([1, 2]), 1.0)
    tensorplay.float32
    """
    return core.result_dtype(
        [x if isinstance(x, Tensor) else core.weak_tensor(x) for x in (tensor1, tensor2)]
    )


@method()
def element_size(self: Tensor) -> int:
    """The number of bytes of an element."""
    return self.dtype.itemsize


def _constant(name: str, value: Any, doc: str) -> None:
    install_method(name, property(lambda self: value, doc=doc))


_constant("device", CPU, "Where the memory is: the CPU.")
_constant("layout", strided, "How elements are laid out: with a step per dimension.")
_constant("is_cpu", True, "Whether the memory is the CPU's: always.")
for _name in ("is_cuda", "is_meta", "is_sparse"):
    _constant(_name, False, "Always False: there is no such device or layout.")
install_method(
    "itemsize", property(lambda self: self.dtype.itemsize, doc="The number of bytes of an element.")
)
install_method(
    "nbytes",
    property(
        lambda self: self.dtype.itemsize * self.numel(), doc="The number of bytes of all elements."
    ),
)
install_method(
    "output_nr",
    property(lambda self: self.output_number, doc="Which output of its `grad_fn` this tensor is."),
)
publish(core.numel, "numel")
for _function in (
    core.item, core.size, core.dim, core.stride, core.is_contiguous, core.data_ptr,
    core.storage_offset, core.retain_grad,
):  # fmt: skip
    install_method(_function.__name__, _function)
install_method("nelement", core.numel)
install_method("ndimension", core.dim)

# --- copies and aliases ---------------------------------------------------------------------------


@public()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy in memory of its own, at the same place in the graph.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> x.clone()
    tensor([1., 2.], grad_fn=<CloneBackward0>)
    """
    return clone_op(input)


@public()
def detach(input: Tensor) -> Tensor:
    """A tensor over the same memory that is not part of the graph and carries no tangents.

    Changes of either are seen, and counted, in both.

    >>> import tensorplay as tp
    >>> tp.tensor([1.], requires_grad=True).detach()
    tensor([1.])
    """
    return core.detach(input, False)


@public("detach_")
def detach_(input: Tensor) -> Tensor:
    """Take this tensor out of the graph, and its tangents from it.

    Raises:
        RuntimeError: for a view.
    """
    core.forget_history(input)
    return input


def _get_data(self: Tensor) -> Tensor:
    if self.is_box:
        return core.detach(self)
    return core.from_array(core.array_of(self))


def _set_data(self: Tensor, value: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"data: expected a Tensor, not {type(value).__name__}")
    if value.is_box or self.is_box:
        raise RuntimeError("data: cannot be assigned inside vmap or a function transform")
    core.set_data(self, value)


install_method(
    "data",
    property(
        _get_data,
        _set_data,
        doc="The values outside the graph. Changes through it are not noticed by the graph; prefer "
        "detach(), or changes under no_grad().",
    ),
)


@method("requires_grad_")
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Say whether operations on this tensor are recorded; returns the tensor itself.

    Raises:
        RuntimeError: for a tensor of integer or bool dtype, and when a tensor that is not a leaf is
            to stop requiring grad.
    """
    self.requires_grad = requires_grad
    return self
