"""Activation functions. What is hot is fused: gelu and silu, forward and backward, have loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Inplace, Tensor
from tensorplay.ops.elementwise import where
from tensorplay.ops.kernels import special, typed
from tensorplay.ops.kinds import elementwise, public, publish, wrap_dim
from tensorplay.ops.noise import noise

_INV_SQRT_2PI = 1 / math.sqrt(2 * math.pi)
_GELU_SCALE = math.sqrt(2 / math.pi)
_GELU_CUBIC = 0.044715  # arXiv:1606.08415


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.is_complex else x


# --- gelu -----------------------------------------------------------------------------------------


def _normal_cdf(x: np.ndarray) -> Any:
    return 0.5 * special.erfc(x * -math.sqrt(0.5))


def _gelu_backward_kernel(u: np.ndarray, x: np.ndarray) -> Any:
    return u * (_normal_cdf(x) + x * (_INV_SQRT_2PI * np.exp(-0.5 * x * x)))


gelu_op = elementwise(
    "gelu",
    typed("gelu", lambda x: x * _normal_cdf(x), "f"),
    vjp=lambda g, x: gelu_backward(g, x),
    loop="gelu",
)
gelu_backward = elementwise(
    "gelu_backward",
    typed("gelu", _gelu_backward_kernel, "f"),
    vjp=(
        lambda g, x: gelu_backward(g, x),
        # The second derivative of x Phi(x) is phi(x) (2 - x^2).
        lambda g, u, x: g * u * ((x * x * -0.5).exp() * (2 - x * x) * _INV_SQRT_2PI),
    ),
    inputs=("u", "x"), loop="gelu_backward",
)  # fmt: skip

# The tanh form is x * sigmoid(w) with w the polynomial below.


def _gelu_polynomial(x: Any) -> Any:
    return (2 * _GELU_SCALE) * x * (1 + _GELU_CUBIC * x * x)


def _gelu_tanh_kernel(x: np.ndarray) -> Any:
    return x * special.expit(_gelu_polynomial(x))


def _gelu_tanh_backward_kernel(u: np.ndarray, x: np.ndarray) -> Any:
    s = special.expit(_gelu_polynomial(x))
    slope = (2 * _GELU_SCALE) * (1 + (3 * _GELU_CUBIC) * x * x)
    return u * (s + x * s * (1 - s) * slope)


def _gelu_tanh_second(x: Any) -> Any:
    s = _gelu_polynomial(x).sigmoid()
    slope = (2 * _GELU_SCALE) * (1 + (3 * _GELU_CUBIC) * x * x)
    bend = (12 * _GELU_SCALE * _GELU_CUBIC) * x
    return s * (1 - s) * (2 * slope + x * ((1 - 2 * s) * slope * slope + bend))


gelu_tanh_op = elementwise(
    "gelu_tanh",
    typed("gelu", _gelu_tanh_kernel, "f"),
    vjp=lambda g, x: gelu_tanh_backward(g, x),
    loop="gelu_tanh", node_name="GeluBackward0",
)  # fmt: skip
gelu_tanh_backward = elementwise(
    "gelu_tanh_backward",
    typed("gelu", _gelu_tanh_backward_kernel, "f"),
    vjp=(
        lambda g, x: gelu_tanh_backward(g, x),
        lambda g, u, x: g * u * _gelu_tanh_second(x),
    ),
    inputs=("u", "x"), loop="gelu_tanh_backward",
)  # fmt: skip


@public(namespace="nn.functional", method=False)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's integral up to x (arXiv:1606.08415).

    approximate: 'none', or 'tanh' for the approximation by a hyperbolic tangent.

    Raises:
        RuntimeError: for any other approximation.

    >>> import tensorplay as tp
    >>> tp.nn.functional.gelu(tp.tensor([-1., 0., 1.]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    if approximate == "none":
        return gelu_op(input)
    if approximate == "tanh":
        return gelu_tanh_op(input)
    raise RuntimeError(f"gelu(): approximate must be 'none' or 'tanh', got {approximate!r}")


# --- silu, mish -----------------------------------------------------------------------------------


def _expit(x: np.ndarray) -> Any:
    return 1 / (1 + np.exp(-x)) if x.dtype.kind == "c" else special.expit(x)


def _silu_backward_kernel(u: np.ndarray, x: np.ndarray) -> Any:
    s = _expit(x)
    return u * (s * (1 + x * (1 - s)))


def _silu_second(x: Any) -> Any:
    s = x.sigmoid()
    return s * (1 - s) * (2 + x * (1 - 2 * s))


silu_op = elementwise(
    "silu",
    typed("silu", lambda x: x * _expit(x), "fc"),
    vjp=lambda g, x: silu_backward(g, _conj(x)),
    loop="silu",
)
silu_backward = elementwise(
    "silu_backward",
    typed("silu", _silu_backward_kernel, "fc"),
    vjp=(
        lambda g, x: silu_backward(g, _conj(x)),
        lambda g, u, x: g * _conj(u * _silu_second(x)),
    ),
    inputs=("u", "x"), loop="silu_backward",
)  # fmt: skip


def _softplus(x: np.ndarray) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _mish_derivative(x: Any) -> Any:
    t = softplus_op(x, 1.0, 20.0).tanh()
    return t + x * x.sigmoid() * (1 - t * t)


mish_op = elementwise(
    "mish",
    typed("mish", lambda x: x * np.tanh(_softplus(x)), "f"),
    _mish_derivative,
)

# --- softplus, logsigmoid -------------------------------------------------------------------------


def _softplus_kernel(x: np.ndarray, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.log1p(np.exp(scaled)) / beta)


def _softplus_backward_kernel(u: np.ndarray, x: np.ndarray, beta: float, threshold: float) -> Any:
    return np.where(x * beta > threshold, u, u * special.expit(x * beta))


def _sigmoid_slope(x: Any) -> Any:
    s = x.sigmoid()
    return s * (1 - s)


softplus_op = elementwise(
    "softplus_scaled",
    core.MapKernel("softplus", 1, typed("softplus", _softplus_kernel, "f")),
    vjp=lambda g, x, beta, threshold: softplus_scaled_backward(g, x, beta, threshold),
    params=("beta", "threshold"), quiet=True, node_name="SoftplusBackward0",
)  # fmt: skip
softplus_scaled_backward = elementwise(
    "softplus_scaled_backward",
    core.MapKernel("softplus_backward", 2, typed("softplus", _softplus_backward_kernel, "f")),
    vjp=(
        lambda g, x, beta, threshold: softplus_scaled_backward(g, x, beta, threshold),
        lambda g, u, x, beta, threshold: where(
            x * beta > threshold, 0, g * u * (_sigmoid_slope(x * beta) * beta)
        ),
    ),
    inputs=("u", "x"), params=("beta", "threshold"), quiet=True,
)  # fmt: skip
logsigmoid_op = elementwise(
    "log_sigmoid",
    core.MapKernel("log_sigmoid", 1, typed("logsigmoid", lambda x: -_softplus(-x), "f")),
    vjp=lambda g, x: log_sigmoid_backward(g, x),
    quiet=True,
)
log_sigmoid_backward = elementwise(
    "log_sigmoid_backward",
    core.MapKernel(
        "log_sigmoid_backward", 2, typed("logsigmoid", lambda u, x: u * special.expit(-x), "f")
    ),
    vjp=(lambda g, x: log_sigmoid_backward(g, x), lambda g, u, x: -(g * u * _sigmoid_slope(x))),
    inputs=("u", "x"),
    quiet=True,
)


# --- public functions -----------------------------------------------------------------------------


def in_place(function: Callable[..., Any], name: str, *, method: bool = False) -> Inplace:
    """The in-place form of an activation, known as `name_`."""
    changed = Inplace(function, name + "_")
    publish(changed, name + "_", namespace="" if method else "nn.functional", method=method)
    return changed


@public("silu", namespace="nn.functional", method=False)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), also known as swish (arXiv:1702.03118).

    >>> import tensorplay as tp
    >>> tp.nn.functional.silu(tp.tensor([0., 1.]))
    tensor([0.0000, 0.7311])
    """
    return silu_(input) if inplace else silu_op(input)


silu_ = in_place(silu_op, "silu")


@public(namespace="nn.functional", method=False)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)) (arXiv:1908.08681).

    >>> import tensorplay as tp
    >>> tp.nn.functional.mish(tp.tensor([0., 1.]))
    tensor([0.0000, 0.8651])
    """
    return mish_(input) if inplace else mish_op(input)


mish_ = in_place(mish_op, "mish")


@public(namespace="nn.functional", method=False)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above `threshold`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.softplus(tp.tensor([0., 1.]))
    tensor([0.6931, 1.3133])
    """
    return softplus_op(input, float(beta), float(threshold))


@public(namespace="nn.functional", method=False)
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|).

    >>> import tensorplay as tp
    >>> tp.nn.functional.softsign(tp.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@public(namespace="nn.functional", method=False)
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x).

    >>> import tensorplay as tp
    >>> tp.nn.functional.tanhshrink(tp.tensor([0., 1.]))
    tensor([0.0000, 0.2384])
    """
    return input - input.tanh()


@public(namespace="nn.functional", method=False)
def logsigmoid(input: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x))), without overflow.

    >>> import tensorplay as tp
    >>> tp.nn.functional.logsigmoid(tp.tensor([0., -100.]))
    tensor([  -0.6931, -100.0000])
    """
    return logsigmoid_op(input)


@public(namespace="nn.functional", method=False)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b), where a and b are the halves of the input along `dim` (arXiv:1612.08083).

    Raises:
        RuntimeError: for a 0-dim input, or an odd size along `dim`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.glu(tp.tensor([1., 2., 0., 0.]))
    tensor([0.5000, 1.0000])
    """
    if input.ndim == 0:
        raise RuntimeError("glu(): does not support 0-dimensional tensors")
    dim = wrap_dim(dim, input, "glu")
    size = input.shape[dim]
    if size % 2:
        raise RuntimeError(f"glu(): the size along dim {dim} must be even, got {size}")
    half = size // 2
    return input.narrow(dim, 0, half) * input.narrow(dim, half, half).sigmoid()


@public(namespace="nn.functional", method=False)
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample of the Gumbel-softmax distribution (arXiv:1611.01144) along `dim`.

    tau: the temperature. hard: one-hot values, with the gradient of the soft ones. eps: unused.

    >>> import tensorplay as tp
    >>> tp.nn.functional.gumbel_softmax(tp.zeros(3), hard=True).sum()
    tensor(1.)
    """

    def draw(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        return rng.gumbel(size=size)

    gumbels = noise("gumbel_softmax", logits.shape, logits.dtype, draw)
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = (soft == soft.amax(dim, keepdim=True)).to(soft.dtype)
    # Of equal largest values (rounding) the first is taken.
    first = chosen * (chosen.cumsum(dim) == 1)
    return first - soft.detach() + soft


@public("sigmoid", namespace="nn.functional", method=False)
def functional_sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> import tensorplay as tp
    >>> tp.nn.functional.sigmoid(tp.tensor([0.]))
    tensor([0.5000])
    """
    return input.sigmoid()


@public("tanh", namespace="nn.functional", method=False)
def functional_tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent.

    >>> import tensorplay as tp
    >>> tp.nn.functional.tanh(tp.tensor([0.]))
    tensor([0.])
    """
    return input.tanh()
