"""Every row of the operator table against PyTorch: five aspects, and results in other dtypes."""

from __future__ import annotations

import warnings

import pytest
import torch

from tensorplay.base import dtypes
from tests.optable import ROWS
from tests.parity import aspects, bridge
from tests.parity.rows import case_of, tensors_of, their_function

NARROW = (
    dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.complex64, dtypes.int64, dtypes.int32,
    dtypes.uint8, dtypes.bool,
)  # fmt: skip


def cases(aspect, complex_only=False):
    """Rows that PyTorch has too."""
    found = [
        pytest.param(op, id=f"{op.family}/{op.name}")
        for op in ROWS.values()
        if not op.random
        and not {"parity", f"parity_{aspect}"} & set(op.skip)
        and (op.complex or not complex_only)
        and their_function(op) is not None
    ]
    return found or [pytest.param(None, marks=pytest.mark.skip(reason="no row applies"))]


def check(op, aspect, dtype):
    """One aspect on every sample; where PyTorch itself cannot, there is nothing to compare."""
    for i, one in enumerate(op.make(dtype)):
        case = case_of(op, one, i)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch's own
                if aspect == "value" or (case.diff and theirs_works(case, aspect)):
                    aspects.CHECKS[aspect](case)
        except aspects.TheirMistake:
            pass
        except AssertionError as error:
            raise AssertionError(f"{one!r}: {error}") from None


def theirs_works(case, aspect):
    """Whether PyTorch has this derivative."""
    try:
        ys = case.their_inputs(True)
        outs = aspects.recorded(case.run_theirs(ys))
        seeds = [case.inputs[i] for i in case.diff]
        if outs:
            cotangents = [torch.ones_like(y) for y in outs]
            torch.autograd.grad(outs, [ys[i] for i in case.diff], cotangents, allow_unused=True)
        if aspect == "gradgrad":
            return aspects.their_gradgrad(case, [y.detach() for y in outs], seeds) is not None
        if aspect == "jvp":
            aspects.their_jvp(case, seeds)
    except (NotImplementedError, RuntimeError):
        return False
    return True


@pytest.mark.parametrize("op", cases("value"))
def test_value(op):
    check(op, "value", dtypes.float64)


@pytest.mark.parametrize("op", cases("grad"))
def test_gradient(op):
    check(op, "gradient", dtypes.float64)


@pytest.mark.parametrize("op", [p for p in cases("gradgrad") if p.values[0]])
def test_gradgrad(op):
    if op.gradgrad:
        check(op, "gradgrad", dtypes.float64)


@pytest.mark.parametrize("op", cases("jvp"))
def test_jvp(op):
    if op.forward:
        check(op, "jvp", dtypes.float64)


@pytest.mark.parametrize("op", cases("vmap"))
def test_vmap(op):
    if op.vmap and "vmap" not in op.skip:
        check(op, "vmap", dtypes.float64)


@pytest.mark.parametrize("op", cases("value", complex_only=True))
@pytest.mark.parametrize("aspect", ["value", "gradient", "gradgrad", "jvp"])
def test_complex(op, aspect):
    wanted = {"gradgrad": op.gradgrad, "jvp": op.forward}.get(aspect, True)
    named = f"parity_{'grad' if aspect == 'gradient' else aspect}"
    if wanted and named not in op.skip:
        check(op, aspect, dtypes.complex128)


@pytest.mark.parametrize("op", cases("dtype"))
def test_dtypes(op):
    """Where PyTorch takes a dtype, so do we, with a result of the same dtype and about equal."""
    function = their_function(op)
    for dtype in NARROW:
        try:
            samples = op.make(dtype)
        except (TypeError, ValueError):
            continue  # the row's factory makes matrices, say, that integers cannot be
        for i, one in enumerate(samples):
            args, kwargs = one.mapped(bridge.to_theirs)
            args, kwargs = tensors_of(args), tensors_of(kwargs)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = function(*args, **kwargs)
            except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
                continue
            try:
                compare_loosely(op.call(*one.args, **one.kwargs), expected)
            except AssertionError as error:
                raise AssertionError(f"sample {i} {one!r}: {error}") from None


def compare_loosely(ours, theirs):
    """Same dtypes; the same elements unless they are integers rounded from other numbers."""
    for a, b in zip(bridge.tensors(ours), bridge.tensors(theirs), strict=True):
        bridge.compare(a, b)


def test_most_rows_are_compared():
    compared = [op for op in ROWS.values() if their_function(op) is not None]
    assert len(compared) >= 0.7 * len(ROWS)
    assert torch.__version__.startswith("2.13")
