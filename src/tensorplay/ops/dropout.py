"""Dropout: of elements, of whole channels, and of the kind that keeps mean and variance."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Inplace, Tensor
from tensorplay.base.random import Generator
from tensorplay.ops.kinds import public, publish
from tensorplay.ops.noise import noise

# What dropped elements become before scaling: the limit of selu at minus infinity.
_ALPHA = 1.7580993408473766


def _check(name: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name}(): dropout probability has to be between 0 and 1, but got p={p}")


def _kept(
    name: str, x: Tensor, p: float, features: bool, generator: Any, scale: float = 1.0
) -> Tensor:
    """`scale` where an element (or a channel of a sample) is kept, else 0."""
    shape = tuple(x.shape)
    if features:
        if len(shape) < 2:
            raise RuntimeError(
                f"{name}(): feature dropout requires at least 2 dimensions in the input, got "
                f"shape {list(shape)}"
            )
        shape = shape[:2] + (1,) * (len(shape) - 2)

    def draw(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        factors = core.kept_factors(rng.bit_generator, size, p, scale, x.dtype)
        if factors is not None:
            return factors
        kept = rng.random(size, dtype=np.float32) >= p
        return kept.astype(x.dtype.numpy) * x.dtype.numpy.type(scale)

    return noise(name, shape, x.dtype, draw, generator)


def _drop(
    name: str, x: Tensor, p: float, training: bool, features: bool = False, generator: Any = None
) -> Tensor:
    _check(name, p)
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0
    return x * _kept(name, x, p, features, generator, 1 / (1 - p))


def _alpha_drop(name: str, x: Tensor, p: float, training: bool, features: bool = False) -> Tensor:
    _check(name, p)
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0
    kept = _kept(name, x, p, features, None)
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    return x * (kept * scale) + ((kept - 1) * (_ALPHA * scale) + _ALPHA * scale * p)


def dropout_plain(
    input: Tensor, p: float, train: bool, *, generator: Generator | None = None
) -> Tensor:
    """Elements set to 0 with probability `p` when `train`ing, the others scaled by 1 / (1 - p).

    Raises:
        ValueError: unless p is from 0 to 1.
        RuntimeError: inside a vmap that does not say what randomness should do.
    """
    return _drop("dropout", input, p, train, False, generator)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """dropout of whole channels: (N, C, ...)."""
    return _drop("feature_dropout", input, p, train, True)


def alpha_dropout_plain(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout that keeps mean and variance after selu."""
    return _alpha_drop("alpha_dropout", input, p, train)


def feature_alpha_dropout_plain(input: Tensor, p: float, train: bool) -> Tensor:
    """alpha_dropout of whole channels: (N, C, ...)."""
    return _alpha_drop("feature_alpha_dropout", input, p, train, True)


@public(method=False)
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """dropout's cotangent of the input, from that of the output and from what was kept."""
    return grad_output * mask * scale


_PLAIN = {
    "dropout": dropout_plain,
    "feature_dropout": feature_dropout,
    "alpha_dropout": alpha_dropout_plain,
    "feature_alpha_dropout": feature_alpha_dropout_plain,
}
_CHANGED = {name: Inplace(function, name + "_") for name, function in _PLAIN.items()}
dropout_ = _CHANGED["dropout"]
feature_dropout_ = _CHANGED["feature_dropout"]
alpha_dropout_ = _CHANGED["alpha_dropout"]
feature_alpha_dropout_ = _CHANGED["feature_alpha_dropout"]
for _name, _function in _PLAIN.items():
    publish(_function, _name, method=False)
    publish(_CHANGED[_name], _name + "_", method=False)


def _run(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    return (_CHANGED if inplace else _PLAIN)[name](input, p, training)


@public("dropout", namespace="nn.functional", method=False)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability `p`, the others scaled by 1 / (1 - p)
    (arXiv:1207.0580).

    training: False gives the input.

    Raises:
        ValueError: unless p is from 0 to 1.
        RuntimeError: inside a vmap that does not say what randomness should do.

    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout(tp.ones(2), p=0.5, training=False)
    tensor([1., 1.])
    """
    return _run("dropout", input, p, training, inplace)


@public("alpha_dropout", namespace="nn.functional", method=False)
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for selu networks (arXiv:1706.02515).

    Raises:
        ValueError: unless p is from 0 to 1.

    >>> import tensorplay as tp
    >>> tp.nn.functional.alpha_dropout(tp.ones(2))
    tensor([1., 1.])
    """
    return _run("alpha_dropout", input, p, training, inplace)


@public("feature_alpha_dropout", namespace="nn.functional", method=False)
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """alpha_dropout of whole channels: (N, C, ...).

    Raises:
        ValueError: unless p is from 0 to 1.

    >>> import tensorplay as tp
    >>> tp.nn.functional.feature_alpha_dropout(tp.ones(1, 2))
    tensor([[1., 1.]])
    """
    return _run("feature_alpha_dropout", input, p, training, inplace)


def _channels(
    name: str, spatial: int, input: Tensor, p: float, training: bool, inplace: bool
) -> Tensor:
    """feature_dropout of (N, C, ...) or, where it has one dim less, (C, ...)."""
    _check(name, p)
    if input.ndim in (spatial + 1, spatial + 2):
        if input.ndim == spatial + 2 or spatial == 2:
            return _run("feature_dropout", input, p, training, inplace)
        result = _run("feature_dropout", input.unsqueeze(0), p, training, inplace)
        return input if inplace else result.squeeze(0)
    warnings.warn(
        f"{name}(): received a {input.ndim}-D input; expected {spatial + 1} or {spatial + 2} dims",
        stacklevel=3,
    )
    return _run("feature_dropout", input, p, training, inplace)


@public("dropout1d", namespace="nn.functional", method=False)
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) set to 0 with probability `p`.

    Raises:
        ValueError: unless p is from 0 to 1.
        RuntimeError: for another number of dims.

    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout1d(tp.ones(1, 1, 2), training=False)
    tensor([[[1., 1.]]])
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d(): expected 2D or 3D input, but received a {input.ndim}D input; use "
            "dropout() to drop single elements"
        )
    return _channels("dropout1d", 1, input, p, training, inplace)


@public("dropout2d", namespace="nn.functional", method=False)
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, H, W) set to 0 with probability `p` (arXiv:1411.4280).

    Raises:
        ValueError: unless p is from 0 to 1.

    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout2d(tp.ones(1, 1, 1, 2), training=False)
    tensor([[[[1., 1.]]]])
    """
    return _channels("dropout2d", 2, input, p, training, inplace)


@public("dropout3d", namespace="nn.functional", method=False)
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) set to 0 with probability `p`.

    Raises:
        ValueError: unless p is from 0 to 1.

    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout3d(tp.ones(1, 1, 1, 1, 2), training=False)
    tensor([[[[[1., 1.]]]]])
    """
    return _channels("dropout3d", 3, input, p, training, inplace)
