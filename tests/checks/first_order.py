"""Values and first derivatives."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tensorplay.base import dtypes
from tests.checks.problem import (
    Problem,
    array,
    assert_arrays,
    assert_numbers,
    assert_some_step,
    inner,
    size_of,
    tensors_in,
)
from tests.optable.schema import Op, Sample, is_differentiable

#: dtype in single precision -> (rtol, atol relative to the largest element)
SINGLE = {"float32": 2e-4, "complex64": 2e-4}


def check_value(op: Op, sample: Sample) -> None:
    """The result against the reference on NumPy arrays."""
    args, kwargs = sample.arrays()
    with np.errstate(all="ignore"):
        expected = flat(op.reference(*args, **kwargs))
    value = op.call(*sample.args, **sample.kwargs)
    actual = tensors_in(value)
    if not actual:  # a number, a bool, a size
        assert np.all(np.asarray(value) == np.asarray(expected[0])), f"{value} != {expected[0]}"
        return
    assert len(actual) >= len(expected), f"{len(actual)} results, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(actual, expected, strict=False)):
        assert_arrays(a, np.asarray(b), f"result {i}", op.rtol or 1e-9, op.atol)


def flat(value: Any) -> list[Any]:
    """The arrays in a reference's result."""
    if isinstance(value, (tuple, list)) and not np.isscalar(value):
        return [x for item in value for x in flat(item)]
    return [value]


def check_reverse(op: Op, sample: Sample) -> None:
    """Re<J^H g, t> against differences of Re<g, f> along t, for each input and all together."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    outs = problem.at(problem.point)
    cotangents = problem.random(outs)
    found = problem.gradient(cotangents)
    for i, (a, x) in enumerate(zip(found, problem.point, strict=True)):
        if a is not None:
            assert array(a).shape == x.shape, f"gradient {i} has shape {array(a).shape}"
            assert array(a).dtype == x.dtype, f"gradient {i} has dtype {array(a).dtype}"
    if op.nonsmooth or not finite(outs):
        return
    for k, direction in enumerate(problem.directions()):
        what = f"{sample!r}: gradient along direction {k}"
        compare_gradient(problem, found, cotangents, direction, what)


def check_forward(op: Op, sample: Sample) -> None:
    """J t against differences, element by element, and against the reverse rule."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    outs = problem.at(problem.point)
    cotangents = problem.random(outs)
    gradient = problem.gradient(cotangents)
    for k, direction in enumerate(problem.directions()):
        tangents = problem.tangent(direction)
        for i, (t, y) in enumerate(zip(tangents, outs, strict=True)):
            if t is not None:
                assert array(t).shape == y.shape, f"tangent {i} has shape {array(t).shape}"
                assert array(t).dtype == y.dtype, f"tangent {i} has dtype {array(t).dtype}"
        scale = size_of(outs) * max(1, sum(y.size for y in outs))
        assert_numbers(
            inner(cotangents, tangents), inner(gradient, direction),
            f"{sample!r}: <g, J t> and <J^H g, t> along direction {k}", scale,
        )  # fmt: skip
        if op.nonsmooth or not finite(outs):
            continue
        what = f"{sample!r}, direction {k}"
        assert_some_step(
            functools.partial(compare_tangents, problem, tangents, direction, outs, what)
        )


def compare_tangents(
    problem: Problem, tangents: Any, direction: Any, outs: Any, what: str, step: float
) -> None:
    """Tangents against differences along the direction, element by element."""
    for i, (t, d) in enumerate(zip(tangents, problem.derivative(direction, step), strict=True)):
        limit = 1e-6 * size_of([d]) + 1e-8 * (1 + size_of(outs))
        assert_arrays(t, d, f"{what}: tangent {i}", 1e-6, limit)


def compare_gradient(problem: Problem, found: Any, g: Any, direction: Any, what: str) -> None:
    """A gradient against differences along a direction."""
    outs = problem.at(problem.point)
    scale = sum(float(np.sum(np.abs(c * y))) for c, y in zip(g, outs, strict=True))
    assert_some_step(
        lambda step: assert_numbers(
            inner(found, direction), inner(g, problem.derivative(direction, step)), what, scale
        )
    )


def finite(arrays: Any) -> bool:
    """Whether differences of these values mean anything."""
    return all(np.isfinite(y).all() for y in arrays)


def check_single(op: Op, sample: Sample, double: Sample) -> None:
    """In float32 or complex64: the same results and gradients, in the right dtypes."""
    value, wide = tensors_in(op.run(sample)), tensors_in(op.run(double))
    for i, (a, b) in enumerate(zip(value, wide, strict=True)):
        expected = narrow(b.dtype)
        assert a.dtype is expected, f"{sample!r}: result {i} has {a.dtype}, expected {expected}"
        if is_differentiable(a):
            assert_close_single(a, b, op, f"{sample!r}: result {i}")
    one, two = Problem(op, sample), Problem(op, double)
    if not one.positions:
        return
    cotangents = two.random(two.at(two.point))
    narrowed = [g.astype(y.dtype) for g, y in zip(cotangents, one.at(one.point), strict=True)]
    for i, (a, b) in enumerate(zip(one.gradient(narrowed), two.gradient(cotangents), strict=True)):
        if a is not None and b is not None:
            assert array(a).dtype == one.point[i].dtype, f"gradient {i} has dtype {a.dtype}"
            assert_close_single(a, b, op, f"{sample!r}: gradient {i}")


def narrow(dtype: Any) -> Any:
    """The single precision dtype in place of a double one; others as they are."""
    return {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}.get(dtype, dtype)


def assert_close_single(a: Any, b: Any, op: Op, what: str) -> None:
    """Equal to single precision, relative to the largest element."""
    rtol = max(SINGLE["float32"], op.rtol or 0)
    limit = max(rtol * size_of([b]) + 1e-5, op.atol or 0)
    assert_arrays(a, b, what, rtol, limit)
