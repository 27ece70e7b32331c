"""vmap of a function, of its rules, and of itself, each against a loop over the samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import tensorplay as tp
from tensorplay import func
from tensorplay.autograd import forward_ad
from tests.checks.problem import (
    Arrays,
    Problem,
    array,
    assert_arrays,
    dual,
    pullback,
    tensor,
    tensors_in,
)
from tests.optable.schema import Op, Sample

SCALES = (1.0, 0.875, 0.75)  # exact in binary: samples keep their ties


def perturbed(x: np.ndarray, k: int) -> np.ndarray:
    """Sample k of a batch made from one array."""
    with np.errstate(invalid="ignore"):  # complex infinities
        return np.asarray(x * SCALES[k]).astype(x.dtype) if x.dtype.kind in "fc" else x


def plans(op: Op, problem: Problem) -> Iterator[tuple[int | None, ...]]:
    """in_dims to try, one per tensor of the sample."""
    count, chosen = len(problem.tensors), problem.positions
    ndims = [x.ndim for x in problem.tensors]
    if chosen:
        yield tuple(0 if i in chosen else None for i in range(count))
    for i in chosen if len(chosen) > 1 else ():
        yield tuple(-1 if i == k else None for k in range(count))
    if count > len(chosen) and "vmap_ints" in op.skip:
        return
    if count:
        # Every tensor, indices too, alternately in front, at the end, and in the middle.
        yield tuple((0, -1, min(1, ndims[i]))[i % 3] for i in range(count))


def stacked(samples: Sequence[Arrays], dims: Sequence[int | None]) -> list[Any]:
    """Per tensor the batch along its dim, or sample 0's where the dim is None."""
    return [
        tensor(samples[0][i] if d is None else np.stack([one[i] for one in samples], axis=d))
        for i, d in enumerate(dims)
    ]


def batch_of(arrays: Arrays, dims: Sequence[int | None], count: int = 3) -> list[Arrays]:
    """`count` samples that differ in the batched arrays."""
    return [
        [x if d is None else perturbed(x, k) for x, d in zip(arrays, dims, strict=True)]
        for k in range(count)
    ]


def check_vmap(op: Op, sample: Sample) -> None:
    """The function itself, with every choice of in_dims in `plans`."""
    problem = Problem(op, sample)
    arrays = [array(x) for x in problem.tensors]

    def run(*xs: Any) -> tuple[Any, ...]:
        return tuple(tensors_in(op.run(sample.replaced(xs))))

    for dims in plans(op, problem):
        samples = batch_of(arrays, dims)
        expected = [[array(y) for y in run(*map(tensor, one))] for one in samples]
        if not expected[0]:
            return
        found = tp.vmap(run, in_dims=dims)(*stacked(samples, dims))
        compare_batch(found, expected, f"{sample!r}: vmap with in_dims {dims}", op)


def compare_batch(found: Any, expected: Sequence[Arrays], what: str, op: Op) -> None:
    """A batch of results against one list of results per sample."""
    for i, y in enumerate(found):
        wanted = np.stack([one[i] for one in expected])
        assert array(y).dtype == wanted.dtype, f"{what}: dtype {y.dtype}, loop {wanted.dtype}"
        assert_arrays(y, wanted, f"{what}, result {i}", op.rtol or 1e-9)


def check_vmap_reverse(op: Op, sample: Sample) -> None:
    """The reverse rule with inputs and cotangents batched, with cotangents alone, and over vmap."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    samples = [[perturbed(x, k) for x in problem.point] for k in range(3)]
    cotangents = [problem.random(problem.at(one)) for one in samples]
    expected = [gradient_at(problem, x, g) for x, g in zip(samples, cotangents, strict=True)]

    def mapped(xs: Any, gs: Any) -> tuple[Any, ...]:
        return tuple(func.vjp(lambda *p: tuple(problem(*p)), *xs)[1](tuple(gs)))

    batch = [tensor(np.stack(x)) for x in zip(*samples, strict=True)]
    gs = [tensor(np.stack(g)) for g in zip(*cotangents, strict=True)]
    if not gs:
        return
    found = tp.vmap(mapped)(batch, gs)
    compare_gradients(found, expected, f"{sample!r}: vmap of the reverse rule", op)
    xs = [tensor(x, True) for x in samples[0]]
    gradients = [gradient_at(problem, samples[0], g) for g in cotangents]
    found = pullback(problem(*xs), xs, gs, batched=True)
    compare_gradients(found, gradients, f"{sample!r}: is_grads_batched", op)
    # The other order: the gradient of the vmapped function.
    xs = [tensor(np.stack(x), True) for x in zip(*samples, strict=True)]
    found = pullback(tp.vmap(lambda *p: tuple(problem(*p)))(*xs), xs, gs)
    compare_gradients(found, expected, f"{sample!r}: gradient of vmap", op)


def gradient_at(problem: Problem, point: Arrays, cotangents: Arrays) -> Arrays:
    """The gradient at a point, zeros where None."""
    xs = [tensor(x, True) for x in point]
    found = pullback(problem(*xs), xs, [tensor(g) for g in cotangents])
    return [np.zeros_like(x) if g is None else array(g) for g, x in zip(found, point, strict=True)]


def compare_gradients(found: Any, expected: Sequence[Arrays], what: str, op: Op) -> None:
    """As `compare_batch`, at the accuracy of a derivative; None counts as zeros."""
    for i, y in enumerate(found):
        wanted = np.stack([one[i] for one in expected])
        assert_arrays(y, wanted, f"{what}, input {i}", max(op.rtol or 0, 1e-8))


def check_vmap_forward(op: Op, sample: Sample) -> None:
    """The forward rule, with inputs and tangents batched."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    samples = [[perturbed(x, k) for x in problem.point] for k in range(3)]
    directions = [problem.random(problem.point) for _ in samples]
    expected = [tangent_at(problem, x, t) for x, t in zip(samples, directions, strict=True)]
    if not expected[0]:
        return

    def mapped(xs: Any, ts: Any) -> tuple[Any, ...]:
        return tuple(func.jvp(lambda *p: tuple(problem(*p)), tuple(xs), tuple(ts))[1])

    batch = [tensor(np.stack(x)) for x in zip(*samples, strict=True)]
    tangents = [tensor(np.stack(t)) for t in zip(*directions, strict=True)]
    found = tp.vmap(mapped)(batch, tangents)
    compare_gradients(found, expected, f"{sample!r}: vmap of the forward rule", op)
    # The other order: the tangent of the vmapped function.
    with forward_ad.dual_level():
        outs = tp.vmap(lambda *p: tuple(problem(*p)))(*dual(batch, tangents))
        found = [forward_ad.unpack_dual(y).tangent for y in outs]
    compare_gradients(found, expected, f"{sample!r}: tangent of vmap", op)


def tangent_at(problem: Problem, point: Arrays, direction: Arrays) -> Arrays:
    """The tangent at a point, zeros where None."""
    with forward_ad.dual_level():
        outs = problem(*dual([tensor(x) for x in point], direction))
        found = [forward_ad.unpack_dual(y) for y in outs]
    return [np.zeros_like(array(primal)) if t is None else array(t) for primal, t in found]


def check_vmap_vmap(op: Op, sample: Sample) -> None:
    """Two nested vmaps over differentiable inputs: dims 0 outside and last inside."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    grid = [[[perturbed(x, i + j) for x in problem.point] for j in range(2)] for i in range(2)]
    expected = [[problem.at(one) for one in row] for row in grid]
    if not expected[0][0]:
        return
    batch = [
        tensor(np.stack([np.stack([one[k] for one in row], axis=-1) for row in grid]))
        for k in range(len(problem.point))
    ]
    twice = tp.vmap(tp.vmap(lambda *xs: tuple(problem(*xs)), in_dims=-1))
    for i, y in enumerate(twice(*batch)):
        wanted = np.stack([np.stack([one[i] for one in row]) for row in expected])
        assert_arrays(y, wanted, f"{sample!r}: vmap of vmap, result {i}", op.rtol or 1e-9)
    # The inner level maps only the first input, the outer only the last.
    if len(problem.point) < 2:
        return
    last = len(problem.point) - 1
    inner = tuple(0 if k == 0 else None for k in range(last + 1))
    outer = tuple(0 if k == last else None for k in range(last + 1))
    firsts = [perturbed(problem.point[0], k) for k in range(2)]
    lasts = [perturbed(problem.point[last], k) for k in range(3)]
    xs = [tensor(x) for x in problem.point]
    xs[0], xs[last] = tensor(np.stack(firsts)), tensor(np.stack(lasts))
    found = tp.vmap(tp.vmap(lambda *p: tuple(problem(*p)), in_dims=inner), in_dims=outer)(*xs)
    for i, y in enumerate(found):
        wanted = np.stack([
            np.stack([problem.at([a, *problem.point[1:last], b])[i] for a in firsts])
            for b in lasts
        ])  # fmt: skip
        assert_arrays(y, wanted, f"{sample!r}: vmap of vmap, mixed, result {i}", op.rtol or 1e-9)


def check_vmap_empty(op: Op, sample: Sample) -> None:
    """A batch of no samples: empty results and gradients of the right shapes and dtypes."""
    problem = Problem(op, sample)
    if not problem.positions:
        return
    expected = problem.at(problem.point)
    xs = [tensor(np.zeros((0, *x.shape), x.dtype), True) for x in problem.point]
    found = tp.vmap(lambda *p: tuple(problem(*p)))(*xs)
    for i, (y, one) in enumerate(zip(found, expected, strict=True)):
        assert tuple(y.shape) == (0, *one.shape), f"{sample!r}: result {i}, {tuple(y.shape)}"
        assert array(y).dtype == one.dtype, f"{sample!r}: result {i} has {y.dtype}"
    if "reverse" in op.skip:
        return
    gradients = pullback(found, xs, [tensor(array(y)) for y in found])
    for i, (g, x) in enumerate(zip(gradients, xs, strict=True)):
        assert g is None or g.shape == x.shape, f"{sample!r}: gradient {i}, {tuple(g.shape)}"
