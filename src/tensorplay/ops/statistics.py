"""Covariance and correlation of variables."""

from __future__ import annotations

import warnings
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import public, require_tensor


def _checked_weights(name: str, weights: Any, count: int, category: int) -> None:
    if weights is None:
        return
    require_tensor(weights, "cov", name)
    kind = "an integer" if category == dtypes.INTEGER else "a floating point"
    if weights.dtype.category != category or tuple(weights.shape) != (count,):
        raise RuntimeError(
            f"cov(): {name} must be {kind} tensor of shape [{count}] (one weight per observation), "
            f"got {weights.dtype} of shape {list(weights.shape)}"
        )
    if not weights.is_box and (core.array_of(weights) < 0).any():
        raise RuntimeError(f"cov(): {name} must not be negative")


def _adjoint(x: Tensor) -> Tensor:
    x = x.transpose(-2, -1)
    return x.conj() if x.dtype.is_complex else x


@public()
def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance matrix of variables: rows of `input` (variables, observations).

    A 1-dim input is one variable, of which the (0-dim) variance is the result. correction: taken
    from the number of observations that sums are divided by. fweights: how often each observation
    counts (integers). aweights: how important each observation is.

    Raises:
        RuntimeError: for more than 2 dims, a bool input, or weights that do not fit.

    >>> import tensorplay as tp
    >>> tp.cov(tp.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    require_tensor(input, "cov")
    if input.ndim > 2 or input.dtype is dtypes.bool:
        raise RuntimeError(
            f"cov(): expected a tensor of at most 2 dims that is not bool, got {input.dtype} of "
            f"shape {list(input.shape)}"
        )
    if not core.is_differentiable_dtype(input):
        input = input.to(dtypes.get_default_dtype())
    x = input.reshape(1, -1) if input.ndim < 2 else input
    count = x.shape[1]
    _checked_weights("fweights", fweights, count, dtypes.INTEGER)
    _checked_weights("aweights", aweights, count, dtypes.FLOAT)
    weights = fweights if aweights is None else aweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    if weights is None:
        scale: Any = max(count - correction, 0)
        centred = x - x.mean(1, keepdim=True)
        if scale <= 0:
            warnings.warn("cov(): degrees of freedom is <= 0", UserWarning, stacklevel=2)
    else:
        total = weights.sum()
        if not total.is_box and not bool(total):
            raise RuntimeError("cov(): the weights must not sum to zero, which they are divided by")
        centred = x - (x * weights).sum(1, keepdim=True) / total
        lost: Any = correction
        if aweights is not None and correction:
            lost = (weights * aweights).sum() / total * correction
        scale = (total - lost).clamp(min=0)
    right = centred if weights is None else centred * weights
    found = right.matmul(_adjoint(centred)) / scale
    if input.ndim < 2:
        return found.reshape(())
    return found.squeeze()


@public()
def corrcoef(input: Tensor) -> Tensor:
    """The matrix of Pearson's correlation coefficients of the rows of `input`; see `cov`.

    >>> import tensorplay as tp
    >>> tp.corrcoef(tp.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    require_tensor(input, "corrcoef")
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected a tensor of at most 2 dims, got shape {list(input.shape)}"
        )
    found = cov(input)
    if found.ndim == 0:
        return found / found
    spread = found.diagonal()
    spread = (spread.real if spread.dtype.is_complex else spread).sqrt()
    found = found / spread.unsqueeze(-1) / spread
    if not found.dtype.is_complex:
        return found.clamp(-1, 1)
    return core.registry["complex"](found.real.clamp(-1, 1), found.imag.clamp(-1, 1))
