"""Every row of the operator table with hooks on what it saves: all derivatives stay the same."""

import pytest

from tensorplay.base import dtypes
from tests.checks import saved
from tests.support import cases, make_samples


def derivative(function, applies):
    """A test over real samples and one over complex samples."""

    @pytest.mark.parametrize("op", cases("reverse", applies))
    def real(op):
        for one in make_samples(op):
            saved.check(op, one, function)

    @pytest.mark.parametrize("op", cases("reverse", lambda op: applies(op) and op.complex))
    def of_complex(op):
        for one in make_samples(op, dtypes.complex128):
            saved.check(op, one, function)

    return real, of_complex


def has(*aspects):
    """Whether a row has some modes, and no reason to skip them."""
    return lambda op: all(getattr(op, name, True) and name not in op.skip for name in aspects)


test_gradient, test_gradient_complex = derivative(saved.gradient, has())
test_gradgrad, test_gradgrad_complex = derivative(saved.second_gradient, has("gradgrad"))
test_jvp_of_grad, test_jvp_of_grad_complex = derivative(
    saved.tangent_of_gradient, has("gradgrad", "forward", "jvp_of_grad")
)
test_grad_of_grad, test_grad_of_grad_complex = derivative(
    saved.second_gradient_of_transforms, has("gradgrad")
)
