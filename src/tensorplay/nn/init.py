"""Starting values of parameters: each function fills a tensor in place and returns it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.random import Generator, numpy_generator


def _fill(tensor: Tensor, values: Any) -> Tensor:
    """Overwrite a tensor's values, whatever grad mode says."""
    core.about_to_write(tensor, "init")
    array = core.array_of(tensor)
    array[...] = values
    core.bump_version(tensor)
    return tensor


def _draw(tensor: Tensor, generator: Generator | None, sample: Callable[..., Any]) -> Tensor:
    return _fill(tensor, sample(numpy_generator(generator), tuple(tensor.shape)))


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor that keeps the scale of values through a nonlinearity.

    param: the negative slope of 'leaky_relu' (0.01 by default).

    Raises:
        ValueError: for an unknown nonlinearity or a slope that is not a number.
    """
    linear = {"linear", "sigmoid"} | {
        f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)
    }
    if nonlinearity in linear:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4  # found empirically (github.com/pytorch/pytorch/pull/50664)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform in [a, b).

    >>> import tensorplay as tp
    >>> bool((tp.nn.init.uniform_(tp.empty(3), 2.0, 3.0) >= 2).all())
    True
    """
    return _draw(tensor, generator, lambda rng, size: rng.random(size) * (b - a) + a)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal with a mean and a standard deviation."""
    return _draw(tensor, generator, lambda rng, size: rng.normal(mean, std, size))


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal, cut off to [a, b]: values outside are drawn again."""

    def sample(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        values = rng.normal(mean, std, size)
        for _ in range(64):
            outside = (values < a) | (values > b)
            count = int(np.count_nonzero(outside))
            if not count:
                return values
            values[outside] = rng.normal(mean, std, count)
        return np.clip(values, a, b)  # bounds far out in a tail

    return _draw(tensor, generator, sample)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    return _fill(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _fill(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _fill(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix.

    Raises:
        ValueError: unless the tensor has 2 dims.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _fill(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Convolution weights that keep their input: as many channels as possible, in each group.

    Raises:
        ValueError: unless the tensor has 3 to 5 dims and `groups` divides its first.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    shape = tuple(tensor.shape)
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(shape)
    per_group = shape[0] // groups
    centre = tuple(size // 2 for size in shape[2:])
    for group in range(groups):
        for d in range(min(per_group, shape[1])):
            values[(group * per_group + d, d, *centre)] = 1
    return _fill(tensor, values)


def _fans(tensor: Tensor) -> tuple[int, int]:
    """(inputs per output, outputs per input) of a weight."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = _fans


def _correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode == "fan_out"]


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform, scaled by fan in and fan out (Glorot & Bengio, AISTATS 2010)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, scaled by fan in and fan out (Glorot & Bengio, AISTATS 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform, scaled for rectifiers (arXiv:1502.01852)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, scaled for rectifiers (arXiv:1502.01852)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A random (semi-)orthogonal matrix, over the first dim and all others (arXiv:1312.6120).

    Raises:
        ValueError: for fewer than 2 dims.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    flat = numpy_generator(generator).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(flat)
    q = q * np.sign(np.diag(r))  # makes the distribution uniform (arXiv:math-ph/0609050)
    return _fill(tensor, gain * (q if rows >= columns else q.T).reshape(tensor.shape))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal, with a share of zeros in each column (Martens, ICML 2010).

    Raises:
        ValueError: unless the tensor has 2 dims.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    rng = numpy_generator(generator)
    values = rng.normal(0, std, (rows, columns))
    order = rng.random((rows, columns)).argsort(axis=0)
    np.put_along_axis(values, order[: math.ceil(sparsity * rows)], 0, axis=0)
    return _fill(tensor, values)
