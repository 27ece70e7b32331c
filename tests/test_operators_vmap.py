"""Every row of the operator table under vmap: the function, its rules, and two levels."""

import pytest

from tensorplay.base import dtypes
from tests.checks import batching
from tests.support import cases, make_samples


@pytest.mark.parametrize("op", cases("vmap", lambda op: op.vmap))
def test_vmap(op):
    for one in make_samples(op):
        batching.check_vmap(op, one)


@pytest.mark.parametrize("op", cases("vmap", lambda op: op.vmap and op.complex))
def test_vmap_complex(op):
    for one in make_samples(op, dtypes.complex128):
        batching.check_vmap(op, one)


@pytest.mark.parametrize("op", cases("vmap_vmap", lambda op: op.vmap))
def test_vmap_of_vmap(op):
    for one in make_samples(op):
        batching.check_vmap_vmap(op, one)


@pytest.mark.parametrize("op", cases("vmap_reverse", lambda op: op.vmap))
def test_vmap_of_reverse(op):
    for one in make_samples(op):
        batching.check_vmap_reverse(op, one)


@pytest.mark.parametrize("op", cases("vmap_forward", lambda op: op.vmap and op.forward))
def test_vmap_of_forward(op):
    for one in make_samples(op):
        batching.check_vmap_forward(op, one)


@pytest.mark.parametrize("op", cases("vmap_reverse", lambda op: op.vmap and op.complex))
def test_vmap_of_reverse_complex(op):
    for one in make_samples(op, dtypes.complex128):
        batching.check_vmap_reverse(op, one)


@pytest.mark.parametrize(
    "op", cases("vmap_forward", lambda op: op.vmap and op.forward and op.complex)
)
def test_vmap_of_forward_complex(op):
    for one in make_samples(op, dtypes.complex128):
        batching.check_vmap_forward(op, one)


@pytest.mark.parametrize("op", cases("vmap_empty", lambda op: op.vmap))
def test_vmap_of_nothing(op):
    for one in make_samples(op):
        batching.check_vmap_empty(op, one)
