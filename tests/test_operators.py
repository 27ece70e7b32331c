"""Every row of the operator table: values, first derivatives, dtypes.

`pytest tests/test_operators.py -k "reductions and sum"` runs one family's rows.
"""

import pytest

from tensorplay.base import dtypes
from tests.checks import first_order
from tests.support import cases, make_samples


@pytest.mark.parametrize("op", cases("value", lambda op: op.reference is not None))
def test_value(op):
    for one in make_samples(op):
        first_order.check_value(op, one)


@pytest.mark.parametrize("op", cases("value", lambda op: op.reference and op.complex))
def test_value_complex(op):
    for one in make_samples(op, dtypes.complex128):
        first_order.check_value(op, one)


@pytest.mark.parametrize("op", cases("reverse"))
def test_reverse(op):
    for one in make_samples(op):
        first_order.check_reverse(op, one)


@pytest.mark.parametrize("op", cases("reverse", lambda op: op.complex))
def test_reverse_complex(op):
    for one in make_samples(op, dtypes.complex128):
        first_order.check_reverse(op, one)


@pytest.mark.parametrize("op", cases("forward", lambda op: op.forward))
def test_forward(op):
    for one in make_samples(op):
        first_order.check_forward(op, one)


@pytest.mark.parametrize("op", cases("forward", lambda op: op.forward and op.complex))
def test_forward_complex(op):
    for one in make_samples(op, dtypes.complex128):
        first_order.check_forward(op, one)


@pytest.mark.parametrize("op", cases("float32", lambda op: op.float32))
def test_float32(op):
    pairs = zip(make_samples(op, dtypes.float32), make_samples(op), strict=True)
    for single, double in pairs:
        first_order.check_single(op, single, double)


@pytest.mark.parametrize("op", cases("float32", lambda op: op.float32 and op.complex))
def test_complex64(op):
    pairs = zip(
        make_samples(op, dtypes.complex64), make_samples(op, dtypes.complex128), strict=True
    )
    for single, double in pairs:
        first_order.check_single(op, single, double)
