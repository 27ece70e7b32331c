"""Rectifiers and shrinkage: activations that treat ranges of their input differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.activations import in_place
from tensorplay.ops.elementwise import relu, where
from tensorplay.ops.kernels import select, typed
from tensorplay.ops.kinds import elementwise, public, publish
from tensorplay.ops.noise import noise

# --- primitives -----------------------------------------------------------------------------------
#
# Each kernel is a compiled loop for floats of one shape, with NumPy for everything else.


def _mapped(name: str, count: int, fallback: Any, categories: str = "f") -> Any:
    return core.MapKernel(name, count, typed(name, fallback, categories))


def _slopes(
    u: np.ndarray, x: np.ndarray, low: float, high: float, below: float, between: float,
    above: float, strict: int,
) -> Any:  # fmt: skip
    left, right = (x <= low, x >= high) if strict else (x < low, x > high)
    slope = np.where(left, below, np.where(right, above, between)).astype(x.dtype)
    return np.where(slope == 0, np.zeros((), x.dtype), u * slope)


# u times the slope of a function made of straight lines: `below` left of `low`, `above` right of
# `high`, and `between`, which includes those two points unless `strict`.
slopes = elementwise(
    "slopes",
    _mapped("slopes", 2, _slopes),
    vjp=(
        lambda g, x, low, high, below, between, above, strict: slopes(
            g, x, low, high, below, between, above, strict
        ),
        None,
    ),
    inputs=("u", "x"), params=("low", "high", "below", "between", "above", "strict"),
    promote="same",
    quiet=True,
)  # fmt: skip


def _elu_kernel(x: np.ndarray, alpha: float, scale: float, input_scale: float) -> Any:
    low = (scale * alpha) * np.expm1(np.minimum(x, 0) * input_scale)
    return np.where(x > 0, x * scale, low)


def _elu_backward_kernel(
    u: np.ndarray, x: np.ndarray, alpha: float, scale: float, input_scale: float
) -> Any:
    low = np.exp(np.minimum(x, 0) * input_scale) * (scale * alpha * input_scale)
    return u * np.where(x > 0, np.asarray(scale, x.dtype), low)


elu_op = elementwise(
    "elu",
    _mapped("elu", 1, _elu_kernel),
    vjp=lambda g, x, alpha, scale, input_scale: elu_backward(g, x, alpha, scale, input_scale),
    params=("alpha", "scale", "input_scale"),
    quiet=True,
)
elu_backward = elementwise(
    "elu_backward",
    _mapped("elu_backward", 2, _elu_backward_kernel),
    vjp=(
        lambda g, x, alpha, scale, input_scale: elu_backward(g, x, alpha, scale, input_scale),
        # Where x <= 0 the derivative times input_scale.
        lambda g, u, x, alpha, scale, input_scale: where(
            x > 0, 0, g * u * ((x * input_scale).exp() * (scale * alpha * input_scale**2))
        ),
    ),
    inputs=("u", "x"), params=("alpha", "scale", "input_scale"),
    quiet=True,
)  # fmt: skip
leaky_relu_op = elementwise(
    "leaky_relu",
    _mapped("leaky_relu", 1, lambda x, slope: np.where(x > 0, x, x * slope)),
    vjp=lambda g, x, negative_slope: slopes(g, x, 0, 0, negative_slope, negative_slope, 1, 0),
    params=("negative_slope",),
    quiet=True,
)
prelu_op = elementwise(
    "prelu",
    typed("prelu", lambda x, y: select(x > 0, x, x * y), "f"),
    vjp=(lambda g, x, y: where(x > 0, g, g * y), lambda g, x: where(x > 0, 0, g * x)),
    promote="same",
)
hardtanh_op = elementwise(
    "hardtanh",
    _mapped("hardtanh", 1, lambda x, low, high: np.clip(x, low, high).astype(x.dtype), "if"),
    # At both bounds the derivative is 0, as in PyTorch (clamp() has 1 there).
    vjp=lambda g, x, min_val, max_val: slopes(g, x, min_val, max_val, 0, 1, 0, 1),
    params=("min_val", "max_val"), promote="same",
    quiet=True,
)  # fmt: skip
hardsigmoid_op = elementwise(
    "hardsigmoid",
    _mapped("hardsigmoid", 1, lambda x: np.clip(x + 3, 0, 6) / 6),
    vjp=lambda g, x: slopes(g, x, -3, 3, 0, 1 / 6, 0, 1),
    quiet=True,
)
hardswish_op = elementwise(
    "hardswish",
    _mapped("hardswish", 1, lambda x: x * (np.clip(x + 3, 0, 6) / 6)),
    vjp=lambda g, x: hardswish_backward(g, x),
    quiet=True,
)
hardswish_backward = elementwise(
    "hardswish_backward",
    _mapped(
        "hardswish_backward",
        2,
        lambda u, x: np.where(x <= -3, 0, np.where(x < 3, u * (x / 3 + 0.5), u)).astype(x.dtype),
    ),
    vjp=(
        lambda g, x: hardswish_backward(g, x),
        lambda g, u, x: slopes(g * u, x, -3, 3, 0, 1 / 3, 0, 1),
    ),
    inputs=("u", "x"), promote="same",
    quiet=True,
)  # fmt: skip
softshrink_op = elementwise(
    "softshrink",
    _mapped("softshrink", 1, lambda x, at: np.where(np.abs(x) <= at, 0, x - np.sign(x) * at)),
    vjp=lambda g, x, lambd: slopes(g, x, -lambd, lambd, 1, 0, 1, 0),
    params=("lambd",),
    quiet=True,
)
hardshrink_op = elementwise(
    "hardshrink",
    _mapped("hardshrink", 1, lambda x, at: np.where(np.abs(x) <= at, 0, x)),
    vjp=lambda g, x, lambd: slopes(g, x, -lambd, lambd, 1, 0, 1, 0),
    params=("lambd",), node_name="HardshrinkBackward0",
    quiet=True,
)  # fmt: skip
threshold_op = elementwise(
    "threshold",
    core.MapKernel(
        "threshold", 1, lambda x, at, value: np.where(x <= at, np.asarray(value).astype(x.dtype), x)
    ),
    vjp=lambda g, x, threshold: slopes(g, x, threshold, threshold, 0, 0, 1, 0),
    params=("threshold", "value"), promote="same",
    quiet=True,
)  # fmt: skip


# --- public functions -----------------------------------------------------------------------------


@public("relu", namespace="nn.functional", method=False)
def functional_relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x).

    >>> import tensorplay as tp
    >>> tp.nn.functional.relu(tp.tensor([-1., 1.]))
    tensor([0., 1.])
    """
    return input.relu_() if inplace else input.relu()


relu_ = in_place(relu, "relu")


def _elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    return elu_op(input, alpha, 1.0, 1.0)


elu_ = in_place(_elu, "elu")


@public(namespace="nn.functional", method=False)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1) (arXiv:1511.07289).

    >>> import tensorplay as tp
    >>> tp.nn.functional.elu(tp.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    return elu_(input, alpha) if inplace else _elu(input, alpha)


# The fixed point of mean 0 and variance 1 (arXiv:1706.02515).
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@public()
def selu(input: Tensor) -> Tensor:
    """scale * elu(x, alpha), with the constants that keep mean 0 and variance 1
    (arXiv:1706.02515)."""
    return elu_op(input, _SELU_ALPHA, _SELU_SCALE, 1.0)


@public()
def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (arXiv:1704.07483).

    Raises:
        RuntimeError: for alpha = 0.
    """
    if alpha == 0:
        raise RuntimeError("celu(): ZeroDivisionError: alpha cannot be 0")
    return elu_op(input, alpha, 1.0, 1.0 / alpha)


selu_ = in_place(selu, "selu", method=True)
celu_ = in_place(celu, "celu", method=True)


@public("selu", namespace="nn.functional", method=False)
def functional_selu(input: Tensor, inplace: bool = False) -> Tensor:
    """scale * elu(x, alpha), with the constants that keep mean 0 and variance 1.

    >>> import tensorplay as tp
    >>> tp.nn.functional.selu(tp.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    return selu_(input) if inplace else selu(input)


@public("celu", namespace="nn.functional", method=False)
def functional_celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).

    >>> import tensorplay as tp
    >>> tp.nn.functional.celu(tp.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    return celu_(input, alpha) if inplace else celu(input, alpha)


def _leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    return leaky_relu_op(input, negative_slope)


leaky_relu_ = in_place(_leaky_relu, "leaky_relu")


@public(namespace="nn.functional", method=False)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else negative_slope * x.

    >>> import tensorplay as tp
    >>> tp.nn.functional.leaky_relu(tp.tensor([-1., 1.]))
    tensor([-0.0100,  1.0000])
    """
    if inplace:
        return leaky_relu_(input, negative_slope)
    return leaky_relu_op(input, negative_slope)


@public(aliases=())
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where positive, else weight * x (arXiv:1502.01852).

    weight: 0-dim or (1,), or one entry for each channel (dim 1 of the input).

    Raises:
        RuntimeError: for any other shape of the weight, or another dtype than the input's.

    >>> import tensorplay as tp
    >>> tp.prelu(tp.tensor([-1., 1.]), tp.tensor(0.5))
    tensor([-0.5000,  1.0000])
    """
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu(): expected input and weight to have the same dtype, got {input.dtype} and "
            f"{weight.dtype}"
        )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu(): weight must have at most 1 dim, got shape {list(weight.shape)}"
        )
    if weight.numel() != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if input.ndim == 0 or weight.numel() != channels:
            raise RuntimeError(
                f"prelu(): weight of {weight.numel()} entries does not fit the {channels} "
                f"channels of input of shape {list(input.shape)}"
            )
    if weight.ndim == 1:
        weight = (
            weight.reshape((-1,) + (1,) * (input.ndim - 2))
            if input.ndim > 1
            else weight.reshape((1,) * input.ndim)
        )
    return prelu_op(input, weight)


def _rrelu_noise(input: Tensor, lower: float, upper: float, generator: Any) -> Tensor:
    """Factors: uniform in [lower, upper) where the input is not positive, else 1."""
    return noise(
        "rrelu",
        input.shape,
        input.dtype,
        lambda rng, size: rng.uniform(lower, upper, size),
        generator,
    )


@public()
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """x where positive, else x times a random slope from [lower, upper) (arXiv:1505.00853).

    training: False uses the mean slope, which is not random.

    Raises:
        RuntimeError: if lower is above upper.
    """
    if lower > upper:
        raise RuntimeError(
            f"rrelu(): lower bound must be less than or equal to upper bound, got {lower} and "
            f"{upper}"
        )
    if not training:
        return leaky_relu_op(input, (lower + upper) / 2)
    return prelu_op(input, _rrelu_noise(input, lower, upper, generator))


rrelu_ = in_place(rrelu, "rrelu", method=True)


@public("rrelu", namespace="nn.functional", method=False)
def functional_rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x where positive, else x times a random slope from [lower, upper).

    >>> import tensorplay as tp
    >>> tp.nn.functional.rrelu(tp.tensor([-24., 1.]))
    tensor([-5.5000,  1.0000])
    """
    return (rrelu_ if inplace else rrelu)(input, lower, upper, training)


def _hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    return hardtanh_op(input, min_val, max_val)


hardtanh_ = in_place(_hardtanh, "hardtanh")


@public(namespace="nn.functional", method=False)
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val].

    Raises:
        ValueError: if min_val is above max_val.

    >>> import tensorplay as tp
    >>> tp.nn.functional.hardtanh(tp.tensor([-2., 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError(
            f"hardtanh(): min_val cannot be greater than max_val, got {min_val} and {max_val}"
        )
    return (hardtanh_ if inplace else _hardtanh)(input, min_val, max_val)


def _relu6(input: Tensor) -> Tensor:
    return hardtanh_op(input, 0.0, 6.0)


relu6_ = in_place(_relu6, "relu6")


@public(namespace="nn.functional", method=False)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x limited to [0, 6].

    >>> import tensorplay as tp
    >>> tp.nn.functional.relu6(tp.tensor([-1., 7.]))
    tensor([0., 6.])
    """
    return relu6_(input) if inplace else _relu6(input)


hardsigmoid_ = in_place(hardsigmoid_op, "hardsigmoid")
hardswish_ = in_place(hardswish_op, "hardswish")


@public(namespace="nn.functional", method=False)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6.

    >>> import tensorplay as tp
    >>> tp.nn.functional.hardsigmoid(tp.tensor([0., 3.]))
    tensor([0.5000, 1.0000])
    """
    return hardsigmoid_(input) if inplace else hardsigmoid_op(input)


@public(namespace="nn.functional", method=False)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * relu6(x + 3) / 6 (arXiv:1905.02244).

    >>> import tensorplay as tp
    >>> tp.nn.functional.hardswish(tp.tensor([0., 3.]))
    tensor([0., 3.])
    """
    return hardswish_(input) if inplace else hardswish_op(input)


@public(namespace="nn.functional", method=False)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by `lambd`, and 0 within it.

    Raises:
        RuntimeError: if `lambd` is negative.

    >>> import tensorplay as tp
    >>> tp.nn.functional.softshrink(tp.tensor([-1., 0.2, 1.]))
    tensor([-0.5000,  0.0000,  0.5000])
    """
    if lambd < 0:
        raise RuntimeError(f"softshrink(): lambd must be greater or equal to 0, got {lambd}")
    return softshrink_op(input, lambd)


@public()
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, but 0 where |x| is at most `lambd`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.hardshrink(tp.tensor([-1., 0.2, 1.]))
    tensor([-1.,  0.,  1.])
    """
    return hardshrink_op(input, lambd)


def _threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    return threshold_op(input, threshold, value)


threshold_ = in_place(_threshold, "threshold")
publish(_threshold, "threshold", method=False)
publish(threshold_, "threshold_", method=False)
publish(prelu, "prelu", namespace="nn.functional", method=False)
publish(hardshrink, "hardshrink", namespace="nn.functional", method=False)


@public("threshold", namespace="nn.functional", method=False)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above `threshold`, else `value`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.threshold(tp.tensor([0., 2.]), 1., 20.)
    tensor([20.,  2.])
    """
    return (threshold_ if inplace else _threshold)(input, threshold, value)
