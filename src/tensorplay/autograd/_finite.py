"""Jacobians as arrays of real numbers: by finite differences, by backward passes, by tangents.

A complex entry counts as two real coordinates, its real and imaginary part; so functions of complex
numbers need no theory of their own, whether they are holomorphic or not. Rows of a Jacobian are
coordinates of an output, columns those of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd import forward_ad
from tensorplay.autograd.backward import grad

Function = Callable[[], list[Tensor]]


def as_real(x: Tensor | None, like: Tensor) -> np.ndarray:
    """The coordinates of a tensor as a vector; zeros for None."""
    if x is None:
        return np.zeros(coordinates(like))
    array = np.ascontiguousarray(core.array_of(x))
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag], -1)
    return np.asarray(array, dtype=np.float64).ravel()


def from_real(vector: np.ndarray, like: Tensor) -> Tensor:
    """A tensor of the shape and dtype of another one, with these coordinates."""
    if like.dtype.is_complex:
        vector = vector[0::2] + 1j * vector[1::2]
    array = vector.reshape(tuple(like.shape)).astype(like.dtype.numpy)
    return core.from_array(array)


def coordinates(x: Tensor) -> int:
    """How many real coordinates a tensor has."""
    return int(x.numel()) * (2 if x.dtype.is_complex else 1)


def name_of(x: Tensor, number: int) -> str:
    """Which entry of a tensor a coordinate belongs to, in words."""
    if x.dtype.is_complex:
        part = "imaginary" if number % 2 else "real"
        entry = np.unravel_index(number // 2, tuple(x.shape)) if x.ndim else ()
        return f"{part} part of entry {tuple(int(i) for i in entry)}"
    entry = np.unravel_index(number, tuple(x.shape)) if x.ndim else ()
    return f"entry {tuple(int(i) for i in entry)}"


def unit_vectors(x: Tensor) -> Iterator[np.ndarray]:
    """The coordinate directions of a tensor."""
    yield from np.eye(coordinates(x))


# --- finite differences ---------------------------------------------------------------------------


def directional(
    function: Function, x: Tensor, direction: np.ndarray, eps: float
) -> list[np.ndarray]:
    """The derivative of every output along a direction of an input, by central differences.

    The input is changed in its own memory and restored, so that a function which reads it from
    elsewhere (a module its parameters) sees the change as well.
    """
    array = core.array_of(x)
    before = array.copy()
    step = core.array_of(from_real(direction * eps, x))
    sides = []
    try:
        for sign in (1, -1):
            array[...] = before + sign * step
            sides.append([as_real(out.detach(), out).copy() for out in function()])
    finally:
        array[...] = before
    return [(plus - minus) / (2 * eps) for plus, minus in zip(*sides, strict=True)]


def numerical(function: Function, x: Tensor, outputs: list[Tensor], eps: float) -> list[np.ndarray]:
    """The Jacobian of every output by an input, by central differences."""
    columns = [directional(function, x, row, eps) for row in unit_vectors(x)]
    if not columns:
        return [np.zeros((coordinates(out), 0)) for out in outputs]
    return [np.stack(parts, 1) for parts in zip(*columns, strict=True)]


# --- reverse mode ---------------------------------------------------------------------------------


def pull(out: Tensor, inputs: list[Tensor], cotangent: np.ndarray) -> tuple[Tensor | None, ...]:
    """The gradients of the inputs for one cotangent of an output."""
    found: tuple[Tensor | None, ...] = grad(
        out, inputs, from_real(cotangent, out), retain_graph=True, allow_unused=True
    )
    return found


def by_reverse(out: Tensor, inputs: list[Tensor]) -> list[np.ndarray]:
    """The Jacobian of an output by every input, by one backward pass per row."""
    rows = [
        [as_real(g, x) for g, x in zip(pull(out, inputs, row), inputs, strict=True)]
        for row in unit_vectors(out)
    ]
    return [
        np.stack([row[i] for row in rows]) if rows else np.zeros((0, coordinates(x)))
        for i, x in enumerate(inputs)
    ]


# --- forward mode ---------------------------------------------------------------------------------


def push(
    function: Callable[[list[Tensor]], list[Tensor]],
    inputs: list[Tensor],
    tangents: list[Tensor | None],
) -> tuple[list[Tensor], list[Tensor | None]]:
    """The outputs and their tangents for tangents of some inputs."""
    with forward_ad.dual_level():
        duals = [
            x if t is None else forward_ad.make_dual(x, t)
            for x, t in zip(inputs, tangents, strict=True)
        ]
        pairs = [forward_ad.unpack_dual(out) for out in function(duals)]
    return [primal for primal, _ in pairs], [tangent for _, tangent in pairs]


def by_forward(
    function: Callable[[list[Tensor]], list[Tensor]], inputs: list[Tensor], i: int
) -> list[np.ndarray]:
    """The Jacobian of every output by input i, by one forward pass per column."""
    columns = []
    outputs: list[Tensor] = []
    for row in unit_vectors(inputs[i]):
        tangents: list[Tensor | None] = [None] * len(inputs)
        tangents[i] = from_real(row, inputs[i])
        outputs, found = push(function, inputs, tangents)
        columns.append([as_real(t, out) for t, out in zip(found, outputs, strict=True)])
    if not columns:
        return [np.zeros((coordinates(out), 0)) for out in function(list(inputs))]
    return [np.stack(parts, 1) for parts in zip(*columns, strict=True)]
