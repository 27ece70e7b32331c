"""Rows of variances, standard deviations, norms and distances."""

import numpy as np

from tests.optable.reductions import _axis
from tests.optable.schema import Op, register, sample


def _moment_samples(make):
    return [
        sample(make(3, 4)),
        sample(make(3, 4), 1),
        sample(make(3, 4), dim=0, keepdim=True),
        sample(make(2, 3, 4), dim=(0, 2)),
        sample(make(2, 3, 4), dim=(-1, 1), correction=0),
        sample(make(5), correction=2),
        sample(make(5), correction=0.5),
        sample(make(3, 4), 1, False),
        sample(make(3, 4), 1, True, True),
        sample(make(3, 4), False),
        sample(make(0, 3), 1),
    ]


def _moment(function):
    def reference(x, dim=None, unbiased=True, keepdim=False, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        ddof = int(unbiased) if correction is None else correction
        return function(x, axis=_axis(dim), keepdims=keepdim, ddof=ddof)

    return reference


_variance = _moment(np.var)
_deviation = _moment(np.std)


def _mean(x, dim=None, unbiased=True, keepdim=False, correction=None):
    if isinstance(dim, bool):
        dim = None
    return np.mean(x, axis=_axis(dim), keepdims=keepdim) if x.size else np.zeros(0)


def _flat(make):
    """No spread at all in some lanes."""
    return [
        sample(make.fixed([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]]), 1),
        sample(make.fixed([3.0, 3.0])),
        sample(make.fixed([[0.0, 0.0], [0.0, 0.0]]), dim=0, correction=0),
        sample(make(), correction=0),
    ]


def _norm(x, p="fro", dim=None, keepdim=False):
    p = 2 if p in ("fro", None) else p
    size = np.abs(x)
    axis = _axis(dim)
    if p == np.inf:
        return size.max(axis=axis, keepdims=keepdim)
    if p == -np.inf:
        return size.min(axis=axis, keepdims=keepdim)
    if p == 0:
        return (size != 0).sum(axis=axis, keepdims=keepdim).astype(size.dtype)
    return (size ** float(p)).sum(axis=axis, keepdims=keepdim) ** (1.0 / p)


def _spread(make):
    """No two sizes alike."""
    return make.fixed([[1.0, -2.5, 0.5], [-3.0, 1.5, 2.0]])


def _points(make, *shape):
    """Points none of whose coordinates is near one of `make.distinct(3, 4)`."""
    count = int(np.prod(shape))
    return make.distinct(*shape, low=-2 + 1 / 6, high=-2 + 1 / 6 + count / 3)


def _orders(make):
    found = [sample(make(3, 4), p, 1) for p in (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, -1, -2.5)]
    return [
        *found,
        sample(_spread(make), float("inf"), 1),
        sample(_spread(make), -float("inf"), 0, True),
        sample(make(3, 4)),
        sample(make(3, 4), 1),
        sample(make(2, 3, 4), 2, (0, 2)),
        sample(make(2, 3, 4), 3, (1, 2), True),
        sample(make()),
        sample(make(), 3.5),
        sample(make(0, 3), 2, 0),
        sample(make(0, 3), 2, 1),
    ]


def _zeros(make):
    """Points where elements, or all of them, are zero, or tie."""
    orders = (0.5, 1, 1.5, 2, 2.5, 3, 4, 6, -1, float("inf"), -float("inf"))
    return [
        *(sample(make.fixed([[0.0, 0.0, 0.0], [1.0, 0.0, -2.0]]), p, 1) for p in orders),
        sample(make.fixed([[1.0, -1.0, 0.5], [-2.0, 2.0, 2.0]]), float("inf"), 1, note="ties"),
        sample(make.fixed([1.0, -1.0, 3.0]), -float("inf"), note="ties"),
        sample(make.fixed(0.0)),
    ]


def _cdist(x, y, p=2.0, compute_mode=None):
    step = x[..., :, None, :] - y[..., None, :, :]
    return _norm(step, p, -1) if step.shape[-1] else step.sum(-1)


def _pairs(make):
    return [
        *(sample(make.distinct(3, 4), _points(make, 2, 4), p) for p in (0.5, 1.0, 1.5, 2.0, 3.0)),
        sample(make(3, 4), make(2, 4)),
        sample(make.fixed([[1.0, 2.0], [0.0, -1.5]]), make.fixed([[0.5, 4.0]]), float("inf")),
        sample(make(2, 3, 4), make(2, 4)),
        sample(make.distinct(3, 4), _points(make, 2, 2, 4), 1.0),
        sample(make(1, 3, 2), make(2, 2, 2)),
        sample(make(0, 3), make(2, 3)),
        sample(make(2, 0), make(3, 0)),
    ]


def _renorm(x, p, dim, maxnorm):
    others = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    size = _norm(x, p, others, True)
    return x * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1)


register(
    Op(
        "var", _moment_samples, primitives=("var",), reference=_variance, complex=True, out=True,
    ),
    Op(
        "std", _moment_samples, primitives=("std",), reference=_deviation, complex=True, out=True,
    ),
    Op(
        "std:flat", _flat, primitives=("std", "reciprocal_or_zero"), reference=_deviation,
        complex=True, nonsmooth=True,
        skip={"parity_gradgrad": "PyTorch gives NaN for second derivatives of a zero deviation",
              "parity_jvp": "PyTorch gives NaN for the tangent of a zero deviation"},
    ),
    Op("var:flat", _flat, primitives=("var",), reference=_variance, complex=True),
    Op(
        "var_mean", _moment_samples, complex=True,
        reference=lambda *a, **k: (_variance(*a, **k), _mean(*a, **k)),
    ),
    Op(
        "std_mean", _moment_samples, complex=True,
        reference=lambda *a, **k: (_deviation(*a, **k), _mean(*a, **k)),
    ),
    Op(
        "norm", _orders, primitives=("vector_norm", "reciprocal_or_zero", "power_or_zero"),
        reference=_norm, complex=True, out=True,
    ),
    Op(
        "norm:count",
        lambda make: [
            sample(make(3, 4), 0, 1),
            sample(make.fixed([[0.0, 1.0], [0.0, 0.0]]), 0, 1),
            sample(make(), 0),
        ],
        primitives=("vector_norm",),
        reference=_norm,
        complex=True,
        nonsmooth=True,
        skip={"parity_gradgrad": "PyTorch gives a zero without memory, which NumPy cannot see",
              "parity_jvp": "PyTorch gives a zero without memory, which NumPy cannot see"},
    ),
    Op(
        "norm:zeros", _zeros, primitives=("vector_norm", "agreement"), complex=True,
        reference=lambda *a: np.nan_to_num(_norm(*a), posinf=np.inf), nonsmooth=True,
        skip={"parity_gradgrad": "PyTorch gives NaN for some second derivatives at zero",
              "parity_jvp": "PyTorch gives NaN for some tangents at zero"},
    ),
    Op(
        "reciprocal_or_zero",
        lambda make: [sample(make.positive(3, 4)), sample(make.fixed([0.0, 2.0, -4.0]))],
        primitives=("reciprocal_or_zero",),
        torch=None,
        reference=lambda x: np.where(x == 0, 0, 1 / np.where(x == 0, 1, x)),
        nonsmooth=True,
    ),
    Op(
        "power_or_zero",
        lambda make: [
            sample(make.positive(3, 4), 1.5),
            sample(make.positive(3), -2.0),
            sample(make.positive(()), 0.0),
        ],
        primitives=("power_or_zero",),
        torch=None,
        reference=lambda x, exponent: x**exponent,
    ),
    Op(
        "power_or_zero:zero",
        lambda make: [sample(make.fixed([0.0, 2.0]), -0.5), sample(make.fixed([0.0, 2.0]), 1.5)],
        primitives=("power_or_zero",),
        torch=None,
        reference=lambda x, exponent: np.where(x == 0, 0, np.where(x == 0, 1, x) ** exponent),
        nonsmooth=True,
    ),
    Op(
        "dist",
        lambda make: [
            *(sample(make.distinct(3, 4), _points(make, 3, 4), p) for p in (1, 2, 3.5)),
            sample(make(3, 4), make(4)),
            sample(_spread(make), make.fixed([1.2, 0.3, -0.4]), float("inf")),
        ],
        reference=lambda x, y, p=2: _norm(x - y, p),
        complex=True,
    ),
    Op(
        "dist:count",
        lambda make: [sample(make(3, 4), make(3, 4), 0), sample(make(3), make(2, 3), 0.0)],
        torch=None,  # its gradient raises
        reference=lambda x, y, p=2: _norm(x - y, p),
        complex=True,
    ),
    Op(
        "dist:coincident",
        lambda make: [
            sample(make.fixed([1.0, 2.0]), make.fixed([1.0, 2.0]), p)
            for p in (1, 1.5, 2, 3, float("inf"))
        ],
        reference=lambda x, y, p=2: _norm(x - y, p),
        complex=True,
        nonsmooth=True,
        skip={"parity_gradgrad": "PyTorch gives NaN for second derivatives at zero distance",
              "parity_jvp": "PyTorch gives NaN for tangents at zero distance"},
    ),
    Op("cdist", _pairs, primitives=("cdist",), reference=_cdist, method=False),
    Op(
        "cdist:coincident",
        lambda make: [
            sample(make.fixed([[1.0, 2.0], [0.0, 1.0]]), make.fixed([[1.0, 2.0], [3.0, 1.0]]), p)
            for p in (1.0, 1.5, 2.0, 3.0)
        ],
        primitives=("cdist",),
        reference=_cdist,
        method=False,
        nonsmooth=True,
    ),
    Op(
        "cdist:many",
        lambda make: [
            sample(make(60, 5), make(70, 5)),
            sample(make(2, 40, 6), make(50, 6)),
        ],
        primitives=("cdist",),
        reference=_cdist,
        method=False,
        skip={"forward_forward": "numerical second derivatives of a large sample take seconds"},
    ),
    Op(
        "pdist",
        lambda make: [
            sample(make(4, 3)),
            sample(make(4, 3), 1.0),
            sample(make(4, 3), 3.0),
            sample(make.fixed([[0.0, 0.2], [1.0, 0.5], [-0.7, 2.0]]), float("inf")),
            sample(make(1, 3)),
            sample(make(3, 0)),
        ],
        torch="nn.functional.pdist",
        reference=lambda x, p=2.0: _cdist(x, x, p)[np.triu_indices(len(x), 1)],
        method=False,
    ),
    Op(
        "renorm",
        lambda make: [
            sample(make(3, 4), 2, 0, 1.5),
            sample(make(3, 4), 1, 1, 2.0),
            sample(make(2, 3, 4), 3, -2, 1.0),
            sample(_spread(make), float("inf"), 0, 1.0),
            sample(make(3, 4), 2, 0, 100.0, note="all short"),
        ],
        reference=_renorm,
        complex=True,
        inplace=True,
        out=True,
    ),
)  # fmt: skip
