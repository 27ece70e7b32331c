"""Special functions, as in `torch.special`; all differentiable to any order.

PyTorch has no derivative of the Bessel, Airy and spherical functions, of `bessel_*` and
`modified_bessel_*`, and of the orthogonal polynomials; here they have the ones of mathematics.
"""

from tensorplay.ops.bessel import (
    airy_ai,
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    i0,
    i0e,
    i1,
    i1e,
    modified_bessel_i0,
    modified_bessel_i1,
    modified_bessel_k0,
    modified_bessel_k1,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    sinc,
    spherical_bessel_j0,
)
from tensorplay.ops.pointwise import logit, xlog1py, xlogy
from tensorplay.ops.polynomials import (
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    hermite_polynomial_h,
    hermite_polynomial_he,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
)
from tensorplay.ops.powers import exp2, expm1, log1p
from tensorplay.ops.reductions import logsumexp
from tensorplay.ops.rounding import round
from tensorplay.ops.sigmoids import sigmoid as expit
from tensorplay.ops.softmax import log_softmax, softmax
from tensorplay.ops.special_ops import (
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    gammainc,
    gammaincc,
    log_ndtr,
    ndtr,
    ndtri,
    polygamma,
    zeta,
)
from tensorplay.ops.special_ops import digamma as psi
from tensorplay.ops.special_ops import lgamma as gammaln
from tensorplay.ops.special_ops import mvlgamma as multigammaln
