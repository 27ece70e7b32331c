"""Writing along one dim with an index tensor: scatter, scatter_add and scatter with reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import positions as at
from tensorplay.ops.changes import Prepared, changing
from tensorplay.ops.choices import drop, keep
from tensorplay.ops.gather import (
    along_arguments,
    flat_places,
    gather_op,
    scatter_add_op,
    scatter_op,
    source_values,
)
from tensorplay.ops.index_ops import vector_arguments
from tensorplay.ops.kinds import constant, primitive, shifting, wrap_dim
from tensorplay.ops.reductions import product_of_others
from tensorplay.ops.structure import convert, expand_to

# --- which places are written, and how often ------------------------------------------------------


def _constant(name: str, kernel: Any) -> Any:
    return constant(
        name, kernel, inputs=("index",), params=("shape", "dim"),
        batch=shifting(dims=("dim",), sizes=("shape",)), quiet=True,
    )  # fmt: skip


#: For each entry of an index how many earlier entries name the same element.
occurrence_op = _constant(
    "occurrence",
    lambda index, shape, dim: at.occurrence(flat_places(shape, index, dim, "scatter_reduce")),
)


def _count_kernel(index: np.ndarray, shape: tuple[int, ...], dim: int) -> np.ndarray:
    places = flat_places(shape, index, dim, "scatter_reduce")
    return np.bincount(places.reshape(-1), minlength=at.numel(shape)).reshape(shape)


#: How often an index names each element of a tensor of a shape.
scatter_count_op = _constant("scatter_count", _count_kernel)

# --- reductions -----------------------------------------------------------------------------------


def _scatter_sum(x: Tensor, index: Tensor, src: Tensor, dim: int, include_self: bool) -> Tensor:
    if not include_self:
        x = drop(x, scatter_count_op(index, tuple(x.shape), dim) > 0)
    return scatter_add_op(x, index, src, dim)


def _scatter_mean(x: Tensor, index: Tensor, src: Tensor, dim: int, include_self: bool) -> Tensor:
    count = scatter_count_op(index, tuple(x.shape), dim)
    count = count + 1 if include_self else count.clamp(min=1)
    total = _scatter_sum(x, index, src, dim, include_self)
    if x.dtype.category < dtypes.FLOAT:
        return convert(total.div(count, rounding_mode="floor"), x.dtype)
    return total / convert(count, x.dtype)


def _product_kernel(
    x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int, include_self: bool
) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    line, places = at.flat(out), flat_places(x.shape, index, dim, "scatter_reduce").reshape(-1)
    work = line.astype(np.float32) if out.dtype.kind == "V" else line
    if not include_self:
        work[places] = 1
    np.multiply.at(work, places, src.reshape(-1).astype(work.dtype, copy=False))
    if work is not line:
        line[...] = work.astype(line.dtype)
    return out


def _factors(x: Any, index: Any, src: Any, dim: int, include_self: bool) -> tuple[Any, Any, int]:
    """All factors of each result side by side along a new dim, and where those of src are.

    Place 0 is for x (1 where it does not count); the others are for the values sent to an element.
    """
    shape = tuple(x.shape)
    rank = occurrence_op(index, shape, dim)
    if core.batched_levels(rank):
        width = index.shape[dim] + 1  # the most there can be
    else:
        width = int(rank.max()) + 2 if rank.numel() else 1
    if not include_self:
        x = drop(x, scatter_count_op(index, shape, dim) > 0)
        x = x + convert(scatter_count_op(index, shape, dim) > 0, x.dtype)
    spread = (*shape[:dim], shape[dim] * width, *shape[dim + 1 :])
    ones = core.from_array(np.broadcast_to(np.ones((), x.dtype.numpy), spread))
    first = core.from_array(np.arange(0, shape[dim] * width, width))
    places = index * width + rank + 1
    wide = scatter_op(ones.index_copy(dim, first, x), places, src, dim)
    return wide.reshape((*shape[:dim], shape[dim], width, *shape[dim + 1 :])), places, width


def _product_vjp(
    g: Any, x: Any, index: Any, src: Any, dim: int, include_self: bool
) -> tuple[Any, Any, Any]:
    factors, places, width = _factors(x, index, src, dim, include_self)
    parts = g.unsqueeze(dim + 1) * product_of_others(factors, dim + 1).conj()
    of_x = parts.select(dim + 1, 0)
    if not include_self:
        of_x = drop(of_x, scatter_count_op(index, tuple(x.shape), dim) > 0)
    shape = tuple(x.shape)
    flat = parts.reshape((*shape[:dim], shape[dim] * width, *shape[dim + 1 :]))
    return of_x, None, gather_op(flat, places, dim)


def _product_jvp(t: Any, x: Any, index: Any, src: Any, dim: int, include_self: bool) -> Any:
    factors, places, width = _factors(x, index, src, dim, include_self)
    others = product_of_others(factors, dim + 1)
    shape = tuple(x.shape)
    total = core.zeros_shaped(x, shape)
    if t[0] is not None:
        total = t[0] * others.select(dim + 1, 0)
        if not include_self:
            total = drop(total, scatter_count_op(index, shape, dim) > 0)
    if t[2] is None:
        return total
    flat = others.reshape((*shape[:dim], shape[dim] * width, *shape[dim + 1 :]))
    return scatter_add_op(total, index, t[2] * gather_op(flat, places, dim), dim)


#: x times all values of src that are scattered to each element. The rules multiply all other
#: factors, so they are exact where factors are zero, to any order.
scatter_product_op = primitive(
    "scatter_product",
    _product_kernel,
    inputs=("x", "index", "src"),
    params=("dim", "include_self"),
    vjp=_product_vjp,
    jvp=_product_jvp,
    batch=shifting(dims=("dim",)),
)


def _extreme_kernel(
    x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int, largest: bool, include_self: bool
) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    line, places = at.flat(out), flat_places(x.shape, index, dim, "scatter_reduce").reshape(-1)
    wide = out.dtype.kind == "V"  # bfloat16 has no compiled loops
    work = line.astype(np.float32) if wide else line
    if not include_self:
        work[places] = _lowest(work.dtype, largest)
    (np.maximum if largest else np.minimum).at(
        work, places, src.reshape(-1).astype(work.dtype, copy=False)
    )
    if wide:
        line[...] = work.astype(line.dtype)
    return out


def _lowest(dtype: np.dtype[Any], largest: bool) -> Any:
    if dtype.kind == "f":
        return -np.inf if largest else np.inf
    if dtype.kind == "b":
        return not largest
    limits = np.iinfo(dtype)
    return limits.min if largest else limits.max


def _shares(
    x: Any, index: Any, src: Any, out: Any, dim: int, include_self: bool
) -> tuple[Any, Any, Any]:
    """Where x is the extreme value, where src is, and how many share it."""
    shape = tuple(x.shape)
    of_x = x == out
    if not include_self:
        of_x = of_x & (scatter_count_op(index, shape, dim) == 0)
    of_src = src == gather_op(out, index, dim)
    count = scatter_add_op(convert(of_x, x.dtype), index, convert(of_src, x.dtype), dim)
    return of_x, of_src, count


def _extreme_vjp(
    g: Any, x: Any, index: Any, src: Any, out: Any, dim: int, include_self: bool
) -> Any:
    of_x, of_src, count = _shares(x, index, src, out, dim, include_self)
    share = g / count
    return keep(share, of_x), None, keep(gather_op(share, index, dim), of_src)


def _extreme_jvp(
    t: Any, x: Any, index: Any, src: Any, out: Any, dim: int, include_self: bool
) -> Any:
    of_x, of_src, count = _shares(x, index, src, out, dim, include_self)
    share = count.reciprocal()
    zeros = core.zeros_shaped(x, tuple(x.shape))
    total = zeros if t[0] is None else keep(t[0] * share, of_x)
    if t[2] is None:
        return total
    return scatter_add_op(total, index, keep(t[2] * gather_op(share, index, dim), of_src), dim)


#: Elements of x or the values scattered to them, whichever is largest (smallest); ties share.
scatter_extreme_op = primitive(
    "scatter_extreme",
    _extreme_kernel,
    inputs=("x", "index", "src"),
    params=("dim", "largest", "include_self"),
    vjp=_extreme_vjp,
    jvp=_extreme_jvp,
    batch=shifting(dims=("dim",)),
)

_REDUCTIONS = {
    "sum": _scatter_sum,
    "mean": _scatter_mean,
    "prod": scatter_product_op,
    "amax": lambda x, index, src, dim, own: scatter_extreme_op(x, index, src, dim, True, own),
    "amin": lambda x, index, src, dim, own: scatter_extreme_op(x, index, src, dim, False, own),
}

# --- public ---------------------------------------------------------------------------------------


def _prepare(input: Tensor, dim: int, index: Any, src: Any, name: str) -> Any:
    is_tensor = isinstance(src, Tensor)
    if (
        is_tensor
        and input.ndim
        and index.shape == src.shape
        and index.dtype is dtypes.int64
        and src.dtype is input.dtype
        and index.numel()
    ):  # what is left to check, the kernels check
        return input, index, src, wrap_dim(dim, input, name)
    x, dim, index = along_arguments(input, dim, index, name, src if is_tensor else None)
    if index.numel() == 0 and index.ndim != x.ndim:
        index = index.reshape((0,) * x.ndim)
    return x, index, source_values(input, index, src, name), dim


@changing
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Prepared:
    """A copy of `input` with the values of `src` added at the places that `index` names in `dim`.

    index: int64, no larger than `src`, and no larger than `input` apart from `dim`.

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or an index is out of range.

    >>> import tensorplay as tp
    >>> tp.scatter_add(tp.zeros(3), 0, tp.tensor([0, 0, 2]), tp.ones(3))
    tensor([2., 0., 1.])
    """
    x, index, src, dim = _prepare(input, dim, index, src, "scatter_add")
    return scatter_add_op, (x, index, src), (dim,)


@changing
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Prepared:
    """A copy of `input` with `src` (a tensor or number) at the places that `index` names in `dim`.

    value: another name for a src that is a number. reduce: 'add' or 'multiply' in place of
    writing. Of several values for one place the last one stays.

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or an index is out of range.
    """
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter(): missing argument 'src' (a tensor) or 'value' (a number)")
    x, index, src, dim = _prepare(input, dim, index, src, "scatter")
    if reduce is None:
        return scatter_op, (x, index, src), (dim,)
    if reduce == "add":
        return scatter_add_op, (x, index, src), (dim,)
    if reduce == "multiply":
        return scatter_product_op, (x, index, src), (dim, True)
    raise RuntimeError(f"scatter(): reduce must be 'add' or 'multiply', got {reduce!r}")


@changing
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Prepared:
    """A copy of `input` whose elements are reduced with the values of `src` scattered to them.

    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'. include_self: whether the elements of `input`
    take part; if not, those that no value is scattered to stay as they are. Equal largest values
    share the gradient.

    Raises:
        RuntimeError: if shapes or dtypes do not fit, an index is out of range, or for another
            `reduce`.

    >>> import tensorplay as tp
    >>> x, index, src = tp.ones(2), tp.tensor([0, 0, 1]), tp.tensor([2., 3., 4.])
    >>> tp.scatter_reduce(x, 0, index, src, "prod")
    tensor([6., 4.])
    """
    return prepared_reduction(input, dim, index, src, reduce, include_self, "scatter_reduce")


def prepared_reduction(
    input: Tensor, dim: int, index: Any, src: Any, reduce: str, include_self: bool, name: str
) -> Prepared:
    """A `scatter_reduce` with its arguments checked."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"{name}(): reduce must be one of 'sum', 'prod', 'mean', 'amax' and 'amin', got "
            f"{reduce!r}"
        )
    x, index, src, dim = _prepare(input, dim, index, src, name)
    if reduce == "sum" and include_self:
        return scatter_add_op, (x, index, src), (dim,)
    return _REDUCTIONS[reduce], (x, index, src), (dim, include_self)


@changing
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Prepared:
    """A copy of `input` whose slices along `dim` are reduced with those of `source` sent to them.

    index: int64 vector: where each slice of `source` goes. reduce: 'prod', 'mean', 'amax' or
    'amin'.

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or for another `reduce`.
        IndexError: if an index is out of range.
    """
    if reduce == "sum":
        raise RuntimeError("index_reduce(): reduce must not be 'sum'; use index_add()")
    index, source, dim = vector_arguments(input, dim, index, source, "index_reduce")
    shape = (1,) * dim + (-1,) + (1,) * (source.ndim - dim - 1)
    spread = expand_to(index.reshape(shape), tuple(source.shape))
    return prepared_reduction(input, dim, spread, source, reduce, include_self, "index_reduce")
