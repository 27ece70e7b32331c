"""Elementwise operators: every family's names in one place, and the interpreter's operators."""
# ruff: noqa: F401  (a facade: these names are imported from here)

from __future__ import annotations

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.arithmetic import (
    Number,
    add,
    conjugate,
    deg2rad,
    div,
    floor_divide,
    fmod,
    gcd,
    lcm,
    mul,
    neg,
    positive,
    rad2deg,
    reciprocal,
    remainder,
    rsub,
    sub,
    trunc_divide,
)
from tensorplay.ops.choices import (
    clamp,
    clamp_max,
    clamp_min,
    drop,
    fmax,
    fmin,
    heaviside,
    keep,
    maximum,
    minimum,
    nan_to_num,
    promote_together,
    where,
    where_select,
)
from tensorplay.ops.complexes import (
    angle,
    complex_,
    conj,
    conj_physical,
    imag,
    polar,
    real,
    view_as_complex,
    view_as_real,
)
from tensorplay.ops.kinds import elementwise, install_method
from tensorplay.ops.logic import (
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    eq,
    ge,
    gt,
    isclose,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    isreal,
    le,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    ne,
)
from tensorplay.ops.powers import (
    exp,
    exp2,
    expm1,
    float_power,
    log,
    log1p,
    log2,
    log10,
    pow,
    rsqrt,
    sqrt,
    square,
)
from tensorplay.ops.rounding import (
    abs,
    ceil,
    copysign,
    floor,
    frac,
    nextafter,
    round,
    sgn,
    sign,
    signbit,
    trunc,
)
from tensorplay.ops.sigmoids import (
    relu,
    relu_backward,
    sigmoid,
    sigmoid_backward,
    softplus_backward,
    softplus_unit,
)
from tensorplay.ops.structure import cast
from tensorplay.ops.trigonometry import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    divide_or_zero,
    hypot,
    sin,
    sinh,
    tan,
    tanh,
    tanh_backward,
)

# --- the interpreter's operators ------------------------------------------------------------------

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

for _name, _function in (
    ("__div__", div), ("__idiv__", Tensor.div_), ("__rdiv__", lambda self, other: div(other, self)),
):  # fmt: skip
    install_method(_name, _function)

core.register_layer(cast=cast, neg=neg, mul=mul, add=add, conj=conj)
