"""Rows of the scans along a dim, and of the differences and integrals made like them."""

import numpy as np

from tensorplay._core import core
from tests.optable.schema import Op, register, sample


def _dims(make):
    return [
        sample(make(3, 4), 1),
        sample(make(3, 4), dim=0),
        sample(make(2, 3, 2), -2),
        sample(make(5), 0),
        sample(make(1), 0),
        sample(make(), 0),
        sample(make(0, 3), 0),
        sample(make(0, 3), 1),
    ]


def _steps(function):
    """A NumPy scan that takes 0-dim arrays too."""

    def reference(x, dim):
        return function(x, axis=dim) if x.ndim else x.copy()

    return reference


def _running(function):
    """Running extremum and its latest place, element by element."""

    def reference(x, dim):
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        lanes = np.moveaxis(x, dim, -1)
        index = np.zeros(lanes.shape, np.int64)
        for place in np.ndindex(lanes.shape):
            lane, i = lanes[place[:-1]], place[-1]
            best = function(lane[: i + 1])
            index[place] = max(
                j for j in range(i + 1) if lane[j] == best or (best != best and lane[j] != lane[j])
            )
        index = np.moveaxis(index, -1, dim)
        return np.take_along_axis(x, index, dim), index

    return reference


def _recurrence(a, b, dim, reverse):
    a, b = np.moveaxis(a, dim, 0), np.moveaxis(b, dim, 0)
    out = np.zeros_like(b)
    order = range(len(b) - 1, -1, -1) if reverse else range(len(b))
    last = 0
    for i in order:
        last = out[i] = a[i] * last + b[i]
    return np.moveaxis(out, 0, dim)


def _delay(x, dim, step, fill):
    pad = np.full([abs(step) if d == dim else s for d, s in enumerate(x.shape)], fill, x.dtype)
    keep = np.moveaxis(x, dim, 0)
    keep = np.moveaxis(keep[:-step] if step > 0 else keep[-step:], 0, dim)
    return np.concatenate([pad, keep] if step > 0 else [keep, pad], axis=dim)


register(
    Op(
        "cumsum", _dims, primitives=("cumsum",), reference=_steps(np.cumsum), complex=True,
        inplace=True, out=True,
    ),
    Op(
        "cumprod", _dims, primitives=("cumprod",), reference=_steps(np.cumprod), complex=True,
        inplace=True, out=True,
    ),
    Op(
        "cumprod:zeros",
        lambda make: [
            sample(make.fixed([2.0, 0.0, -1.5, 0.7]), 0, note="one zero"),
            sample(make.fixed([2.0, 0.0, -1.5, 0.0, 3.0]), 0, note="two zeros"),
            sample(make.fixed([0.0, 0.0, 0.0]), 0),
            sample(make.fixed([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), 1),
            sample(make.fixed([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), 0),
        ],
        primitives=("cumprod", "recurrence", "delay"),
        reference=np.cumprod,
        complex=True,
    ),
    Op(
        "cumsum:integers",
        lambda make: [sample(make.int((3, 4)), 0), sample(make.bool((3, 4)), 1)],
        reference=np.cumsum,
    ),
    Op(
        "cumprod:integers",
        lambda make: [sample(make.int((3, 4)), 0), sample(make.bool((3, 4)), 1)],
        reference=np.cumprod,
    ),
    Op(
        "cumsum:backwards",
        lambda make: [sample(make(3, 4), 1, True), sample(make(3, 4), 0, False)],
        primitives=("cumsum",),
        function=lambda x, dim, reverse: core.registry["cumsum"](x, dim, reverse),
        torch=None,
        method=False,
        reference=lambda x, dim, reverse: np.flip(np.cumsum(np.flip(x, dim), dim), dim)
        if reverse
        else np.cumsum(x, dim),
        complex=True,
    ),
    Op(
        "cumprod:backwards",
        lambda make: [sample(make(3, 4), 1, True), sample(make.fixed([2.0, 0.0, 3.0]), 0, True)],
        primitives=("cumprod",),
        function=lambda x, dim, reverse: core.registry["cumprod"](x, dim, reverse),
        torch=None,
        method=False,
        reference=lambda x, dim, reverse: np.flip(np.cumprod(np.flip(x, dim), dim), dim),
        complex=True,
    ),
    Op(
        "cummax",
        lambda make: [
            sample(make.distinct(3, 4), 1),
            sample(make.distinct(3, 4), 0),
            sample(make.distinct(2, 3, 2), -2),
            sample(make(), 0),
            sample(make(0, 3), 0),
        ],
        primitives=("cummax",),
        reference=_running(np.max),
        out=True,
        skip={"parity_dtype": "PyTorch takes complex numbers where there is one element"},
    ),
    Op(
        "cummin",
        lambda make: [
            sample(make.distinct(3, 4), 1),
            sample(make.distinct(3, 4), 0),
            sample(make.distinct(2, 3, 2), -2),
            sample(make(), 0),
            sample(make(0, 3), 0),
        ],
        primitives=("cummin",),
        reference=_running(np.min),
        out=True,
        skip={"parity_dtype": "PyTorch takes complex numbers where there is one element"},
    ),
    Op(
        "cummax:ties",
        lambda make: [
            sample(make.fixed([1.0, 3.0, 3.0, 2.0, 3.0]), 0),
            sample(make.fixed([1.0, np.nan, 3.0, np.nan]), 0),
            sample(make.int((3, 4), 0, 3), 1),
        ],
        primitives=("cummax",),
        reference=_running(np.max),
        nonsmooth=True,
    ),
    Op(
        "cummin:ties",
        lambda make: [
            sample(make.fixed([3.0, 1.0, 1.0, 2.0, 1.0]), 0),
            sample(make.fixed([1.0, np.nan, 3.0, np.nan]), 0),
            sample(make.int((3, 4), 0, 3), 1),
        ],
        primitives=("cummin",),
        reference=_running(np.min),
        nonsmooth=True,
    ),
    Op(
        "logcumsumexp",
        lambda make: [one for one in _dims(make) if one.args[0].shape != (0, 3)],
        primitives=("logcumsumexp", "exp_difference"),
        reference=lambda x, dim: x
        if x.ndim == 0
        else np.logaddexp.accumulate(x, axis=dim)
        if x.dtype.kind == "f"
        else np.log(np.cumsum(np.exp(x), axis=dim)),
        complex=True,
        out=True,
    ),
    Op(
        "logcumsumexp:empty",
        lambda make: [sample(make(0, 3), 0), sample(make(0, 3), 1)],
        primitives=("logcumsumexp",),
        reference=lambda x, dim: x,
        torch=None,  # its forward mode raises
    ),
    Op(
        "logcumsumexp:large",
        lambda make: [sample(make.fixed([1000.0, 999.0, -1000.0]), 0)],
        primitives=("logcumsumexp",),
        reference=lambda x, dim: np.logaddexp.accumulate(x, axis=dim),
    ),
    Op(
        "logcumsumexp:infinite",
        lambda make: [
            sample(make.fixed([-np.inf, -np.inf, 1.0, -np.inf, 2.0]), 0),
            sample(make.fixed([[-np.inf, -np.inf], [0.5, -np.inf]]), 1),
        ],
        primitives=("logcumsumexp", "exp_difference"),
        reference=lambda x, dim: np.logaddexp.accumulate(x, axis=dim),
        nonsmooth=True,
        skip={"parity_grad": "PyTorch gives NaN where everything so far is -inf; here it is zero",
              "parity_gradgrad": "PyTorch gives NaN where everything is -inf; here it is zero",
              "parity_jvp": "PyTorch gives NaN where everything is -inf; here it is zero"},
    ),
    Op(
        "delay",
        lambda make: [
            sample(make(3, 4), 1, 1, 0),
            sample(make(3, 4), 0, -1, 1),
            sample(make(3, 4), 1, 2, 0.5),
            sample(make(1, 2), 0, 1, 0),
            sample(make(0, 2), 0, 1, 0),
        ],
        primitives=("delay",),
        torch=None,
        reference=lambda x, *a: _delay(x, *a) if x.size else x,
        complex=True,
    ),
    Op(
        "recurrence",
        lambda make: [
            sample(make(3, 4), make(3, 4), 1, False),
            sample(make(3, 4), make(3, 4), 0, True),
            sample(make.fixed([0.0, 1.0, 0.0, 2.0]), make(4), 0, False, note="zeros"),
            sample(make(1), make(1), 0, False),
            sample(make(2, 0), make(2, 0), 1, False),
            sample(make(200, low=-1, high=1), make(200), 0, False, note="by pairs"),
            sample(make(131, low=-1, high=1), make(131), 0, True, note="by pairs"),
        ],
        primitives=("recurrence",),
        torch=None,
        reference=_recurrence,
        complex=True,
    ),
    Op(
        "trapezoid",
        lambda make: [
            sample(make(3, 4)),
            sample(make(3, 4), dx=0.5, dim=0),
            sample(make(3, 4), make(4)),
            sample(make(3, 4), make(3, 4), dim=0),
            sample(make(2, 3, 4), make(3), dim=1),
            sample(make(2, 3, 4), make(3, 4)),
            sample(make(1)),
        ],
        reference=lambda y, x=None, dx=1.0, dim=-1: np.trapezoid(y, x, dx, dim)
        if y.size
        else np.sum(y, axis=dim),
        complex=True,
    ),
    Op(
        "trapezoid:empty",
        lambda make: [sample(make(2, 0)), sample(make(0, 3), dim=0)],
        torch=None,  # its result does not require grad
        reference=lambda y, dim=-1: np.sum(y, axis=dim),
    ),
    Op(
        "cumulative_trapezoid",
        lambda make: [
            sample(make(3, 4)),
            sample(make(3, 4), dx=0.5, dim=0),
            sample(make(3, 4), make(4)),
            sample(make(2, 3, 4), make(3), dim=1),
            sample(make(3, 4), make(3, 4), dim=0),
            sample(make(1)),
        ],
        complex=True,
    ),
    Op(
        "diff",
        lambda make: [
            sample(make(3, 4)),
            sample(make(3, 4), 2, 0),
            sample(make(3, 4), n=3),
            sample(make(3, 4), n=6),
            sample(make(3, 4), n=0),
            sample(make(3, 4), prepend=make(3, 2)),
            sample(make(3, 4), dim=0, prepend=make(1, 4), append=make(2, 4)),
            sample(make(3, 4), n=0, prepend=make.constant(make(3, 2)), note="as it is"),
            sample(make.int((3, 4))),
            sample(make(1)),
            sample(make(0)),
        ],
        reference=lambda x, n=1, dim=-1, prepend=None, append=None: np.diff(
            x, n, dim,
            **({} if prepend is None else {"prepend": prepend}),
            **({} if append is None else {"append": append}),
        ),
        complex=True,
        out=True,
    ),
    Op(
        "diff:bool",
        lambda make: [sample(make.bool((3, 4))), sample(make.bool((3, 4)), 2, 0)],
        reference=lambda x, n=1, dim=-1: np.diff(x, n, dim),
    ),
    Op(
        "gradient",
        lambda make: [
            sample(make(6)),
            sample(make(4, 5)),
            sample(make(4, 5), spacing=0.5, dim=1),
            sample(make(4, 5), spacing=[2.0, 0.5], edge_order=2),
            sample(make(4, 5), dim=(1, 0)),
            sample(make(4, 5), dim=0, edge_order=2),
            sample(make(5), spacing=[make.constant([0.0, 1.0, 1.5, 3.5, 4.0])], dim=0),
            sample(
                make(5), spacing=[make.constant([0.0, 1.0, 1.5, 3.5, 4.0])], dim=0, edge_order=2
            ),
            sample(make(2)),
            sample(make(3), edge_order=2),
        ],
        complex=True,
    ),
)  # fmt: skip
