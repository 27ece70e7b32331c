"""Operators with random results: compared in distribution; derivatives under a fixed seed.

The generators differ from PyTorch's, so elements cannot be compared. What can: shapes and dtypes,
mean and mean square of every element over many runs, and the derivatives of our own function with
our generator started from the same seed each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import tensorplay as tp
from tensorplay import autograd
from tests.parity.aspects import (
    BATCH,
    Case,
    inner,
    our_gradgrad,
    our_jvp,
    random_like,
    recorded,
)
from tests.parity.bridge import (
    Mismatch,
    compare,
    compare_numbers,
    differentiable,
    dtype_name,
    numbers,
    tensors,
    to_ours,
)

RUNS = 60
STEP = 1e-5


def is_random(case: Case) -> bool:
    """Whether PyTorch's result depends on the seed."""
    first = their_result(case, 1)
    return any(
        a.shape != b.shape or not np.allclose(numbers(a), numbers(b), 1e-6, 1e-6, equal_nan=True)
        for seed in (2, 3, 4)
        for a, b in zip(first, their_result(case, seed), strict=True)
    )


def their_result(case: Case, seed: int) -> list[Any]:
    """PyTorch's results under a seed."""
    torch.manual_seed(seed)
    value = case.theirs(*case.their_inputs())
    return tensors(value if case.pick_theirs is None else case.pick_theirs(value))


def seeded(case: Case, inputs: Any) -> list[Any]:
    """Our results with the generator started anew."""
    tp.manual_seed(case.seed)
    return case.run_ours(inputs)


def check_value(case: Case) -> None:
    """Shapes, dtypes, reproducibility, and the first two moments over many runs."""
    expected = case.run_theirs(case.their_inputs())
    actual = seeded(case, case.our_inputs())
    again = seeded(case, case.our_inputs())
    for i, (a, b, c) in enumerate(zip(actual, expected, again, strict=True)):
        if tuple(a.shape) != tuple(b.shape) or dtype_name(a) != dtype_name(b):
            raise Mismatch(
                f"value {i}: {dtype_name(a)}{tuple(a.shape)}, "
                f"PyTorch has {dtype_name(b)}{tuple(b.shape)}"
            )
        compare(a, c, f"value {i} under the same seed", dtype=False)
    ours, theirs = [], []
    for run in range(RUNS):
        tp.manual_seed(run)
        ours.append([numbers(x).astype(complex) for x in case.run_ours(case.our_inputs())])
        theirs.append([numbers(x).astype(complex) for x in their_result(case, run)])
    for i in range(len(expected)):
        a, b = np.stack([x[i] for x in ours]), np.stack([x[i] for x in theirs])
        for what, f in (("mean", lambda x: x.real), ("mean square", lambda x: np.abs(x) ** 2)):
            compare_moments(f(a), f(b), f"value {i}: {what}")


def compare_moments(a: np.ndarray, b: np.ndarray, what: str) -> None:
    """Means over runs, within six standard deviations of their difference."""
    if not a.size:
        return
    spread = np.sqrt((a.var(0) + b.var(0)) / RUNS + 1e-12) + 0.02 * np.abs(b).max()
    distance = np.abs(a.mean(0) - b.mean(0)) / spread
    if not (np.nan_to_num(distance) < 6).all():
        raise Mismatch(f"{what}: {np.max(distance):.1f} standard deviations off PyTorch's")


def paired(case: Case, direction: list[Any], step: float, cotangents: list[Any]) -> float:
    """<cotangents, f(x + step * direction)>, in ours."""
    xs = case.our_inputs()
    for i, d in zip(case.diff, direction, strict=True):
        xs[i] = to_ours(case.inputs[i] + step * d)
    outs = [x for x in seeded(case, xs) if differentiable(x)]
    return sum(inner(c, x) for c, x in zip(cotangents, outs, strict=True))


def gradient(case: Case, xs: list[Any], cotangents: list[Any]) -> list[Any]:
    """Our gradient under the seed."""
    outs = recorded(seeded(case, xs))
    if not outs:
        return [None] * len(case.diff)
    return list(
        autograd.grad(
            outs, [xs[i] for i in case.diff], [to_ours(c) for c in cotangents], allow_unused=True
        )
    )


def outputs_of(case: Case) -> list[Any]:
    """Our differentiable results, for their shapes."""
    return [x for x in seeded(case, case.our_inputs(True)) if differentiable(x)]


def check_gradient(case: Case) -> None:
    """The reverse rule against differences of our function under the same seed.

    Where PyTorch defines the derivative of drawing a sample as zero, so must we.
    """
    rng = np.random.default_rng(case.seed)
    outs = outputs_of(case)
    if not case.diff or not recorded(outs):
        return
    cotangents = [random_like(x, rng) for x in outs]
    found = gradient(case, case.our_inputs(True), cotangents)
    if their_gradient_is_zero(case):
        for i, a in enumerate(found):
            compare(a, None, f"gradient {i}")
        return
    direction = [random_like(case.inputs[i], rng) for i in case.diff]
    expected = (
        paired(case, direction, STEP, cotangents) - paired(case, direction, -STEP, cotangents)
    ) / (2 * STEP)
    actual = sum(inner(a, d) for a, d in zip(found, direction, strict=True) if a is not None)
    compare_numbers(np.asarray(actual), np.asarray(expected), "gradient", 1e-4, 1e-5)


def their_gradient_is_zero(case: Case) -> bool:
    """Whether PyTorch's gradient is, whatever the seed."""
    for seed in range(8):
        ys = case.their_inputs(True)
        torch.manual_seed(seed)
        value = case.theirs(*ys)
        outs = recorded(tensors(value if case.pick_theirs is None else case.pick_theirs(value)))
        found = torch.autograd.grad(
            outs, [ys[i] for i in case.diff], [torch.ones_like(y) for y in outs], allow_unused=True
        )
        if any(a is not None and a.any() for a in found):
            return False
    return True


def check_gradgrad(case: Case) -> None:
    """Second derivatives against differences of our gradient."""
    rng = np.random.default_rng(case.seed)
    outs = recorded(outputs_of(case))
    if not case.diff or not outs:
        return
    cotangents = [random_like(x, rng) for x in outs]
    seeds = [random_like(case.inputs[i], rng) for i in case.diff]
    direction = [random_like(case.inputs[i], rng) for i in case.diff]
    tp.manual_seed(case.seed)
    second = our_gradgrad(case, cotangents, seeds)

    def at(step: float) -> float:
        xs = case.our_inputs()
        for i, d in zip(case.diff, direction, strict=True):
            xs[i] = to_ours(case.inputs[i] + step * d)
            xs[i].requires_grad = True
        found = gradient(case, xs, cotangents)
        return sum(inner(s, a) for s, a in zip(seeds, found, strict=True) if a is not None)

    expected = (at(STEP) - at(-STEP)) / (2 * STEP)
    actual = sum(inner(a, d) for a, d in zip(second, direction, strict=False) if a is not None)
    compare_numbers(np.asarray(actual), np.asarray(expected), "gradgrad", 1e-4, 1e-5)


def check_jvp(case: Case) -> None:
    """Forward mode against the reverse rule: <c, J t> = <J^H c, t>."""
    rng = np.random.default_rng(case.seed)
    outs = outputs_of(case)
    if not case.diff or not recorded(outs):
        return
    tangents = [random_like(case.inputs[i], rng) for i in case.diff]
    cotangents = [random_like(x, rng) for x in outs]
    tp.manual_seed(case.seed)
    found = our_jvp(case, tangents)
    forward = sum(inner(c, t) for c, t in zip(cotangents, found, strict=False) if t is not None)
    back = gradient(case, case.our_inputs(True), cotangents)
    reverse = sum(inner(a, t) for a, t in zip(back, tangents, strict=True) if a is not None)
    compare_numbers(np.asarray(forward), np.asarray(reverse), "jvp", 1e-6, 1e-8)


def check_vmap(case: Case) -> None:
    """Shapes and reproducibility with randomness 'different'; an error without it."""
    floats = [i for i, x in enumerate(case.inputs) if differentiable(x)]
    dims = tuple(0 if i in floats else None for i in range(len(case.inputs)))
    if not floats:
        return
    stacked = [
        to_ours(torch.stack([x] * BATCH) if d == 0 else x)
        for x, d in zip(case.inputs, dims, strict=True)
    ]
    expected = [tuple(x.shape) for x in case.run_theirs(case.their_inputs())]
    for randomness in ("different", "same"):
        mapped = tp.vmap(lambda *xs: tuple(case.run_ours(xs)), in_dims=dims, randomness=randomness)
        tp.manual_seed(case.seed)
        found = mapped(*stacked)
        for i, (a, shape) in enumerate(zip(found, expected, strict=True)):
            if tuple(a.shape) != (BATCH, *shape):
                raise Mismatch(f"vmap {randomness} {i}: shape {tuple(a.shape)}, not {shape} each")
            if randomness == "same":
                compare(a[0], a[1], f"vmap same {i}: samples 0 and 1", dtype=False)


RANDOM_CHECKS = {
    "value": check_value,
    "gradient": check_gradient,
    "gradgrad": check_gradgrad,
    "jvp": check_jvp,
    "vmap": check_vmap,
}
