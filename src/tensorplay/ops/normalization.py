"""Layer, batch, group, instance, RMS and local response normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import public, publish
from tensorplay.ops.pooling import mean_pool
from tensorplay.ops.standardize import count, standardize


def _float_input(name: str, input: Tensor) -> None:
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"{name}(): expected a floating point input, got dtype {input.dtype}; convert it, "
            "e.g. with .float()"
        )


# --- over the last dims ---------------------------------------------------------------------------


def _trailing(
    name: str, input: Tensor, normalized_shape: Sequence[int], weight: Any, bias: Any
) -> tuple[int, ...]:
    """The dims that `normalized_shape` is, after checking it against all shapes."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape:
        raise RuntimeError(f"{name}(): normalized_shape must have at least one dim, got {shape}")
    for label, other in (("weight", weight), ("bias", bias)):
        if other is not None and tuple(other.shape) != shape:
            raise RuntimeError(
                f"{name}(): expected {label} to be of normalized_shape {list(shape)}, got shape "
                f"{list(other.shape)}"
            )
    sizes = tuple(input.shape)
    if sizes[max(len(sizes) - len(shape), 0) :] != shape:
        raise RuntimeError(
            f"{name}(): with normalized_shape={list(shape)}, expected an input whose last sizes "
            f"are these, got shape {list(sizes)}"
        )
    return tuple(range(len(sizes) - len(shape), len(sizes)))


def _aligned(x: Tensor | None, ndim: int, dtype: Any) -> Tensor | None:
    """x with dims of size one in front, up to `ndim`, in a dtype."""
    if x is None:
        return None
    if x.dtype is not dtype:
        x = x.to(dtype)
    return x if x.ndim == ndim else x.reshape((1,) * (ndim - x.ndim) + tuple(x.shape))


@public(method=False)
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The input with mean 0 and variance 1 over its last dims, times weight, plus bias
    (arXiv:1607.06450).

    normalized_shape: the sizes of those dims, which weight and bias have as shape.

    Raises:
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.layer_norm(tp.tensor([1., 3.]), (2,))
    tensor([-1.0000,  1.0000])
    """
    dims = None
    if type(normalized_shape) is tuple:
        dims = core.trailing_dims(input, normalized_shape, weight, bias)
    if dims is None:
        dims = _trailing("layer_norm", input, normalized_shape, weight, bias)
        _float_input("layer_norm", input)
    w = None if weight is None else _aligned(weight, input.ndim, input.dtype)
    b = None if bias is None else _aligned(bias, input.ndim, input.dtype)
    return standardize(input, w, b, dims, float(eps))


@public(method=False)
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """The input over the root of its mean square over its last dims, times weight
    (arXiv:1910.07467).

    normalized_shape: the sizes of those dims. eps: added to the mean square, by default the
    spacing at 1 of the numbers it is computed in (float32 for half precision).

    Raises:
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.rms_norm(tp.tensor([1., 7.]), (2,))
    tensor([0.2000, 1.4000])
    """
    dims = _trailing("rms_norm", input, normalized_shape, weight, None)
    # The squares of half precision numbers would overflow.
    wide = input.float() if input.dtype in (dtypes.float16, dtypes.bfloat16) else input
    least = dtypes.finfo(wide.dtype).eps if eps is None else eps
    result = wide * ((wide * wide).mean(dims, keepdim=True) + least).rsqrt()
    return (result if weight is None else result * weight).to(input.dtype)


# --- over samples, or over channels of one sample -------------------------------------------------


def _per_channel(x: Tensor | None, ndim: int) -> Tensor | None:
    """(C,) as (1, C, 1, ...)."""
    return None if x is None else x.reshape((1, -1) + (1,) * (ndim - 2))


def _check_channels(name: str, input: Tensor, **per_channel: Tensor | None) -> int:
    if input.ndim < 2:
        raise RuntimeError(
            f"{name}(): expected input of at least 2 dims, got shape {list(input.shape)}"
        )
    channels = input.shape[1]
    for label, x in per_channel.items():
        if x is not None and tuple(x.shape) != (channels,):
            raise RuntimeError(
                f"{name}(): expected {label} to have one entry for each of the {channels} "
                f"channels, got shape {list(x.shape)}"
            )
    return channels


def _affine(x: Tensor, mean: Tensor, var: Tensor, weight: Any, bias: Any, eps: float) -> Tensor:
    """Standardised by given statistics, per channel."""
    scale = (var + eps).rsqrt()
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias
    return x * _per_channel(scale, x.ndim) + _per_channel(shift, x.ndim)


def _update_running(
    x: Tensor, dims: Any, mean: Tensor | None, var: Tensor | None, momentum: float
) -> None:
    """Move running statistics towards those of the batch (the variance unbiased).

    Where each sample has statistics of its own, towards their mean.
    """
    x = core.detach(x)
    n = count(x, dims)
    samples = () if 0 in dims else (0,)
    if mean is not None:
        batch_mean = x.mean(dims)
        batch_mean = batch_mean.mean(samples) if samples else batch_mean
        core.detach(mean).mul_(1 - momentum).add_(batch_mean, alpha=momentum)
    if var is not None:
        batch_var = x.var(dims, correction=0) * (n / max(n - 1, 1))
        batch_var = batch_var.mean(samples) if samples else batch_var
        core.detach(var).mul_(1 - momentum).add_(batch_var, alpha=momentum)


@public("batch_norm", namespace="nn.functional", method=False)
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel with mean 0 and variance 1, times weight, plus bias (arXiv:1502.03167).

    input: (N, C, ...). training: take the statistics of the batch, and move the running ones
    towards them by `momentum` in place; else take the running ones.

    Raises:
        ValueError: when training on a single value per channel.
        RuntimeError: for shapes that do not fit, or running statistics that are missing.

    >>> import tensorplay as tp
    >>> tp.nn.functional.batch_norm(tp.tensor([[1.], [3.]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if input.ndim == 1 and input.numel() == 0:  # no samples, no channels: as PyTorch
        return input.clone() if weight is None else input * weight
    _check_channels("batch_norm", input, weight=weight, bias=bias, running_mean=running_mean,
                    running_var=running_var)  # fmt: skip
    _float_input("batch_norm", input)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "batch_norm(): expected running_mean and running_var to be defined when "
                "training=False"
            )
        return _affine(input, running_mean, running_var, weight, bias, eps)
    dims = (0, *range(2, input.ndim))
    if count(input, dims) == 1:
        raise ValueError(
            "batch_norm(): expected more than 1 value per channel when training, got input of "
            f"shape {list(input.shape)}"
        )
    _update_running(input, dims, running_mean, running_var, momentum)
    w, b = (_per_channel(p, input.ndim) for p in (weight, bias))
    return standardize(input, w, b, dims, float(eps))


@public("instance_norm", namespace="nn.functional", method=False)
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample with mean 0 and variance 1, times weight, plus bias
    (arXiv:1607.08022).

    input: (N, C, ...). use_input_stats: False takes the running statistics; True moves them (where
    given) towards the mean of the samples' statistics by `momentum`, in place.

    Raises:
        ValueError: for a single value per channel.
        RuntimeError: for shapes that do not fit, or running statistics that are missing.

    >>> import tensorplay as tp
    >>> tp.nn.functional.instance_norm(tp.tensor([[[1., 3.]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    _check_channels("instance_norm", input, weight=weight, bias=bias, running_mean=running_mean,
                    running_var=running_var)  # fmt: skip
    _float_input("instance_norm", input)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "instance_norm(): expected running_mean and running_var to be defined when "
                "use_input_stats=False"
            )
        return _affine(input, running_mean, running_var, weight, bias, eps)
    dims = tuple(range(2, input.ndim))
    if count(input, dims) == 1:
        raise ValueError(
            "instance_norm(): expected more than 1 spatial element when training, got input of "
            f"shape {list(input.shape)}"
        )
    _update_running(input, dims, running_mean, running_var, momentum)
    w, b = (_per_channel(p, input.ndim) for p in (weight, bias))
    return standardize(input, w, b, dims, float(eps))


@public(method=False)
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Each group of channels of each sample with mean 0 and variance 1, times weight, plus bias
    (arXiv:1803.08494).

    input: (N, C, ...). num_groups: must divide C.

    Raises:
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.group_norm(tp.tensor([[1., 3.]]), 1)
    tensor([[-1.0000,  1.0000]])
    """
    channels = _check_channels("group_norm", input, weight=weight, bias=bias)
    _float_input("group_norm", input)
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            f"group_norm(): expected number of channels {channels} to be divisible by num_groups "
            f"{num_groups}"
        )
    shape = tuple(input.shape)
    inner = (num_groups, channels // num_groups)
    x = input.reshape((shape[0], *inner, *shape[2:]))
    w, b = (
        None if p is None else p.reshape((1, *inner) + (1,) * (len(shape) - 2))
        for p in (weight, bias)
    )
    return standardize(x, w, b, tuple(range(2, x.ndim)), float(eps)).reshape(shape)


@public(namespace="nn.functional", method=False)
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta (Krizhevsky et al.,
    NeurIPS 2012).

    input: (N, C, ...), at least 3 dims.

    Raises:
        ValueError: for fewer dims.

    >>> import tensorplay as tp
    >>> tp.nn.functional.local_response_norm(tp.ones(1, 1, 2), 2)
    tensor([[[1.0000, 1.0000]]])
    """
    if input.ndim < 3:
        raise ValueError(
            "local_response_norm(): expected 3D or higher dimensionality input, got "
            f"{input.ndim} dimensions"
        )
    if input.numel() == 0:
        return input
    shape = tuple(input.shape)
    square = (input * input).reshape((shape[0], 1, shape[1], -1))
    pads = ((size // 2, (size - 1) // 2), (0, 0))
    mean = mean_pool(square, (size, 1), (1, 1), pads, float(size)).reshape(shape)
    return input / (mean * alpha + k) ** beta


# --- with their statistics ------------------------------------------------------------------------


@public(method=False)
def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """layer_norm, the mean, and one over the standard deviation."""
    dims = _trailing("native_layer_norm", input, normalized_shape, weight, bias)
    result = layer_norm(input, normalized_shape, weight, bias, eps)
    return result, *_mean_and_scale(core.detach(input), dims, eps)


def _mean_and_scale(x: Tensor, dims: Any, eps: float) -> tuple[Tensor, Tensor]:
    return x.mean(dims, keepdim=True), (x.var(dims, correction=0, keepdim=True) + eps).rsqrt()


@public(method=False)
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """group_norm, the means (N, group), and one over the standard deviations."""
    result = group_norm(input, group, weight, bias, eps)
    mean, scale = _mean_and_scale(input.reshape(N, group, C // group * HxW), (2,), eps)
    return result, mean.squeeze(2), scale.squeeze(2)


@public(method=False)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """batch_norm, and when training the means and one over the standard deviations (else empty)."""
    result = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        empty = core.from_array(np.empty(0, input.dtype.numpy))
        return result, empty, empty
    dims = (0, *range(2, input.ndim))
    constant = core.with_tangents(core.detach(input), {})
    mean, scale = _mean_and_scale(constant, dims, eps)
    return result, mean.reshape(-1), scale.reshape(-1)


@public("_native_batch_norm_legit", method=False)
def native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    *rest: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """native_batch_norm; also without running statistics: (..., training, momentum, eps)."""
    running = rest[:-3] if len(rest) == 5 else (None, None)
    return native_batch_norm(input, weight, bias, *running, *rest[-3:])


@public("_batch_norm_with_update", method=False)
def batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """native_batch_norm when training, and an empty tensor that PyTorch reserves."""
    reserve = core.from_array(np.empty(0, np.uint8))
    return *native_batch_norm(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    ), reserve


@public("batch_norm", method=False)
def batch_norm_cudnn(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """nn.functional.batch_norm, with PyTorch's lower-level signature."""
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


for _name, _function in (
    ("layer_norm", layer_norm), ("rms_norm", rms_norm), ("group_norm", group_norm),
):  # fmt: skip
    publish(_function, _name, namespace="nn.functional", method=False)
