"""Orthogonal polynomials of a tensor of degrees: Chebyshev, Hermite, Laguerre, Legendre.

All of them follow a recurrence P[k+1] = (a x + b) P[k] - c P[k-1] in the degree (DLMF 18.9), and
so do their derivatives: differentiated d times it reads
P[k+1]^(d) = (a x + b) P[k]^(d) + d a P[k]^(d-1) - c P[k-1]^(d). There is one operator, whose
parameters are the family and the order d of the derivative, so derivatives of every order are
polynomials again, finite at the ends of the interval as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import elementwise, public
from tensorplay.ops.structure import convert

# family -> P[1] = p x + q, and k -> (a, b, c).
_FAMILIES: dict[str, tuple[float, float, Any]] = {
    "chebyshev_t": (1, 0, lambda k: (2, 0, 1)),
    "chebyshev_u": (2, 0, lambda k: (2, 0, 1)),
    "chebyshev_v": (2, -1, lambda k: (2, 0, 1)),
    "chebyshev_w": (2, 1, lambda k: (2, 0, 1)),
    "hermite_h": (2, 0, lambda k: (2, 0, 2 * k)),
    "hermite_he": (1, 0, lambda k: (1, 0, k)),
    "laguerre_l": (-1, 1, lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1))),
    "legendre_p": (1, 0, lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1))),
}


def _polynomial(x: np.ndarray, n: np.ndarray, family: str, order: int) -> Any:
    """The derivative of the given order of P[n](x); 0 for negative n, nan where n is nan."""
    dtype = x.dtype
    x, n = np.broadcast_arrays(x.astype(np.float64, copy=False), np.trunc(n.astype(np.float64)))
    result = np.where(n == n, 0.0, np.nan)
    highest = int(n.max(initial=0, where=np.isfinite(n)))
    p, q, coefficients = _FAMILIES[family]
    # Row d of `current` is the d-th derivative of P[k], for d = 0, ..., order.
    before = np.zeros((order + 1, *x.shape))
    current = np.zeros((order + 1, *x.shape))
    current[0] = 1.0
    for k in range(highest + 1):
        np.copyto(result, current[order], where=n == k)
        a, b, c = (p, q, 0) if k == 0 else coefficients(k)
        following = (a * x + b) * current - c * before
        for d in range(1, order + 1):
            following[d] += d * a * current[d - 1]
        before, current = current, following
    return result.astype(dtype, copy=False)


polynomial = elementwise(
    "orthogonal_polynomial", typed("orthogonal_polynomial", _polynomial, "f"),
    lambda x, y, family, order: polynomial(x, y, family, order + 1), None,
    params=("family", "order"),
)  # fmt: skip


def _degrees(family: str, title: str, shifted: bool = False) -> Any:
    """The public function of a family (shifted: of the argument 2 x - 1)."""

    def function(input: Any, n: Any) -> Tensor:
        if shifted:
            if isinstance(input, Tensor) and input.dtype.category < dtypes.FLOAT:
                input = convert(input, dtypes.get_default_dtype())
            input = input * 2 - 1
        return polynomial(input, n, family, 0)

    kind, letter = family.split("_")
    name = f"{'shifted_' if shifted else ''}{kind}_polynomial_{letter}"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{title} of degree n (a number or a tensor, without its fractional part) at "
        f"{'2 * input - 1' if shifted else 'input'}; 0 for negative n. Differentiable in `input`."
    )
    return public(namespace="special", method=False, out=True)(function)


chebyshev_polynomial_t = _degrees("chebyshev_t", "Chebyshev's polynomial of the first kind")
chebyshev_polynomial_u = _degrees("chebyshev_u", "Chebyshev's polynomial of the second kind")
chebyshev_polynomial_v = _degrees("chebyshev_v", "Chebyshev's polynomial of the third kind")
chebyshev_polynomial_w = _degrees("chebyshev_w", "Chebyshev's polynomial of the fourth kind")
shifted_chebyshev_polynomial_t = _degrees(
    "chebyshev_t", "The shifted Chebyshev polynomial of the first kind", True
)
shifted_chebyshev_polynomial_u = _degrees(
    "chebyshev_u", "The shifted Chebyshev polynomial of the second kind", True
)
shifted_chebyshev_polynomial_v = _degrees(
    "chebyshev_v", "The shifted Chebyshev polynomial of the third kind", True
)
shifted_chebyshev_polynomial_w = _degrees(
    "chebyshev_w", "The shifted Chebyshev polynomial of the fourth kind", True
)
hermite_polynomial_h = _degrees("hermite_h", "The physicist's Hermite polynomial")
hermite_polynomial_he = _degrees("hermite_he", "The probabilist's Hermite polynomial")
laguerre_polynomial_l = _degrees("laguerre_l", "Laguerre's polynomial")
legendre_polynomial_p = _degrees("legendre_p", "Legendre's polynomial")
