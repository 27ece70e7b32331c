"""Calls of PyTorch's operator database beyond derivatives, for `test_op_db_calls.py`."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal import common_methods_invocations as database

from tests.parity import bridge
from tests.parity.bridge import Mismatch, is_tensor, leaves, map_tensors, substitute, tensors
from tests.parity.known_differences import KNOWN
from tests.parity.op_db_entries import (
    entry_name,
    our_function,
    spread,
)

#: One of each kind; the derivatives are compared in float64 and complex128.
DTYPES = (
    torch.float32, torch.float16, torch.bfloat16, torch.uint8, torch.int64, torch.bool,
    torch.complex64,
)  # fmt: skip

#: Relative and absolute tolerance: half precision sums in another order, and rounds.
TOLERANCE = {
    "float64": (1e-6, 1e-6), "complex128": (1e-6, 1e-6), "float32": (2e-4, 2e-4),
    "complex64": (2e-4, 2e-4), "float16": (2e-2, 0.15), "bfloat16": (8e-2, 0.5),
}  # fmt: skip


@functools.cache
def every_entry() -> dict[str, Any]:
    """All entries that tensorplay has a function for, differentiable or not."""
    found = {}
    for op in database.op_db:
        if KNOWN.get(entry_name(op), ("",))[0] == ("missing",):
            continue
        try:
            our_function(op)
        except LookupError:
            continue
        found[entry_name(op)] = op
    return found


class Call:
    """One call, repeatable in both libraries on fresh copies of its tensors."""

    def __init__(self, one: Any, **named: Any) -> None:
        self.given = (one.input, tuple(one.args), {**one.kwargs, **named})
        self.translated = bridge.translate(self.given, lambda x: x)
        self.tensors = tensors(self.given)

    def ours(self, function: Callable[..., Any]) -> tuple[Any, Any]:
        """(the arguments, the result) in tensorplay."""
        made = substitute(self.translated, [bridge.to_ours(x) for x in self.tensors])
        return made, function(made[0], *made[1], **made[2])

    def theirs(self, function: Callable[..., Any]) -> tuple[Any, Any]:
        """(the arguments, the result) in PyTorch."""
        made = substitute(self.given, [bridge.copy_of(x) for x in self.tensors])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return made, function(made[0], *made[1], **made[2])

    def __repr__(self) -> str:
        shown = map_tensors(self.given, lambda x: f"{str(x.dtype)[6:]}{list(x.shape)}")
        return str(shown)[:200]


def calls(op: Any, dtype: torch.dtype, limit: int, **named: Any) -> list[Call]:
    """Some of an entry's samples in a dtype, not too large."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = list(itertools.islice(op.sample_inputs("cpu", dtype), 40))
    small = [
        one for one in every
        if sum(x.numel() for x in tensors((one.input, one.args, one.kwargs))) <= 5000
    ]  # fmt: skip
    return [Call(one, **named) for one in spread(small, limit)]


def erroneous(op: Any) -> Iterator[Call]:
    """Calls that PyTorch refuses."""
    if op.error_inputs_func is None:
        return
    torch.manual_seed(0)
    for error in op.error_inputs("cpu"):
        one = error.sample_input
        given = tensors((one.input, one.args, one.kwargs))
        if all(x.device.type == "cpu" and x.ndim <= 64 for x in given):
            yield Call(one)


def compare(ours: Any, theirs: Any, *, elements: bool = True, first: bool = False) -> None:
    """Check that two results agree; elements: not in shape and dtype alone; first: of the first.

    Raises:
        Mismatch: if they do not.
    """
    found, expected = leaves(ours), leaves(theirs)
    if len(found) != len(expected):
        raise Mismatch(f"{len(found)} results, PyTorch has {len(expected)}")
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if not is_tensor(a) or not is_tensor(b):
            if is_tensor(a) != is_tensor(b) or (a != b and a == a):
                raise Mismatch(f"result {i}: {a!r}, PyTorch has {b!r}")
            continue
        if tuple(a.shape) != tuple(b.shape):
            raise Mismatch(f"result {i}: shape {tuple(a.shape)}, PyTorch has {tuple(b.shape)}")
        name = bridge.dtype_name(b)
        if bridge.dtype_name(a) != name:
            raise Mismatch(f"result {i}: dtype {a.dtype}, PyTorch has {b.dtype}")
        if elements and not (first and i):
            rtol, atol = TOLERANCE.get(name, (0.0, 0.0))
            bridge.compare_numbers(bridge.numbers(a), bridge.numbers(b), f"result {i}", rtol, atol)
