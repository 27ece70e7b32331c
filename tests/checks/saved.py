"""Derivatives with hooks on the saved tensors are those without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorplay as tp
from tensorplay._core import core
from tensorplay.autograd import forward_ad
from tensorplay.autograd.graph import saved_tensors_hooks
from tests.checks.problem import Problem, assert_arrays, dual, pullback, tensor, tensors_in
from tests.optable.schema import Op, Sample, is_differentiable

Derivative = Callable[[Problem], list[Any]]


class ThroughNumpy(saved_tensors_hooks):
    """Hooks that keep a bare copy of the values: whatever else a saved tensor is, they lose."""

    def __init__(self) -> None:
        self.packed = 0
        super().__init__(self.pack, lambda array: core.from_array(array.copy(order="K")))

    def pack(self, x: Any) -> np.ndarray:
        self.packed += 1
        assert not x.is_box
        return core.array_of(x).copy(order="K")


def gradient(problem: Problem) -> list[Any]:
    """J^H g."""
    xs = problem.leaves()
    outs = problem(*xs)
    return pullback(outs, xs, cotangents(problem, outs))


def second_gradient(problem: Problem) -> list[Any]:
    """The gradient of a sum of the gradient."""
    xs = problem.leaves()
    outs = problem(*xs)
    first = pullback(outs, xs, cotangents(problem, outs), graph=True)
    kept = [g for g in first if g is not None and g.requires_grad]
    return pullback(kept, xs, cotangents(problem, kept))


def tangent_of_gradient(problem: Problem) -> list[Any]:
    """A tangent pushed through a gradient."""
    problem.rng = np.random.default_rng(4)
    direction = problem.random(problem.point)
    with forward_ad.dual_level():
        xs = dual(problem.leaves(), direction)
        outs = problem(*xs)
        found = pullback(outs, xs, cotangents(problem, outs))
        return [None if g is None else forward_ad.unpack_dual(g).tangent for g in found]


def second_gradient_of_transforms(problem: Problem) -> list[Any]:
    """The same gradient as by `second_gradient`, by nested function transforms."""
    count = tuple(range(len(problem.positions)))

    def value(*xs: Any) -> Any:
        return total([y for y in problem(*xs) if is_differentiable(y)], problem)

    def size(*xs: Any) -> Any:
        return total(list(tp.func.grad(value, count)(*xs)), problem)

    return list(tp.func.grad(size, count)(*[tensor(x) for x in problem.point]))


def total(tensors: list[Any], problem: Problem) -> Any:
    """A real number that depends on every element."""
    weights = cotangents(problem, tensors)
    parts = [(x * w).sum() for x, w in zip(tensors, weights, strict=True)]
    real = [part.real if part.dtype.is_complex else part for part in parts]
    return sum(real[1:], real[0]).double()


def cotangents(problem: Problem, like: list[Any]) -> list[Any]:
    problem.rng = np.random.default_rng(3)
    return [tensor(g) for g in problem.random([core.array_of(y) for y in like])]


def check(op: Op, sample: Sample, derivative: Derivative) -> None:
    """A derivative with and without hooks."""
    problem = Problem(op, sample)
    outs = tensors_in(problem.op.run(problem.sample))
    if not problem.positions or not any(is_differentiable(y) for y in outs):
        return
    expected = derivative(problem)
    with ThroughNumpy():
        actual = derivative(problem)
    for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
        assert (a is None) == (b is None), f"{sample!r}: input {i}"
        assert_arrays(a, b, f"{sample!r}: input {i}", rtol=1e-11)
