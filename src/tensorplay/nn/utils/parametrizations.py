"""Parametrizations: weight normalisation, spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import functional as F
from tensorplay.nn.module import Module
from tensorplay.nn.utils import norms
from tensorplay.nn.utils.parametrize import register_parametrization
from tensorplay.ops.joining import cat
from tensorplay.ops.linalg_functions import matrix_exp
from tensorplay.ops.linalg_qr import geqrf, householder_product
from tensorplay.ops.linalg_solve import solve
from tensorplay.ops.randoms import randn
from tensorplay.ops.ranges import eye


def _weight_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# --- weight normalisation -------------------------------------------------------------------------


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norms.norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """(size, direction) of a weight."""
        return norms.norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn size and direction of a weight apart: weight = g * v / |v| (arXiv:1602.07868).

    dim: which keeps a size of its own for each place; None for one size. g is `original0`, v is
    `original1` of the parametrization.

    >>> import tensorplay as tp
    >>> layer = tp.nn.utils.parametrizations.weight_norm(tp.nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    tensorplay.Size([40, 1])
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


# --- spectral normalisation -----------------------------------------------------------------------


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
                f"{weight.ndim - 1}] but got {dim})"
            )
        norms.check_iterations("spectral_norm", n_power_iterations)
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = norms.as_matrix(weight.detach(), self.dim)
            u, v = norms.start_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            norms.iterate(matrix, u, v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = norms.as_matrix(weight, self.dim)
        if self.training:
            norms.iterate(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        return weight / norms.largest(matrix, self._u, self._v)

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: it may be of any norm."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Module:  # fmt: skip
    """Divide a weight by its largest singular value, found by power iteration (arXiv:1802.05957).

    n_power_iterations: at each forward in training. eps: against division by zero. dim: of the
    outputs; by default 0, and 1 for transposed convolutions.

    Raises:
        ValueError: for no such weight, or no iterations.

    >>> import tensorplay as tp
    >>> layer = tp.nn.utils.parametrizations.spectral_norm(tp.nn.Linear(20, 40))
    >>> bool((tp.linalg.matrix_norm(layer.weight, 2) - 1).abs() < 0.3)
    True
    """
    weight = _weight_of(module, name)
    made = _SpectralNorm(weight, n_power_iterations, norms.spectral_dim(module, dim), eps)
    return register_parametrization(module, name, made)


# --- orthogonal matrices --------------------------------------------------------------------------


def _made_orthogonal(a: Tensor) -> Tensor:
    """The orthogonal factor of matrices, with the signs that make the other's diagonal positive."""
    packed, tau = geqrf(a)
    q = householder_product(packed, tau)
    return q * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q: Tensor) -> bool:
    n = q.shape[-1]
    tolerance = 10 * n * 1.2e-7 if q.dtype.itemsize <= 8 and q.dtype.name != "float64" else 1e-10
    return bool(((q.mH.matmul(q) - eye(n, dtype=q.dtype)).abs() <= tolerance).all())


class _Orthogonal(Module):
    base: Tensor | None

    def __init__(self, kind: str, use_trivialization: bool) -> None:
        super().__init__()
        self.kind, self.use_trivialization = kind, use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        n, k = x.shape[-2:]
        if self.kind == "householder":
            reflectors = x.tril(-1)
            tau = 2 / (1 + (reflectors * reflectors.conj()).sum(-2))
            q = householder_product(reflectors, tau)
            signs = x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
            q = q * signs.to(q.dtype)
        else:
            x = x.tril()
            if n != k:
                x = cat([x, x.new_zeros((*x.shape[:-1], n - k))], -1)
            skew = x - x.mH
            if self.kind == "matrix_exp":
                q = matrix_exp(skew)
            else:
                one = eye(n, dtype=skew.dtype)
                q = solve(one - 0.5 * skew, one + 0.5 * skew)
            q = q[..., :k]
        if self.use_trivialization and self.base is not None:
            q = self.base.matmul(q) if self.base.shape[-1] == q.shape[-2] else q
        return q.mT if wide else q

    def right_inverse(self, q: Tensor) -> Tensor:
        """What gives a matrix: of reflectors, or the start of a chart around it."""
        given = q
        wide = q.shape[-2] < q.shape[-1]
        q = q.mT if wide else q
        n, k = q.shape[-2:]
        if not self.use_trivialization:
            if self.kind != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            packed, tau = geqrf(q)
            packed = packed.clone()
            diagonal = packed.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal.mul_(1 - 2 * (tau == 0).to(packed.dtype))
            return packed.mT if wide else packed
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _made_orthogonal(q)
        else:
            more = randn((*q.shape[:-2], n, n - k), dtype=q.dtype)
            q = _made_orthogonal(cat([q, more], -1))
        self.base = q
        return given.new_zeros(tuple(given.shape)).fill_diagonal_(-1) if given.ndim == 2 else (
            -eye(*given.shape[-2:], dtype=given.dtype).expand(given.shape).clone()
        )  # fmt: skip


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
    use_trivialization: bool = True,
) -> Module:  # fmt: skip
    """Keep a weight's columns (or rows, if there are fewer) orthonormal.

    orthogonal_map: 'matrix_exp', 'cayley' or 'householder'; by default the first for square and
    complex matrices, else the last. use_trivialization: around a base, so that any value can be
    assigned (arXiv:1909.09501).

    Raises:
        ValueError: for no such weight, one of fewer than 2 dims, or another map.

    >>> import tensorplay as tp
    >>> layer = tp.nn.utils.parametrizations.orthogonal(tp.nn.Linear(3, 2).double())
    >>> tp.allclose(layer.weight @ layer.weight.T, tp.eye(2).double())
    True
    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.dtype.is_complex else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            "orthogonal_map has to be one of 'matrix_exp', 'cayley', 'householder'. Got: "
            f"{orthogonal_map}"
        )
    if orthogonal_map == "householder" and weight.dtype.is_complex:
        raise ValueError("The householder parametrization does not support complex tensors.")
    made: Any = _Orthogonal(orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
