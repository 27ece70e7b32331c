"""Nothing of a graph stays alive: every tensor dies with the last reference to its results."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd import forward_ad
from tests.checks.problem import Problem, dual, pullback, tensor, tensors_in
from tests.optable.schema import Op, Sample, is_differentiable


def recorded(problem: Problem, watched: list[Any]) -> None:
    """Record, and never run."""
    outs, _ = record(problem, watched)
    watched += map(weakref.ref, outs)


def second_derivative(problem: Problem, watched: list[Any]) -> None:
    """With create_graph, and once more through that."""
    outs, xs = record(problem, watched)
    first = pullback(outs, xs, ones(outs), graph=True)
    kept = [g for g in first if g is not None and g.requires_grad]
    watched += map(weakref.ref, [*outs, *kept])
    pullback(kept, xs, ones(kept))


def failed_pass(problem: Problem, watched: list[Any]) -> None:
    """A backward pass that an error ends in the middle."""
    outs, _ = record(problem, watched)
    found = [y for y in outs if y.requires_grad]
    watched += map(weakref.ref, found)
    for y in found:
        y.register_hook(_fail)
        try:
            y.backward(ones([y])[0])
        except _Failure:
            continue
        raise AssertionError("the hook was not called")


def forward_over_reverse(problem: Problem, watched: list[Any]) -> None:
    """A tangent of a gradient that is recorded itself."""
    leaves = problem.leaves()
    watched += map(weakref.ref, leaves)
    with forward_ad.dual_level():
        xs = dual(leaves, [tensor(x) for x in problem.point])
        outs = problem(*xs)
        first = pullback(outs, xs, ones(outs), graph=True)
        watched += map(weakref.ref, [*xs, *outs, *[g for g in first if g is not None]])


class _Failure(Exception):
    pass


def _fail(_: Any) -> None:
    raise _Failure


def record(problem: Problem, watched: list[Any]) -> Any:
    """The outputs, and the leaves; the leaves and their nodes are watched."""
    xs = problem.leaves()
    outs = problem(*[x * 1 for x in xs])
    watched += map(weakref.ref, xs)
    watched += [weakref.ref(y.grad_fn) for y in outs if y.grad_fn is not None]
    return outs, xs


def ones(like: list[Tensor]) -> list[Any]:
    return [core.from_array(np.ones_like(core.array_of(y))) for y in like]


def check(op: Op, sample: Sample, run: Callable[[Problem, list[Any]], None]) -> None:
    """To be called with the cyclic garbage collector off."""
    problem = Problem(op, sample)
    outs = tensors_in(problem.op.run(problem.sample))
    if not problem.positions or not any(is_differentiable(y) for y in outs):
        return
    watched: list[Any] = []
    run(problem, watched)
    alive = [ref() for ref in watched if ref() is not None]
    assert not alive, f"{sample!r}: {len(alive)} of {len(watched)} stay alive: {alive[:2]}"
