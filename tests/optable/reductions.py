"""Rows of the reductions: sums, means, products, truth values, counts, log-sum-exp, extrema."""

import numpy as np

from tests.optable.schema import Op, register, sample


def _axis(dim):
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def _reduce(function, **fixed):
    """A NumPy reduction with PyTorch's argument names."""

    def reference(x, dim=None, keepdim=False):
        axis = None if np.ndim(x) == 0 or np.size(dim) == 0 else _axis(dim)
        return function(x, axis=axis, keepdims=keepdim, **fixed)

    return reference


def _dims(make):
    """Every kind of dim and shape a reduction takes."""
    return [
        sample(make(3, 4)),
        sample(make(3, 4), 1),
        sample(make(3, 4), dim=0, keepdim=True),
        sample(make(2, 3, 4), dim=(0, 2)),
        sample(make(2, 3, 4), dim=(-1, 0), keepdim=True),
        sample(make(2, 3, 4), dim=(1, 2)),
        sample(make(2, 1, 4), dim=1),
        sample(make(), note="0-dim"),
        sample(make(), 0),
    ]


def _empty(make):
    """Reductions of nothing, and to nothing."""
    return [
        sample(make(0, 3), dim=0),
        sample(make(0, 3), dim=1),
        sample(make(0)),
        sample(make(2, 0, 3), dim=1, keepdim=True),
    ]


register(
    Op(
        "sum",
        lambda make: [*_dims(make), *_empty(make), sample(make(3, 4), dim=[])],
        primitives=("sum",),
        reference=_reduce(np.sum),
        complex=True,
        out=True,
    ),
    Op(
        "sum:integers",
        lambda make: [
            sample(make.int((3, 4)), 0),
            sample(make.bool((3, 4))),
            sample(make.int((0, 2)), 0),
        ],
        primitives=("sum",),
        reference=_reduce(np.sum),
    ),
    Op(
        "sum_to_size",
        lambda make: [
            sample(make(3, 4), (1, 4)),
            sample(make(3, 4), (4,)),
            sample(make(2, 3, 4), (3, 1)),
            sample(make(2, 3), (2, 3)),
            sample(make(2, 3), ()),
        ],
        primitives=("sum_to",),
        function="Tensor.sum_to_size",
        torch="Tensor.sum_to_size",
        reference=lambda x, size: x.sum(
            axis=tuple(
                i for i in range(x.ndim)
                if i < x.ndim - len(size) or size[i - x.ndim + len(size)] != x.shape[i]
            ),
            keepdims=True,
        ).reshape(size),
        complex=True,
    ),
    Op(
        "mean",
        lambda make: [*_dims(make), sample(make(0, 3), dim=1)],
        primitives=("mean",),
        reference=_reduce(lambda x, **k: np.mean(x, **k) if x.size else np.sum(x, **k)),
        complex=True,
        out=True,
    ),
    Op(
        "nansum",
        lambda make: [
            sample(make(3, 4)),
            sample(make.fixed([[1.5, np.nan, -2.0], [np.nan, np.nan, 0.5]]), 1),
            sample(make.fixed([[1.5, np.nan], [np.nan, np.nan]]), dim=0, keepdim=True),
            sample(make.int((3, 4)), 0),
        ],
        reference=_reduce(np.nansum),
        nonsmooth=True,
        out=True,
    ),
    Op(
        "nanmean",
        lambda make: [
            sample(make(3, 4)),
            sample(make.fixed([[1.5, np.nan, -2.0], [np.nan, 3.0, 0.5]]), 1),
            sample(make.fixed([[1.5, np.nan], [np.nan, 2.0]]), dim=0, keepdim=True),
        ],
        reference=_reduce(np.nanmean),
        nonsmooth=True,
        out=True,
    ),
    Op(
        "prod",
        lambda make: [
            sample(make(3, 4)),
            sample(make(3, 4), 1),
            sample(make(3, 4), dim=0, keepdim=True),
            sample(make(2, 3, 2), dim=-2),
            sample(make()),
            sample(make(), 0),
            sample(make(1, 1), 0),
            sample(make(0, 3), dim=0),
            sample(make(0, 3), dim=1),
            sample(make(0)),
        ],
        primitives=("prod",),
        reference=_reduce(np.prod),
        complex=True,
        out=True,
    ),
    Op(
        "prod:zeros",
        lambda make: [
            sample(make.fixed([2.0, 0.0, -1.5, 0.7]), note="one zero"),
            sample(make.fixed([2.0, 0.0, -1.5, 0.0]), note="two zeros"),
            sample(make.fixed([0.0, 0.0, 0.0, 3.0]), note="three zeros"),
            sample(make.fixed([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 2.0, 3.0]]), 1),
            sample(make.fixed([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), 0, True),
            sample(make.fixed(0.0)),
            sample(make.fixed([[0.0, 0.0], [0.0, 0.0]])),
        ],
        primitives=("prod", "delay", "cumprod"),
        reference=_reduce(np.prod),
        complex=True,
    ),
    Op(
        "prod:integers",
        lambda make: [sample(make.int((3, 4)), 0), sample(make.bool((3, 4)))],
        reference=_reduce(np.prod),
    ),
    Op(
        "all",
        lambda make: [
            sample(make.bool((3, 4))),
            sample(make.bool((3, 4)), 1),
            sample(make.bool((2, 3, 2)), dim=(0, 2), keepdim=True),
            sample(make.bool((0, 3)), 0),
            sample(make.int((3, 4), 0, 2), 0),
            sample(make(3)),
        ],
        primitives=("all",),
        reference=_reduce(np.all),
        complex=True,
        out=True,
    ),
    Op(
        "any",
        lambda make: [
            sample(make.bool((3, 4))),
            sample(make.bool((3, 4)), 1),
            sample(make.bool((2, 3, 2)), dim=(0, 2), keepdim=True),
            sample(make.bool((0, 3)), 0),
            sample(make.int((3, 4), 0, 2), 0),
            sample(make(3)),
        ],
        primitives=("any",),
        reference=_reduce(np.any),
        complex=True,
        out=True,
    ),
    Op(
        "count_nonzero",
        lambda make: [
            sample(make.fixed([[0.0, 1.0, -2.0], [0.0, 0.0, 3.0]])),
            sample(make.fixed([[0.0, 1.0, -2.0], [0.0, 0.0, 3.0]]), 1),
            sample(make.int((2, 3, 4), 0, 2), dim=(0, 2)),
            sample(make.bool((0, 3)), 0),
        ],
        primitives=("count_nonzero",),
        reference=lambda x, dim=None: np.count_nonzero(x, axis=_axis(dim)),
        complex=True,
    ),
    Op(
        "logsumexp",
        lambda make: [
            sample(make(3, 4), 1),
            sample(make(3, 4), 0, True),
            sample(make(2, 3, 4), dim=(0, 2)),
            sample(make(2, 3, 4), dim=(1, 2), keepdim=True),
            sample(make(), 0),
            sample(make(0, 3), 1),
        ],
        primitives=("logsumexp", "exp_difference"),
        reference=lambda x, dim, keepdim=False: np.log(
            np.sum(np.exp(x), axis=_axis(dim) if x.ndim else None, keepdims=keepdim)
        ),
        complex=True,
        out=True,
    ),
    Op(
        "logsumexp:large",
        lambda make: [sample(make.fixed([[1000.0, 999.5], [-1000.0, -1001.0]]), 1)],
        primitives=("logsumexp",),
        reference=lambda x, dim: np.logaddexp.reduce(x, axis=dim),
    ),
    Op(
        "logsumexp:empty",
        lambda make: [sample(make(0, 3), 0), sample(make(2, 0, 3), (0, 1), True)],
        primitives=("logsumexp",),
        reference=lambda x, dim, keepdim=False: np.log(np.sum(x, axis=dim, keepdims=keepdim)),
        skip={"parity_jvp": "PyTorch's tangent of the constant -inf is NaN"},
    ),
    Op(
        "logsumexp:infinite",
        lambda make: [
            sample(make.fixed([[-np.inf, -np.inf], [-np.inf, 1.0]]), 1),
            sample(make.fixed([[np.inf, 1.0], [np.inf, -np.inf]]), 1),
        ],
        reference=lambda x, dim: np.logaddexp.reduce(x, axis=dim),
        nonsmooth=True,
        skip={"parity_grad": "PyTorch gives NaN; the gradient of what stays -inf is zero here",
              "parity_gradgrad": "PyTorch gives NaN; the gradient of what stays -inf is zero here",
              "parity_jvp": "PyTorch gives NaN; the gradient of what stays -inf is zero here"},
    ),
)  # fmt: skip
