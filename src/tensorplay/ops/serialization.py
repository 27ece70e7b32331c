"""Saving objects with tensors in files, and loading them without running code from the file."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterator
from typing import Any

from tensorplay.ops.kinds import public

#: What a file may name when only weights are loaded: module -> names.
_SAFE = {
    "builtins": {"complex", "set", "frozenset", "bytearray", "slice", "range"},
    "collections": {"OrderedDict", "defaultdict", "Counter"},
    "_codecs": {"encode"},
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "ml_dtypes": {"bfloat16"},
    "tensorplay.ops.interchange": {"_remade"},
    "tensorplay._core.core": {"Tensor", "Size"},
    "tensorplay.nn.parameter": {"Parameter", "Buffer", "_rebuild"},
    "tensorplay.base.dtypes": None,
    "tensorplay.base.devices": None,
    "tensorplay.base.random": {"_restore"},
    "tensorplay.ops.randoms": {"Generator"},
}


class _WeightsUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        allowed = _SAFE.get(module, set())
        if allowed is not None and name not in allowed:
            raise pickle.UnpicklingError(
                f"load(): the file contains {module}.{name}, which is neither a tensor nor a plain "
                "container; give weights_only=False if the file comes from a source you trust"
            )
        if "." in name:
            raise pickle.UnpicklingError(f"load(): the file names an attribute: {module}.{name}")
        return super().find_class(module, name)


@contextlib.contextmanager
def _opened(file: Any, mode: str) -> Iterator[Any]:
    if isinstance(file, (str, os.PathLike)):
        with open(file, mode) as stream:
            yield stream
    else:
        yield file


@public(method=False)
def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 5) -> None:
    """Write an object, such as a tensor or a `state_dict`, to a file.

    f: a path, or a file that is open for writing bytes. The file is a pickle, in which tensors are
    NumPy arrays (and not a file that PyTorch reads).

    >>> import io, tensorplay as tp
    >>> buffer = io.BytesIO()
    >>> tp.save({'weight': tp.ones(2)}, buffer)
    >>> _ = buffer.seek(0)
    >>> tp.load(buffer)
    {'weight': tensor([1., 1.])}
    """
    with _opened(f, "wb") as stream:
        pickle_module.dump(obj, stream, protocol=pickle_protocol)


@public(method=False)
def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = pickle,
    *,
    weights_only: bool = True,
) -> Any:
    """Read an object that `save` wrote.

    f: a path, or a file that is open for reading bytes. map_location: accepted for compatibility;
    there is only the CPU. weights_only: read tensors and plain containers only, which is safe for
    files from anywhere; False reads any pickle, which can run any code.

    Raises:
        pickle.UnpicklingError: for anything else in the file, with weights_only.
    """
    with _opened(f, "rb") as stream:
        if weights_only:
            return _WeightsUnpickler(stream).load()
        return pickle_module.load(stream)
