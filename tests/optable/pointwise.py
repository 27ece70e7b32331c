"""Rows of elementwise arithmetic, powers, trigonometry, rounding, sigmoids."""

import numpy as np

from tensorplay.ops.sigmoids import softplus_unit
from tests.optable.schema import Op, register, sample

INF, NAN = float("inf"), float("nan")


def _real(make, *shape):
    return make(*shape)


def _positive(make, *shape):
    return make.positive(*shape)


def _inside(make, *shape):
    return make(*shape, low=-0.9, high=0.9)


def _above_one(make, *shape):
    return make.positive(*shape, low=1.2, high=3.0)


def _shapes(domain):
    """Samples of a unary function: some dims, none, and empty."""
    return lambda make: [
        sample(domain(make, 3, 4)),
        sample(domain(make)),
        sample(domain(make, 0, 3)),
    ]


def _pairs(first, second=None):
    """Samples of a binary function: equal shapes, broadcast, 0-dim, empty."""
    second = second or first
    return lambda make: [
        sample(first(make, 3, 4), second(make, 3, 4)),
        sample(first(make, 2, 1, 4), second(make, 3, 1)),
        sample(first(make, 3), second(make)),
        sample(first(make), second(make, 2)),
        sample(first(make, 0, 3), second(make, 3)),
    ]


def _unary(name, reference, domain=_real, complex=True, inplace=True, **options):
    options.setdefault("primitives", (name,))
    return Op(
        name, _shapes(domain), reference=reference, complex=complex, inplace=inplace,
        **{"out": True, **options},
    )  # fmt: skip


def binary(name, reference, first=_real, second=None, complex=True, inplace=True, **options):
    options.setdefault("primitives", (name,))
    return Op(
        name, _pairs(first, second), reference=reference, complex=complex, inplace=inplace,
        **{"out": True, **options},
    )  # fmt: skip


# --- arithmetic -----------------------------------------------------------------------------------

register(
    binary("add", np.add),
    binary("sub", np.subtract),
    binary("mul", np.multiply),
    binary("div", np.true_divide, _real, _positive),
    _unary("neg", np.negative),
    _unary("positive", np.positive, primitives=(), inplace=False, out=False),
    _unary("reciprocal", lambda x: 1 / x, _positive),
    Op(
        "add:alpha",
        lambda make: [sample(make(3, 4), make(4), alpha=2), sample(make(3), make(3), alpha=-0.5)],
        primitives=("add", "add_scaled"),
        reference=lambda x, y, alpha: x + alpha * y,
        complex=True,
    ),
    Op(
        "sub:alpha",
        lambda make: [sample(make(3, 4), make(4), alpha=2), sample(make(3), 1.5, alpha=3)],
        primitives=("sub", "sub_scaled"),
        reference=lambda x, y, alpha: x - alpha * y,
        complex=True,
    ),
    Op(
        "rsub",
        lambda make: [sample(make(3, 4), make(4)), sample(make(3), 2.0, alpha=0.5)],
        primitives=("sub",),
        reference=lambda x, y, alpha=1: y - alpha * x,
        complex=True,
    ),
    Op(
        "mul:numbers",
        lambda make: [sample(make(3, 4), 2), sample(make(3), -0.5)],
        primitives=("mul",),
        reference=np.multiply,
        complex=True,
        inplace=True,
    ),
    Op(
        "div:numbers",
        lambda make: [sample(make(3, 4), 2), sample(3, make.positive(4))],
        primitives=("div",),
        reference=np.true_divide,
        complex=True,
        inplace=True,
    ),
    Op(
        "div:rounded",
        lambda make: [
            sample(make(3, 4), make.positive(4), rounding_mode="trunc"),
            sample(make(3, 4), make.positive(4), rounding_mode="floor"),
            sample(make.int((3, 4)), make.int(4, 1, 5), rounding_mode="trunc"),
            sample(make.int((3, 4)), make.int(4, -5, 0), rounding_mode="floor"),
        ],
        primitives=("trunc_divide", "floor_divide"),
        reference=lambda x, y, rounding_mode: (
            np.trunc(x / y) if rounding_mode == "trunc" else np.floor(x / y)
        ),
    ),
    binary(
        "floor_divide",
        np.floor_divide,
        _real,
        _positive,
        complex=False,
        skip={
            "parity_grad": "PyTorch has no derivative of floor_divide, here it is 0",
            "parity_jvp": "PyTorch has no derivative of floor_divide, here it is 0",
        },
    ),
    binary("remainder", np.remainder, _real, _positive, complex=False),
    binary("fmod", np.fmod, _real, _positive, complex=False),
    Op(
        "remainder:integers",
        lambda make: [sample(make.int((3, 4)), make.int(4, 1, 6)), sample(make.int(5), -3)],
        primitives=("remainder",),
        reference=np.remainder,
        inplace=True,
        out=True,
    ),
    _unary("deg2rad", np.deg2rad, complex=False),
    _unary("rad2deg", np.rad2deg, complex=False),
    Op(
        "gcd",
        lambda make: [sample(make.int((3, 4), -20, 20), make.int(4, -20, 20))],
        primitives=("gcd",),
        reference=np.gcd,
        inplace=True,
        out=True,
    ),
    Op(
        "lcm",
        lambda make: [sample(make.int((3, 4), -20, 20), make.int(4, -20, 20))],
        primitives=("lcm",),
        reference=np.lcm,
        inplace=True,
        out=True,
    ),
)

# --- powers, exponentials, logarithms -------------------------------------------------------------

register(
    _unary("square", np.square),
    _unary("sqrt", np.sqrt, _positive),
    _unary("rsqrt", lambda x: 1 / np.sqrt(x), _positive),
    _unary("exp", np.exp),
    _unary("exp2", np.exp2),
    _unary("expm1", np.expm1),
    _unary("log", np.log, _positive),
    _unary("log2", np.log2, _positive),
    _unary("log10", np.log10, _positive),
    _unary("log1p", np.log1p, _positive),
    binary("pow", np.power, _positive, _real),
    Op(
        "pow:numbers",
        lambda make: [
            *[sample(make(3, 4), n) for n in (2, 3, 1, 0)],
            *[sample(make.positive(3, 4), e) for e in (0.5, -1, -2, 1.5, -0.5)],
            sample(2.5, make(3)),
        ],
        primitives=("pow",), reference=lambda x, y: np.power(x * 1.0, y), complex=True,
        inplace=True, out=True,
    ),
    Op(
        "pow:zeros",
        lambda make: [
            sample(make.fixed([0.0, -0.5, 2.0]), 2),
            sample(make.fixed([0.0, 1.0, 2.0]), 3),
            sample(make.fixed([0.0, 1.0]), 0),
            sample(make.fixed([0.0, 1.0]), 1),
            sample(make.fixed([0.0, 0.0, 0.0, 2.0]), make.fixed([0.0, 2.0, 3.0, 0.0])),
            sample(0, make.fixed([0.0, 1.0, 2.0])),
        ],
        primitives=("pow",), reference=lambda x, y: np.power(x * 1.0, y), nonsmooth=True,
        skip={
            "parity_gradgrad": "PyTorch gives nan where base and exponent are 0",
            "parity_dtype": "PyTorch gives nan for complex 0 to the power of 0",
        },
    ),
    Op(
        "pow:integers",
        lambda make: [
            sample(make.int((3, 4)), make.int(4, 0, 4)),
            sample(make.fixed([1, -1, 2, -1]).long(), make.fixed([-3, -3, -1, -2]).long()),
            sample(make.int(5), 2),
        ],
        primitives=("pow",),
        reference=lambda x, y: np.trunc(np.power(x * 1.0, y)).astype(np.int64),
        inplace=True, out=True,
    ),
    Op(
        "float_power",
        lambda make: [
            sample(make.positive(3, 4), make(4)),
            sample(make.positive(3), 2),
            sample(2, make(3)),
            sample(make.int(4, 1, 5), -2),
        ],
        primitives=("pow",), reference=lambda x, y: np.power(x * 1.0, y), complex=True, out=True,
        skip={"float32": "its results are float64 whatever the dtype of the inputs"},
    ),
)  # fmt: skip

# --- trigonometry ---------------------------------------------------------------------------------

register(
    _unary("sin", np.sin),
    _unary("cos", np.cos),
    _unary("tan", np.tan, _inside),
    _unary("asin", np.arcsin, _inside, primitives=("asin", "one_minus_square")),
    _unary("acos", np.arccos, _inside),
    _unary("atan", np.arctan),
    _unary("sinh", np.sinh),
    _unary("cosh", np.cosh),
    _unary("tanh", np.tanh, primitives=("tanh", "tanh_backward")),
    _unary("asinh", np.arcsinh),
    _unary("acosh", np.arccosh, _above_one),
    _unary("atanh", np.arctanh, _inside, primitives=("atanh", "one_minus_square")),
    binary("hypot", np.hypot, complex=False),
    binary("atan2", np.arctan2, complex=False),
)
register(
    Op(
        "atan2:origin",
        lambda make: [sample(make.fixed([0.0, 0.0, -1.0]), make.fixed([0.0, 1.0, 0.0]))],
        primitives=("atan2", "hypot", "divide_or_zero"),
        reference=np.arctan2,
        nonsmooth=True,
        skip={
            "parity_gradgrad": "PyTorch gives nan at (0, 0), here the derivatives are 0",
            "parity_jvp": "PyTorch gives nan at (0, 0), here the derivatives are 0",
        },
    ),
    Op(
        "hypot:origin",
        lambda make: [sample(make.fixed([0.0, 0.0, -3.0]), make.fixed([0.0, 1.0, 4.0]))],
        primitives=("hypot", "divide_or_zero"),
        reference=np.hypot,
        nonsmooth=True,
        skip={
            "parity_grad": "PyTorch gives nan at (0, 0), here the derivatives are 0",
            "parity_gradgrad": "PyTorch gives nan at (0, 0), here the derivatives are 0",
            "parity_jvp": "PyTorch gives nan at (0, 0), here the derivatives are 0",
        },
    ),
)

# --- signs and rounding ---------------------------------------------------------------------------


def _sgn(x):
    return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))


register(
    _unary("abs", np.abs, primitives=("abs", "abs_backward")),
    Op(
        "abs:zero",
        lambda make: [sample(make.fixed([0.0, -0.0, -1.0, 2.0]))],
        primitives=("abs", "abs_backward"),
        reference=np.abs,
        complex=True,
        nonsmooth=True,
        skip={"parity_gradgrad": "PyTorch gives nan for complex 0, here the derivative is 0"},
    ),
    _unary("sign", np.sign, complex=False),
    _unary("sgn", _sgn),
    _unary("floor", np.floor, complex=False),
    _unary("ceil", np.ceil, complex=False),
    _unary("trunc", np.trunc, complex=False),
    _unary("frac", lambda x: x - np.trunc(x), complex=False),
    _unary("round", np.rint, complex=False),
    Op(
        "round:decimals",
        lambda make: [
            sample(make(3, 4), decimals=1),
            sample(make(3, low=-90, high=90), decimals=-1),
        ],
        primitives=("round_decimals",),
        reference=lambda x, decimals: np.round(x, decimals),
        inplace=True,
        out=True,
    ),
    _unary("signbit", np.signbit, complex=False, inplace=False),
    binary("copysign", np.copysign, complex=False),
    binary(
        "nextafter",
        np.nextafter,
        complex=False,
        skip={
            "parity_grad": "PyTorch has no derivative of nextafter, here it is 1",
            "parity_gradgrad": "PyTorch has no derivative of nextafter, here it is 1",
            "parity_jvp": "PyTorch has no derivative of nextafter, here it is 1",
        },
    ),
    Op(
        "sign:integers",
        lambda make: [sample(make.int((3, 4)))],
        primitives=("sign",),
        reference=np.sign,
        inplace=True,
        out=True,
    ),
)

# --- operators of several inputs ------------------------------------------------------------------

register(
    Op(
        "lerp",
        lambda make: [
            sample(make(3, 4), make(4), 0.3),
            sample(make(3, 4), make(4), 0.8),
            sample(make(3, 4), make(4), make(3, 1)),
            sample(make(3, 4), make(3, 4), make()),
            sample(make(0, 3), make(3), 0.5),
        ],
        primitives=("lerp", "lerp_number"), reference=lambda x, y, w: x + w * (y - x), complex=True,
        inplace=True, out=True,
    ),
    Op(
        "addcmul",
        lambda make: [
            sample(make(3, 4), make(4), make(3, 1)),
            sample(make(3, 4), make(3, 4), make(3, 4), value=-0.5),
            sample(make(0, 3), make(3), make(), value=2),
        ],
        primitives=("addcmul",), reference=lambda x, y, z, value=1: x + value * y * z,
        complex=True, inplace=True, out=True,
    ),
    Op(
        "addcdiv",
        lambda make: [
            sample(make(3, 4), make(4), make.positive(3, 1)),
            sample(make(3, 4), make(3, 4), make.positive(3, 4), value=-0.5),
            sample(make(0, 3), make(3), make.positive(), value=2),
        ],
        primitives=("addcdiv",), reference=lambda x, y, z, value=1: x + value * y / z,
        complex=True, inplace=True, out=True,
    ),
    binary("logaddexp", lambda x, y: np.log(np.exp(x) + np.exp(y)), inplace=False,
            primitives=("logaddexp", "difference")),
    binary("logaddexp2", np.logaddexp2, complex=False, inplace=False,
            primitives=("logaddexp2", "difference")),
    Op(
        "logaddexp:infinite",
        lambda make: [
            sample(make.fixed([-INF, -INF, INF, 1.0]), make.fixed([-INF, 1.0, INF, INF]))
        ],
        primitives=("logaddexp",), reference=np.logaddexp, nonsmooth=True,
        skip={
            "parity_grad": "PyTorch gives nan where both are the same infinity, here 1/2 each",
            "parity_gradgrad": "PyTorch gives nan where an argument is infinite, here 0",
            "parity_jvp": "PyTorch gives nan where both are the same infinity, here 1/2 each",
        },
    ),
    binary("xlogy", lambda x, y: x * np.log(y), _real, _positive, complex=False),
    Op(
        "xlogy:zero",
        lambda make: [sample(make.fixed([0.0, 0.0, 1.0]), make.fixed([0.0, 2.0, 3.0]))],
        primitives=("xlogy", "divide_or_zero"), nonsmooth=True,
        reference=lambda x, y: np.where(x == 0, 0, x * np.log(np.where(x == 0, 1, y))),
        skip={
            "parity_grad": "PyTorch gives nan where both are 0, here the derivatives are 0",
            "parity_gradgrad": "PyTorch gives nan where both are 0, here the derivatives are 0",
            "parity_jvp": "PyTorch gives nan where both are 0, here the derivatives are 0",
        },
    ),
    Op(
        "logit",
        lambda make: [
            sample(make(3, 4, low=0.1, high=0.9)),
            sample(make(3, 4, low=-0.5, high=1.5), 0.1),
            sample(make(0, 3, low=0.1, high=0.9), eps=0.2),
        ],
        primitives=("logit", "clamp"), inplace=True, out=True,
        reference=lambda x, eps=0.0: (lambda y: np.log(y / (1 - y)))(np.clip(x, eps, 1 - eps)),
    ),
    Op(
        "ldexp",
        lambda make: [
            sample(make(3, 4), make.int(4)),
            sample(make(3, 4), make(4)),
            sample(make(0, 3), make.int(3)),
        ],
        primitives=("ldexp",), reference=lambda x, n: x * np.exp2(n), complex=True, inplace=True,
        out=True, skip={"parity_grad": "PyTorch gives 0 for negative integer exponents",
                        "parity_jvp": "PyTorch gives 0 for negative integer exponents",
                        "parity_gradgrad": "PyTorch gives 0 for negative integer exponents"},
    ),
    Op(
        "frexp", lambda make: [sample(make(3, 4)), sample(make()), sample(make(0, 3))],
        primitives=("frexp", "ldexp"), reference=np.frexp,
    ),
)  # fmt: skip

# --- sigmoids -------------------------------------------------------------------------------------

register(
    _unary("sigmoid", lambda x: 1 / (1 + np.exp(-x)), primitives=("sigmoid", "sigmoid_backward")),
    _unary("relu", lambda x: np.maximum(x, 0), complex=False, primitives=("relu", "relu_backward")),
    Op(
        "relu:zero",
        lambda make: [sample(make.fixed([0.0, -0.0, -1.0, 2.0]))],
        primitives=("relu", "relu_backward"),
        reference=lambda x: np.maximum(x, 0),
        nonsmooth=True,
    ),
    _unary(
        "softplus:unit",
        lambda x: np.log1p(np.exp(x)),
        complex=False,
        inplace=False,
        out=False,
        function=softplus_unit,
        primitives=("softplus", "softplus_backward"),
        method=False,
        torch="nn.functional.softplus",
    ),
)
