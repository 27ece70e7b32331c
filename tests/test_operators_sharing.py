"""Every row of the operator table: gradients alias nothing, changes in place are noticed."""

import pytest

from tensorplay.base import dtypes
from tests.checks import sharing
from tests.support import cases, make_samples


@pytest.mark.parametrize("op", cases("reverse"))
def test_gradients_share_memory_with_nothing(op):
    for one in make_samples(op):
        sharing.check_gradients_alone(op, one)


@pytest.mark.parametrize("op", cases("reverse", lambda op: op.complex))
def test_complex_gradients_share_memory_with_nothing(op):
    for one in make_samples(op, dtypes.complex128):
        sharing.check_gradients_alone(op, one)


@pytest.mark.parametrize("change", sharing.CHANGES)
@pytest.mark.parametrize("op", cases("reverse"))
def test_changes_in_place(op, change):
    for one in make_samples(op):
        sharing.check_changes(op, one, sharing.CHANGES[change])
