"""Memory that tensors share: gradients share none, and no change in place goes unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorplay as tp
from tensorplay import autograd
from tensorplay._core import core
from tensorplay._core.core import Tensor
from tests.checks.problem import Problem, assert_arrays, pullback, tensor, tensors_in
from tests.optable.schema import Op, Sample, is_differentiable


def applies(problem: Problem) -> bool:
    """Whether there is something to differentiate."""
    outs = tensors_in(problem.op.run(problem.sample))
    return bool(problem.positions) and any(is_differentiable(y) for y in outs)


def cotangents_of(outs: list[Tensor]) -> list[Tensor]:
    rng = np.random.default_rng(5)
    found = []
    for y in outs:
        array = np.asarray(rng.normal(size=tuple(y.shape))).astype(core.array_of(y).dtype)
        found.append(core.from_array(array))
    return found


# --- gradients ------------------------------------------------------------------------------------


def check_gradients_alone(op: Op, sample: Sample) -> None:
    """A `.grad` shares memory with no other tensor: inputs, results, cotangents, other `.grad`s."""
    problem = Problem(op, sample)
    if not applies(problem):
        return
    xs = problem.leaves()
    outs = [y for y in problem(*xs) if y.requires_grad]
    if not outs:
        return
    given = cotangents_of(outs)
    for y in outs:
        y.retain_grad()
    autograd.backward(outs, given)
    named = [(f"input {i}", x) for i, x in enumerate(xs)]
    named += [(f"output {j}", y) for j, y in enumerate(outs)]
    named += [(f"cotangent {j}", g) for j, g in enumerate(given)]
    grads = [(f"the gradient of {name}", x.grad) for name, x in named[: len(xs) + len(outs)]
             if x.grad is not None and (not x.is_leaf or x.requires_grad)]  # fmt: skip
    for i, (name, g) in enumerate(grads):
        for other_name, other in [*named, *grads[:i]]:
            if other is not g and np.shares_memory(core.array_of(g), core.array_of(other)):
                raise AssertionError(f"{sample!r}: {name} shares memory with {other_name}")


# --- changes in place -----------------------------------------------------------------------------

Change = Callable[[Tensor], Any]


def overwrite(x: Tensor) -> None:
    """A recorded change."""
    x.fill_(0.37)


def overwrite_unrecorded(x: Tensor) -> None:
    """A change without grad mode."""
    with tp.no_grad():
        x.fill_(0.37)


def overwrite_through_a_view(x: Tensor) -> None:
    """A change of a view of it."""
    x.view_as(x).fill_(0.37)


def overwrite_detached(x: Tensor) -> None:
    """A change of an alias outside of the graph."""
    x.detach().fill_(0.37)


CHANGES = {
    "recorded": overwrite,
    "unrecorded": overwrite_unrecorded,
    "view": overwrite_through_a_view,
    "detached": overwrite_detached,
}


def check_changes(op: Op, sample: Sample, change: Change) -> None:
    """After a change in place the backward pass raises, or gives what it would have given."""
    problem = Problem(op, sample)
    if not applies(problem):
        return
    expected = gradients(problem, None, None)
    count = len(problem.positions)
    outputs = len([y for y in problem(*problem.leaves()) if y.requires_grad])
    for kind, number in [("input", i) for i in range(count)] + [
        ("output", j) for j in range(outputs)
    ]:
        try:
            found = gradients(problem, (kind, number), change)
        except RuntimeError as error:
            allowed = ("in-place", "in place", "refers to a single memory location", "read-only")
            assert any(text in str(error) for text in allowed), error
            continue
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            what = f"{sample!r}: gradient {i} after {kind} {number} was changed"
            assert_arrays(a, b, what, rtol=1e-9)


def gradients(problem: Problem, where: Any, change: Change | None) -> list[Any]:
    leaves = problem.leaves()
    xs = [x * 1 for x in leaves]
    outs = [y for y in problem(*xs) if y.requires_grad]
    # What comes after the operation, from its results as they are.
    later = [y * 1 for y in outs]
    if change is not None:
        kind, number = where
        change(xs[number] if kind == "input" else outs[number])
    return pullback(later, leaves, [tensor(core.array_of(g)) for g in cotangents_of(later)])
