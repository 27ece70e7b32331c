"""Powers, roots, exponentials and logarithms."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, weak_tensor
from tensorplay.base import dtypes
from tensorplay.ops.arithmetic import Number, conjugate
from tensorplay.ops.choices import drop, where
from tensorplay.ops.kernels import refuse, typed
from tensorplay.ops.kinds import elementwise, public, publish, signature
from tensorplay.ops.structure import convert

# --- powers ---------------------------------------------------------------------------------------


def _square(x: np.ndarray) -> Any:
    return np.square(x) if x.dtype != np.bool_ else x.astype(np.int64)


square = elementwise(
    "square", _square, lambda x: 2 * x, loop="square", promote="same",
    doc="x * x, element by element.",
)  # fmt: skip


def known_number(x: Any) -> Any:
    """The value of a number, or of a 0-dim tensor that no transform and no graph knows; else None.

    A number given for an input becomes such a tensor on the general path of an operation.
    """
    if not isinstance(x, Tensor):
        return x
    if x.ndim == 0 and not x.is_box and not x.requires_grad and not core.tangents_of(x):
        return core.array_of(x).item()
    return None


def _pow_by_base(x: Any, y: Any) -> Any:
    # y * x ** (y - 1). At x = y = 0 it is 0: x ** 0 is constant.
    number = known_number(y)
    if number is not None:
        if number == 0 or number == 1:
            return number
        return 2 * x if number == 2 else number * x ** (number - 1)
    constant = (x == 0).logical_and(y == 0)
    return drop(y * x ** (where(constant, 1.0, y) - 1), constant)


def _pow_by_exponent(x: Any, y: Any, out: Any) -> Any:
    # out * log(x), which is 0 at x = 0 for exponents that are not negative: 0 ** y is constant.
    number = known_number(x)
    if number is not None and number != 0:
        if isinstance(number, complex) or (number < 0 and out.dtype.is_complex):
            return out * cmath.log(number)
        return out * (math.log(number) if number > 0 else math.nan)
    at_zero = y.real >= 0
    if number is not None:
        return drop(drop(out, at_zero) * -math.inf, at_zero)
    at_zero = (x == 0).logical_and(at_zero)
    return drop(out * log(where(at_zero, 1.0, x)), at_zero)


def _pow_kernel(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind in "biu":
        return _integer_power(x, y)
    if y.ndim == 0 and y == 2:
        return np.square(x)
    return np.power(x, y)


def _integer_power(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype == np.bool_:
        refuse("pow", x.dtype)
    if x.dtype.kind == "u" or not np.any(y < 0):
        return np.power(x, y)
    # Only 1 and -1 have integer results for negative exponents, the rest are rounded to 0.
    base = np.where((y < 0) & (x != 1) & (x != -1), 0, x)
    return np.power(base, np.where(y < 0, 2 - (y & 1), y)).astype(x.dtype, copy=False)


pow = elementwise("pow", _pow_kernel, _pow_by_base, _pow_by_exponent, loop="pow", promote="same")


pow.keywords = ("input", "exponent")


def _refuse_fractions(operands: Any) -> None:
    base, exponent = operands
    integers = isinstance(base, Tensor) and base.dtype.category <= dtypes.INTEGER
    if integers and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError(
            f"pow(): integers to negative integer powers are not allowed, got exponent {exponent} "
            f"for dtype {base.dtype}; convert the base with .float()"
        )


pow.check = _refuse_fractions


@signature(pow)
def _pow(input: Any, exponent: Any) -> Tensor:
    """`input ** exponent`, element by element, with broadcasting and type promotion.

    The derivative by the exponent is 0 where the base is 0 and the exponent is not negative; the
    derivative by the base is 0 where both are 0.

    Raises:
        RuntimeError: for integers to the power of a negative integer number.

    >>> import tensorplay as tp
    >>> tp.pow(tp.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    """
    if not isinstance(input, Tensor):
        input = weak_tensor(input)
    return core.registry["pow"](input, exponent)


@public(inplace=True, out=True)
def float_power(input: Any, exponent: Any) -> Tensor:
    """`input ** exponent` in float64, or complex128 where either is complex.

    >>> import tensorplay as tp
    >>> tp.float_power(tp.tensor([2, 4]), -1)
    tensor([0.5000, 0.2500], dtype=tensorplay.float64)
    """
    if isinstance(input, Number) and isinstance(exponent, Number):
        raise TypeError("float_power(): argument 'input' or 'exponent' must be Tensor")
    operands = (input, exponent)
    is_complex = any(
        x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex) for x in operands
    )
    target = dtypes.complex128 if is_complex else dtypes.float64
    return pow(*[convert(x, target) if isinstance(x, Tensor) else x for x in operands])


# --- roots ----------------------------------------------------------------------------------------


def _rsqrt(x: np.ndarray) -> Any:
    return np.true_divide(x.dtype.type(1), np.sqrt(x))


sqrt = elementwise(
    "sqrt", typed("sqrt", np.sqrt, "fc"),
    vjp=lambda g, out: g / (2 * conjugate(out)),
    jvp=lambda t, out: t / (2 * out),
    loop="sqrt",
    doc="The (principal) square root. Its derivative at 0 is infinite.",
)  # fmt: skip
rsqrt = elementwise(
    "rsqrt", typed("rsqrt", _rsqrt, "fc"), lambda out: -0.5 * (out * out * out), loop="rsqrt",
    doc="1 / sqrt(x), element by element.",
)  # fmt: skip

# --- exponentials and logarithms ------------------------------------------------------------------

exp = elementwise("exp", typed("exp", np.exp, "fc"), lambda out: out, loop="exp")
exp2 = elementwise(
    "exp2", typed("exp2", np.exp2, "fc"), lambda out: out * math.log(2), loop="exp2", doc="2 ** x."
)
expm1 = elementwise(
    "expm1", typed("expm1", np.expm1, "fc"), lambda out: out + 1, loop="expm1",
    doc="exp(x) - 1, accurate near 0.",
)  # fmt: skip
log = elementwise(
    "log", typed("log", np.log, "fc"),
    vjp=lambda g, x: g / conjugate(x), jvp=lambda t, x: t / x, loop="log",
    doc="The natural logarithm; for complex x the branch with imaginary part in (-pi, pi].",
)  # fmt: skip
log2 = elementwise(
    "log2", typed("log2", np.log2, "fc"),
    vjp=lambda g, x: g / conjugate(x * math.log(2)), jvp=lambda t, x: t / (x * math.log(2)),
    loop="log2", doc="The logarithm to base 2.",
)  # fmt: skip
log10 = elementwise(
    "log10", typed("log10", np.log10, "fc"),
    vjp=lambda g, x: g / conjugate(x * math.log(10)), jvp=lambda t, x: t / (x * math.log(10)),
    loop="log10", doc="The logarithm to base 10.",
)  # fmt: skip
log1p = elementwise(
    "log1p", typed("log1p", np.log1p, "fc"),
    vjp=lambda g, x: g / conjugate(x + 1), jvp=lambda t, x: t / (x + 1), loop="log1p",
    doc="log(1 + x), accurate near 0.",
)  # fmt: skip
exp.__doc__ = "e ** x, element by element; the derivative is the result itself."

for _primitive in (
    square, pow, sqrt, rsqrt, exp, exp2, expm1, log, log2, log10, log1p,
):  # fmt: skip
    publish(_primitive, _primitive.name, inplace=True)
