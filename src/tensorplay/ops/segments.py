"""segment_reduce: a reduction over neighbouring runs of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.choices import drop, where
from tensorplay.ops.creation import full
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import constant, leading, public, require_tensor, wrap_dim
from tensorplay.ops.scatter import scatter_reduce

#: reduce -> (the reduction of scatter_reduce, what a segment without elements gives)
_REDUCTIONS = {
    "sum": ("sum", 0.0), "mean": ("mean", float("nan")), "prod": ("prod", 1.0),
    "max": ("amax", -float("inf")), "amax": ("amax", -float("inf")),
    "min": ("amin", float("inf")), "amin": ("amin", float("inf")),
}  # fmt: skip


def _owner_kernel(offsets: np.ndarray, size: int) -> np.ndarray:
    """How many offsets are not above each of 0 .. size - 1, along the last dim."""
    below = offsets[..., None, :] <= np.arange(size)[:, None]
    return below.sum(-1)


owner_op = constant(
    "segment_owner",
    _owner_kernel,
    inputs=("offsets",),
    params=("size",),
    batch=leading(1),
    quiet=True,
)


def _check_ends(data: Tensor, offsets: Tensor, axis: int, name: str, whole: bool) -> None:
    """That segments do not run backwards or past the end; whole: and cover everything."""
    if core.batched_levels(offsets):
        return  # the values differ from sample to sample
    ends, size = core.array_of(offsets, "segment_reduce(): offsets"), data.shape[axis]
    if (np.diff(ends, axis=-1) < 0).any():
        raise RuntimeError(
            f"segment_reduce(): {name} must not be negative or decrease, got {name} "
            f"that make segments of lengths {np.diff(ends, axis=-1).tolist()}"
        )
    if (ends[..., -1:] > size).any() or (ends[..., :1] < 0).any():
        raise RuntimeError(
            f"segment_reduce(): {name} reach to element {int(ends.max())} of data, which has "
            f"{size} along axis {axis}"
        )
    if whole and (ends[..., -1] != size).any():
        raise RuntimeError(
            f"segment_reduce(): expected lengths to sum to the size {size} of data along axis "
            f"{axis} (or unsafe=True), got sums {ends[..., -1].tolist()}"
        )


def _offsets(data: Tensor, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Tensor:
    given, name = (lengths, "lengths") if offsets is None else (offsets, "offsets")
    if given is None:
        raise RuntimeError("segment_reduce(): either lengths or offsets must be defined")
    require_tensor(given, "segment_reduce", name)
    if given.dtype.category != dtypes.int64.category:
        raise NotImplementedError(
            f"segment_reduce(): {name} must be integers, got a tensor of dtype {given.dtype}"
        )
    if not 0 < given.ndim <= data.ndim or tuple(given.shape[:-1]) != tuple(data.shape[:axis]):
        raise RuntimeError(
            f"segment_reduce(): {name} of shape {list(given.shape)} must have the dims of data "
            f"(shape {list(data.shape)}) before axis {axis}, and one more dim"
        )
    if offsets is None:
        start = full((*given.shape[:-1], 1), 0, dtype=given.dtype)
        given = cat([start, given.cumsum(-1, dtype=given.dtype)], -1)
    elif given.shape[-1] == 0:
        raise RuntimeError("segment_reduce(): offsets must have at least one element")
    _check_ends(data, given, axis, name, offsets is None and not unsafe)
    return given


@public(method=False)
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Reductions over runs of neighbouring elements of floating point `data` along `axis`.

    reduce: 'sum', 'mean', 'prod', 'max' or 'min'. lengths: how long each run is; or offsets: where
    each begins, and at last where the last one ends. Either has the dims of data before `axis` and
    one more. unsafe: lengths need not cover all of data. initial: takes part in every reduction
    (by default the neutral number; the mean of nothing is NaN). Equal largest or smallest
    elements of a run share its gradient.

    Raises:
        RuntimeError: if shapes do not fit, or segments run backwards or past the end.
        NotImplementedError: for dtypes that are not floating point, or lengths that are no ints.

    >>> import tensorplay as tp
    >>> tp.segment_reduce(tp.tensor([1., 5., 2.]), "max", lengths=tp.tensor([2, 1]))
    tensor([5., 2.])
    """
    require_tensor(data, "segment_reduce", "data")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            "segment_reduce(): reduce must be one of 'sum', 'mean', 'prod', 'max' and 'min', got "
            f"{reduce!r}"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices are not supported; give lengths or offsets")
    if data.dtype.category != dtypes.FLOAT:
        raise NotImplementedError(
            f"segment_reduce(): not implemented for {data.dtype}; data must be floating point"
        )
    given = lengths if offsets is None else offsets
    axis = wrap_dim(axis, data, "segment_reduce")
    if isinstance(given, Tensor) and axis != given.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): axis must be the last dim of lengths or offsets (shape "
            f"{list(given.shape)}), got {axis}"
        )
    bounds = _offsets(data, lengths, offsets, axis, unsafe)
    return _reduced(data, reduce, bounds, axis, initial)


def _reduced(data: Tensor, reduce: str, bounds: Tensor, axis: int, initial: Any) -> Tensor:
    how, nothing = _REDUCTIONS[reduce]
    count = bounds.shape[-1] - 1
    # Elements before the first and after the last segment go to places of their own.
    owner = owner_op(bounds, data.shape[axis])
    owner = owner.reshape((*owner.shape, *(1,) * (data.ndim - axis - 1))).expand(data.shape)
    shape = (*data.shape[:axis], count + 2, *data.shape[axis + 1 :])
    empty = full(shape, nothing, dtype=data.dtype)
    out = scatter_reduce(empty, axis, owner, data, how, include_self=False)
    out = out.narrow(axis, 1, count)
    if initial is None:
        return out
    if how == "sum":
        return out + initial
    if how == "prod":
        return out * initial
    if how == "mean":
        sizes = bounds.narrow(-1, 1, count) - bounds.narrow(-1, 0, count)
        sizes = sizes.reshape((*sizes.shape, *(1,) * (data.ndim - axis - 1)))
        return drop(out, sizes == 0) + initial / sizes.clamp(min=1).to(data.dtype)
    loses = out < initial if how == "amax" else out > initial
    return where(loses, initial, out)
