"""Every row of the operator table: second derivatives in all four compositions of the modes."""

import pytest

from tensorplay.base import dtypes
from tests.checks import second_order
from tests.support import cases, make_samples


def needs(aspect):
    """Whether a row has the modes that a composition is made of."""
    if aspect == "gradgrad":
        return lambda op: op.gradgrad
    if aspect == "forward_forward":
        return lambda op: op.forward
    return lambda op: op.gradgrad and op.forward


def composition(aspect):
    """A test over real samples and one over complex samples."""

    @pytest.mark.parametrize("op", cases(aspect, needs(aspect)))
    def real(op):
        for one in make_samples(op):
            second_order.check_second(op, one, aspect)

    @pytest.mark.parametrize("op", cases(aspect, lambda op: needs(aspect)(op) and op.complex))
    def of_complex(op):
        for one in make_samples(op, dtypes.complex128):
            second_order.check_second(op, one, aspect)

    return real, of_complex


test_gradgrad, test_gradgrad_complex = composition("gradgrad")
test_jvp_of_grad, test_jvp_of_grad_complex = composition("jvp_of_grad")
test_grad_of_jvp, test_grad_of_jvp_complex = composition("grad_of_jvp")
test_forward_forward, test_forward_forward_complex = composition("forward_forward")


@pytest.mark.parametrize("op", cases("gradgrad", needs("gradgrad")))
def test_gradient_is_linear_in_cotangent(op):
    for one in make_samples(op):
        second_order.check_gradgrad_cotangent(op, one)
