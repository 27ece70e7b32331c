"""Which results share memory with which arguments, and can be written: as in PyTorch."""

from __future__ import annotations

import warnings

import pytest
import torch

import tensorplay as tp
from tensorplay.base import dtypes
from tests.optable import ROWS
from tests.parity import bridge
from tests.parity.known_differences import SHARING
from tests.parity.rows import tensors_of, their_function

ROWS_TO_COMPARE = [
    pytest.param(op, id=f"{op.family}/{op.name}")
    for op in ROWS.values()
    if not op.random and "parity" not in op.skip and their_function(op) is not None
]


def pairs(function, args, kwargs, tensors, library):
    """For every result: which arguments a change of it changes, and whether it can be written."""
    with library.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outs = bridge.tensors(function(*args, **kwargs))
        found = []
        for out in outs:
            if not out.numel():
                continue
            before = [x._version for x in tensors]
            try:
                out.zero_()
            except RuntimeError as error:
                found.append(("not written", "single memory" in str(error)))
                continue
            found.append([x._version != v for x, v in zip(tensors, before, strict=True)])
        return found


@pytest.mark.parametrize("op", ROWS_TO_COMPARE)
def test_results_that_are_views(op):
    wrong = []
    for i, one in enumerate(op.make(dtypes.float64)):
        args, kwargs = one.mapped(bridge.to_theirs)
        try:
            expected = pairs(
                their_function(op), tensors_of(args), tensors_of(kwargs),
                bridge.tensors((args, kwargs)), torch,
            )  # fmt: skip
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            continue
        actual = pairs(op.call, one.args, one.kwargs, one.tensors(), tp)
        if actual != expected:
            wrong.append(f"sample {i} {one!r}: {actual}, PyTorch {expected}")
    assert bool(wrong) == (op.name in SHARING), "\n".join(wrong) or "agrees now: not to be listed"
