"""Between tensorplay and PyTorch: tensors, dtypes and results of both, and their comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

import tensorplay as tp
from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes

TOLERANCE = {
    "float64": (1e-7, 1e-7), "complex128": (1e-7, 1e-7), "float32": (1e-4, 1e-4),
    "complex64": (1e-4, 1e-4), "float16": (2e-2, 2e-2), "bfloat16": (6e-2, 6e-2),
}  # fmt: skip


class Mismatch(AssertionError):
    """The two libraries disagree."""


def our_dtype(dtype: torch.dtype) -> Any:
    """Our dtype of the same name."""
    name = str(dtype).removeprefix("torch.")
    return getattr(dtypes, "complex64" if name == "complex32" else name)


def their_dtype(dtype: Any) -> torch.dtype:
    """PyTorch's dtype of the same name."""
    return getattr(torch, dtype.name)


def to_ours(x: torch.Tensor) -> Tensor:
    """A copy with the same elements, dtype, shape and strides (a leaf)."""
    x = x.detach().resolve_conj().resolve_neg()
    if x.dtype == torch.bfloat16:
        return core.from_array(x.float().numpy().astype(ml_dtypes.bfloat16))
    if x.dtype == torch.complex32:
        x = x.to(torch.complex64)
    if not x.numel():
        return core.from_array(np.empty(tuple(x.shape), x.numpy().dtype))
    flat = memory_of(x).numpy().copy()
    strides = tuple(s * x.itemsize for s in x.stride())
    offset = x.storage_offset() * x.itemsize
    return core.from_array(np.ndarray(tuple(x.shape), flat.dtype, flat, offset, strides))


def memory_of(x: torch.Tensor) -> torch.Tensor:
    """All the elements of the memory that x lies in."""
    return torch.as_strided(x, (x.untyped_storage().nbytes() // x.itemsize,), (1,), 0)


def copy_of(x: torch.Tensor) -> torch.Tensor:
    """A leaf with memory of its own, in which it lies as x does in its."""
    x = x.detach().resolve_conj().resolve_neg()
    return torch.as_strided(memory_of(x).clone(), x.shape, x.stride(), x.storage_offset())


def to_theirs(x: Tensor) -> torch.Tensor:
    """A copy with the same elements, dtype, shape and (where PyTorch has them) strides."""
    array = core.array_of(x)
    if x.dtype is dtypes.bfloat16:
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    if any(s < 0 for s in array.strides):
        return torch.from_numpy(array.copy())
    if 0 in array.strides and array.size:
        small = array[tuple(slice(0, 1) if s == 0 else slice(None) for s in array.strides)]
        return torch.from_numpy(small.copy()).expand(array.shape)
    return torch.from_numpy(np.copy(array, order="K"))


def numbers(x: Any) -> np.ndarray:
    """The elements of a tensor of either library, in a dtype that NumPy computes with."""
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj().resolve_neg()
        if x.layout != torch.strided:
            x = x.to_dense()
        wider = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
        # Forced: also of a zero that has no memory.
        return x.to(wider.get(x.dtype, x.dtype)).numpy(force=True)
    array = np.asarray(core.array_of(x))
    return array.astype(np.float32) if x.dtype is dtypes.bfloat16 else array


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor of either library."""
    return isinstance(x, (Tensor, torch.Tensor))


def leaves(value: Any) -> list[Any]:
    """The tensors and other values in a result, in order, whatever its containers are called."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (tuple, list)) and not isinstance(value, (torch.Size, tp_size())):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def tp_size() -> type:
    """Our Size type."""
    return core.Size


def tensors(value: Any) -> list[Any]:
    """The tensors in a result, in order."""
    return [leaf for leaf in leaves(value) if is_tensor(leaf)]


def differentiable(x: Any) -> bool:
    """Whether gradients are defined for x's dtype."""
    return x.dtype.is_floating_point or x.dtype.is_complex


def dtype_name(x: Any) -> str:
    """'float32' for a tensor of either library."""
    name = x.dtype.name if isinstance(x, Tensor) else str(x.dtype).removeprefix("torch.")
    return "complex64" if name == "complex32" else name


def compare(
    ours: Any,
    theirs: Any,
    what: str = "result",
    rtol: float | None = None,
    atol: float | None = None,
    dtype: bool = True,
) -> None:
    """Check two tensors (None counts as zeros).

    Raises:
        Mismatch: if shape, dtype or elements differ.
    """
    if ours is None and theirs is None:
        return
    if ours is None or theirs is None:
        there = numbers(theirs if ours is None else ours)
        size = float(np.max(np.abs(there), initial=0)) if there.dtype.kind in "fc" else 0.0
        if size > 1e-7:
            side = "ours is None" if ours is None else "theirs is None"
            raise Mismatch(f"{what}: {side}, the other has elements up to {size:.3g}")
        return
    if tuple(ours.shape) != tuple(theirs.shape):
        raise Mismatch(f"{what}: shape {tuple(ours.shape)}, PyTorch has {tuple(theirs.shape)}")
    name = dtype_name(theirs)
    if dtype and dtype_name(ours) != name:
        raise Mismatch(f"{what}: dtype {dtype_name(ours)}, PyTorch has {name}")
    relative, absolute = TOLERANCE.get(name, (0, 0))
    compare_numbers(
        numbers(ours), numbers(theirs), what, rtol or relative, absolute if atol is None else atol
    )


def compare_numbers(a: np.ndarray, b: np.ndarray, what: str, rtol: float, atol: float) -> None:
    """Check arrays element by element, NaN and infinities included; atol is scaled by the data."""
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        if not np.array_equal(a, b):
            raise Mismatch(f"{what}: {shown(a)}, PyTorch has {shown(b)}")
        return
    with np.errstate(all="ignore"):
        finite = np.isfinite(b)
        scale = max(1.0, float(np.max(np.abs(b[finite]), initial=0.0)))
        error = np.abs(np.where(finite, a - b, 0))
        bad = finite & ~(error <= atol * min(scale, 1e3) + rtol * np.abs(np.where(finite, b, 0)))
        bad |= ~finite & ~same_special(a, b)
    if bad.any():
        first = tuple(int(i[0]) for i in np.nonzero(bad)) if a.ndim else ()
        raise Mismatch(
            f"{what}: {int(bad.sum())} of {a.size} elements differ, at {first} {a[first]!s}, "
            f"PyTorch has {b[first]!s}"
        )


def same_special(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where both are NaN or the same infinity, part by part."""
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        a, b = np.asarray(a, complex), np.asarray(b, complex)
        # Which part of an undefined complex number is NaN is not defined.
        return (
            (np.isnan(a) & np.isnan(b))
            | (np.isinf(a) & np.isinf(b))
            | (~np.isfinite(a) & ~np.isfinite(b))
        )
    return (np.isnan(a) & np.isnan(b)) | (a == b)


def shown(a: np.ndarray) -> str:
    """An array in few words."""
    text = np.array2string(a, threshold=8, max_line_width=10**6).replace("\n", "")
    return text if len(text) < 80 else text[:77] + "..."


# --- translating arguments ------------------------------------------------------------------------

#: Keyword arguments that say where a tensor lives, which here is always the CPU's dense memory.
PLACES = {"device", "layout", "pin_memory", "non_blocking"}


def translate(value: Any, tensor: Callable[[torch.Tensor], Any] = to_ours) -> Any:
    """PyTorch's arguments as ours."""
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(translate(v, tensor) for v in value)
    if isinstance(value, (tuple, list)):
        return type(value)(translate(v, tensor) for v in value)
    if isinstance(value, dict):
        return {k: translate(v, tensor) for k, v in value.items() if k not in PLACES}
    if isinstance(value, slice):
        return slice(*(translate(v, tensor) for v in (value.start, value.stop, value.step)))
    if isinstance(value, torch.dtype):
        return our_dtype(value)
    if isinstance(value, (torch.device, torch.layout)):
        return None
    if isinstance(value, torch.memory_format):
        return getattr(tp, str(value).removeprefix("torch."), None)
    if isinstance(value, torch.nn.PairwiseDistance):
        return tp.nn.PairwiseDistance(value.norm, value.eps, value.keepdim)
    return value


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with every tensor in its tuples, lists and dicts replaced."""
    if is_tensor(value):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(v, function) for v in value))
    if isinstance(value, (tuple, list)) and not isinstance(value, (torch.Size, tp_size())):
        return type(value)(map_tensors(v, function) for v in value)
    if isinstance(value, dict):
        return {k: map_tensors(v, function) for k, v in value.items()}
    if isinstance(value, slice):
        return slice(*(map_tensors(v, function) for v in (value.start, value.stop, value.step)))
    return value


def substitute(value: Any, replacements: Sequence[Any]) -> Any:
    """`value` with its tensors replaced in order."""
    source = iter(replacements)
    return map_tensors(value, lambda _: next(source))
