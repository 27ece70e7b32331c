"""Rows of the order statistics, covariance and correlation."""

import numpy as np

from tests.optable.schema import Op, register, sample


def _along(make):
    return [
        sample(make.distinct(3, 5), 1),
        sample(make.distinct(3, 4), dim=0, keepdim=True),
        sample(make.distinct(2, 3, 4), -1),
        sample(make(), 0),
        sample(make(0, 3), 1),
    ]


def _everything(make):
    return [sample(make.distinct(3, 4)), sample(make.distinct(5)), sample(make())]


def _nan(make):
    return [
        sample(make.fixed([[1.0, np.nan, 3.0, 2.0], [4.0, 1.0, 2.5, 3.0]]), 1),
        sample(make.fixed([[np.nan, np.nan], [1.0, np.nan]]), 1, True),
    ]


def _lower(x, axis=None, keepdims=False):
    """The lower median; NaN where there is one."""
    if x.ndim == 0:
        return x
    middle = np.quantile(x, 0.5, axis=axis, keepdims=keepdims, method="inverted_cdf")
    return np.where(np.isnan(x).any(axis=axis, keepdims=keepdims), np.nan, middle)


def _nanlower(x, axis=None, keepdims=False):
    if x.ndim == 0:
        return x
    if axis is None:
        x, axis = x.reshape(-1), 0
    x = np.sort(x, axis=axis)
    middle = np.maximum((~np.isnan(x)).sum(axis=axis, keepdims=True) - 1, 0) // 2
    found = np.take_along_axis(x, middle, axis)
    return found if keepdims else found.squeeze(axis)


def _first(function):
    """The values that a function along a dim picks, the first of (values, indices)."""
    return lambda x, dim, keepdim=False: (function(x, axis=dim, keepdims=keepdim),)


def _mode(x, dim=-1, keepdim=False):
    if x.ndim == 0:
        return x, np.zeros((), np.int64)

    def one(lane):
        values, counts = np.unique(lane, return_counts=True)
        value = values[np.argmax(counts)]
        return np.flatnonzero(lane == value)[-1]

    index = np.expand_dims(np.apply_along_axis(one, dim, x), dim)
    values = np.take_along_axis(x, index, dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


_NAN_RESULT = {
    "parity_jvp": "PyTorch's tangent of a NaN median is NaN; here it is that of the NaN element",
}
_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(function):
    def reference(x, q, dim=None, keepdim=False, interpolation="linear"):
        if x.ndim == 0:
            return np.broadcast_to(x, np.shape(q))
        return function(x, q, axis=dim, keepdims=keepdim, method=interpolation)

    return reference


def _quantiles(make):
    return [
        sample(make.distinct(3, 4), 0.3),
        sample(make.distinct(3, 5), 0.62, 1),
        sample(make.distinct(3, 5), 0.5, dim=0, keepdim=True),
        *(sample(make.distinct(3, 5), 0.37, 1, interpolation=i) for i in _METHODS),
        sample(make.distinct(3, 5), make.fixed([0.1, 0.45, 0.9]), 1),
        sample(make.distinct(3, 5), make.fixed([0.1, 0.45, 0.9]), 0, True),
        sample(make.distinct(7), make.fixed(0.4)),
        sample(make.distinct(2, 3), make.constant([0.0, 1.0]), keepdim=True),
        sample(make(), 0.4),
    ]


def _cov(x, correction=1, fweights=None, aweights=None):
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


register(
    Op("median", _everything, primitives=("median",), reference=_lower, out=True),
    Op(
        "median:ties",
        lambda make: [sample(make.fixed([1.0, 2.0, 2.0, 3.0, 2.0]))],
        primitives=("median",),
        reference=_lower,
        nonsmooth=True,
    ),
    Op(
        "median:nan",
        lambda make: [sample(make.fixed([np.nan, 1.0]))],
        primitives=("median",),
        reference=_lower,
        nonsmooth=True,
        skip=_NAN_RESULT,
    ),
    Op(
        "median:dim",
        _along,
        primitives=("median_dim",),
        reference=_first(lambda x, **k: _lower(x, **k) if x.size else np.zeros(0)),
        out=True,
        skip={"parity_dtype": "which of several equal integers is picked is not specified"},
    ),
    Op(
        "median:dim, nan", _nan, primitives=("median_dim",), reference=_first(_lower),
        nonsmooth=True,
    ),
    Op(
        "median:integers",
        lambda make: [sample(make.constant(make.int((3, 4))), 1, note="picks one of equal ones")],
        primitives=("median_dim",),
        results=lambda r: r[0],
        reference=lambda x, dim: np.sort(x, dim)[:, 1],
    ),
    Op("nanmedian", _everything, primitives=("nanmedian",), reference=_nanlower, out=True),
    Op(
        "nanmedian:nan",
        lambda make: [sample(make.fixed([1.0, np.nan, 2.0, 4.0]))],
        primitives=("nanmedian",),
        reference=_nanlower,
        nonsmooth=True,
    ),
    Op(
        "nanmedian:nothing else",
        lambda make: [sample(make.fixed([np.nan, np.nan]))],
        primitives=("nanmedian",),
        reference=_nanlower,
        nonsmooth=True,
        skip=_NAN_RESULT,
    ),
    Op(
        "nanmedian:dim",
        _along,
        primitives=("nanmedian_dim",),
        reference=_first(lambda x, **k: _nanlower(x, **k) if x.size else np.zeros(0)),
        out=True,
    ),
    Op(
        "nanmedian:dim, nan", _nan, primitives=("nanmedian_dim",), reference=_first(_nanlower),
        nonsmooth=True,
    ),
    Op(
        "mode",
        lambda make: [
            *_along(make)[:-1],
            sample(make.fixed([[1.0, 2.0, 2.0, 1.0, 3.0], [3.0, 2.0, 1.0, 3.0, 3.0]]), 1),
            sample(make.fixed([[1.0, 2.0], [1.0, 3.0], [0.0, 3.0]]), 0, True),
            sample(make.int((3, 6), 0, 3)),
        ],
        primitives=("mode",),
        reference=_mode,
        nonsmooth=True,
        out=True,
        skip={"parity_dtype": "PyTorch takes complex numbers where there is one element"},
    ),
    Op("quantile", _quantiles, reference=_quantile(np.quantile), out=True),
    Op("nanquantile", _quantiles, reference=_quantile(np.nanquantile), out=True),
    Op(
        "quantile:nan",
        lambda make: [
            sample(make.fixed([[1.0, np.nan, 3.0, 2.0], [4.0, 1.0, 2.0, 3.0]]), 0.4, 1),
            sample(make.fixed([1.0, np.nan]), 0.4),
        ],
        nonsmooth=True,
        reference=_quantile(np.quantile),
    ),
    Op(
        "quantile:infinite",
        lambda make: [sample(make.fixed([1.0, np.inf, np.inf, np.inf]), 0.75)],
        torch=None,  # NaN between two infinities
        nonsmooth=True,
        reference=lambda x, q: np.inf,
    ),
    Op(
        "nanquantile:nan",
        lambda make: [
            sample(make.fixed([[1.0, np.nan, 3.0, 2.0], [4.0, 1.0, 2.0, 3.0]]), 0.4, 1),
            sample(make.fixed([[1.0, np.nan, np.nan, np.nan], [4.0, 1.0, np.nan, 3.0]]), 0.4, 1),
        ],
        nonsmooth=True,
        reference=_quantile(np.nanquantile),
    ),
    Op(
        "cov",
        lambda make: [
            sample(make(3, 5)),
            sample(make(3, 5), correction=0),
            sample(make(6)),
            sample(make(1, 5)),
            sample(make(3, 5), fweights=make.int((5,), 1, 4)),
            sample(make(3, 5), aweights=make.positive(5) if not make.dtype.is_complex
                   else make.constant(make.real(5, low=0.3, high=1.0))),
            sample(make(3, 5), aweights=make.constant(make.real(5, low=0.3, high=1.0)),
                   correction=0, fweights=make.int((5,), 1, 4)),
        ],
        reference=_cov,
        complex=True,
    ),
    Op(
        "corrcoef",
        lambda make: [sample(make(3, 5)), sample(make(2, 6))],
        reference=np.corrcoef,
        complex=True,
    ),
)  # fmt: skip
