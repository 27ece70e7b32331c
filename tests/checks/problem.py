"""A sample as a function of its differentiable tensors, and numerical derivatives of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorplay import autograd
from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd import forward_ad
from tests.optable.schema import Op, Sample, is_differentiable

#: Steps of central differences, whose errors fall with the fourth power. A step may carry a point
#: over a kink or a jump nearby; then the shorter one decides.
STEPS = (1e-3, 1.5e-4)

Arrays = list[np.ndarray]


def tensors_in(value: Any) -> list[Tensor]:
    """The tensors in a result, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in tensors_in(item)]
    return []


def array(x: Tensor) -> np.ndarray:
    """The elements of a plain tensor."""
    return np.asarray(core.array_of(x))


def tensor(values: np.ndarray, grad: bool = False) -> Tensor:
    """A plain tensor with its own memory."""
    made = core.from_array(np.array(values))
    made.requires_grad = grad
    return made


class Problem:
    """f(x_1, ..., x_n): a row's function of the differentiable tensors of one sample.

    Its value is the list of differentiable results. Points and directions are lists of NumPy
    arrays, one per differentiable tensor.
    """

    def __init__(self, op: Op, sample: Sample) -> None:
        self.op = op
        self.sample = sample
        self.positions = sample.differentiable()
        self.tensors = sample.tensors()
        self.point: Arrays = [array(self.tensors[i]) for i in self.positions]
        self.rng = np.random.default_rng(7)
        self._second: dict[int, float] = {}

    def __call__(self, *xs: Any) -> list[Tensor]:
        """The differentiable results, for tensors of any kind (recorded, dual, boxed)."""
        full = list(self.tensors)
        for i, x in zip(self.positions, xs, strict=True):
            full[i] = x
        value = self.op.run(self.sample.replaced(full))
        return [y for y in tensors_in(value) if is_differentiable(y)]

    def at(self, point: Arrays) -> Arrays:
        """The value as arrays."""
        return [array(y) for y in self(*[tensor(x) for x in point])]

    def moved(self, *steps: tuple[float, Arrays]) -> Arrays:
        """The value at the point moved by several multiples of directions."""
        point = list(self.point)
        for length, direction in steps:
            point = [x + length * d for x, d in zip(point, direction, strict=True)]
        return self.at([np.asarray(p, x.dtype) for p, x in zip(point, self.point, strict=True)])

    # --- directions -------------------------------------------------------------------------------

    def random(self, like: Sequence[np.ndarray]) -> Arrays:
        """Random arrays of the shapes and kinds of `like`."""
        return [noise(self.rng, x.shape, x.dtype) for x in like]

    def directions(self) -> list[Arrays]:
        """A random direction for each input alone (the others rest), and one of all together."""
        full = self.random(self.point)
        if len(full) < 2:
            return [full]
        alone = [
            [d if i == k else np.zeros_like(d) for i, d in enumerate(full)]
            for k in range(len(full))
        ]
        return [*alone, full]

    # --- numerical derivatives --------------------------------------------------------------------

    def derivative(self, direction: Arrays, h: float = STEPS[0]) -> Arrays:
        """d/ds f(x + s direction), by central differences of fourth order."""
        a, b, c, d = (self.moved((k * h, direction)) for k in (-2, -1, 1, 2))
        return [(w - 8 * x + 8 * y - z) / (12 * h) for w, x, y, z in zip(a, b, c, d, strict=True)]

    def second_derivative(self, u: Arrays, v: Arrays, step: float = STEPS[0]) -> Arrays:
        """d2/ds dt f(x + s u + t v), by mixed differences with one step of extrapolation."""

        def mixed(h: float) -> Arrays:
            corners = [self.moved((s * h, u), (t * h, v)) for s in (1, -1) for t in (1, -1)]
            return [(a - b - c + d) / (4 * h * h) for a, b, c, d in zip(*corners, strict=True)]

        fine, coarse = mixed(2 * step), mixed(4 * step)
        return [(4 * a - b) / 3 for a, b in zip(fine, coarse, strict=True)]

    # --- derivatives by the library ---------------------------------------------------------------

    def leaves(self, grad: bool = True) -> list[Tensor]:
        """The point as fresh tensors."""
        return [tensor(x, grad) for x in self.point]

    def gradient(self, cotangents: Arrays, xs: list[Tensor] | None = None) -> list[Any]:
        """J^H g by reverse mode (None for a zero)."""
        xs = self.leaves() if xs is None else xs
        outs = self(*xs)
        return pullback(outs, xs, [tensor(g) for g in cotangents])

    def tangent(self, direction: Arrays) -> list[Any]:
        """J t by forward mode (None for a zero)."""
        with forward_ad.dual_level():
            xs = dual(self.leaves(False), direction)
            return [forward_ad.unpack_dual(y).tangent for y in self(*xs)]


def dual(xs: Sequence[Tensor], direction: Sequence[Any]) -> list[Tensor]:
    """Dual tensors at the innermost forward level."""
    return [
        forward_ad.make_dual(x, t if isinstance(t, Tensor) else tensor(t))
        for x, t in zip(xs, direction, strict=True)
    ]


def pullback(
    outs: Sequence[Tensor],
    xs: Sequence[Tensor],
    cotangents: Sequence[Any],
    graph: bool = False,
    batched: bool = False,
) -> list[Any]:
    """Gradients of the outputs that were recorded; None for inputs that none depends on."""
    pairs = [(y, g) for y, g in zip(outs, cotangents, strict=True) if y.requires_grad]
    if not pairs or not xs:
        return [None] * len(xs)
    return list(
        autograd.grad(
            [y for y, _ in pairs],
            list(xs),
            [g for _, g in pairs],
            create_graph=graph,
            allow_unused=True,
            is_grads_batched=batched,
        )
    )


def noise(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Random numbers of size about one, none of them near zero."""
    values = rng.uniform(0.3, 1, shape) * rng.choice([-1.0, 1.0], shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(0.3, 1, shape) * rng.choice([-1.0, 1.0], shape)
    return np.asarray(values, dtype)


# --- comparing ------------------------------------------------------------------------------------


def inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    """The real inner product of two lists of tensors or arrays; None is zero."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        if x is None or y is None:
            continue
        x, y = (array(z) if isinstance(z, Tensor) else z for z in (x, y))
        total += float(np.sum((np.conj(x) * y).real))
    return total


def size_of(arrays: Sequence[Any]) -> float:
    """The largest finite magnitude; 0 for nothing."""
    found = [0.0]
    for x in arrays:
        x = array(x) if isinstance(x, Tensor) else x
        if x is not None and x.size:
            magnitude = np.abs(x)
            found.append(float(np.max(magnitude[np.isfinite(magnitude)], initial=0.0)))
    return max(found)


def assert_numbers(
    actual: float, expected: float, what: str, scale: float = 1.0, rtol: float = 1e-6
) -> None:
    """Two numbers agree to `rtol`, and to about 1e-9 of what they were summed from."""
    if np.isnan(actual) and np.isnan(expected):
        return
    limit = rtol * max(abs(actual), abs(expected)) + 1e-8 * (1.0 + scale)
    if not abs(actual - expected) <= limit:
        raise AssertionError(f"{what}: {actual!r}, expected {expected!r} (within {limit:.1e})")


def assert_some_step(check: Callable[[float], None]) -> None:
    """`check(step)` passes for one of the steps of finite differences; else the last error."""
    for step in STEPS[:-1]:
        try:
            return check(step)
        except AssertionError:
            pass
    return check(STEPS[-1])


def assert_arrays(
    actual: Any, expected: Any, what: str, rtol: float = 1e-6, atol: float | None = None
) -> None:
    """Two arrays or tensors agree element by element; None is zeros. NaN equals NaN."""
    if actual is None and expected is None:
        return
    a, b = (array(z) if isinstance(z, Tensor) else z for z in (actual, expected))
    a = np.zeros_like(b) if a is None else np.asarray(a)
    b = np.zeros_like(a) if b is None else np.asarray(b)
    if a.shape != b.shape:
        raise AssertionError(f"{what}: shape {a.shape}, expected {b.shape}")
    if a.dtype.kind not in "fcV" and b.dtype.kind not in "fcV":
        if not np.array_equal(a, b):
            raise AssertionError(f"{what}: {a}, expected {b}")
        return
    kind = complex if "c" in (a.dtype.kind, b.dtype.kind) else float
    a, b = a.astype(kind), b.astype(kind)
    limit = rtol * size_of([a, b]) + 1e-9 if atol is None else atol
    np.testing.assert_allclose(a, b, rtol=rtol, atol=limit, err_msg=what)
