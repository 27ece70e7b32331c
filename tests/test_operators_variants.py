"""Every row of the operator table: memory layouts, derived shapes, methods, in place, `out=`."""

import pytest

from tests.checks import variants
from tests.support import cases, make_samples


@pytest.mark.parametrize("op", cases("layout"))
def test_layout(op):
    for one in make_samples(op):
        variants.check_layout(op, one)


@pytest.mark.parametrize("op", cases("empty", variants.is_elementwise))
def test_empty(op):
    variants.check_shapes(op, "empty")


@pytest.mark.parametrize("op", cases("zero_dim", variants.is_elementwise))
def test_zero_dim(op):
    variants.check_shapes(op, "zero_dim")


@pytest.mark.parametrize("op", cases("broadcast", variants.is_elementwise))
def test_broadcast(op):
    variants.check_shapes(op, "broadcast")


@pytest.mark.parametrize("op", cases("method", lambda op: variants.method_name(op) is not None))
def test_method(op):
    for one in make_samples(op):
        variants.check_method(op, one, variants.method_name(op))


@pytest.mark.parametrize("op", cases("inplace", lambda op: op.inplace))
def test_inplace(op):
    for one in make_samples(op):
        variants.check_inplace(op, one)


@pytest.mark.parametrize("op", cases("out", lambda op: op.out))
def test_out(op):
    for one in make_samples(op):
        variants.check_out(op, one)
