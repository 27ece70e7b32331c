"""Signs, absolute values and rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops.arithmetic import conjugate
from tensorplay.ops.choices import drop, where
from tensorplay.ops.kernels import refuse, typed
from tensorplay.ops.kinds import elementwise, public, publish, tensors_only

# --- signs ----------------------------------------------------------------------------------------


def _sign_kernel(x: np.ndarray) -> Any:
    return x.copy() if x.dtype == np.bool_ else np.sign(x)


def _sgn_kernel(x: np.ndarray) -> Any:
    if x.dtype.kind != "c":
        return _sign_kernel(x)
    # NumPy squares the parts of complex64; hypot neither overflows nor loses small numbers.
    size = np.hypot(x.real, x.imag)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype, copy=False)


sign = elementwise(
    "sign", typed("sign", _sign_kernel, "bif", widen=False), 0, promote="same", loop="sign",
    doc="-1, 0 or 1 by the sign of real x; nan at nan (PyTorch: 0).",
)  # fmt: skip
sgn = elementwise(
    "sgn", _sgn_kernel,
    vjp=lambda g, x, out: _sgn_derivative(g, x, out),
    jvp=lambda t, x, out: _sgn_derivative(t, x, out),
    promote="same", doc="The sign; of a complex number x / |x|, and 0 at 0.",
)  # fmt: skip


def _sgn_derivative(t: Any, x: Any, out: Any) -> Any:
    # Of z / |z|: what is left of t after its part along z is taken away, over |z|; 0 at 0.
    if not x.dtype.is_complex:
        return t * 0
    size = x.abs()
    at_zero = size == 0
    along = (t * conjugate(out)).real
    return drop((t - along * out) / where(at_zero, 1.0, size), at_zero)


def _abs_kernel(x: np.ndarray) -> Any:
    if x.dtype == np.bool_:
        refuse("abs", x.dtype)
    return np.abs(x)


abs = elementwise(
    "abs", _abs_kernel,
    vjp=lambda g, x: abs_backward(g, x) if not x.dtype.is_complex else g * sgn(x),
    jvp=lambda t, x: (
        abs_backward(t, x) if not x.dtype.is_complex else (t * conjugate(sgn(x))).real
    ),
    promote="same", loop="abs",
    doc="The absolute value (real, for complex x too). The derivative is 0 at 0.",
)  # fmt: skip
abs_backward = elementwise(
    "abs_backward",
    lambda u, x: u * np.sign(x),
    vjp=(lambda g, x: abs_backward(g, x), None),
    inputs=("u", "x"), loop="abs_backward", promote="same",
)  # fmt: skip
signbit = elementwise(
    "signbit", typed("signbit", lambda x: np.signbit(x) if x.dtype.kind in "fV" else x < 0),
    None, promote="same", doc="Whether the sign bit is set: for negative numbers and for -0.",
)  # fmt: skip
copysign = elementwise(
    "copysign", typed("copysign", np.copysign, "f"),
    lambda x, y: sign(x) * copysign(1.0, y), 0,
    doc="The absolute value of `input` with the sign of `other`. The derivative is 0 at 0.",
)  # fmt: skip

# --- rounding -------------------------------------------------------------------------------------


def _rounding(function: Any) -> Any:
    return lambda x: function(x) if x.dtype.kind in "fV" else x.copy()


def _rounded(name: str, function: Any, doc: str) -> Any:
    kernel = typed(name, _rounding(function), "if", widen=False)
    return elementwise(name, kernel, 0, promote="same", loop=name, doc=doc)


floor = _rounded("floor", np.floor, "The largest integer not above each element.")
ceil = _rounded("ceil", np.ceil, "The smallest integer not below each element.")
trunc = _rounded("trunc", np.trunc, "Each element without its fractional part.")
round_half_even = _rounded("round", np.rint, "The nearest integer, halves to the even one.")
frac = elementwise(
    "frac", typed("frac", lambda x: x - np.trunc(x), "f"), 1, promote="same",
    doc="The fractional part, with the sign of the element.",
)  # fmt: skip


@public(inplace=True, out=True)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Each element rounded to the nearest integer (halves to even), or to `decimals` places.

    >>> import tensorplay as tp
    >>> tp.round(tp.tensor([0.5, 1.5, -2.7])), tp.round(tp.tensor([1.238]), decimals=2)
    (tensor([ 0.,  2., -3.]), tensor([1.2400]))
    """
    if decimals == 0:
        return round_half_even(input)
    return round_decimals(input, decimals)


def _round_decimals(x: np.ndarray, decimals: int) -> Any:
    scale = x.dtype.type(10.0 ** builtin_abs(decimals))
    return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


def builtin_abs(value: int) -> int:
    """The absolute value of an int, where `abs` is an operator."""
    return value if value >= 0 else -value


round_decimals = elementwise(
    "round_decimals", typed("round", _round_decimals, "f"), 0, params=("decimals",),
    promote="same", node_name="RoundBackward1",
)  # fmt: skip

# --- neighbours and parts of a floating-point number ----------------------------------------------


def _nextafter(x: np.ndarray, y: np.ndarray) -> Any:
    return np.nextafter(x, y)


nextafter = elementwise(
    "nextafter", typed("nextafter", _nextafter, "f", widen=False), 1, 0,
    doc="The next number of the dtype after `input` towards `other`; its derivative is 1.",
)  # fmt: skip

for _primitive in (abs, sign, sgn, floor, ceil, trunc, frac, copysign, nextafter):
    publish(_primitive, _primitive.name, inplace=True)
publish(signbit, "signbit")
publish(trunc, "fix", inplace=True)
publish(abs, "absolute", inplace=True)

tensors_only(nextafter)
