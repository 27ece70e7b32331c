"""Windows for signals: Hann, Hamming, Blackman, Bartlett, Kaiser."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.devices import check_placement
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.creation import finished, target_dtype
from tensorplay.ops.kinds import public

special = lazy_module("scipy.special")


def _window(name: str, length: int, periodic: bool, shape: Any, options: tuple[Any, ...]) -> Tensor:
    """`shape` of the places 0 to 1, the last one left out where it is periodic."""
    dtype, layout, device, requires_grad = options
    check_placement(name, device, layout)
    if length < 0:
        raise RuntimeError(f"{name}(): window_length must not be negative, got {length}")
    target = target_dtype(dtype, None, dtypes.get_default_dtype(), name)
    if not target.is_floating_point:
        raise RuntimeError(f"{name}(): expected a floating point dtype, got {target}")
    if length <= 1:
        values = np.ones(length)
    else:
        values = shape(np.arange(length) / (length if periodic else length - 1))
    return finished(values.astype(target.numpy), name, requires_grad)


def _cosines(*weights: float) -> Any:
    """The sum of (-1)^k weights[k] cos(2 pi k x)."""
    return lambda x: sum(
        (-1) ** k * weight * np.cos(2 * math.pi * k * x) for k, weight in enumerate(weights)
    )


@public(method=False)
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Hann window, 1/2 - 1/2 cos(2 pi x) for x from 0 to 1; periodic: without x = 1.

    >>> import tensorplay as tp
    >>> tp.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    options = (dtype, layout, device, requires_grad)
    return _window("hann_window", window_length, periodic, _cosines(0.5, 0.5), options)


@public(method=False)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Hamming window, alpha - beta cos(2 pi x) for x from 0 to 1; periodic: without x = 1."""
    options = (dtype, layout, device, requires_grad)
    return _window("hamming_window", window_length, periodic, _cosines(alpha, beta), options)


@public(method=False)
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Blackman window, 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) for x from 0 to 1."""
    options = (dtype, layout, device, requires_grad)
    return _window("blackman_window", window_length, periodic, _cosines(0.42, 0.5, 0.08), options)


@public(method=False)
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Bartlett window, a triangle: 1 - |2 x - 1| for x from 0 to 1; periodic: without x = 1."""
    options = (dtype, layout, device, requires_grad)
    return _window(
        "bartlett_window", window_length, periodic, lambda x: 1 - np.abs(2 * x - 1), options
    )


@public(method=False)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window, I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta) for x from 0 to 1."""
    options = (dtype, layout, device, requires_grad)

    def shape(x: np.ndarray) -> np.ndarray:
        inside = np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))
        return special.i0(beta * inside) / special.i0(beta)

    return _window("kaiser_window", window_length, periodic, shape, options)
