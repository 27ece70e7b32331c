"""Rows of the masked operators: `tensorplay.masked`."""

import numpy as np

from tensorplay._core import core
from tests.optable.reductions import _axis
from tests.optable.schema import Op, register, sample

# Some, all, and again some of the elements of a row; every column has one.
_SOME = np.array([[True, False, True, True], [True, True, True, True], [False, True, False, True]])
_NONE = np.array([[True, False, True, True], [False, False, False, False]])


_FLOAT_INDEX = {
    f"parity_{aspect}": "PyTorch gives indices in the dtype of the input, here they are int64"
    for aspect in ("value", "vmap", "dtype")
}


def _some():
    return core.from_array(_SOME.copy())


def _reductions(make):
    return [
        sample(make.distinct(3, 4), 1, mask=_some()),
        sample(make.distinct(3, 4), dim=0, keepdim=True, mask=_some()),
        sample(make.distinct(3, 4), mask=_some()),
        sample(make.distinct(2, 3, 4), dim=(0, 2), mask=_some()),
        sample(make.distinct(3, 4), 1),
        sample(make.distinct(3, 4), 1, mask=core.from_array(_SOME[:1].copy())),
    ]


def _one_dim(make):
    return [one for one in _reductions(make) if not isinstance(one.kwargs.get("dim"), tuple)]


def _nothing(make):
    return [sample(make.distinct(2, 4), 1, mask=core.from_array(_NONE.copy()))]


def _along(make):
    return [
        sample(make(3, 4), 1, mask=_some()),
        sample(make(3, 4), dim=0, mask=_some()),
        sample(make(3, 4), 1),
    ]


def _filled(function, value, **fixed):
    """A NumPy reduction of the input with `value` where it is masked out."""

    def reference(x, dim=None, keepdim=False, mask=None):
        x = x if mask is None else np.where(mask, x, value)
        return function(x, axis=_axis(dim), keepdims=keepdim, **fixed)

    return reference


def _scan(function, value):
    return lambda x, dim, mask=None: function(
        x if mask is None else np.where(mask, x, value), axis=dim
    )


def _softmax(x, dim, mask=None):
    x = x if mask is None else np.where(mask, x, -np.inf)
    weights = np.exp(x)
    return weights / weights.sum(axis=dim, keepdims=True)


def _norm(x, order=2.0, dim=None, keepdim=False, mask=None):
    size = np.abs(x) ** order
    size = size if mask is None else np.where(mask, size, 0)
    return size.sum(axis=_axis(dim), keepdims=keepdim) ** (1 / order)


def _norms(make):
    found = []
    for one in _reductions(make):
        dim = one.args[1:] or (one.kwargs.get("dim"),)
        kept = {k: v for k, v in one.kwargs.items() if k != "dim"}
        found.append(sample(one.args[0], 3.0, *dim, **kept))
    return [*found, sample(make(3, 4), 2.0, 1, mask=_some())]


def _moment(nan_function):
    def reference(x, dim=None, unbiased=None, keepdim=False, correction=1, mask=None):
        x = x if mask is None else np.where(mask, x, np.nan)
        return nan_function(x, axis=_axis(dim), keepdims=keepdim, ddof=correction)

    return reference


def _masked(name, samples, reference, **options):
    return Op(f"masked.{name}", samples, reference=reference, method=False, **options)


register(
    _masked("sum", _reductions, _filled(np.sum, 0), complex=True),
    _masked("prod", _reductions, _filled(np.prod, 1), complex=True),
    _masked("mean", _reductions, _filled(np.nanmean, np.nan), complex=True),
    _masked("amax", _reductions, _filled(np.max, -np.inf)),
    _masked("amin", _reductions, _filled(np.min, np.inf)),
    _masked("argmax", _one_dim, _filled(np.argmax, -np.inf), skip=_FLOAT_INDEX),
    _masked("argmin", _one_dim, _filled(np.argmin, np.inf), skip=_FLOAT_INDEX),
    _masked(
        "logsumexp",
        _reductions,
        lambda x, dim=None, keepdim=False, mask=None: np.log(
            np.where(True if mask is None else mask, np.exp(x), 0).sum(
                axis=_axis(dim), keepdims=keepdim
            )
        ),
        skip={"parity_dtype": "PyTorch rounds the result for integers to an integer"},
    ),
    _masked("cumsum", _along, _scan(np.cumsum, 0), complex=True),
    _masked("cumprod", _along, _scan(np.cumprod, 1), complex=True),
    _masked("softmax", _along, _softmax),
    _masked("softmin", _along, lambda x, dim, mask=None: _softmax(-x, dim, mask)),
    _masked(
        "log_softmax",
        lambda make: [sample(make(3, 4), 1), sample(make(3, 4), dim=0, mask=_some())],
        lambda x, dim, mask=None: np.log(_softmax(x, dim, mask)),
    ),
    _masked("norm", _norms, _norm, complex=True),
    _masked("var", _reductions, _moment(np.nanvar), complex=True),
    _masked(
        "var:correction",
        lambda make: [
            sample(make(3, 4), 1, correction=0, mask=_some()),
            sample(make(3, 4), 0, correction=0.5),
        ],
        _moment(np.nanvar),
        complex=True,
    ),
    _masked("std", _reductions, _moment(np.nanstd), complex=True),
    _masked(
        "median",
        lambda make: [
            sample(make.distinct(3, 4), 1, mask=_some()),
            sample(make.distinct(3, 4), 0, keepdim=True, mask=_some()),
            sample(make.distinct(3, 4)),
        ],
        None,
        skip={"parity_dtype": "PyTorch discards imaginary parts, here complex numbers are refused"},
    ),
    _masked(
        "normalize",
        lambda make: [
            sample(make(3, 4), 2.0, 1, mask=_some()),
            sample(make(3, 4), 3.0, dim=0, mask=_some()),
            sample(make(3, 4), 2.0, 1),
        ],
        lambda x, order, dim, mask=None: (
            (x if mask is None else np.where(mask, x, 0)) / _norm(x, order, dim, True, mask)
        ),
        complex=True,
    ),
    _masked(
        "logaddexp",
        lambda make: [
            sample(make(3, 4), make(3, 4), input_mask=_some()),
            sample(make(3, 4), make(3, 4)),
        ],
        lambda x, y, input_mask=None: np.logaddexp(
            x if input_mask is None else np.where(input_mask, x, -np.inf), y
        ),
        skip={"parity_gradgrad": "PyTorch gives NaN where one side is masked out"},
    ),
    _masked("sum:nothing", _nothing, _filled(np.sum, 0)),
    _masked("prod:nothing", _nothing, _filled(np.prod, 1)),
    _masked("amax:nothing", _nothing, _filled(np.max, -np.inf), nonsmooth=True),
)
