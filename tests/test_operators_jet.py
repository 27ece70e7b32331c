"""Every row of the operator table: Taylor coefficients along a curve against nested `jvp`."""

import math

import numpy as np
import pytest

from tensorplay import func
from tensorplay.base import dtypes
from tests.checks.problem import Problem, array, tensor
from tests.support import cases, make_samples

ORDER = 4
LARGEST = 200  # elements: nested levels cost 2 ** ORDER evaluations


def check_jet(op, sample):
    """The coefficients of f(x + a t + b t^2), and derivatives of it at t = 0."""
    problem = Problem(op, sample)
    size = sum(x.size for x in problem.point)
    if not 0 < size <= LARGEST or not problem.at(problem.point):
        return
    a, b = ([tensor(d) for d in problem.random(problem.point)] for _ in "ab")
    point = [tensor(x) for x in problem.point]
    rest = [[tensor(0 * array(d)) for _ in range(ORDER - 2)] for d in a]
    series = [[d, e, *zeros] for d, e, zeros in zip(a, b, rest, strict=True)]
    value, coefficients = func.jet(lambda *xs: tuple(problem(*xs)), tuple(point), series)

    def along(t):
        moved = zip(point, a, b, strict=True)
        return tuple(problem(*[x + d * t + e * (t * t) for x, d, e in moved]))

    def derivative(f):
        return lambda t: func.jvp(f, (t,), (tensor(np.array(1.0)),))[1]

    for order, found in enumerate([value, *coefficients]):
        expected = [array(y) for y in along(tensor(np.array(0.0)))]
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            theirs = theirs / math.factorial(order)
            known = np.isfinite(theirs)
            scale = max(1.0, float(np.abs(theirs[known]).max(initial=0.0)))
            np.testing.assert_allclose(
                array(ours)[known], theirs[known], rtol=1e-6, atol=1e-7 * scale,
                err_msg=f"{op.name}, order {order}",
            )  # fmt: skip
        along = derivative(along)


@pytest.mark.parametrize("op", cases("jet", lambda op: op.forward))
def test_jet(op):
    for one in make_samples(op):
        check_jet(op, one)


@pytest.mark.parametrize("op", cases("jet", lambda op: op.forward and op.complex))
def test_jet_complex(op):
    for one in make_samples(op, dtypes.complex128):
        check_jet(op, one)
