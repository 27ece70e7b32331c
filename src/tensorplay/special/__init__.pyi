"""Special functions, as in `torch.special`; all differentiable to any order."""

# Made by tools/make_stubs.py: do not edit.

import builtins
from typing import Any

from tensorplay._core.core import Tensor as Tensor
from tensorplay.ops.reductions import logsumexp as logsumexp
from tensorplay.ops.softmax import log_softmax as log_softmax
from tensorplay.ops.softmax import softmax as softmax

def airy_ai(input: Tensor, *, out: Any = None) -> Tensor:
    """The Airy function Ai."""

def bessel_j0(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function of the first kind of order 0."""

def bessel_j1(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function of the first kind of order 1."""

def bessel_y0(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function of the second kind of order 0: -inf at 0, nan below."""

def bessel_y1(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function of the second kind of order 1: -inf at 0, nan below."""

def chebyshev_polynomial_t(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def chebyshev_polynomial_u(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def chebyshev_polynomial_v(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def chebyshev_polynomial_w(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of lgamma, -inf at 0 and nan at the negative integers."""

def entr(input: Tensor, *, out: Any = None) -> Tensor:
    """-x log(x), 0 at 0 and -inf for negative x."""

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(x), accurate for large x."""

def erfcx(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x^2) erfc(x), which does not underflow for large x."""

def erfinv(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of erf: infinite at -1 and 1, nan beyond."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 ** x."""

def expit(input: Tensor, *, out: Any = None) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) - 1, accurate near 0."""

def gammainc(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The regularised lower incomplete gamma function of input (a) and other (x)."""

def gammaincc(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The regularised upper incomplete gamma function, 1 - gammainc(input, other)."""

def gammaln(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def hermite_polynomial_h(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def hermite_polynomial_he(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def i0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""

def i0e(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(-|x|) i0(x), which does not overflow."""

def i1(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""

def i1e(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(-|x|) i1(x), which does not overflow."""

def laguerre_polynomial_l(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def legendre_polynomial_p(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + x), accurate near 0."""

def log_ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of ndtr(x), accurate where that is close to 0."""

def logit(input: Tensor, eps: builtins.float | None = None, *, out: Any = None) -> Tensor:
    """log(x / (1 - x)), the inverse of `sigmoid`; nan outside [0, 1]."""

def modified_bessel_i0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""

def modified_bessel_i1(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""

def modified_bessel_k0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0: inf at 0, nan below."""

def modified_bessel_k1(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1: inf at 0, nan below."""

def multigammaln(input: Tensor, p: builtins.int, *, out: Any = None) -> Tensor:
    """The logarithm of the p-variate gamma function."""

def ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The cumulative distribution function of the standard normal distribution."""

def ndtri(input: Tensor, *, out: Any = None) -> Tensor:
    """The quantile function of the standard normal distribution, the inverse of ndtr."""

def polygamma(n: builtins.int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma."""

def psi(input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of lgamma, -inf at 0 and nan at the negative integers."""

def round(input: Tensor, *, decimals: builtins.int = 0, out: Any = None) -> Tensor:
    """Each element rounded to the nearest integer (halves to even), or to `decimals` places."""

def scaled_modified_bessel_k0(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) modified_bessel_k0(x), which does not underflow."""

def scaled_modified_bessel_k1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) modified_bessel_k1(x), which does not underflow."""

def shifted_chebyshev_polynomial_t(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def shifted_chebyshev_polynomial_u(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def shifted_chebyshev_polynomial_v(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def shifted_chebyshev_polynomial_w(input: Any, n: Any, *, out: Any = None) -> Tensor: ...
def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0, where its derivatives of every order are finite."""

def spherical_bessel_j0(input: Tensor, *, out: Any = None) -> Tensor:
    """The spherical Bessel function of the first kind of order 0, sin(x) / x."""

def xlog1py(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """input * log1p(other), and 0 where input is 0."""

def xlogy(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """input * log(other), and 0 where input is 0, with derivatives 0 where both are."""

def zeta(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Hurwitz' zeta function, the sum of (k + other) ^ -input over k = 0, 1, ..."""
