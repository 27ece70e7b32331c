"""Ready-made hooks that keep saved tensors elsewhere: in other memory, or on disk."""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._saved import saved_tensors_hooks


class save_on_cpu(saved_tensors_hooks):
    """Context manager of PyTorch that keeps saved tensors in the memory of the CPU.

    Here they always are, so they stay as they are: nothing is copied, unless `pin_memory` asks for
    a copy of their own. Changes in place are noticed as usual.

    >>> import tensorplay as tp
    >>> x = tp.ones(3, requires_grad=True)
    >>> with tp.autograd.graph.save_on_cpu():
    ...     y = x.exp().sum()
    >>> y.backward()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(x: Tensor) -> Any:
            kept = x.clone() if pin_memory else x
            return kept, kept._version

        def unpack(packed: Any) -> Tensor:
            kept, version = packed
            if kept._version != version:
                raise RuntimeError(
                    "save_on_cpu(): a tensor needed for the backward pass was changed by an "
                    f"in-place operation: {kept.dtype} of shape {list(kept.shape)} is at version "
                    f"{kept._version}, expected version {version}; .clone() it first"
                )
            return kept

        super().__init__(pack, unpack)


class _File:
    """An array in a file of its own, which goes away with this object."""

    def __init__(self, array: np.ndarray, folder: str) -> None:
        handle, self.path = tempfile.mkstemp(suffix=".saved", dir=folder)
        self._finalizer = weakref.finalize(self, _remove, self.path)
        self.dtype = array.dtype
        self.shape = array.shape
        with os.fdopen(handle, "wb") as file:
            np.ascontiguousarray(array).tofile(file)

    def load(self) -> np.ndarray:
        """The array, read from the file as it is used; changes of it are not written back."""
        flat = np.memmap(self.path, dtype=np.uint8, mode="c")
        return np.asarray(flat).view(self.dtype).reshape(self.shape)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


class save_to_disk(saved_tensors_hooks):
    """Context manager that keeps large saved tensors in memory-mapped files until they are needed.

    Args:
        folder: where the files go; it is made if it does not exist. Default: the system's folder
            for temporary files. A file is deleted as soon as the graph lets go of the tensor.
        min_bytes: smaller tensors, and leaves, which live anyway, stay in memory.

    Raises:
        ValueError: if `min_bytes` is negative.

    >>> import tempfile
    >>> import tensorplay as tp
    >>> x = tp.ones(1000, requires_grad=True)
    >>> with tp.autograd.graph.save_to_disk(tempfile.mkdtemp(), min_bytes=1000):
    ...     y = x.exp().exp().sum()
    >>> y.backward()
    """

    def __init__(self, folder: Any = None, min_bytes: int = 1 << 20) -> None:
        if min_bytes < 0:
            raise ValueError(f"save_to_disk(): min_bytes must not be negative, got {min_bytes}")
        self.folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self.min_bytes = max(int(min_bytes), 1)
        # One file for an array that several operations save.
        self._written: dict[int, tuple[Any, Any, Any]] = {}
        os.makedirs(self.folder, exist_ok=True)
        super().__init__(self._pack, self._unpack)

    def _pack(self, x: Tensor) -> Any:
        array = core.array_of(x)
        if x.requires_grad or array.nbytes < self.min_bytes:
            return x, x._version
        known, version, file = self._written.get(id(array), (None, None, None))
        found = file() if known is not None and known() is array else None
        if found is None or version != x._version:
            found = _File(array, self.folder)
            self._written[id(array)] = (weakref.ref(array), x._version, weakref.ref(found))
        return found, None

    @staticmethod
    def _unpack(packed: Any) -> Tensor:
        kept, version = packed
        if isinstance(kept, _File):
            return core.from_array(kept.load())
        if kept._version != version:
            raise RuntimeError(
                "save_to_disk(): a tensor needed for the backward pass was changed by an in-place "
                f"operation: {kept.dtype} of shape {list(kept.shape)} is at version "
                f"{kept._version}, expected version {version}; .clone() it first"
            )
        return kept
