"""Operators that change part of a tensor, as functions and in place.

`scatter`, `index_put` and their kin copy the tensor and write a part of the copy. In place, when
nothing needs to be recorded, only that part is touched; else the function's result is assigned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Operation, Tensor
from tensorplay.ops.kinds import PUBLIC, install_method, publish


def share_memory(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays may overlap."""
    if x.base is None and y.base is None:
        return x is y
    return np.may_share_memory(x, y)


def writable_array(x: Tensor, name: str) -> np.ndarray:
    """The memory of a plain tensor, to be written to.

    Raises:
        RuntimeError: if it is read-only, or elements share memory (an expanded tensor).
    """
    core.about_to_write(x, name)
    array = core.array_of(x)
    flags = array.flags
    if not flags.writeable:
        raise RuntimeError(f"{name}(): the tensor is over a read-only array; use .clone()")
    if not flags.c_contiguous and any(
        stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape, strict=True)
    ):
        raise RuntimeError(
            f"{name}(): more than one element of the written-to tensor refers to a single memory "
            "location (it was expanded); .clone() the tensor first"
        )
    return array


#: What a prepared change is: called as `op(*inputs, *params)`; inputs[0] is the tensor to change.
Prepared = tuple[Any, tuple[Any, ...], tuple[Any, ...]]


def changing(prepare: Callable[..., Prepared]) -> Any:
    """Decorator of the public signature of an operator that changes part of its first argument.

    The decorated function checks its arguments and returns (op, inputs, params); inputs[0] is the
    tensor to change (seen as a vector when it has no dims). An op with an attribute `into` can be
    applied in memory: `op.into(array, *other arrays, *params)`; its rules do not need the tensor.
    Publishes `name` and `name_`.
    """
    name, inplace_name = prepare.__name__, prepare.__name__ + "_"

    @functools.wraps(prepare)
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        op, inputs, params = prepare(input, *args, **kwargs)
        result: Tensor = op(*inputs, *params)
        return result if result.ndim == input.ndim else result.reshape(tuple(input.shape))

    @functools.wraps(prepare)
    def changed(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        op, inputs, params = prepare(self, *args, **kwargs)
        into = getattr(op, "into", None)
        if into is not None and all(map(core.is_plain, inputs)):
            array = writable_array(inputs[0], inplace_name)
            others = [core.array_of(x) for x in inputs[1:]]
            if not any(share_memory(array, x) for x in others):
                into(array, *others, *params)
                core.bump_version(self)
                return self
        core.check_inplace(self, inplace_name)
        source = core.alias_with_history(self)
        if into is None:  # the rules may need what is about to be overwritten
            source = source.clone()
        return core.assign(self, function(source, *args, **kwargs), inplace_name)

    changed.__name__ = changed.__qualname__ = inplace_name
    changed.__doc__ = f"In-place form of `{name}`."
    made = Operation(function, name)
    publish(made, name)
    install_method(inplace_name, changed)
    PUBLIC["", inplace_name] = changed
    return made
