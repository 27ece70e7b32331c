"""Special functions: the error function, the normal distribution, gamma and zeta functions.

Values come from SciPy (float32 and float64 arrays that are contiguous: from compiled loops where
there is one). Formulas of derivatives: NIST Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from tensorplay._core.core import Inplace, Tensor
from tensorplay.ops.kernels import scipy_kernel, special, typed
from tensorplay.ops.kinds import elementwise, install_method, public, publish, tensors_only
from tensorplay.ops.pointwise import xlogy
from tensorplay.ops.powers import exp, exp2, expm1, log, log1p, square
from tensorplay.ops.rounding import round
from tensorplay.ops.sigmoids import sigmoid

ROOT_PI = math.sqrt(math.pi)


def _bell(x: Any) -> Any:
    return exp(-square(x))


# --- error functions ------------------------------------------------------------------------------

erf = elementwise(
    "erf", scipy_kernel("erf", "erf"), lambda x: _bell(x) * (2 / ROOT_PI), loop="erf",
    doc="The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.",
)  # fmt: skip
erfc = elementwise(
    "erfc", scipy_kernel("erfc", "erfc"), lambda x: _bell(x) * (-2 / ROOT_PI), loop="erfc",
    doc="1 - erf(x), accurate for large x.",
)  # fmt: skip


def _repeated_integral(x: np.ndarray, n: int) -> Any:
    """exp(x^2) times the n-th repeated integral of erfc (DLMF 7.18), F[n] in what follows.

    F[n] = (F[n-2] - 2 x F[n-1]) / 2 n cancels for large x; there the ratios of neighbours come
    from the continued fraction r[n] = F[n] / F[n-1] = 1 / (2 x + 2 (n + 1) r[n+1]).
    """
    first = special.erfcx(x.astype(np.float64, copy=False))
    before, current = 2 / ROOT_PI, first
    for k in range(1, n + 1):
        before, current = current, (before - 2 * x * current) / (2 * k)
    if n and np.any(x > 1.5):
        large = np.maximum(x, 1.5)
        ratio, product = np.zeros_like(first), first
        for k in range(n + 80, 0, -1):
            ratio = 1 / (2 * large + 2 * (k + 1) * ratio)
            if k <= n:
                product = product * ratio
        current = np.where(x > 1.5, product, current)
    return np.asarray(current).astype(x.dtype, copy=False)


# Its derivative, 2 x F[n] - F[n-1], is -2 (n + 1) F[n+1], which does not cancel.
erfcx_integral = elementwise(
    "erfcx", typed("erfcx", _repeated_integral, "f"),
    lambda x, n: erfcx_integral(x, n + 1) * (-2 * (n + 1)), params=("n",),
)  # fmt: skip


@public(namespace="special", method=False, out=True)
def erfcx(input: Tensor) -> Tensor:
    """exp(x^2) erfc(x), which does not underflow for large x."""
    return erfcx_integral(input, 0)


erfinv = elementwise(
    "erfinv", scipy_kernel("erfinv", "erfinv"), lambda out: exp(square(out)) * (ROOT_PI / 2),
    doc="The inverse of erf: infinite at -1 and 1, nan beyond.",
)  # fmt: skip

# --- the normal distribution ----------------------------------------------------------------------

ndtr = elementwise(
    "ndtr", scipy_kernel("ndtr", "ndtr"),
    lambda x: exp(square(x) * -0.5) * (1 / math.sqrt(2 * math.pi)),
    doc="The cumulative distribution function of the standard normal distribution.",
)  # fmt: skip
ndtri = elementwise(
    "ndtri", scipy_kernel("ndtri", "ndtri"),
    lambda out: exp(square(out) * 0.5) * math.sqrt(2 * math.pi),
    doc="The quantile function of the standard normal distribution, the inverse of ndtr.",
)  # fmt: skip


def _inverse_mills(x: np.ndarray) -> Any:
    # With the exponentials that density and ndtr both contain cancelled where they underflow.
    below = math.sqrt(2 / math.pi) / special.erfcx(np.minimum(x, 0) * -math.sqrt(0.5))
    above = np.exp(-0.5 * x * x) / (math.sqrt(2 * math.pi) * special.ndtr(np.maximum(x, 0)))
    return np.where(x < 0, below, above).astype(x.dtype, copy=False)


# The density over ndtr(x).
inverse_mills = elementwise(
    "inverse_mills", typed("inverse_mills", _inverse_mills, "f"), lambda x, out: -out * (x + out)
)
log_ndtr = elementwise(
    "log_ndtr", scipy_kernel("log_ndtr", "log_ndtr"), lambda x: inverse_mills(x),
    doc="The logarithm of ndtr(x), accurate where that is close to 0.",
)  # fmt: skip

# --- entropy --------------------------------------------------------------------------------------

entr = elementwise(
    "entr", scipy_kernel("entr", "entr"), lambda x: -(log(x) + 1),
    doc="-x log(x), 0 at 0 and -inf for negative x.",
)  # fmt: skip

# --- gamma function and relatives -----------------------------------------------------------------


def _polygamma(x: np.ndarray, n: int) -> Any:
    if n == 0:
        return _digamma(x)
    wide = x.astype(np.float64, copy=False)
    values = special.zeta(n + 1, wide) * special.gamma(n + 1.0)  # DLMF 25.11.12
    return (values if n % 2 else -values).astype(x.dtype, copy=False)


def _digamma(x: np.ndarray) -> Any:
    return np.asarray(special.psi(x)).astype(x.dtype, copy=False)


def _lgamma(x: np.ndarray) -> Any:
    values = np.asarray(special.gammaln(x)).astype(x.dtype, copy=False)
    return np.where(x == -np.inf, x.dtype.type(np.inf), values)


lgamma = elementwise(
    "lgamma", typed("lgamma", _lgamma, "f"), lambda x: polygamma_op(x, 0),
    doc="The logarithm of the absolute value of the gamma function.",
)  # fmt: skip
polygamma_op = elementwise(
    "polygamma", typed("polygamma", _polygamma, "f"), lambda x, n: polygamma_op(x, n + 1),
    params=("n",),
)  # fmt: skip


@public(inplace=True, out=True)
def digamma(input: Tensor) -> Tensor:
    """The derivative of lgamma, -inf at 0 and nan at the negative integers."""
    return polygamma_op(input, 0)


@public(out=True, method=False)
def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma.

    Raises:
        RuntimeError: if n is negative.

    >>> import tensorplay as tp
    >>> tp.polygamma(1, tp.tensor([1., 0.5]))
    tensor([1.6449, 4.9348])
    """
    if n < 0:
        raise RuntimeError(f"polygamma(): n must not be negative, got n={n}")
    return polygamma_op(input, n)


def _polygamma_of(input: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma of this tensor."""
    return polygamma(n, input)


install_method("polygamma", _polygamma_of)
install_method("polygamma_", Inplace(_polygamma_of, "polygamma_"))


@public(inplace=True, out=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the p-variate gamma function.

    Raises:
        RuntimeError: if p is less than 1.
    """
    if p < 1:
        raise RuntimeError(f"mvlgamma(): p has to be greater than or equal to 1, got p={p}")
    total = lgamma(input)
    for j in range(1, p):
        total = total + lgamma(input - j / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def _no_derivative(name: str, argument: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}(): the derivative with respect to '{argument}' is not implemented (nor is it in "
        "PyTorch); detach() that argument"
    )


def _gamma_density(a: Any, x: Any) -> Any:
    # The derivative of the regularised lower incomplete gamma function by x, DLMF 8.8.13.
    return exp(xlogy(a - 1, x) - x - lgamma(a))


gammainc = elementwise(
    "gammainc", scipy_kernel("gammainc", "gammainc"),
    lambda: _no_derivative("gammainc", "input"), lambda x, y: _gamma_density(x, y),
    doc="The regularised lower incomplete gamma function of input (a) and other (x).",
)  # fmt: skip
gammaincc = elementwise(
    "gammaincc", scipy_kernel("gammaincc", "gammaincc"),
    lambda: _no_derivative("gammaincc", "input"), lambda x, y: -_gamma_density(x, y),
    doc="The regularised upper incomplete gamma function, 1 - gammainc(input, other).",
)  # fmt: skip


def _zeta(x: np.ndarray, q: np.ndarray) -> Any:
    wide = special.zeta(x.astype(np.float64, copy=False), q.astype(np.float64, copy=False))
    return np.asarray(wide).astype(x.dtype, copy=False)


zeta = elementwise(
    "zeta", typed("zeta", _zeta, "f"),
    lambda: _no_derivative("zeta", "input"), lambda x, y: -x * zeta(x + 1, y),
    doc="Hurwitz' zeta function, the sum of (k + other) ^ -input over k = 0, 1, ...",
)  # fmt: skip

for _primitive in (erf, erfc, erfinv, lgamma):
    publish(_primitive, _primitive.name, inplace=True)
igamma = gammainc
igammac = gammaincc
publish(igamma, "igamma", inplace=True)
publish(igammac, "igammac", inplace=True)
for _name, _function in (
    ("erf", erf), ("erfc", erfc), ("erfinv", erfinv), ("ndtr", ndtr),
    ("ndtri", ndtri), ("log_ndtr", log_ndtr), ("entr", entr), ("gammaln", lgamma),
    ("digamma", digamma), ("psi", digamma), ("polygamma", polygamma), ("multigammaln", mvlgamma),
    ("gammainc", gammainc), ("gammaincc", gammaincc), ("zeta", zeta), ("exp2", exp2),
    ("expm1", expm1), ("log1p", log1p), ("expit", sigmoid), ("round", round),
):  # fmt: skip
    publish(_function, _name, namespace="special", method=False)

tensors_only(gammainc, gammaincc)
