"""Bessel and Airy functions, and sinc.

Each family is one operator with the order as a parameter, so that a derivative is a combination of
neighbouring orders, finite wherever the functions are, to any order of differentiation. Values
come from SciPy. Formulas: NIST Digital Library of Mathematical Functions (DLMF), chapters 9 and 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops.kernels import special, typed
from tensorplay.ops.kinds import elementwise, public, publish


def _family(
    name: str, general: str, direct: tuple[str, ...], parity: int, derivative: Any, doc: str
) -> Any:
    """An operator `name(x, n)` for integer orders n.

    general: SciPy's function of order and argument. direct: its faster functions of the orders
    0, 1. parity: f(-n) = parity ** n * f(n).
    """

    def kernel(x: np.ndarray, n: int) -> Any:
        order = n if n >= 0 else -n
        if order < len(direct):
            values = getattr(special, direct[order])(x)
        else:
            values = getattr(special, general)(x.dtype.type(order), x)
            values = np.where(np.abs(x) > 1e8, _far(x, order, direct), values)
        if n < 0 and parity < 0 and order % 2:
            values = -values
        return np.asarray(values).astype(x.dtype, copy=False)

    return elementwise(name, typed(name, kernel, "f"), derivative, params=("n",), doc=doc)


def _far(x: np.ndarray, order: int, direct: tuple[str, ...]) -> Any:
    """Orders above 1 far from 0, where SciPy gives nan and 2 n / x does not matter any more.

    There J[n+2] = -J[n] and Y[n+2] = -Y[n], while the modified functions depend on n no more.
    """
    values = getattr(special, direct[order % 2])(x)
    return -values if direct[0] in ("j0", "y0") and order // 2 % 2 else values


# --- Bessel functions of the first and second kind, DLMF 10.6.1 -----------------------------------

bessel_j = _family(
    "bessel_j", "jv", ("j0", "j1"), -1,
    lambda x, n: (bessel_j(x, n - 1) - bessel_j(x, n + 1)) * 0.5,
    "The Bessel function of the first kind of order n.",
)  # fmt: skip
bessel_y = _family(
    "bessel_y", "yv", ("y0", "y1"), -1,
    lambda x, n: (bessel_y(x, n - 1) - bessel_y(x, n + 1)) * 0.5,
    "The Bessel function of the second kind of order n.",
)  # fmt: skip

# --- modified Bessel functions, DLMF 10.29.1; scaled: i times exp(-|x|), k times exp(x) -----------

bessel_i = _family(
    "bessel_i", "iv", ("i0", "i1"), 1,
    lambda x, n: (bessel_i(x, n - 1) + bessel_i(x, n + 1)) * 0.5,
    "The modified Bessel function of the first kind of order n.",
)  # fmt: skip
bessel_ie = _family(
    "bessel_ie", "ive", ("i0e", "i1e"), 1,
    lambda x, n, out: (bessel_ie(x, n - 1) + bessel_ie(x, n + 1)) * 0.5 - x.sign() * out,
    "The modified Bessel function of the first kind of order n, times exp(-|x|).",
)  # fmt: skip
bessel_k = _family(
    "bessel_k", "kv", ("k0", "k1"), 1,
    lambda x, n: (bessel_k(x, n - 1) + bessel_k(x, n + 1)) * -0.5,
    "The modified Bessel function of the second kind of order n.",
)  # fmt: skip
bessel_ke = _family(
    "bessel_ke", "kve", ("k0e", "k1e"), 1,
    lambda x, n, out: out - (bessel_ke(x, n - 1) + bessel_ke(x, n + 1)) * 0.5,
    "The modified Bessel function of the second kind of order n, times exp(x).",
)  # fmt: skip

# --- spherical Bessel functions and sinc, DLMF 10.51.2 --------------------------------------------


def _spherical(x: np.ndarray, n: int) -> Any:
    if n == 0:
        values = np.sinc(x / math.pi).astype(x.dtype, copy=False)
        return np.where(np.isinf(x), 0, values).astype(x.dtype, copy=False)
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)
    return np.asarray(special.spherical_jn(n, wide)).astype(x.dtype, copy=False)


def _spherical_derivative(x: Any, n: int) -> Any:
    if n == 0:
        return -spherical_bessel_j(x, 1)
    lower, upper = spherical_bessel_j(x, n - 1), spherical_bessel_j(x, n + 1)
    return (n * lower - (n + 1) * upper) * (1 / (2 * n + 1))


spherical_bessel_j = elementwise(
    "spherical_bessel_j", typed("spherical_bessel_j", _spherical, "fc"), _spherical_derivative,
    params=("n",), doc="The spherical Bessel function of the first kind of order n.",
)  # fmt: skip

sinc = elementwise(
    "sinc", typed("sinc", np.sinc, "fc"), lambda x: spherical_bessel_j(x * math.pi, 1) * -math.pi,
    doc="sin(pi x) / (pi x), and 1 at 0, where its derivatives of every order are finite.",
)  # fmt: skip
publish(sinc, "sinc", inplace=True)
publish(sinc, "sinc", namespace="special", method=False)

# --- Airy functions, DLMF 9.2.1: Ai'' = x Ai ------------------------------------------------------


def _airy(index: int) -> Any:
    # Above 1000 Ai underflows in every dtype, and SciPy gives nan soon.
    return lambda x: np.where(x > 1000, 0, special.airy(x)[index]).astype(x.dtype)


airy = elementwise(
    "airy_ai",
    typed("airy_ai", _airy(0), "f"),
    lambda x: airy_slope(x),
    doc="The Airy function Ai.",
)  # fmt: skip
airy_slope = elementwise(
    "airy_ai_derivative",
    typed("airy_ai_derivative", _airy(1), "f"),
    lambda x: x * airy(x),
    doc="The derivative of the Airy function Ai.",
)  # fmt: skip

# --- public names ---------------------------------------------------------------------------------


@public(out=True, inplace=True)
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
    return bessel_i(input, 0)


publish(i0, "i0", namespace="special", method=False)


@public(namespace="special", method=False, out=True)
def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
    return bessel_i(input, 1)


@public(namespace="special", method=False, out=True)
def i0e(input: Tensor) -> Tensor:
    """exp(-|x|) i0(x), which does not overflow."""
    return bessel_ie(input, 0)


@public(namespace="special", method=False, out=True)
def i1e(input: Tensor) -> Tensor:
    """exp(-|x|) i1(x), which does not overflow."""
    return bessel_ie(input, 1)


@public(namespace="special", method=False, out=True)
def bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind of order 0."""
    return bessel_j(input, 0)


@public(namespace="special", method=False, out=True)
def bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind of order 1."""
    return bessel_j(input, 1)


@public(namespace="special", method=False, out=True)
def bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind of order 0: -inf at 0, nan below."""
    return bessel_y(input, 0)


@public(namespace="special", method=False, out=True)
def bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind of order 1: -inf at 0, nan below."""
    return bessel_y(input, 1)


@public(namespace="special", method=False, out=True)
def modified_bessel_i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
    return bessel_i(input, 0)


@public(namespace="special", method=False, out=True)
def modified_bessel_i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
    return bessel_i(input, 1)


@public(namespace="special", method=False, out=True)
def modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind of order 0: inf at 0, nan below."""
    return bessel_k(input, 0)


@public(namespace="special", method=False, out=True)
def modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind of order 1: inf at 0, nan below."""
    return bessel_k(input, 1)


@public(namespace="special", method=False, out=True)
def scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """exp(x) modified_bessel_k0(x), which does not underflow."""
    return bessel_ke(input, 0)


@public(namespace="special", method=False, out=True)
def scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """exp(x) modified_bessel_k1(x), which does not underflow."""
    return bessel_ke(input, 1)


@public(namespace="special", method=False, out=True)
def spherical_bessel_j0(input: Tensor) -> Tensor:
    """The spherical Bessel function of the first kind of order 0, sin(x) / x."""
    return spherical_bessel_j(input, 0)


@public(namespace="special", method=False, out=True)
def airy_ai(input: Tensor) -> Tensor:
    """The Airy function Ai."""
    return airy(input)
