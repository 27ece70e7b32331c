"""What weight and spectral normalisation compute, as hooks and as parametrizations."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.autograd.grad_mode import no_grad
from tensorplay.nn import functional as F
from tensorplay.nn.layers_conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tensorplay.nn.module import Module
from tensorplay.ops.randoms import randn


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The norms of the slices of v along a dim (-1: of all of it, without dims)."""
    if dim == -1:
        return v.norm()
    others = tuple(d for d in range(v.ndim) if d != dim % v.ndim)
    return v.norm(2, others, True) if others else v.abs()


def spectral_dim(module: Module, dim: int | None) -> int:
    """The dim of outputs of a module's weight: 1 where a convolution is transposed, else 0."""
    if dim is not None:
        return dim
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with a row for each place of `dim`."""
    if dim:
        weight = weight.movedim(dim, 0)
    return weight.reshape(weight.shape[0], -1)


def start_vectors(matrix: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Random unit vectors (u, v) to begin a power iteration with."""
    u, v = (F.normalize(randn(n, dtype=matrix.dtype), dim=0, eps=eps) for n in matrix.shape)
    return u, v


def iterate(
    matrix: Tensor, u: Tensor, v: Tensor, times: int, eps: float, v_first: bool = False
) -> None:
    """Turn u and v, in place, towards the singular vectors of the largest singular value."""
    with no_grad():
        for _ in range(times):
            if v_first:
                v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))
            u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))
            if not v_first:
                v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))


def largest(matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The largest singular value, from vectors that are clones of those that are iterated."""
    return u.clone().dot(matrix.mv(v.clone()))


def check_iterations(name: str, count: Any) -> None:
    """Refuse a number of power iterations that is not positive.

    Raises:
        ValueError: naming it.
    """
    if count <= 0:
        raise ValueError(
            f"{name}(): expected n_power_iterations to be positive, but got "
            f"n_power_iterations={count}"
        )
