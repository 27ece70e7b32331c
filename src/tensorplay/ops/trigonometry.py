"""Trigonometric and hyperbolic functions and their inverses.

Derivatives with `1 - x * x` are written as `(1 - x) * (1 + x)`, which does not cancel near 1. On
the branch cuts of complex arguments the sign of a zero says which side is meant. Adding a number
to a complex one loses it where the number comes first or is added (0 + -0 is 0), subtracting a
number keeps it, so 1 - z is written as -(z - 1), and 1 + z as -(-z - 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay.ops.arithmetic import conjugate, reciprocal
from tensorplay.ops.choices import drop, where
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import elementwise, publish, tensors_only
from tensorplay.ops.powers import rsqrt, square

one_minus_square = elementwise(
    "one_minus_square", lambda x: (1 - x) * (1 + x), lambda x: -2 * x, node_name="RsubBackward0"
)


def _asin_derivative(x: Any) -> Any:
    # 1 / sqrt(1 - x^2), in the complex plane with the roots of 1 - x and 1 + x (Kahan, 1987).
    if x.dtype.is_complex:
        return rsqrt(-(x - 1)) * rsqrt(-(-x - 1))
    return rsqrt(one_minus_square(x))


def _asinh_derivative(x: Any) -> Any:
    return rsqrt(-(-square(x) - 1)) if x.dtype.is_complex else rsqrt(square(x) + 1)


def _acosh_derivative(x: Any) -> Any:
    return rsqrt(x - 1) * rsqrt(-(-x - 1) if x.dtype.is_complex else x + 1)


def _function(name: str, kernel: Any, partial: Any, doc: str) -> Any:
    return elementwise(name, typed(name, kernel, "fc"), partial, loop=name, doc=doc)


def _dividing(name: str, kernel: Any, divisor: Any, doc: str) -> Any:
    # Functions with derivative 1 / divisor(x): one division less than with the reciprocal.
    return elementwise(
        name, typed(name, kernel, "fc"),
        vjp=lambda g, x: g / conjugate(divisor(x)), jvp=lambda t, x: t / divisor(x),
        loop=name, doc=doc,
    )  # fmt: skip


sin = _function("sin", np.sin, lambda x: cos(x), "The sine.")
cos = _function("cos", np.cos, lambda x: -sin(x), "The cosine.")
tan = _function("tan", np.tan, lambda out: square(out) + 1, "The tangent.")
asin = _function("asin", np.arcsin, _asin_derivative, "The inverse sine, in radians.")
acos = _function(
    "acos", np.arccos, lambda x: -_asin_derivative(x), "The inverse cosine, in radians."
)
atan = _dividing("atan", np.arctan, lambda x: square(x) + 1, "The inverse tangent, in radians.")
sinh = _function("sinh", np.sinh, lambda x: cosh(x), "The hyperbolic sine.")
cosh = _function("cosh", np.cosh, lambda x: sinh(x), "The hyperbolic cosine.")
asinh = _function("asinh", np.arcsinh, _asinh_derivative, "The inverse hyperbolic sine.")
acosh = _function("acosh", np.arccosh, _acosh_derivative, "The inverse hyperbolic cosine.")
atanh = _dividing("atanh", np.arctanh, one_minus_square, "The inverse hyperbolic tangent.")

tanh = elementwise(
    "tanh", typed("tanh", np.tanh, "fc"),
    vjp=lambda g, out: tanh_backward(g, conjugate(out)), loop="tanh", doc="The hyperbolic tangent.",
)  # fmt: skip
tanh_backward = elementwise(
    "tanh_backward",
    lambda u, y: u * (1 - y * y),
    lambda y: 1 - square(y),
    lambda u, y: -2 * (u * y),
    inputs=("u", "y"), loop="tanh_backward",
)  # fmt: skip

# --- functions of two sides of a triangle ---------------------------------------------------------

# x / y with 0 / 0 = 0: the value that a removable 0 / 0 in a derivative stands for.
divide_or_zero = elementwise(
    "divide_or_zero",
    lambda x, y: np.where((x == 0) & (y == 0), x, np.true_divide(x, y)),
    lambda x, y: _reciprocal_or_zero(x, y),
    lambda y, out: -divide_or_zero(out, y),
    node_name="DivBackward0",
)  # fmt: skip


def _reciprocal_or_zero(x: Any, y: Any) -> Any:
    both = (x == 0).logical_and(y == 0)
    return drop(reciprocal(where(both, 1.0, y)), both)


hypot = elementwise(
    "hypot", typed("hypot", np.hypot, "f"),
    lambda x, out: divide_or_zero(x, out), lambda y, out: divide_or_zero(y, out),
    doc="sqrt(input^2 + other^2), without overflow. The derivatives at (0, 0) are 0.",
)  # fmt: skip


def _atan2_derivative(x: Any, y: Any) -> Any:
    # x / (x^2 + y^2), without the overflow and underflow of the squares; 0 at (0, 0).
    size = hypot(x, y)
    return divide_or_zero(divide_or_zero(x, size), size)


atan2 = elementwise(
    "atan2", typed("atan2", np.arctan2, "f"),
    lambda x, y: _atan2_derivative(y, x), lambda x, y: -_atan2_derivative(x, y),
    loop="atan2",
    doc="The angle of the point (other, input), from -pi to pi. The derivatives at (0, 0) are 0.",
)  # fmt: skip

for _primitive in (
    sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, tanh, hypot, atan2,
):  # fmt: skip
    publish(_primitive, _primitive.name, inplace=True)
for _alias, _primitive in (
    ("arcsin", asin), ("arccos", acos), ("arctan", atan), ("arcsinh", asinh), ("arccosh", acosh),
    ("arctanh", atanh), ("arctan2", atan2),
):  # fmt: skip
    publish(_primitive, _alias, inplace=True)

tensors_only(hypot)
