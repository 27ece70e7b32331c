"""Every row of the operator table: no graph outlives its results, with the collector off."""

import gc

import pytest

from tests.checks import lifetime
from tests.support import cases, make_samples


@pytest.fixture(autouse=True, scope="module")
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def has(*aspects):
    return lambda op: all(getattr(op, name, True) and name not in op.skip for name in aspects)


@pytest.mark.parametrize("op", cases("reverse"))
def test_recorded(op):
    for one in make_samples(op):
        lifetime.check(op, one, lifetime.recorded)


@pytest.mark.parametrize("op", cases("reverse", has("gradgrad")))
def test_second_derivatives(op):
    for one in make_samples(op):
        lifetime.check(op, one, lifetime.second_derivative)


@pytest.mark.parametrize("op", cases("reverse"))
def test_failed_passes(op):
    for one in make_samples(op):
        lifetime.check(op, one, lifetime.failed_pass)


@pytest.mark.parametrize("op", cases("reverse", has("gradgrad", "forward", "jvp_of_grad")))
def test_forward_over_reverse(op):
    for one in make_samples(op):
        lifetime.check(op, one, lifetime.forward_over_reverse)
