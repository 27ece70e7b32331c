"""Rows of segment_reduce and of the steps inside of public operators."""

import numpy as np

from tensorplay._core import core
from tests.optable.schema import Op, register, sample


def _segments(make):
    """Lengths and offsets, empty segments, elements outside of all segments, every reduction."""
    uneven = core.from_array(np.array([2, 0, 3]))
    rows = core.from_array(np.array([[2, 2], [4, 0], [1, 3]]))
    inner = core.from_array(np.array([1, 3, 4]))
    calls = [sample(make.distinct(5), how, lengths=uneven, initial=0.3)
             for how in ("sum", "mean", "prod", "max", "min")]  # fmt: skip
    calls += [
        sample(make.distinct(5, 2), "sum", lengths=uneven),
        sample(make.distinct(5, 2), "prod", lengths=uneven),
        sample(make.distinct(3, 4, 2), "max", lengths=rows, axis=1, initial=-9.0),
        sample(make.distinct(3, 4), "mean", lengths=rows, axis=1, initial=1.0),
        sample(make.distinct(5), "min", offsets=inner),
        sample(make.distinct(5), "sum", lengths=inner.narrow(0, 0, 2), unsafe=True),
        sample(make(0, 2), "sum", lengths=core.from_array(np.zeros(2, np.int64))),
    ]
    return calls


def _zero_factors(make):
    values = np.array([0.0, 2.0, 0.0, 0.0, 3.0])
    return [sample(make.fixed(values), "prod", lengths=core.from_array(np.array([2, 3])))]


def _ties(make):
    values = np.array([1.0, 1.0, 0.0, 2.0, 2.0])
    lengths = core.from_array(np.array([3, 2]))
    return [sample(make.fixed(values), "max", lengths=lengths, initial=1.0),
            sample(make.fixed(values), "min", lengths=lengths)]  # fmt: skip


def _pooled(make):
    index = core.from_array(np.array([[[0, 1], [1, 3]], [[5, 5], [4, 5]]]))
    args = (make(2, 3, 3), (2, 2), (1, 1), 0, 1, False, index)
    return [sample(make(2, 2, 2), *args)]


def _masked(make):
    rows = core.from_array(np.array([[0], [9], [2]]))
    columns = core.from_array(np.array([[1, -7, -1]]))
    mask = core.from_array(np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]], bool))
    return make(3, 4), mask, rows, columns


def _masked_index(make):
    x, mask, rows, columns = _masked(make)
    return [sample(x, mask, [rows, columns], 1.5)]


def _masked_put(make):
    x, mask, rows, columns = _masked(make)
    return [sample(x, mask, [rows, columns], make(3, 3))]


_REVERSE_ONLY = {
    "parity_gradgrad": "PyTorch has no second derivative of it",
    "parity_jvp": "PyTorch has no forward mode of it",
    "parity_vmap": "PyTorch cannot batch it",
}

register(
    Op("segment_reduce", _segments,
       primitives=("segment_owner", "scatter_add", "scatter_product", "scatter_extreme"),
       skip=_REVERSE_ONLY),
    Op("segment_reduce:zero factors", _zero_factors, primitives=("scatter_product",),
       skip=_REVERSE_ONLY),
    Op("segment_reduce:ties", _ties, primitives=("scatter_extreme",), nonsmooth=True,
       skip={**_REVERSE_ONLY,
             "parity_grad": "of tied elements PyTorch divides positive gradients only"}),
    Op("_upsample_bilinear2d_aa", lambda make: [
        sample(make(1, 2, 4, 5), (3, 2), False),
        sample(make(1, 2, 4, 5), (3, 2), True, 0.7, 0.5),
        sample(make(1, 2, 4, 5), None, False, scale_factors=[1.7, 0.6]),
       ], primitives=("matrix_along",), torch="ops.aten._upsample_bilinear2d_aa",
       skip={"parity_dtype": "bytes are rounded once here, in PyTorch their weights are too"}),
    Op("max_pool2d_with_indices_backward", _pooled, primitives=("max_pool_backward",),
       torch="ops.aten.max_pool2d_with_indices_backward"),
    Op("_unsafe_masked_index", _masked_index, complex=True),
    Op("_unsafe_masked_index_put_accumulate", _masked_put, complex=True),
)  # fmt: skip
