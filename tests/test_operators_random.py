"""Rows of operators with random results: seeds, vmap's randomness, derivatives under a seed."""

import numpy as np
import pytest

import tensorplay as tp
from tests.checks.problem import Problem, array, assert_arrays, assert_numbers, inner, tensor
from tests.optable import ROWS

RANDOM = [pytest.param(op, id=f"{op.family}/{op.name}") for op in ROWS.values() if op.random]

#: Random on the way, but not in what they compute: vmap need not be told what randomness means.
SKETCHES = ("svd_lowrank", "pca_lowrank")


def values(problem, seed, point=None):
    """The results with the generator started from a seed."""
    tp.manual_seed(seed)
    return problem.at(problem.point if point is None else point)


def draws(op):
    """Samples whose results differ from seed to seed."""
    for one in op.make():
        problem = Problem(op, one)
        results = [values(problem, seed) for seed in range(4)]
        if any(
            not np.allclose(a, b) for r in results[1:] for a, b in zip(results[0], r, strict=True)
        ):
            yield problem


@pytest.mark.parametrize("op", RANDOM)
def test_same_seed_same_result(op):
    for one in op.make():
        problem = Problem(op, one)
        for a, b in zip(values(problem, 3), values(problem, 3), strict=True):
            assert_arrays(a, b, f"{one!r} under the same seed", 1e-12)


@pytest.mark.parametrize("op", RANDOM)
def test_derivatives_under_a_seed(op):
    """Reverse and forward mode against differences, with the same random numbers each time."""
    for one in op.make():
        problem = Problem(op, one)
        outs = values(problem, 3)
        g, t = problem.random(outs), problem.random(problem.point)
        h = 1e-5
        ahead, behind = (
            values(problem, 3, [x + s * d for x, d in zip(problem.point, t, strict=True)])
            for s in (h, -h)
        )
        expected = (inner(g, ahead) - inner(g, behind)) / (2 * h)
        tp.manual_seed(3)
        reverse = inner(problem.gradient(g), t)
        tp.manual_seed(3)
        forward = inner(g, problem.tangent(t))
        assert_numbers(reverse, expected, f"{one!r}: gradient", 1.0, 1e-4)
        assert_numbers(forward, reverse, f"{one!r}: tangent", 1.0)


@pytest.mark.parametrize("op", RANDOM)
def test_vmap_says_what_randomness_means(op):
    """'error' (the default) raises, 'same' draws once, 'different' draws for every sample."""
    if op.path in SKETCHES:
        return
    for problem in draws(op):
        batch = [tensor(np.stack([x] * 3)) for x in problem.point]

        def run(*xs, problem=problem):
            return tuple(problem(*xs))

        with pytest.raises(RuntimeError, match="randomness"):
            tp.vmap(run)(*batch)
        same = tp.vmap(run, randomness="same")(*batch)
        different = [tp.vmap(run, randomness="different")(*batch) for _ in range(4)]
        for i, y in enumerate(same):
            assert_arrays(array(y)[0], array(y)[1], f"{problem.sample!r}: 'same', result {i}")
        assert any(
            not np.allclose(array(y)[0], array(y)[1]) for result in different for y in result
        )


@pytest.mark.parametrize("op", RANDOM)
def test_vmap_of_the_gradient_draws_what_the_value_drew(op):
    """The factor between result and cotangent is the one of the forward pass, for each sample."""
    for problem in draws(op):
        batch = [tensor(np.stack([x] * 3), True) for x in problem.point]
        tp.manual_seed(5)
        outs = tp.vmap(lambda *xs: tuple(problem(*xs)), randomness="different")(*batch)  # noqa: B023
        g = problem.random([array(y) for y in outs])
        chosen = [(y, tensor(c)) for y, c in zip(outs, g, strict=True) if y.requires_grad]
        found = tp.autograd.grad(
            [y for y, _ in chosen], batch, [c for _, c in chosen], allow_unused=True
        )
        t = problem.random([array(x) for x in batch])
        h = 1e-5

        def moved(step, problem=problem, batch=batch, t=t):
            xs = [tensor(array(x) + step * d) for x, d in zip(batch, t, strict=True)]
            tp.manual_seed(5)
            run = tp.vmap(lambda *p: tuple(problem(*p)), randomness="different")
            return [array(y) for y in run(*xs)]

        expected = (inner(g, moved(h)) - inner(g, moved(-h))) / (2 * h)
        assert_numbers(inner(found, t), expected, f"{problem.sample!r}: gradient", 1.0, 1e-4)
