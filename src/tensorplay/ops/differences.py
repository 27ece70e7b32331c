"""Differences and integrals along a dim: diff, gradient, trapezoid, cumulative_trapezoid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import public, require_tensor, wrap_dim, wrap_dims
from tensorplay.ops.slicing import cut

# --- integrals ------------------------------------------------------------------------------------


def _spaces(name: str, x: Tensor, y: Tensor, dim: int) -> Tensor:
    """The distances of neighbouring sample points, to multiply along `dim` of y."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(
                f"{name}(): x has {x.shape[0]} points, but y of shape {list(y.shape)} has "
                f"{y.shape[dim]} along dim {dim}"
            )
        step = cut(x, 0, 1, x.shape[0]) - cut(x, 0, 0, x.shape[0] - 1)
        return step.reshape([-1 if d == dim else 1 for d in range(y.ndim)])
    if x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x.shape))
    n = x.shape[dim]
    return cut(x, dim, 1, n) - cut(x, dim, 0, n - 1)


def _strips(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """Twice the area between neighbouring points; `dx` is applied by the caller."""
    if x is not None and dx is not None:
        raise TypeError(f"{name}(): give either x or dx, not both")
    n = y.shape[dim]
    strips = cut(y, dim, 0, n - 1) + cut(y, dim, 1, n)
    return strips if x is None else strips * _spaces(name, x, y, dim)


def _integrable(name: str, y: Tensor, x: Any, dim: int) -> int:
    require_tensor(y, name, "y")
    if x is not None:
        require_tensor(x, name, "x")
    for value, label in ((y, "y"), (x, "x")):
        if value is not None and value.dtype is dtypes.bool:
            raise RuntimeError(f"{name}(): {label} must not be a bool tensor; convert with .int()")
    if y.ndim == 0:
        raise IndexError(f"{name}(): y has no dims, so there is no dim {dim} to integrate along")
    return wrap_dim(dim, y, name)


@public(aliases=("trapz",), method=False)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of samples `y` along `dim` by the trapezoidal rule.

    x: the sample points, 1-dim or of a shape that broadcasts with y; or dx: their distance (1).
    0 for no samples, or one.

    Raises:
        IndexError: if dim is out of range.
        RuntimeError: if x has not one point per sample.

    >>> import tensorplay as tp
    >>> tp.trapezoid(tp.tensor([1., 5., 10.]), dx=2)
    tensor(21.)
    """
    dim = _integrable("trapezoid", y, x, dim)
    if y.shape[dim] == 0:
        return y.sum(dim)
    if x is not None:
        return _strips("trapezoid", y, x, dx, dim).sum(dim) / 2.0
    total = y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5
    return total if dx is None else total * dx


@public(method=False)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1
) -> Tensor:
    """The running integral of samples `y` along `dim` by the trapezoidal rule; see `trapezoid`.

    One shorter along `dim` than y.

    >>> import tensorplay as tp
    >>> tp.cumulative_trapezoid(tp.tensor([1., 5., 10.]))
    tensor([ 3.0000, 10.5000])
    """
    dim = _integrable("cumulative_trapezoid", y, x, dim)
    total = _strips("cumulative_trapezoid", y, x, dx, dim).cumsum(dim)
    return total / 2.0 if dx is None else total * dx / 2.0


# --- differences ----------------------------------------------------------------------------------


@public(out=True)
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The differences of neighbours along `dim`, taken n times (of bools: whether they differ).

    prepend, append: tensors that go before and after the input along `dim` first (if n > 0).

    Raises:
        IndexError: if dim is out of range.
        RuntimeError: for a 0-dim input, or a negative n.

    >>> import tensorplay as tp
    >>> tp.diff(tp.tensor([1, 4, 9, 16])), tp.diff(tp.tensor([1, 4, 9, 16]), 2)
    (tensor([3, 5, 7]), tensor([2, 2]))
    """
    require_tensor(input, "diff")
    if input.ndim == 0:
        raise RuntimeError("diff(): expected input of at least 1 dim, got a 0-dim tensor")
    dim = wrap_dim(dim, input, "diff")
    if n < 0:
        raise RuntimeError(f"diff(): n must not be negative, got {n}")
    if n == 0:
        return input.clone()
    parts = [x for x in (prepend, input, append) if x is not None]
    if len(parts) > 1:
        input = cat(parts, dim)
    for _ in range(n):
        size = input.shape[dim]
        after, before = cut(input, dim, min(1, size), size), cut(input, dim, 0, max(size - 1, 0))
        input = after.logical_xor(before) if input.dtype is dtypes.bool else after - before
    return input


def _spacings(spacing: Any, dims: tuple[int, ...], shape: Any) -> list[Any]:
    """One distance (number) or 1-dim tensor of coordinates per dim."""
    spacing = 1 if spacing is None else spacing
    given = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(given) != len(dims):
        raise RuntimeError(
            f"gradient(): spacing has {len(given)} entries for {len(dims)} dims; give one for each"
        )
    for d, space in zip(dims, given, strict=True):
        if isinstance(space, Tensor) and space.ndim and tuple(space.shape) != (shape[d],):
            raise RuntimeError(
                f"gradient(): spacing of shape {list(space.shape)} must have one coordinate for "
                f"each of the {shape[d]} elements along dim {d}"
            )
    return given


def _side_weights(near: Any, far: Any) -> tuple[Any, Any, Any]:
    """Weights of a point, its neighbour and the next: the slope there of the parabola through them.

    near, far: the distances from the point to its neighbour and from that to the next one.
    """
    both = near + far
    return -(near + both) / (near * both), both / (near * far), -near / (far * both)


def _slopes(x: Tensor, space: Any, dim: int, edge_order: int) -> Tensor:
    """Second order central differences, with one-sided ones at the two ends."""
    n = x.shape[dim]

    def at(start: int, length: int = 1) -> Tensor:
        return cut(x, dim, start, start + length)

    if isinstance(space, Tensor) and space.ndim:
        steps = cut(space, 0, 1, n) - cut(space, 0, 0, n - 1)
        steps = steps.reshape([-1 if d == dim else 1 for d in range(x.ndim)])
        left, right = cut(steps, dim, 0, n - 2), cut(steps, dim, 1, n - 1)
        middle = (
            -right / (left * (left + right)) * at(0, n - 2)
            + (right - left) / (left * right) * at(1, n - 2)
            + left / (right * (left + right)) * at(2, n - 2)
        )
        first, second = cut(steps, dim, 0, 1), cut(steps, dim, 1, 2)
        last, before = cut(steps, dim, n - 2, n - 1), cut(steps, dim, max(n - 3, 0), max(n - 2, 1))
    else:
        middle = (at(2, n - 2) - at(0, n - 2)) / (2 * space)
        first = second = last = before = space
    if edge_order == 1:
        start, end = (at(1) - at(0)) / first, (at(n - 1) - at(n - 2)) / last
    else:
        a, b, c = _side_weights(first, second)
        start = a * at(0) + b * at(1) + c * at(2)
        a, b, c = _side_weights(last, before)
        end = -(a * at(n - 1) + b * at(n - 2) + c * at(n - 3))
    return cat([start, middle, end], dim)


@public(method=False)
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Estimates of the partial derivatives of a function sampled on a grid, one tensor per dim.

    Inside, second order central differences; at the ends, one-sided ones of order `edge_order`.
    spacing: the distance of samples, one for all dims or one per dim; or a 1-dim tensor of
    coordinates per dim. dim: an int or tuple of ints, by default every dim.

    Raises:
        RuntimeError: if edge_order is not 1 or 2, if a dim has not edge_order + 1 elements, or if
            spacing does not fit.

    Source: B. Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids",
    1988.

    >>> import tensorplay as tp
    >>> tp.gradient(tp.tensor([1., 2., 4., 7., 11., 16.]))
    (tensor([1.0000, 1.5000, 2.5000, 3.5000, 4.5000, 5.0000]),)
    """
    require_tensor(input, "gradient")
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient(): edge_order must be 1 or 2, got {edge_order}")
    dims = wrap_dims(dim, input, "gradient")
    if isinstance(dim, Sequence):  # in the order asked for
        dims = tuple(wrap_dim(d, input, "gradient") for d in dim)
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError(
                f"gradient(): dim {d} of the input of shape {list(input.shape)} must have at least "
                f"edge_order + 1 = {edge_order + 1} elements"
            )
    spaces = _spacings(spacing, dims, input.shape)
    return tuple(_slopes(input, s, d, edge_order) for s, d in zip(spaces, dims, strict=True))
