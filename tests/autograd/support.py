"""Helpers of these tests: leaves, comparison through NumPy, errors with readable messages."""

import contextlib
import gc
import os
import weakref

import numpy as np
import pytest

import tensorplay as tp

ON_TORCH = os.environ.get("TENSORPLAY_TEST_BACKEND", "tensorplay") == "torch"
beyond_torch = pytest.mark.beyond_torch


def leaf(data, dtype=None):
    """A tensor that requires grad and that no operation made."""
    return tp.tensor(data, dtype=dtype or tp.float64, requires_grad=True)


def const(data, dtype=None):
    """A tensor that does not require grad."""
    return tp.tensor(data, dtype=dtype or tp.float64)


def array(value):
    """The numbers of a tensor, or of anything NumPy understands."""
    return value.detach().numpy() if isinstance(value, tp.Tensor) else np.asarray(value)


def close(actual, expected, rtol=1e-6, atol=1e-9):
    """Same shape, and the same numbers within a tolerance."""
    actual, expected = array(actual), array(expected)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


@contextlib.contextmanager
def raises(kind, *mentions):
    """Expect an error; on tensorplay its message holds every one of `mentions`."""
    with pytest.raises(kind) as caught:
        yield caught
    if not ON_TORCH:
        for mention in mentions:
            assert mention in str(caught.value)


@contextlib.contextmanager
def no_collector():
    """Without the cycle collector: what is freed inside is freed by counting references."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def watch(*objects):
    """Weak references, to see later whether anything keeps the objects alive."""
    return [weakref.ref(x) for x in objects]
