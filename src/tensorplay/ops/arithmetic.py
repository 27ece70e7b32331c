"""Arithmetic: sums, products, quotients and remainders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, conjugate, weak_tensor
from tensorplay.base import dtypes
from tensorplay.ops.kernels import refuse_zero, typed
from tensorplay.ops.kinds import (
    elementwise,
    public,
    publish,
    require_tensor,
    signature,
    tensors_only,
)
from tensorplay.ops.structure import convert

Number = (bool, int, float, complex)


def is_number(value: Any, number: float) -> bool:
    """Whether value is the Python number `number`."""
    return isinstance(value, Number) and value == number


# --- sums and products ----------------------------------------------------------------------------


def _refuse_bool(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}(): subtraction and negation with a bool tensor are not supported; use "
        "logical_xor() or logical_not(), or convert with .int()"
    )


def _subtract(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype == np.bool_:
        raise _refuse_bool("sub")
    return np.subtract(x, y)


def _negative(x: np.ndarray) -> Any:
    if x.dtype == np.bool_:
        raise _refuse_bool("neg")
    return np.negative(x)


add = elementwise("add", np.add, 1, 1, loop="add", promote="same")
sub = elementwise("sub", _subtract, 1, -1, loop="sub", promote="same")
mul = elementwise("mul", np.multiply, lambda y: y, lambda x: x, loop="mul", promote="same")
neg = elementwise("neg", _negative, -1, loop="neg", promote="same")

_add_scaled = core.MapKernel("add_scaled", 2, lambda x, y, alpha: x + alpha * y)
_sub_scaled = core.MapKernel("sub_scaled", 2, lambda x, y, alpha: x - alpha * y)
add_scaled = elementwise(
    "add_scaled", typed("add", _add_scaled, "f"), 1, lambda alpha: alpha,
    params=("alpha",), node_name="AddBackward0",
)  # fmt: skip
sub_scaled = elementwise(
    "sub_scaled", typed("sub", _sub_scaled, "f"), 1, lambda alpha: -alpha,
    params=("alpha",), node_name="SubBackward0",
)  # fmt: skip


def _refuse_bools(operands: Any) -> None:
    for x in operands:
        if isinstance(x, bool) or (isinstance(x, Tensor) and x.dtype is dtypes.bool):
            raise _refuse_bool("sub")


sub.check = _refuse_bools  # a bool among other dtypes, before promotion hides it


def _scaled(name: str, fused: Any, input: Any, other: Any, alpha: Any) -> Tensor:
    """`input` plus or minus `alpha * other`; in one pass where both are of one float dtype."""
    if isinstance(input, Tensor) and isinstance(other, Tensor) and input.dtype is other.dtype:
        if input.dtype.is_floating_point and type(alpha) in (int, float):
            return fused(input, other, alpha)
    operands = [x if isinstance(x, Tensor) else weak_tensor(x) for x in (input, other)]
    dtype = core.result_dtype(operands)
    if isinstance(alpha, bool) and dtype is not dtypes.bool:
        raise RuntimeError(f"{name}(): boolean alpha={alpha} is only supported for bool tensors")
    if isinstance(alpha, float) and dtype.category <= dtypes.INTEGER:
        raise RuntimeError(
            f"{name}(): for integer tensors, alpha must not be a floating-point number, got "
            f"alpha={alpha}"
        )
    product = convert(mul(convert(operands[1], dtype), alpha), dtype)
    return core.registry[name](input, product)


@signature(add)
def _add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting and type promotion.

    Raises:
        RuntimeError: for a floating-point alpha with integer tensors.

    >>> import tensorplay as tp
    >>> tp.add(tp.tensor([1., 2.]), tp.tensor([10., 20.]), alpha=2)
    tensor([21., 42.])
    """
    if is_number(alpha, 1):
        return core.registry["add"](input, other)
    return _scaled("add", add_scaled, input, other, alpha)


@signature(sub)
def _sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """`input - alpha * other`, element by element, with broadcasting and type promotion.

    Raises:
        RuntimeError: for bool tensors, and for a floating-point alpha with integer tensors.
    """
    if is_number(alpha, 1):
        return core.registry["sub"](input, other)
    _refuse_bools((input, other))
    return _scaled("sub", sub_scaled, input, other, alpha)


@signature(mul)
def _mul(input: Any, other: Any) -> Tensor:
    """`input * other`, element by element, with broadcasting and type promotion."""
    return core.registry["mul"](input, other)


@public(out=True, method=False)
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """`other - alpha * input`."""
    require_tensor(input, "rsub")
    return sub(other, input, alpha=alpha)


@public()
def positive(input: Tensor) -> Tensor:
    """`input` itself.

    Raises:
        RuntimeError: for a bool tensor.
    """
    if input.dtype is dtypes.bool:
        raise RuntimeError("positive(): the operation is not supported for bool tensors")
    return input


# --- quotients ------------------------------------------------------------------------------------

div = elementwise(
    "div",
    np.true_divide,
    vjp=(lambda g, y: g / conjugate(y), lambda g, y, out: -(g * conjugate(out / y))),
    jvp=(lambda t, y: t / y, lambda t, y, out: -(t * (out / y))),
    loop="div",
)
reciprocal = elementwise(
    "reciprocal", lambda x: np.true_divide(x.dtype.type(1), x), lambda out: -(out * out),
    loop="reciprocal", doc="1 / x, element by element.",
)  # fmt: skip


def _floor_divide(x: np.ndarray, y: np.ndarray) -> Any:
    refuse_zero("floor_divide", x, y)
    return np.floor_divide(x, y)


def _trunc_divide(x: np.ndarray, y: np.ndarray) -> Any:
    refuse_zero("div", x, y)
    if x.dtype.kind in "iu":
        quotient, rest = np.divmod(x, y)
        return quotient + ((rest != 0) & ((x < 0) != (y < 0)))
    return np.trunc(np.true_divide(x, y))


def _remainder(x: np.ndarray, y: np.ndarray) -> Any:
    refuse_zero("remainder", x, y)
    return np.remainder(x, y)


def _fmod(x: np.ndarray, y: np.ndarray) -> Any:
    refuse_zero("fmod", x, y)
    return np.fmod(x, y)


# Rounded quotients are constant almost everywhere: their derivative is zero, as a number.
floor_divide = elementwise(
    "floor_divide", typed("floor_divide", _floor_divide, "if"), 0, 0, promote="same"
)
trunc_divide = elementwise(
    "trunc_divide", typed("div", _trunc_divide, "if"), 0, 0, promote="same",
    doc="`input / other` rounded towards zero.",
)  # fmt: skip
remainder = elementwise(
    "remainder", typed("remainder", _remainder, "if"),
    1, lambda x, y: -floor_divide(x, y), promote="same",
)  # fmt: skip
fmod = elementwise(
    "fmod", typed("fmod", _fmod, "if"), 1, lambda x, y: -trunc_divide(x, y), promote="same"
)


@signature(div)
def _div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'.

    Integers give floating point, unless a rounding mode is given.

    Raises:
        RuntimeError: for any other rounding mode, and for rounded division of integers by zero.

    >>> import tensorplay as tp
    >>> tp.div(tp.tensor([7, -7]), 2, rounding_mode='trunc')
    tensor([ 3, -3])
    """
    if rounding_mode is None:
        return core.registry["div"](input, other)
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode == "trunc":
        return trunc_divide(input, other)
    raise RuntimeError(
        f"div(): rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}"
    )


@signature(floor_divide)
def _floor_divide_public(input: Any, other: Any) -> Tensor:
    """`input / other` rounded down, element by element.

    Raises:
        RuntimeError: when integers are divided by zero.
    """
    return core.registry["floor_divide"](input, other)


@signature(remainder)
def _remainder_public(input: Any, other: Any) -> Tensor:
    """What is left of `input` after division by `other`, with the sign of `other`.

    Raises:
        RuntimeError: when integers are divided by zero.

    >>> import tensorplay as tp
    >>> tp.remainder(tp.tensor([-3., 3.]), 2), tp.fmod(tp.tensor([-3., 3.]), 2)
    (tensor([1., 1.]), tensor([-1.,  1.]))
    """
    return core.registry["remainder"](input, other)


@signature(fmod)
def _fmod_public(input: Any, other: Any) -> Tensor:
    """What is left of `input` after division by `other`, with the sign of `input`.

    Raises:
        RuntimeError: when integers are divided by zero.
    """
    return core.registry["fmod"](input, other)


# --- angles in degrees ----------------------------------------------------------------------------

deg2rad = elementwise(
    "deg2rad", typed("deg2rad", np.deg2rad, "f"), math.pi / 180, doc="Degrees as radians."
)
rad2deg = elementwise(
    "rad2deg", typed("rad2deg", np.rad2deg, "f"), 180 / math.pi, doc="Radians as degrees."
)

# --- integers -------------------------------------------------------------------------------------

gcd = elementwise(
    "gcd", typed("gcd", np.gcd, "i"), None, None, promote="same",
    doc="The greatest common divisor of integers, element by element.",
)  # fmt: skip
lcm = elementwise(
    "lcm", typed("lcm", np.lcm, "i"), None, None, promote="same",
    doc="The least common multiple of integers, element by element.",
)  # fmt: skip

_IN_PLACE = {
    add: core.MapInplace(_add_scaled, "alpha", 1), sub: core.MapInplace(_sub_scaled, "alpha", 1),
}  # fmt: skip
for _primitive in (
    add, sub, mul, div, neg, reciprocal, floor_divide, remainder, fmod, deg2rad, rad2deg, gcd, lcm,
):  # fmt: skip
    publish(_primitive, _primitive.name, inplace=True, direct=_IN_PLACE.get(_primitive))
for _alias, _primitive in (
    ("subtract", sub), ("multiply", mul), ("divide", div), ("true_divide", div), ("negative", neg),
):  # fmt: skip
    publish(_primitive, _alias, inplace=True, direct=_IN_PLACE.get(_primitive))

tensors_only(gcd, lcm)
tensors_only(fmod, first=True)
