"""Rows of the special functions."""

import numpy as np
import scipy.special as sp

import tensorplay as tp
from tensorplay.ops import special_ops
from tests.optable.schema import Op, register, sample

INF, NAN = float("inf"), float("nan")

#: Where PyTorch has no derivative at all.
THEIRS = {
    "parity_grad": "PyTorch has no derivative of this function",
    "parity_gradgrad": "PyTorch has no derivative of this function",
    "parity_jvp": "PyTorch has no derivative of this function",
}


def _real(make, *shape):
    return make(*shape)


def _positive(make, *shape):
    return make.positive(*shape)


def _inside(make, *shape):
    return make(*shape, low=-0.8, high=0.8)


def _probability(make, *shape):
    return make(*shape, low=0.1, high=0.9)


def _samples(domain):
    return lambda make: [
        sample(domain(make, 3, 4)),
        sample(domain(make)),
        sample(domain(make, 0, 3)),
    ]


def _special(name, reference, domain=_real, primitive=None, complex=False, **options):
    options.setdefault("primitives", (primitive or name.rpartition(".")[2],))
    options.setdefault("inplace", "." not in name)
    return Op(
        name, _samples(domain), reference=reference, complex=complex, out=True, **options
    )  # fmt: skip


# --- error functions, the normal distribution, entropy --------------------------------------------

register(
    _special("erf", sp.erf),
    _special("erfc", sp.erfc),
    _special("erfinv", sp.erfinv, _inside),
    _special("special.erfcx", sp.erfcx),
    Op(
        "special.erfcx:far",
        lambda make: [sample(make.fixed([-2.0, 0.0, 1.4, 1.6, 8.0, 40.0]))],
        primitives=("erfcx",), reference=sp.erfcx,
        skip={"parity_gradgrad": "PyTorch's derivative cancels for large arguments"},
    ),
    _special("special.ndtr", sp.ndtr),
    _special("special.ndtri", sp.ndtri, _probability),
    _special("special.log_ndtr", sp.log_ndtr, primitives=("log_ndtr", "inverse_mills")),
    Op(
        "special.log_ndtr:far", lambda make: [sample(make.fixed([-30.0, -5.0, 5.0, 30.0]))],
        primitives=("log_ndtr", "inverse_mills"), reference=sp.log_ndtr,
    ),
    _special("special.entr", sp.entr, _positive),
    Op(
        "special.entr:edges", lambda make: [sample(make.fixed([0.0, -1.0, NAN]))],
        primitives=("entr",), reference=sp.entr, nonsmooth=True,
        skip={"jet": "outside of its domain and at its edge there is no Taylor series"},
    ),
    _special("special.expit", sp.expit, primitive="sigmoid"),
    _special("special.exp2", np.exp2),
    _special("special.expm1", np.expm1),
    _special("special.log1p", np.log1p, _positive),
    _special("special.round", np.rint),
    _special("special.logit", sp.logit, _probability),
    Op(
        "special.xlogy",
        lambda make: [sample(make(3, 4), make.positive(4)), sample(2.0, make.positive(3))],
        primitives=("xlogy",), reference=sp.xlogy, out=True,
    ),
    Op(
        "special.xlog1py",
        lambda make: [
            sample(make(3, 4), make.positive(4)),
            sample(2.0, make.positive(3)),
            sample(make.positive(3), 0.5),
        ],
        primitives=("xlog1py",), reference=sp.xlog1py, out=True,
    ),
    Op(
        "special.xlog1py:zero",
        lambda make: [sample(make.fixed([0.0, 0.0, 1.0]), make.fixed([-1.0, 1.0, 2.0]))],
        primitives=("xlog1py",), reference=sp.xlog1py, nonsmooth=True,
        skip={
            "parity_grad": "PyTorch gives nan at (0, -1), here the derivatives are 0",
            "parity_gradgrad": "PyTorch gives nan at (0, -1), here the derivatives are 0",
            "parity_jvp": "PyTorch gives nan at (0, -1), here the derivatives are 0",
        },
    ),
)  # fmt: skip

# --- gamma and zeta functions ---------------------------------------------------------------------


def _multivariate(x, p):
    return np.vectorize(lambda a: sp.multigammaln(a, p), otypes=[float])(x)


def _above_two(make, *shape):
    return make.positive(*shape, low=2.1, high=4.0)


register(
    _special("lgamma", sp.gammaln, _positive, primitives=("lgamma", "polygamma")),
    _special("digamma", sp.psi, _positive, primitive="polygamma"),
    _special("special.gammaln", sp.gammaln, _positive, primitive="lgamma"),
    _special("special.psi", sp.psi, _positive, primitive="polygamma"),
    _special("special.digamma", sp.psi, _positive, primitive="polygamma"),
    Op(
        "digamma:negative", lambda make: [sample(make.fixed([-0.5, -1.7, -3.2]))],
        primitives=("polygamma",), reference=sp.psi,
    ),
    Op(
        "polygamma",
        lambda make: [sample(n, make.positive(3, 4)) for n in (0, 1, 2, 5)],
        primitives=("polygamma",), reference=sp.polygamma, out=True, method=False,
        rtol=1e-8,
    ),
    Op(
        "Tensor.polygamma", lambda make: [sample(make.positive(3), 2)],
        primitives=("polygamma",), reference=lambda x, n: sp.polygamma(n, x), torch=None,
    ),
    Op(
        "special.polygamma", lambda make: [sample(1, make.positive(3))],
        primitives=("polygamma",), reference=sp.polygamma, out=True,
    ),
    Op(
        "mvlgamma", lambda make: [sample(_above_two(make, 3, 4), p) for p in (1, 2, 4)],
        primitives=("lgamma",), reference=_multivariate, inplace=True, out=True,
    ),
    Op(
        "special.multigammaln", lambda make: [sample(_above_two(make, 3), 3)],
        primitives=("lgamma",), reference=_multivariate, out=True,
    ),
    Op(
        "special.gammainc",
        lambda make: [
            sample(make.constant(make.positive(3, 4)), make.positive(4)),
            sample(make.constant([1.0, 2.0, 3.0]), make.fixed([0.5, 3.0, 20.0])),
        ],
        primitives=("gammainc",), reference=sp.gammainc, out=True,
    ),
    Op(
        "special.gammaincc",
        lambda make: [sample(make.constant(make.positive(3, 4)), make.positive(4))],
        primitives=("gammaincc",), reference=sp.gammaincc, out=True,
    ),
    Op(
        "special.zeta",
        lambda make: [
            sample(make.constant(make.positive(3, 4, low=1.5, high=4.0)), make.positive(4)),
            sample(2, make.positive(3)),
            sample(make.constant([2.0, 3.0]), 1.5),
        ],
        primitives=("zeta",), reference=lambda x, q: sp.zeta(x, q), out=True, rtol=1e-8,
    ),
)  # fmt: skip

# --- Bessel and Airy functions --------------------------------------------------------------------


def _even(make, *shape):
    return make(*shape, low=-4.0, high=4.0)


register(
    _special("i0", sp.i0, primitive="bessel_i"),
    _special("special.i0", sp.i0, primitive="bessel_i"),
    _special("special.i1", sp.i1, primitive="bessel_i"),
    _special("special.i0e", sp.i0e, primitive="bessel_ie"),
    _special("special.i1e", sp.i1e, primitive="bessel_ie"),
    Op(
        "special.i1:zero", lambda make: [sample(make.fixed([0.0, 1e-30, -1e-9, 2.0]))],
        primitives=("bessel_i",), reference=sp.i1,
        skip={"parity_gradgrad": "PyTorch loses the third order near 0"},
    ),
    _special("special.bessel_j0", sp.j0, _even, primitive="bessel_j", skip=THEIRS),
    _special("special.bessel_j1", sp.j1, _even, primitive="bessel_j", skip=THEIRS),
    _special("special.bessel_y0", sp.y0, _positive, primitive="bessel_y", skip=THEIRS),
    _special("special.bessel_y1", sp.y1, _positive, primitive="bessel_y", skip=THEIRS),
    _special("special.modified_bessel_i0", sp.i0, primitive="bessel_i", skip=THEIRS),
    _special("special.modified_bessel_i1", sp.i1, primitive="bessel_i", skip=THEIRS),
    _special("special.modified_bessel_k0", sp.k0, _positive, primitive="bessel_k", skip=THEIRS),
    _special("special.modified_bessel_k1", sp.k1, _positive, primitive="bessel_k", skip=THEIRS),
    _special(
        "special.scaled_modified_bessel_k0", sp.k0e, _positive, primitive="bessel_ke", skip=THEIRS
    ),
    _special(
        "special.scaled_modified_bessel_k1", sp.k1e, _positive, primitive="bessel_ke", skip=THEIRS
    ),
    _special(
        "special.spherical_bessel_j0", lambda x: np.sinc(x / np.pi), _even,
        primitive="spherical_bessel_j", skip=THEIRS,
    ),
    Op(
        "special.spherical_bessel_j0:zero",
        lambda make: [sample(make.fixed([0.0, 1e-30, -1e-5, 1e-3]))],
        primitives=("spherical_bessel_j",), reference=lambda x: np.sinc(x / np.pi), skip=THEIRS,
    ),
    _special("special.airy_ai", lambda x: sp.airy(x)[0], _even,
             primitives=("airy_ai", "airy_ai_derivative"),
             skip={**THEIRS, "parity_value": "PyTorch's is good to 6 digits for negative x",
                   "parity_vmap": "PyTorch's is good to 6 digits for negative x"}),
    _special("sinc", np.sinc, primitives=("sinc", "spherical_bessel_j"), complex=True),
    _special("special.sinc", np.sinc, primitives=("sinc", "spherical_bessel_j"), complex=True),
    Op(
        "sinc:zero", lambda make: [sample(make.fixed([0.0, -0.0, 1e-30, 1e-5, 1.0]))],
        primitives=("sinc", "spherical_bessel_j"), reference=np.sinc, complex=True,
        skip={
            "parity_gradgrad": "PyTorch's second derivative is nan at 0",
            "parity_dtype": "in float32 PyTorch gives 1 at integers for tiny rounding errors",
        },
    ),
)  # fmt: skip

# --- orthogonal polynomials -----------------------------------------------------------------------


def _degrees(make):
    degrees = tp.arange(-1, 8).reshape(-1, 1)
    return [
        sample(make(4), degrees),
        sample(make.fixed([-1.0, 0.0, 1.0]), degrees),
        sample(make(3), 3),
        sample(make(0, 3), 2),
        sample(0.5, make.constant([0.0, 1.0, 2.5])),
    ]


def _by_recurrence(first, step, shifted=False):
    """The textbook recurrence in the degree: P[1] = first(x), P[k+1] = step(k, x, P[k], P[k-1])."""

    def reference(x, n):
        x = np.asarray(2 * np.asarray(x) - 1 if shifted else x, float)
        x, n = np.broadcast_arrays(x, np.trunc(n))
        rows = [np.ones_like(x), first(x)]
        for k in range(1, int(np.max(n, initial=1))):
            rows.append(step(k, x, rows[-1], rows[-2]))
        result = np.zeros_like(x)
        for k, row in enumerate(rows):
            result = np.where(n == k, row, result)
        return result

    return reference


def _chebyshev(k, x, p, q):
    return 2 * x * p - q


for _letter, _first in (
    ("t", lambda x: x), ("u", lambda x: 2 * x), ("v", lambda x: 2 * x - 1),
    ("w", lambda x: 2 * x + 1),
):  # fmt: skip
    for _shifted in (False, True):
        register(
            Op(
                f"special.{'shifted_' if _shifted else ''}chebyshev_polynomial_{_letter}",
                _degrees, primitives=("orthogonal_polynomial",), out=True, skip=THEIRS,
                reference=_by_recurrence(_first, _chebyshev, _shifted),
            )
        )  # fmt: skip

for _name, _first, _step in (
    ("hermite_polynomial_h", lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    ("hermite_polynomial_he", lambda x: x, lambda k, x, p, q: x * p - k * q),
    (
        "laguerre_polynomial_l", lambda x: 1 - x,
        lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
    ),
    (
        "legendre_polynomial_p", lambda x: x,
        lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
    ),
):  # fmt: skip
    register(
        Op(
            f"special.{_name}", _degrees, primitives=("orthogonal_polynomial",), out=True,
            reference=_by_recurrence(_first, _step), skip=THEIRS,
        )
    )  # fmt: skip

# --- the parts of rules that have no public name --------------------------------------------------

register(
    Op(
        "inverse_mills", _samples(_real), function=special_ops.inverse_mills, torch=None,
        primitives=("inverse_mills",), method=False,
        reference=lambda x: np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) / sp.ndtr(x),
    ),
)  # fmt: skip
