"""Helpers shared by the semantic tests: leaves, comparison through NumPy, errors, counters."""

import contextlib
import os
import re

import numpy as np
import pytest

import tensorplay as tp

ON_TORCH = os.environ.get("TENSORPLAY_TEST_BACKEND", "tensorplay") == "torch"
beyond_torch = pytest.mark.beyond_torch


def leaf(data, dtype=tp.float64):
    """A tensor that requires grad and that no operation made."""
    return tp.tensor(data, dtype=dtype, requires_grad=True)


def const(data, dtype=tp.float64):
    """A tensor that does not require grad."""
    return tp.tensor(data, dtype=dtype)


def array(value):
    """The numbers of a tensor (or of anything NumPy understands) as an ndarray."""
    if not isinstance(value, tp.Tensor):
        return np.asarray(value)
    value = value.detach()
    if value.dtype == tp.bfloat16:
        value = value.to(tp.float32)
    if hasattr(value, "resolve_conj"):
        value = value.resolve_conj()
    return value.numpy()


def assert_close(actual, expected, rtol=1e-5, atol=1e-7):
    """Same shape, and the same numbers within a tolerance."""
    actual, expected = array(actual), array(expected)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


def assert_tensor(actual, expected, dtype=None):
    """A tensor with these numbers and, if given, exactly this dtype."""
    assert isinstance(actual, tp.Tensor)
    if dtype is not None:
        assert actual.dtype == dtype
    assert_close(actual, expected)


def _mention_pattern(mention):
    if isinstance(mention, tuple):  # a shape: (2, 3) and [2, 3] both name it
        numbers = r",\s*".join(str(size) for size in mention)
        return rf"[\(\[]{numbers},?[\)\]]"
    return re.escape(str(mention))


@contextlib.contextmanager
def raises(kind, function=None, mentions=()):
    """Expect an error of `kind`.

    On tensorplay the message must start with the name of the function (`function` is a name or a
    tuple of acceptable names) and contain every one of `mentions`: a string, or a tuple for a
    shape.  PyTorch's wording is its own affair, so there only the type is checked.
    """
    with pytest.raises(kind) as caught:
        yield caught
    if ON_TORCH or function is None:
        return
    message = str(caught.value)
    names = (function,) if isinstance(function, str) else function
    start = r"(?:tensorplay\.)?(?:\w+\.)*(?:" + "|".join(map(re.escape, names)) + r")\b"
    assert re.match(start, message), f"does not start with {names}: {message!r}"
    for mention in mentions:
        assert re.search(_mention_pattern(mention), message), f"no {mention!r} in {message!r}"


class Counter:
    """Counts how often a gradient passes the tensors it watches, by a hook on each of them."""

    def __init__(self):
        self.count = 0

    def watch(self, tensor):
        tensor.register_hook(self._hit)
        return tensor

    def _hit(self, grad):
        self.count += 1


def gradient_edge(tensor):
    return tp.autograd.graph.get_gradient_edge(tensor)
