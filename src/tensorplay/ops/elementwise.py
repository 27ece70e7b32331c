"""Elementwise arithmetic and functions: one record each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, weak_tensor
from tensorplay.base import dtypes
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.kinds import elementwise, public, publish, signature
from tensorplay.ops.structure import cast

_sp = lazy_module("scipy.special")

Number = (bool, int, float, complex)


def _is(value: Any, number: float) -> bool:
    return isinstance(value, Number) and value == number


# --- arithmetic -----------------------------------------------------------------------------------

add = elementwise("add", np.add, 1, 1, loop="add", promote="same")
sub = elementwise("sub", np.subtract, 1, -1, loop="sub", promote="same")
mul = elementwise("mul", np.multiply, lambda y: y, lambda x: x, loop="mul", promote="same")
div = elementwise(
    "div",
    np.true_divide,
    lambda y: reciprocal(y) if isinstance(y, Tensor) else 1 / y if y else math.inf,
    lambda y, out: -(out / y),
    loop="div",
)
neg = elementwise("neg", np.negative, -1, loop="neg", promote="same")
reciprocal = elementwise(
    "reciprocal", np.reciprocal, lambda out: -(out * out), loop="reciprocal",
    doc="1 / x, element by element.",
)  # fmt: skip
square = elementwise("square", np.square, lambda x: 2 * x, loop="square", promote="same")


def _pow_by_base(x: Any, y: Any) -> Any:
    # y * x ** (y - 1), which is 0 at y = 0 whatever x is.
    if isinstance(y, Number):
        if y == 0:
            return 0
        return 2 * x if y == 2 else y * x ** (y - 1)
    return where(y == 0, 0.0, y * x ** (y - 1))


def _pow_by_exponent(x: Any, y: Any, out: Any) -> Any:
    # out * log(x), which is 0 at x = 0 for exponents that are not negative: 0 ** y is constant there.
    if isinstance(x, Number):
        if x == 0:
            return where(as_real(y) >= 0, 0.0, out * -math.inf)
        return out * (math.log(x) if not isinstance(x, complex) and x > 0 else log(weak_tensor(x)))
    at_zero = logical_and(x == 0, as_real(y) >= 0)
    return where(at_zero, 0.0, out * log(where(at_zero, 1.0, x)))


def as_real(x: Any) -> Any:
    """The real part of a complex tensor or number; a real one as it is."""
    if isinstance(x, Tensor):
        return x.real if x.dtype.is_complex else x
    return x.real


def _pow_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind in "iu" and np.any(y < 0):
        # Integers to negative powers: only 1 and -1 have integer results, the rest truncate to 0.
        base = np.where(np.abs(x) == 1, x, 0)
        return np.where(y < 0, base ** np.abs(y), x ** np.abs(y)).astype(x.dtype)
    return np.power(x, y)


pow = elementwise("pow", _pow_kernel, _pow_by_base, _pow_by_exponent, loop="pow", promote="same")
atan2 = elementwise(
    "atan2", np.arctan2,
    lambda x, y: y / (x * x + y * y),
    lambda x, y: -x / (x * x + y * y),
    loop="atan2",
)  # fmt: skip


@signature(add)
def _add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting and type promotion.

    >>> import tensorplay as tp
    >>> tp.add(tp.tensor([1., 2.]), tp.tensor([10., 20.]), alpha=2)
    tensor([21., 42.])
    """
    return core.registry["add"](input, other if _is(alpha, 1) else other * alpha)


@signature(sub)
def _sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """`input - alpha * other`, element by element, with broadcasting and type promotion."""
    _refuse_bool("sub", input, other)
    return core.registry["sub"](input, other if _is(alpha, 1) else other * alpha)


def _refuse_bool(name: str, *operands: Any) -> None:
    if any(isinstance(x, Tensor) and x.dtype is dtypes.bool for x in operands):
        raise RuntimeError(
            f"{name}(): subtraction and negation with a bool tensor are not supported; use "
            "logical_xor() or logical_not(), or convert with .int()"
        )


@signature(div)
def _div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'.

    Raises:
        RuntimeError: for any other rounding mode.
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


@signature(mul)
def _mul(input: Any, other: Any) -> Tensor:
    """`input * other`, element by element, with broadcasting and type promotion."""
    return core.registry["mul"](input, other)


@signature(pow)
def _pow(input: Any, exponent: Any) -> Tensor:
    """`input ** exponent`, element by element, with broadcasting and type promotion.

    The derivative by the exponent is 0 where the base is 0 and the exponent is not negative.

    Raises:
        RuntimeError: for an integer tensor and a negative integer number as exponent.
    """
    if isinstance(exponent, int) and exponent < 0 and isinstance(input, Tensor):
        if input.dtype.category <= dtypes.INTEGER:
            raise RuntimeError(
                f"pow(): integers to negative integer powers are not allowed, got exponent "
                f"{exponent} for dtype {input.dtype}; convert with .float()"
            )
    if not isinstance(input, Tensor):
        input = weak_tensor(input)
    return core.registry["pow"](input, exponent)


# Results that are constant almost everywhere: their derivative is zero, as a number.
floor_divide = elementwise("floor_divide", np.floor_divide, 0, 0, promote="same")
trunc_divide = elementwise(
    "trunc_divide",
    lambda x, y: np.trunc(np.true_divide(x, y)).astype(np.result_type(x, y)),
    0, 0, promote="same",
)  # fmt: skip
remainder = elementwise(
    "remainder", np.remainder, 1, lambda x, y: -floor_divide(x, y), promote="same"
)
fmod = elementwise("fmod", np.fmod, 1, lambda x, y: -trunc_divide(x, y), promote="same")

# --- exponentials, logarithms, roots --------------------------------------------------------------

exp = elementwise("exp", np.exp, lambda out: out, loop="exp")
exp2 = elementwise("exp2", np.exp2, lambda out: out * math.log(2.0), loop="exp2")
expm1 = elementwise("expm1", np.expm1, lambda out: out + 1, loop="expm1")
log = elementwise("log", np.log, lambda x: reciprocal(x), loop="log")
log2 = elementwise("log2", np.log2, lambda x: reciprocal(x * math.log(2.0)), loop="log2")
log10 = elementwise("log10", np.log10, lambda x: reciprocal(x * math.log(10.0)), loop="log10")
log1p = elementwise("log1p", np.log1p, lambda x: reciprocal(x + 1), loop="log1p")
sqrt = elementwise("sqrt", np.sqrt, lambda out: reciprocal(2 * out), loop="sqrt")
rsqrt = elementwise(
    "rsqrt", lambda x: 1 / np.sqrt(x), lambda out: -0.5 * (out * out * out), loop="rsqrt"
)

# --- trigonometric and hyperbolic -----------------------------------------------------------------

sin = elementwise("sin", np.sin, lambda x: cos(x), loop="sin")
cos = elementwise("cos", np.cos, lambda x: -sin(x), loop="cos")
tan = elementwise("tan", np.tan, lambda out: out * out + 1, loop="tan")
asin = elementwise("asin", np.arcsin, lambda x: rsqrt(1 - x * x), loop="asin")
acos = elementwise("acos", np.arccos, lambda x: -rsqrt(1 - x * x), loop="acos")
atan = elementwise("atan", np.arctan, lambda x: reciprocal(x * x + 1), loop="atan")
sinh = elementwise("sinh", np.sinh, lambda x: cosh(x), loop="sinh")
cosh = elementwise("cosh", np.cosh, lambda x: sinh(x), loop="cosh")
asinh = elementwise("asinh", np.arcsinh, lambda x: rsqrt(x * x + 1), loop="asinh")
acosh = elementwise("acosh", np.arccosh, lambda x: rsqrt(x - 1) * rsqrt(x + 1), loop="acosh")
atanh = elementwise("atanh", np.arctanh, lambda x: reciprocal(1 - x * x), loop="atanh")
tanh = elementwise("tanh", np.tanh, vjp=lambda g, out: tanh_backward(g, _conj(out)), loop="tanh")
tanh_backward = elementwise(
    "tanh_backward",
    lambda u, y: u * (1 - y * y),
    lambda y: 1 - y * y,
    lambda u, y: -2 * (u * y),
    inputs=("u", "y"), loop="tanh_backward",
)  # fmt: skip

# --- sigmoid and rectifiers -----------------------------------------------------------------------


def _sigmoid_kernel(x: np.ndarray) -> np.ndarray:
    return _sp.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x))


sigmoid = elementwise(
    "sigmoid", _sigmoid_kernel, vjp=lambda g, out: sigmoid_backward(g, _conj(out)), loop="sigmoid"
)
sigmoid_backward = elementwise(
    "sigmoid_backward",
    lambda u, y: u * (y * (1 - y)),
    lambda y: y * (1 - y),
    lambda u, y: u * (1 - 2 * y),
    inputs=("u", "y"), loop="sigmoid_backward",
)  # fmt: skip
relu = elementwise(
    "relu",
    lambda x: np.where(x <= 0, np.zeros((), x.dtype), x),
    vjp=lambda g, out: relu_backward(g, out),
    promote="same", loop="relu",
)  # fmt: skip
# At 0 the derivative is 0 (the subgradient that PyTorch takes).
relu_backward = elementwise(
    "relu_backward",
    lambda u, y: np.where(y <= 0, np.zeros((), u.dtype), u),
    vjp=(lambda g, y: relu_backward(g, y), None),
    inputs=("u", "y"), loop="relu_backward", promote="same", node_name="ThresholdBackward0",
)  # fmt: skip

# --- signs and rounding ---------------------------------------------------------------------------


def _sign_kernel(x: np.ndarray) -> np.ndarray:
    return x.copy() if x.dtype == np.bool_ else np.sign(x)


sign = elementwise("sign", _sign_kernel, 0, promote="same", loop="sign")
sgn = elementwise(
    "sgn",
    _sign_kernel,
    vjp=lambda g, x, out: _sgn_derivative(g, x, out),
    jvp=lambda t, x, out: _sgn_derivative(t, x, out),
    promote="same",
)


def _sgn_derivative(t: Any, x: Any, out: Any) -> Any:
    # Of z / |z|: what is left of t after its part along z is taken away, over |z|; 0 at 0.
    if not x.dtype.is_complex:
        return t * 0
    size = x.abs()
    inverse = where(size == 0, 0.0, reciprocal(where(size == 0, 1.0, size)))
    along = (t * _conj(out)).real
    return (t - along * out) * inverse


def _abs_vjp(g: Any, x: Any) -> Any:
    return abs_backward(g, x) if not x.dtype.is_complex else g * sgn(x)


def _abs_jvp(t: Any, x: Any) -> Any:
    return abs_backward(t, x) if not x.dtype.is_complex else (t * _conj(sgn(x))).real


abs = elementwise("abs", np.abs, vjp=_abs_vjp, jvp=_abs_jvp, promote="same", loop="abs")
abs_backward = elementwise(
    "abs_backward",
    lambda u, x: u * np.sign(x),
    vjp=(lambda g, x: abs_backward(g, x), None),
    inputs=("u", "x"), loop="abs_backward", promote="same",
)  # fmt: skip
floor = elementwise("floor", np.floor, 0, promote="same", loop="floor")
ceil = elementwise("ceil", np.ceil, 0, promote="same", loop="ceil")
trunc = elementwise("trunc", np.trunc, 0, promote="same", loop="trunc")
round_half_even = elementwise(
    "round", np.rint, 0, promote="same", loop="round", register=True
)

# --- error function and relatives -----------------------------------------------------------------

erf = elementwise(
    "erf",
    lambda x: _sp.erf(x),
    lambda x: exp(-(x * x)) * (2 / math.sqrt(math.pi)),
    loop="erf",
)
erfc = elementwise(
    "erfc",
    lambda x: _sp.erfc(x),
    lambda x: exp(-(x * x)) * (-2 / math.sqrt(math.pi)),
    loop="erfc",
)

# --- choices between values -----------------------------------------------------------------------


def _share(g: Any, chosen: Any, tied: Any) -> Any:
    # All of it where this side was chosen, half where both sides are equal.
    return where(tied, g * 0.5, g * chosen)


maximum = elementwise(
    "maximum",
    np.maximum,
    vjp=(lambda g, x, y: _share(g, x > y, x == y), lambda g, x, y: _share(g, y > x, x == y)),
    promote="same", loop="maximum",
)  # fmt: skip
minimum = elementwise(
    "minimum",
    np.minimum,
    vjp=(lambda g, x, y: _share(g, x < y, x == y), lambda g, x, y: _share(g, y < x, x == y)),
    promote="same", loop="minimum",
)  # fmt: skip
where_select = elementwise(
    "where",
    np.where,
    vjp=(None, lambda g, c: where(c, g, 0), lambda g, c: where(c, 0, g)),
    jvp=(None, lambda t, c: where(c, t, 0), lambda t, c: where(c, 0, t)),
    inputs=("c", "x", "y"), promote=None, quiet=True, node_name="WhereBackward0",
)  # fmt: skip


@public(out=True)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition` holds, else `other`; with the condition alone, its nonzero indices.

    condition: bool tensor. input, other: tensors or numbers, broadcast with the condition and
    promoted to a common dtype.

    >>> import tensorplay as tp
    >>> tp.where(tp.tensor([True, False]), tp.tensor([1., 2.]), 0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition.dtype is not dtypes.bool:
        if condition.dtype is not dtypes.uint8:
            raise RuntimeError(
                f"where(): expected condition to be a bool tensor, got dtype {condition.dtype}; "
                "compare first, e.g. condition != 0"
            )
        condition = condition.bool()
    x, y = promote_together(input, other)
    return where_select(condition, x, y)


def promote_together(*values: Any) -> list[Tensor]:
    """Tensors and numbers as tensors of their common dtype."""
    tensors = [x if isinstance(x, Tensor) else weak_tensor(x) for x in values]
    target = core.result_dtype(tensors)
    return [x if x.dtype is target else cast(x, target) for x in tensors]


@public(inplace=True, out=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`input` limited to [min, max]; a bound is a number, a tensor, or None.

    The derivative is 1 from min to max, bounds included, and 0 outside.

    Raises:
        RuntimeError: when both bounds are None.
    """
    if min is None and max is None:
        raise RuntimeError("clamp(): at least one of 'min' or 'max' must not be None")
    if min is None:
        return clamp_max_op(input, max)
    if max is None:
        return clamp_min_op(input, min)
    return clamp_max_op(clamp_min_op(input, min), max)


clamp_min_op = elementwise(
    "clamp_min",
    np.maximum,
    vjp=(lambda g, x, y: g * (x >= y), lambda g, x, y: g * (x < y)),
    promote="same", loop="maximum",
)  # fmt: skip
clamp_max_op = elementwise(
    "clamp_max",
    np.minimum,
    vjp=(lambda g, x, y: g * (x <= y), lambda g, x, y: g * (x > y)),
    promote="same", loop="minimum",
)  # fmt: skip


def _softplus_kernel(x: np.ndarray) -> np.ndarray:
    return np.where(x > 20, x, np.log1p(np.exp(np.minimum(x, 20)))).astype(x.dtype)


softplus_unit = elementwise(
    "softplus", _softplus_kernel, vjp=lambda g, x: softplus_backward(g, x), loop="softplus"
)
softplus_backward = elementwise(
    "softplus_backward",
    lambda u, x: np.where(x > 20, u, u * _sp.expit(x)).astype(u.dtype),
    vjp=(
        lambda g, x: softplus_backward(g, x),
        lambda g, u, x: where(x > 20, 0.0, g * u * sigmoid_backward(1.0, sigmoid(x))),
    ),
    inputs=("u", "x"), loop="softplus_backward",
)  # fmt: skip


# --- complex parts --------------------------------------------------------------------------------


def _conj(x: Any) -> Any:
    return conj(x) if x.dtype.is_complex else x


conj_op = elementwise(
    "conj", np.conj, vjp=lambda g: _conj(g), jvp=lambda t: _conj(t), promote="same"
)


@public()
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return conj_op(input) if input.dtype.is_complex else input


# --- comparisons and logic ------------------------------------------------------------------------


def _compare(name: str, kernel: Any) -> Any:
    return elementwise(name, kernel, None, None, promote="same", quiet=True)


eq = _compare("eq", np.equal)
ne = _compare("ne", np.not_equal)
lt = _compare("lt", np.less)
le = _compare("le", np.less_equal)
gt = _compare("gt", np.greater)
ge = _compare("ge", np.greater_equal)
logical_and = elementwise("logical_and", np.logical_and, None, None, promote="same")
logical_or = elementwise("logical_or", np.logical_or, None, None, promote="same")
logical_xor = elementwise("logical_xor", np.logical_xor, None, None, promote="same")
logical_not = elementwise("logical_not", np.logical_not, None, promote="same")
bitwise_and = elementwise("bitwise_and", np.bitwise_and, None, None, promote="same")
bitwise_or = elementwise("bitwise_or", np.bitwise_or, None, None, promote="same")
bitwise_xor = elementwise("bitwise_xor", np.bitwise_xor, None, None, promote="same")
bitwise_not = elementwise("bitwise_not", np.invert, None, promote="same")
bitwise_left_shift = elementwise("bitwise_left_shift", np.left_shift, None, None, promote="same")
bitwise_right_shift = elementwise("bitwise_right_shift", np.right_shift, None, None, promote="same")
isnan = elementwise("isnan", np.isnan, None, promote="same")
isinf = elementwise("isinf", np.isinf, None, promote="same")
isfinite = elementwise("isfinite", np.isfinite, None, promote="same")

# --- names ----------------------------------------------------------------------------------------

for _primitive in (
    add, sub, mul, div, neg, reciprocal, square, pow, atan2, floor_divide, remainder, fmod, exp,
    exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, sin, cos, tan, asin, acos, atan, sinh, cosh,
    asinh, acosh, atanh, tanh, sigmoid, relu, sign, sgn, abs, floor, ceil, trunc, erf, erfc, eq,
    ne, lt, le, gt, ge, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or,
    bitwise_xor, bitwise_not, bitwise_left_shift, bitwise_right_shift,
):  # fmt: skip
    publish(_primitive, _primitive.name, inplace=True)
for _primitive in (maximum, minimum, isnan, isinf, isfinite):
    publish(_primitive, _primitive.name)
publish(clamp_min_op, "clamp_min", inplace=True)
publish(clamp_max_op, "clamp_max", inplace=True)
for _alias, _primitive in (
    ("subtract", sub), ("multiply", mul), ("divide", div), ("true_divide", div), ("negative", neg),
    ("absolute", abs), ("arcsin", asin), ("arccos", acos), ("arctan", atan), ("arcsinh", asinh),
    ("arccosh", acosh), ("arctanh", atanh), ("arctan2", atan2), ("greater", gt), ("less", lt),
    ("greater_equal", ge), ("less_equal", le), ("not_equal", ne), ("fix", trunc),
):  # fmt: skip
    publish(_primitive, _alias, inplace=True)


@public(inplace=True, out=True)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Each element rounded to the nearest integer (halves to even), or to `decimals` places."""
    if decimals == 0:
        return round_half_even(input)
    scale = 10.0**decimals
    return round_half_even(input * scale) / scale


@public()
def positive(input: Tensor) -> Tensor:
    """`input` itself.

    Raises:
        RuntimeError: for a bool tensor.
    """
    if input.dtype is dtypes.bool:
        raise RuntimeError("positive(): the operation is not supported for bool tensors")
    return input


@public(out=True)
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """`other - alpha * input`."""
    return sub(other, input if _is(alpha, 1) else input * alpha)


for _name, _function in (
    ("add", add), ("sub", sub), ("mul", mul), ("truediv", div), ("pow", pow),
    ("floordiv", floor_divide), ("mod", remainder), ("and", bitwise_and), ("or", bitwise_or),
    ("xor", bitwise_xor), ("lshift", bitwise_left_shift), ("rshift", bitwise_right_shift),
    ("neg", neg), ("abs", abs), ("invert", bitwise_not), ("lt", lt), ("le", le), ("eq", eq),
    ("ne", ne), ("gt", gt), ("ge", ge),
):  # fmt: skip
    core.set_operator(_name, _function)
for _name, _method in (
    ("iadd", "add_"), ("isub", "sub_"), ("imul", "mul_"), ("itruediv", "div_"), ("ipow", "pow_"),
    ("iand", "bitwise_and_"), ("ior", "bitwise_or_"), ("ixor", "bitwise_xor_"),
    ("ifloordiv", "floor_divide_"), ("imod", "remainder_"), ("ilshift", "bitwise_left_shift_"),
    ("irshift", "bitwise_right_shift_"),
):  # fmt: skip
    core.set_operator(_name, getattr(Tensor, _method))

core.register_layer(cast=cast, neg=neg, mul=mul, add=add, conj=conj)
