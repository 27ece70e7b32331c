"""The five aspects of a call, ours against PyTorch's: value, gradients, forward mode, vmap.

A `Case` is the same call in both libraries as functions of its tensors. Where PyTorch itself lacks
a derivative, ours is checked against finite differences of what PyTorch does have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.autograd import forward_ad as their_forward

import tensorplay as tp
from tensorplay import autograd
from tensorplay.autograd import forward_ad
from tests.parity.bridge import (
    TOLERANCE,
    Mismatch,
    compare,
    compare_numbers,
    copy_of,
    differentiable,
    dtype_name,
    is_tensor,
    leaves,
    numbers,
    tensors,
    to_ours,
)

ASPECTS = ("value", "gradient", "gradgrad", "jvp", "vmap")


@dataclass
class Case:
    """One call. `ours` and `theirs` take the tensors as positional arguments."""

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    inputs: list[torch.Tensor]
    diff: list[int] = field(default_factory=list)
    """Positions of inputs to differentiate by."""
    pick_ours: Callable[[Any], Any] | None = None
    pick_theirs: Callable[[Any], Any] | None = None
    """What of the result is differentiated (and compared); by default all of it."""
    seed: int = 0
    rtol: float | None = None
    atol: float | None = None
    compare_dtype: bool = True
    their_gradgrad: bool = True
    their_jvp: bool = True

    def our_inputs(self, grad: bool = False) -> list[Any]:
        """Fresh tensors, leaves that require grad where they are differentiated."""
        made = [to_ours(x) for x in self.inputs]
        if grad:
            for i in self.diff:
                made[i].requires_grad = True
        return made

    def their_inputs(self, grad: bool = False) -> list[torch.Tensor]:
        """As `our_inputs`, in PyTorch."""
        made = [copy_of(x) for x in self.inputs]
        if grad:
            for i in self.diff:
                made[i].requires_grad_()
        return made

    def run_ours(self, inputs: Sequence[Any]) -> list[Any]:
        """The tensors of our result."""
        value = self.ours(*inputs)
        return tensors(value if self.pick_ours is None else self.pick_ours(value))

    def run_theirs(self, inputs: Sequence[Any]) -> list[Any]:
        """The tensors of PyTorch's result."""
        torch.manual_seed(self.seed)
        value = self.theirs(*inputs)
        return tensors(value if self.pick_theirs is None else self.pick_theirs(value))

    def check(self, ours: Any, theirs: Any, what: str) -> None:
        """Compare two tensors within the tolerances of this case."""
        compare(ours, theirs, what, self.rtol, self.atol, self.compare_dtype)


def random_like(x: Any, rng: np.random.Generator) -> torch.Tensor:
    """Random numbers of x's shape and dtype, as a tensor of PyTorch."""
    values = rng.uniform(-1, 1, tuple(x.shape))
    if x.dtype.is_complex:
        values = values + 1j * rng.uniform(-1, 1, tuple(x.shape))
    return torch.from_numpy(np.asarray(values)).to(getattr(torch, dtype_name(x)))


# --- value ----------------------------------------------------------------------------------------


def check_value(case: Case) -> None:
    """Same structure, shapes, dtypes and elements."""
    torch.manual_seed(case.seed)
    expected = case.theirs(*case.their_inputs())
    actual = case.ours(*case.our_inputs())
    if case.pick_ours is not None:
        actual, expected = case.pick_ours(actual), case.pick_theirs(expected)
    got, wanted = leaves(actual), leaves(expected)
    if len(got) != len(wanted):
        raise Mismatch(f"value: {len(got)} results, PyTorch has {len(wanted)}")
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        what = "value" if len(got) == 1 else f"value {i}"
        if is_tensor(a) and is_tensor(b):
            case.check(a, b, what)
        elif is_tensor(a) or is_tensor(b) or (a != b and not (a is None or b is None)):
            raise Mismatch(f"{what}: {a!r}, PyTorch has {b!r}")
        elif (a is None) != (b is None):
            raise Mismatch(f"{what}: {a!r}, PyTorch has {b!r}")


# --- gradient -------------------------------------------------------------------------------------


def recorded(outs: Sequence[Any]) -> list[Any]:
    """The results that gradients flow through."""
    return [x for x in outs if differentiable(x) and x.requires_grad]


def check_gradient(case: Case) -> None:
    """The reverse rule on a random cotangent."""
    rng = np.random.default_rng(case.seed)
    xs, ys = case.our_inputs(True), case.their_inputs(True)
    outs, wanted = case.run_ours(xs), case.run_theirs(ys)
    for i, (a, b) in enumerate(zip(outs, wanted, strict=True)):
        if a.requires_grad != b.requires_grad:
            raise Mismatch(
                f"gradient: result {i} requires_grad={a.requires_grad}, "
                f"PyTorch has {b.requires_grad}"
            )
    outs, wanted = recorded(outs), recorded(wanted)
    if not outs:
        return
    cotangents = [random_like(x, rng) for x in wanted]
    theirs = torch.autograd.grad(wanted, [ys[i] for i in case.diff], cotangents, allow_unused=True)
    ours = autograd.grad(
        outs, [xs[i] for i in case.diff], [to_ours(c) for c in cotangents], allow_unused=True
    )
    try:
        for i, a, b in zip(case.diff, ours, theirs, strict=True):
            case.check(a, b, f"gradient of input {i}")
    except Mismatch as error:
        arbitrate(case, ours, lambda xs: paired_value(case, xs, cotangents), error)


def check_gradgrad(case: Case) -> None:
    """The derivative of the gradient by the inputs and by the cotangents."""
    rng = np.random.default_rng(case.seed)
    outs = recorded(case.run_theirs(case.their_inputs(True)))
    if not outs:
        return
    cotangents = [random_like(x, rng) for x in outs]
    seeds = [random_like(case.inputs[i], rng) for i in case.diff]
    ours = our_gradgrad(case, cotangents, seeds)
    theirs = their_gradgrad(case, cotangents, seeds) if case.their_gradgrad else None
    if theirs is None:
        check_along(case, ours, lambda xs: our_paired_gradient(case, xs, cotangents, seeds))
        return
    try:
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            case.check(a, b, f"gradgrad {i}")
    except Mismatch as error:
        arbitrate(case, ours, lambda xs: paired_gradient(case, xs, cotangents, seeds), error)


def our_gradgrad(case: Case, cotangents: Any, seeds: Any) -> list[Any]:
    """Second derivatives in tensorplay."""
    xs = case.our_inputs(True)
    outs = recorded(case.run_ours(xs))
    inputs = [xs[i] for i in case.diff]
    given = [to_ours(c) for c in cotangents]
    for g in given:
        g.requires_grad = True
    first = autograd.grad(outs, inputs, given, create_graph=True, allow_unused=True)
    kept = [(a, to_ours(s)) for a, s in zip(first, seeds, strict=True)
            if a is not None and a.requires_grad]  # fmt: skip
    if not kept:
        return [None] * (len(inputs) + len(given))
    return list(
        autograd.grad([a for a, _ in kept], inputs + given, [s for _, s in kept], allow_unused=True)
    )


#: What PyTorch says where it has no second derivative (the last, of optional inputs left out).
_NO_SECOND = (
    "not implemented",
    "automatic differentiation",
    "Expected a proper Tensor but got None",
)


def their_gradgrad(case: Case, cotangents: Any, seeds: Any) -> list[Any] | None:
    """Second derivatives in PyTorch; None where it says that it has none."""
    xs = case.their_inputs(True)
    outs = recorded(case.run_theirs(xs))
    inputs = [xs[i] for i in case.diff]
    given = [c.clone().requires_grad_() for c in cotangents]
    try:
        first = torch.autograd.grad(outs, inputs, given, create_graph=True, allow_unused=True)
        kept = [(a, s) for a, s in zip(first, seeds, strict=True)
                if a is not None and a.requires_grad]  # fmt: skip
        if not kept:
            return [None] * (len(inputs) + len(given))
        return list(
            torch.autograd.grad(
                [a for a, _ in kept], inputs + given, [s for _, s in kept], allow_unused=True
            )
        )
    except RuntimeError as error:
        if any(text in str(error) for text in _NO_SECOND):
            return None
        raise


# --- differences as the judge ---------------------------------------------------------------------


class TheirMistake(Exception):
    """PyTorch contradicts differences of its own function, and ours agrees with them."""


def paired_value(case: Case, xs: list[Any], cotangents: Any) -> float:
    """Re<c, f(x)> in PyTorch."""
    for i in case.diff:
        xs[i].requires_grad_()
    return sum(inner(c, y) for c, y in zip(cotangents, recorded(case.run_theirs(xs)), strict=True))


def paired_gradient(case: Case, xs: list[Any], cotangents: Any, seeds: Any) -> float:
    """Re<s, J(x)^H c> in PyTorch."""
    for i in case.diff:
        xs[i].requires_grad_()
    outs = recorded(case.run_theirs(xs))
    found = torch.autograd.grad(outs, [xs[i] for i in case.diff], cotangents, allow_unused=True)
    return sum(inner(s, a) for s, a in zip(seeds, found, strict=True) if a is not None)


def our_paired_gradient(case: Case, xs: list[Any], cotangents: Any, seeds: Any) -> float:
    """Re<s, J(x)^H c> in ours (whose first derivatives are compared by another aspect)."""
    ours = [to_ours(x) for x in xs]
    for i in case.diff:
        ours[i].requires_grad = True
    found = autograd.grad(
        recorded(case.run_ours(ours)),
        [ours[i] for i in case.diff],
        [to_ours(c) for c in cotangents],
        allow_unused=True,
    )
    return sum(inner(s, a) for s, a in zip(seeds, found, strict=True) if a is not None)


def check_along(case: Case, gradient: Any, value: Callable[[list[Any]], float]) -> None:
    """A gradient of `value` (a function of PyTorch's inputs) against its central differences."""
    rng = np.random.default_rng(case.seed + 1)
    directions = [random_like(case.inputs[i], rng) for i in case.diff]

    def at(step: float) -> float:
        xs = case.their_inputs()
        for i, d in zip(case.diff, directions, strict=True):
            xs[i] = xs[i] + step * d
        return value(xs)

    h = 1e-4
    expected = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)
    actual = sum(inner(a, d) for a, d in zip(gradient, directions, strict=False) if a is not None)
    compare_numbers(
        np.asarray(actual), np.asarray(expected), "derivative along a direction", 1e-6, 1e-7
    )


def arbitrate(
    case: Case, gradient: Any, value: Callable[[list[Any]], float], error: Mismatch
) -> None:
    """Where two gradients differ, let differences decide whether ours is right.

    Raises:
        TheirMistake: if it is.
        Mismatch: the given one, if it is not.
    """
    try:
        check_along(case, gradient, value)
    except Mismatch:
        raise error from None
    raise TheirMistake(str(error))


def inner(a: Any, b: Any) -> float:
    """The real inner product of two tensors of either library."""
    return float(np.sum((np.conj(numbers(a)) * numbers(b)).real))


# --- forward mode ---------------------------------------------------------------------------------


def check_jvp(case: Case) -> None:
    """Forward mode along random tangents."""
    rng = np.random.default_rng(case.seed)
    tangents = [random_like(case.inputs[i], rng) for i in case.diff]
    ours = our_jvp(case, tangents)
    if case.their_jvp:
        theirs = their_jvp(case, tangents)
        try:
            for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                case.check(a, b, f"tangent {i}")
        except Mismatch as error:
            arbitrate_tangents(case, tangents, ours, error)
    else:
        check_jvp_by_gradient(case, tangents, ours)


def arbitrate_tangents(case: Case, tangents: Any, ours: Any, error: Mismatch) -> None:
    """As `arbitrate`, for the tangents of all results."""

    def moved(step: float) -> list[Any]:
        xs = case.their_inputs()
        for i, t in zip(case.diff, tangents, strict=True):
            xs[i] = xs[i] + step * t
        return case.run_theirs(xs)

    step = 1e-6
    slopes = [slope(a, b, 2 * step) for a, b in zip(moved(step), moved(-step), strict=True)]
    try:
        for expected, tangent in zip(slopes, ours, strict=True):
            if differentiable(expected):
                compare(tangent, expected, "tangent", 1e-6, 1e-6)
    except Mismatch:
        raise error from None
    raise TheirMistake(str(error))


def slope(a: torch.Tensor, b: torch.Tensor, distance: float) -> torch.Tensor:
    """The difference quotient, 0 where both are the same infinity."""
    return torch.where(a == b, 0, (a - b) / distance) if differentiable(a) else a


def check_jvp_by_gradient(case: Case, tangents: Any, ours: Any) -> None:
    """Where PyTorch has no forward mode: <c, J t> = <J^H c, t>, with our gradient."""
    xs = case.our_inputs(True)
    outs = case.run_ours(xs)
    rng = np.random.default_rng(case.seed + 1)
    pairs = [(y, random_like(y, rng), t) for y, t in zip(outs, ours, strict=True)
             if differentiable(y) and y.requires_grad]  # fmt: skip
    if not pairs:
        return
    found = autograd.grad(
        [y for y, _, _ in pairs],
        [xs[i] for i in case.diff],
        [to_ours(c) for _, c, _ in pairs],
        allow_unused=True,
    )
    expected = sum(inner(a, t) for a, t in zip(found, tangents, strict=True) if a is not None)
    actual = sum(inner(c, t) for _, c, t in pairs if t is not None)
    rtol = max(TOLERANCE[dtype_name(y)][0] for y, _, _ in pairs)
    compare_numbers(np.asarray(actual), np.asarray(expected), "<c, J t>", rtol, rtol)


def our_jvp(case: Case, tangents: Any) -> list[Any]:
    """Tangents of our results."""
    with forward_ad.dual_level():
        xs = case.our_inputs()
        for i, t in zip(case.diff, tangents, strict=True):
            xs[i] = forward_ad.make_dual(xs[i], to_ours(t))
        outs = case.run_ours(xs)
        return [forward_ad.unpack_dual(x).tangent for x in outs]


def their_jvp(case: Case, tangents: Any) -> list[Any]:
    """Tangents of PyTorch's results."""
    with their_forward.dual_level():
        xs = case.their_inputs()
        for i, t in zip(case.diff, tangents, strict=True):
            xs[i] = their_forward.make_dual(xs[i], t)
        outs = case.run_theirs(xs)
        found = [their_forward.unpack_dual(x).tangent for x in outs]
        return [None if t is None else t.clone() for t in found]


# --- vmap -----------------------------------------------------------------------------------------

BATCH = 3


def check_vmap(case: Case) -> None:
    """vmap against a loop: all floating inputs batched; one input batched in its last dim; all.

    The first must work. Of the others (running statistics that are not batched, indices that
    are) a refusal counts as right if PyTorch refuses as well.
    """
    floats = [i for i, x in enumerate(case.inputs) if differentiable(x)]
    every = list(range(len(case.inputs)))
    plans = [(dict.fromkeys(floats or every, 0), bool(floats))]
    if floats and len(every) > 1:
        plans.append(({floats[0]: -1}, False))
    if floats and len(every) > len(floats):
        plans.append((dict.fromkeys(every, 0), False))
    for dims, must in plans:
        check_vmap_plan(case, dims, must)


def check_vmap_plan(case: Case, dims: dict[int, int], must: bool) -> None:
    """One choice of in_dims."""
    scales = (1.0, 0.875, 0.75)
    samples = [
        [x * scales[k] if i in dims and differentiable(x) else x
         for i, x in enumerate(case.inputs)]
        for k in range(BATCH)
    ]  # fmt: skip
    try:
        expected = [case.run_theirs(one) for one in samples]
    except RuntimeError:
        return  # not for tensors that lie in memory of their own
    if any(
        len(one) != len(expected[0])
        or any(a.shape != b.shape for a, b in zip(one, expected[0], strict=True))
        for one in expected
    ):
        return  # the shape depends on the data, so there is no batch of results
    in_dims = tuple(dims.get(i) for i in range(len(case.inputs)))
    stacked = [
        torch.stack([one[i] for one in samples], dim=-1 if d == -1 else 0) if d is not None else x
        for i, (x, d) in enumerate(zip(case.inputs, in_dims, strict=True))
    ]
    try:
        # What is random inside (a sketch for a low-rank decomposition, say) must not matter.
        mapped = tp.vmap(
            lambda *xs: tuple(case.run_ours(xs)), in_dims=in_dims, randomness="different"
        )
        results = mapped(*[to_ours(x) for x in stacked])
    except Exception:
        if must or their_vmap_works(case, in_dims, stacked):
            raise
        return
    for i, a in enumerate(results):
        case.check(a, torch.stack([one[i] for one in expected]), f"vmap{in_dims} {i}")


def their_vmap_works(case: Case, in_dims: Any, stacked: Any) -> bool:
    """Whether PyTorch can batch this call, without falling back to a loop."""
    torch._C._functorch._set_vmap_fallback_enabled(False)
    try:
        torch.vmap(lambda *xs: tuple(case.run_theirs(xs)), in_dims=in_dims)(*stacked)
    except Exception:
        return False
    finally:
        torch._C._functorch._set_vmap_fallback_enabled(True)
    return True


CHECKS: dict[str, Callable[[Case], None]] = {
    "value": check_value,
    "gradient": check_gradient,
    "gradgrad": check_gradgrad,
    "jvp": check_jvp,
    "vmap": check_vmap,
}

assert tuple(CHECKS) == ASPECTS
