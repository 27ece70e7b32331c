"""Second derivatives, in every composition of the modes, against differences of the function.

All compositions compute the same number, Re<g, D2 f[u, v]>: reverse over reverse, forward over
reverse, reverse over forward, forward over forward. A rule that is right at first order and wrong
at second shows here, because the reference is the function itself and not a first derivative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from tensorplay.autograd import forward_ad
from tests.checks.first_order import finite
from tests.checks.problem import (
    Arrays,
    Problem,
    assert_numbers,
    assert_some_step,
    dual,
    inner,
    pullback,
    tensor,
)
from tests.optable.schema import Op, Sample


def reverse_over_reverse(problem: Problem, g: Arrays, u: Arrays, v: Arrays) -> float:
    """<grad_x <J^H g, u>, v>."""
    xs = problem.leaves()
    first = pullback(problem(*xs), xs, [tensor(c) for c in g], graph=True)
    kept = [(a, tensor(d)) for a, d in zip(first, u, strict=True)
            if a is not None and a.requires_grad]  # fmt: skip
    if not kept:
        return 0.0
    return inner(pullback([a for a, _ in kept], xs, [d for _, d in kept]), v)


def forward_over_reverse(problem: Problem, g: Arrays, u: Arrays, v: Arrays) -> float:
    """<d/dt J(x + t v)^H g, u>: a tangent pushed through a gradient."""
    with forward_ad.dual_level():
        xs = problem.leaves()
        moved = dual(xs, v)
        found = pullback(problem(*moved), moved, [tensor(c) for c in g], graph=False)
        tangents = [None if a is None else forward_ad.unpack_dual(a).tangent for a in found]
        return inner(tangents, u)


def reverse_over_forward(problem: Problem, g: Arrays, u: Arrays, v: Arrays) -> float:
    """<grad_x <g, J(x) u>, v>: the gradient of a tangent."""
    xs = problem.leaves()
    with forward_ad.dual_level():
        outs = problem(*dual(xs, u))
        tangents = [forward_ad.unpack_dual(y).tangent for y in outs]
    kept = [(t, tensor(c)) for t, c in zip(tangents, g, strict=True)
            if t is not None and t.requires_grad]  # fmt: skip
    if not kept:
        return 0.0
    return inner(pullback([t for t, _ in kept], xs, [c for _, c in kept]), v)


def forward_over_forward(problem: Problem, g: Arrays, u: Arrays, v: Arrays) -> float:
    """<g, d/ds d/dt f(x + s u + t v)>: two nested levels of dual numbers."""
    with forward_ad.dual_level():
        outer = dual(problem.leaves(False), u)
        with forward_ad.dual_level():
            outs = problem(*dual(outer, v))
            inner_tangents = [forward_ad.unpack_dual(y).tangent for y in outs]
        tangents = [
            None if t is None else forward_ad.unpack_dual(t).tangent for t in inner_tangents
        ]
        return inner(g, tangents)


COMPOSITIONS: dict[str, Callable[[Problem, Arrays, Arrays, Arrays], float]] = {
    "gradgrad": reverse_over_reverse,
    "jvp_of_grad": forward_over_reverse,
    "grad_of_jvp": reverse_over_forward,
    "forward_forward": forward_over_forward,
}


def check_second(op: Op, sample: Sample, aspect: str) -> None:
    """One composition against differences of the function (at a kink: the others' value)."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    outs = problem.at(problem.point)
    g = problem.random(outs)
    finite_parts = [np.abs(c * y)[np.isfinite(y)] for c, y in zip(g, outs, strict=True)]
    scale = sum(float(np.sum(part)) for part in finite_parts)
    smooth = not op.nonsmooth and finite(outs)
    directions = problem.directions()
    v = problem.random(problem.point)
    for k, u in enumerate(directions):
        actual = COMPOSITIONS[aspect](problem, g, u, v)
        if smooth:
            what = f"{sample!r}: {aspect} along direction {k}"
            assert_some_step(
                functools.partial(compare_second, problem, actual, g, u, v, what, 10 * scale)
            )
        elif aspect != "gradgrad" and op.gradgrad and "gradgrad" not in op.skip:
            expected = reverse_over_reverse(problem, g, u, v)
            assert_numbers(
                actual, expected, f"{sample!r}: {aspect} and gradgrad, direction {k}", scale
            )


def compare_second(
    problem: Problem, actual: float, g: Arrays, u: Arrays, v: Arrays, what: str, scale: float,
    step: float,
) -> None:  # fmt: skip
    """A second derivative against mixed differences of the function."""
    expected = inner(g, problem.second_derivative(u, v, step))
    assert_numbers(actual, expected, what, scale, 2e-5)


def check_gradgrad_cotangent(op: Op, sample: Sample) -> None:
    """The gradient is linear in its cotangent: its derivative by the cotangent is J itself."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    outs = problem.at(problem.point)
    g, direction, weights = (
        problem.random(outs),
        problem.random(outs),
        problem.random(problem.point),
    )
    xs = problem.leaves()
    given = [tensor(c, True) for c in g]
    first = pullback(problem(*xs), xs, given, graph=True)
    kept = [(a, tensor(w)) for a, w in zip(first, weights, strict=True)
            if a is not None and a.requires_grad]  # fmt: skip
    found = pullback([a for a, _ in kept], given, [w for _, w in kept])
    expected = inner(weights, problem.gradient(direction))
    scale = sum(float(np.sum(np.abs(y))) for y in outs if np.isfinite(y).all())
    assert_numbers(
        inner(found, direction), expected, f"{sample!r}: derivative by the cotangent", scale
    )
