"""Distances between points, and norms of slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.elementwise import where
from tensorplay.ops.kernels import is_half
from tensorplay.ops.kinds import leading, primitive, public, require_tensor, wrap_dim
from tensorplay.ops.moments import reciprocal_or_zero, vector_norm
from tensorplay.ops.shaping import broadcast_shapes_of


@public()
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The norm of order `p` of `input - other` (which broadcast); its gradient is 0 at distance 0.

    >>> import tensorplay as tp
    >>> tp.dist(tp.tensor([1., 2.]), tp.tensor([4., 6.]))
    tensor(5.)
    """
    require_tensor(input, "dist")
    require_tensor(other, "dist", "other")
    return vector_norm(input - other, p, name="dist")


# --- all pairs ------------------------------------------------------------------------------------

_SMALL = 1 << 14  # differences up to which they are all formed, in place of a matrix product


def _euclidean_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if is_half(x.dtype):
        return _euclidean_kernel(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    if math.prod(lead) * x.shape[-2] * y.shape[-2] * x.shape[-1] <= _SMALL:
        step = x[..., :, None, :] - y[..., None, :, :]
        return np.sqrt(np.square(step).sum(axis=-1, dtype=x.dtype))
    size_x = np.square(x).sum(axis=-1)[..., :, None]
    size_y = np.square(y).sum(axis=-1)[..., None, :]
    scale = size_x + size_y
    squares = scale - 2 * np.matmul(x, np.swapaxes(y, -1, -2))
    # Where nearly everything cancels, the difference of the two points tells more.
    near = np.nonzero(squares <= (1e-3 if x.dtype == np.float64 else 0.05) * scale)
    x = np.broadcast_to(x, (*lead, *x.shape[-2:]))[(*near[:-2], near[-2])]
    y = np.broadcast_to(y, (*lead, *y.shape[-2:]))[(*near[:-2], near[-1])]
    squares[near] = np.square(x - y).sum(axis=-1)
    return np.sqrt(squares)


def _euclidean_vjp(g: Any, x: Any, y: Any, out: Any, wanted: Any) -> Any:
    # sum_j g[i, j] (x[i] - y[j]) / out[i, j], without the differences of all pairs in memory.
    pull = g * reciprocal_or_zero(out)
    by_x = pull.sum(-1, keepdim=True) * x - pull.matmul(y) if wanted[0] else None
    if not wanted[1]:
        return by_x, None
    pull = pull.transpose(-2, -1)
    return by_x, pull.sum(-1, keepdim=True) * y - pull.matmul(x)


def _euclidean_jvp_x(t: Any, x: Any, y: Any, out: Any) -> Any:
    along = (t * x).sum(-1, keepdim=True) - t.matmul(y.transpose(-2, -1))
    return along * reciprocal_or_zero(out)


def _euclidean_jvp_y(t: Any, x: Any, y: Any, out: Any) -> Any:
    along = (t * y).sum(-1).unsqueeze(-2) - x.matmul(t.transpose(-2, -1))
    return along * reciprocal_or_zero(out)


euclidean_distances = primitive(
    "cdist",
    _euclidean_kernel,
    inputs=("x", "y"),
    vjp=_euclidean_vjp,
    jvp=(_euclidean_jvp_x, _euclidean_jvp_y),
    batch=leading(2, 2),
    promote="same",
    broadcasts=True,
)


@public(method=False)
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """The distances (..., P, R) of order `p` between all rows of x1 (..., P, M) and x2 (..., R, M).

    Their gradient is 0 at distance 0. compute_mode: accepted as PyTorch does; here matrix products
    never cost accuracy at small distances, so that every mode is the same.

    Raises:
        RuntimeError: if the tensors are not floating point, have less than 2 dims or differ in M.

    >>> import tensorplay as tp
    >>> tp.cdist(tp.tensor([[0., 0.], [3., 4.]]), tp.tensor([[0., 0.]]))
    tensor([[0.],
            [5.]])
    """
    for x, name in ((x1, "x1"), (x2, "x2")):
        require_tensor(x, "cdist", name)
        if not x.dtype.is_floating_point or x.ndim < 2:
            raise RuntimeError(
                f"cdist(): {name} must be a floating point tensor of at least 2 dims, got "
                f"{x.dtype} of shape {list(x.shape)}"
            )
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"cdist(): x1 of shape {list(x1.shape)} and x2 of shape {list(x2.shape)} must have "
            "the same number of columns"
        )
    if p < 0:
        raise RuntimeError(f"cdist(): p must not be negative, got {p}")
    broadcast_shapes_of("cdist", x1.shape[:-2], x2.shape[:-2])
    if p == 2:
        return euclidean_distances(x1, x2)
    step = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return vector_norm(step, p, -1, name="cdist") if x1.shape[-1] else step.sum(-1)


@public(method=False)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances of order `p` between the N rows of `input` (N, M), each pair once.

    Shape (N * (N - 1) / 2,): pairs (0, 1), (0, 2), ..., (N - 2, N - 1).

    Raises:
        RuntimeError: if input is not a floating point tensor of 2 dims.

    >>> import tensorplay as tp
    >>> tp.pdist(tp.tensor([[0., 0.], [3., 4.], [0., 1.]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    require_tensor(input, "pdist")
    if input.ndim != 2 or not input.dtype.is_floating_point:
        raise RuntimeError(
            f"pdist(): expected a floating point tensor of 2 dims, got {input.dtype} of shape "
            f"{list(input.shape)}"
        )
    if p < 0:
        raise RuntimeError(f"pdist(): p must not be negative, got {p}")
    first, second = (core.from_array(i) for i in np.triu_indices(input.shape[0], 1))
    step = input.index_select(0, first) - input.index_select(0, second)
    return vector_norm(step, p, -1, name="pdist") if input.shape[1] else step.sum(-1)


@public(inplace=True, out=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """`input` with every slice along `dim` whose norm of order `p` is above `maxnorm` scaled down.

    Raises:
        IndexError: if dim is out of range.
        RuntimeError: if input has less than 2 dims, p is not positive or maxnorm is negative.

    >>> import tensorplay as tp
    >>> tp.renorm(tp.tensor([[1., 1.], [3., 4.]]), 1, 0, 3.5)
    tensor([[1.0000, 1.0000],
            [1.5000, 2.0000]])
    """
    require_tensor(input, "renorm")
    if p <= 0 or maxnorm < 0:
        raise RuntimeError(
            f"renorm(): p must be positive and maxnorm not negative, got p={p}, maxnorm={maxnorm}"
        )
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm(): expected a tensor of at least 2 dims, got shape {list(input.shape)}"
        )
    dim = wrap_dim(dim, input, "renorm")
    others = tuple(d for d in range(input.ndim) if d != dim)
    size = vector_norm(input, p, others, True, name="renorm")
    too_long = size > maxnorm
    # The small number is PyTorch's: results agree to the last digits.
    return input * where(too_long, maxnorm / (where(too_long, size, 1.0) + 1e-7), 1.0)
