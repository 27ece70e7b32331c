"""Rows of filling, of copying in place, and of draws as functions of their noise."""

import numpy as np
import scipy.stats

from tensorplay._core import core
from tensorplay.base import dtypes
from tests.optable.schema import Op, register, sample

ZERO_BY_CONVENTION = "the derivative by a parameter of a draw is zero by definition, as in PyTorch"


def _full(x, shape, value, dtype):
    return np.full(x.shape if shape is None else shape, value, dtype=dtype.numpy)


def _like(make):
    return [
        sample(make(2, 3), None, 2, make.dtype),
        sample(make(2, 3), (4,), -1, dtypes.int64),
        sample(make(3), (2, 0), 0, dtypes.bool),
        sample(make(), (2,), 1, make.dtype),
    ]


def _noise(make, *shape):
    return make.constant(make.real(*shape, low=0.001, high=0.999))


def _multinomial(weights, u, num_samples, replacement):
    if replacement:
        cumulative = np.cumsum(weights, -1) / weights.sum(-1, keepdims=True)
        return (u[..., :, None] >= cumulative[..., None, :]).sum(-1)
    return np.argsort(-np.log1p(-u) / weights, axis=-1)[..., :num_samples]


register(
    Op(
        "full_like",
        _like,
        function=core.registry["full_like"],
        primitives=("full_like",),
        reference=_full,
        torch=None,
        complex=True,
        method=False,
    ),
    Op(
        "fill",
        lambda make: [
            sample(make(2, 3), 2),
            sample(make(2, 3), make()),
            sample(make(), make()),
            sample(make(0, 3), make()),
        ],
        primitives=("fill",),
        reference=lambda x, value: np.full_like(x, value),
        complex=True,
        inplace=True,
    ),
    Op(
        "zero",
        lambda make: [sample(make(2, 3)), sample(make()), sample(make(0, 2))],
        function=lambda x: x.clone().zero_(),
        primitives=("zero",),
        reference=np.zeros_like,
        torch=lambda x: x.clone().zero_(),
        complex=True,
        method=False,
    ),
    Op(
        "copy",
        lambda make: [
            sample(make(2, 3), make(2, 3)),
            sample(make(2, 3), make(3)),
            sample(make(2, 3), make()),
            sample(make(), make()),
            sample(make(0, 3), make(1, 3)),
        ],
        function=core.registry["copy"],  # in place it refuses a batched source of one target
        primitives=("copy",),
        reference=lambda x, y: np.broadcast_to(y, x.shape),
        torch=lambda x, y: x.clone().copy_(y),
        complex=True,
        method=False,
        skip={"broadcast": "the target of a copy does not broadcast"},
    ),
    Op(
        "bernoulli",
        lambda make: [
            sample(make(3, 4, low=0.1, high=0.9), _noise(make, 3, 4)),
            sample(make(low=0.1, high=0.9), _noise(make, 5)),
        ],
        function=core.registry["bernoulli"],
        primitives=("bernoulli",),
        reference=lambda p, u: (u < p).astype(p.dtype),
        torch=None,
        method=False,
        skip={"dtype": "an internal operator on noise of fixed dtype"},
    ),
    Op(
        "poisson",
        lambda make: [
            sample(make.positive(3, 4, high=20.0), _noise(make, 3, 4)),
            sample(make.fixed([0.0, 1e-3, 0.5, 300.0]), _noise(make, 4)),
        ],
        function=core.registry["poisson"],
        primitives=("poisson",),
        reference=lambda rate, u: scipy.stats.poisson.ppf(u, rate).clip(0).astype(rate.dtype),
        torch=None,
        method=False,
        nonsmooth=True,
        skip={"dtype": "an internal operator on noise of fixed dtype"},
    ),
    Op(
        "binomial",
        lambda make: [
            sample(
                make.fixed([[1.0, 5.0, 30.0], [0.0, 2.0, 7.0]]),
                make(3, low=0.1, high=0.9),
                _noise(make, 2, 3),
            ),
            sample(make.fixed([4.0, 4.0]), make.fixed([0.0, 1.0]), _noise(make, 2)),
        ],
        function=core.registry["binomial"],
        primitives=("binomial",),
        reference=lambda n, p, u: scipy.stats.binom.ppf(u, n, p).clip(0).astype(n.dtype),
        torch=None,
        method=False,
        nonsmooth=True,
        skip={"dtype": "an internal operator on noise of fixed dtype"},
    ),
    Op(
        "normal",
        lambda make: [
            sample(make(3, 4), make.positive(4), make.constant(make(3, 4))),
            sample(make(), make.positive(), make.constant(make(2))),
        ],
        function=core.registry["normal"],
        primitives=("normal",),
        reference=lambda mean, std, z: mean + std * z,
        torch=None,
        method=False,
        nonsmooth=True,
        skip={"dtype": "an internal operator on noise of fixed dtype"},
    ),
    Op(
        "multinomial",
        lambda make: [
            sample(make.positive(3, 4), _noise(make, 3, 4), 2, False),
            sample(make.positive(4), _noise(make, 6), 6, True),
            sample(make.positive(2, 4), _noise(make, 2, 3), 3, True),
        ],
        function=core.registry["multinomial"],
        primitives=("multinomial",),
        reference=_multinomial,
        torch=None,
        method=False,
        skip={"dtype": "an internal operator on noise of fixed dtype"},
    ),
    Op(
        "vander",
        lambda make: [
            sample(make(4)),
            sample(make(3), 5, True),
            sample(make(3), 0),
            sample(make.fixed([0.0, 1.0, -2.0]), 3),
            sample(make(0)),
        ],
        reference=lambda x, N=None, increasing=False: np.vander(x, N, increasing),
        complex=True,
        method=False,
        skip={"parity_grad": "PyTorch overwrites what its own backward pass needs"},
    ),
)
