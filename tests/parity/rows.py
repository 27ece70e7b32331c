"""Rows of the operator table as calls in both libraries."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tensorplay.base import dtypes
from tests.optable.schema import Op, Sample
from tests.parity.aspects import Case
from tests.parity.bridge import substitute, tensors, their_dtype, to_theirs


@functools.cache
def _found(path: str) -> Any:
    for start in (torch, torch.Tensor, torch.ops.aten):
        found: Any = start
        for part in path.split("."):
            found = getattr(found, part, None)
            if found is None:
                break
        if found is not None:
            return found
    return None


def their_function(op: Op) -> Callable[..., Any] | None:
    """PyTorch's function for a row, or None: it has none, or the row says not to compare."""
    if op.torch is None or callable(op.torch):
        return op.torch
    if op.torch:
        found = _found(op.torch)
        if found is None:
            raise LookupError(f"row '{op.name}': torch has no '{op.torch}'")
        return found
    return None if op.function else _found(op.path)


def tensors_of(value: Any) -> Any:
    """Our dtypes as PyTorch's, in nested arguments."""
    if isinstance(value, dtypes.dtype):
        return their_dtype(value)
    if isinstance(value, (tuple, list)):
        return type(value)(tensors_of(v) for v in value)
    if isinstance(value, dict):
        return {k: tensors_of(v) for k, v in value.items()}
    return value


def case_of(op: Op, one: Sample, seed: int) -> Case:
    """A sample as a call in both libraries."""
    theirs = their_function(op)
    converted = one.mapped(to_theirs)
    inputs = tensors(converted)
    given = tensors_of(converted)

    def call(function: Any, arguments: Any) -> Any:
        args, kwargs = arguments
        return function(*args, **kwargs)

    return Case(
        ours=lambda *xs: call(op.call, substitute((one.args, one.kwargs), xs)),
        theirs=lambda *xs: call(theirs, substitute(given, xs)),
        inputs=inputs,
        diff=one.differentiable(),
        pick_ours=op.results,
        pick_theirs=op.results,
        seed=seed,
        rtol=op.rtol,
        atol=op.atol,
    )
