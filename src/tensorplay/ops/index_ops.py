"""Whole slices along one dim by an index vector, and elements by their flat position.

`index_select`, `index_add`, `index_copy`, `index_fill`; `take`, `put`, `take_along_dim`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import positions as at
from tensorplay.ops.assignment import number_array
from tensorplay.ops.changes import Prepared, changing
from tensorplay.ops.gather import check_index, gather_op
from tensorplay.ops.index_primitives import index_op, index_put_op, put_into
from tensorplay.ops.kinds import constant, public, wrap_dim
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.structure import expand_to

# --- arguments ------------------------------------------------------------------------------------


def _checked_kernel(
    index: np.ndarray, size: int, dim: int, name: str, error: type[Exception], negative: bool
) -> np.ndarray:
    return at.check_range(index, size, dim, name, error, negative)


#: An index whose entries are known to be in range, counted from the start.
checked_index_op = constant(
    "checked_index",
    _checked_kernel,
    inputs=("index",),
    params=("size", "dim", "name", "error", "negative"),
    batch=lambda p, values, bdims, params: (p(values[0], *params), bdims[0]),
    quiet=True,
)


def vector_index(
    input: Tensor, dim: int, index: Any, name: str, error: Any = IndexError, negative: bool = False
) -> tuple[Tensor, int]:
    """An index vector checked against a dim of `input`, and the wrapped dim.

    Raises:
        IndexError: if the index has more than one dim, or an entry is out of range.
        RuntimeError: if it is not of dtype int64 or int32.
    """
    dim = wrap_dim(dim, input, name)
    index = check_index(index, name)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): index must be a vector or a 0-dim tensor, got shape {list(index.shape)}"
        )
    size = input.shape[dim] if input.ndim else 1
    index = index if index.ndim else index.reshape(1)
    if not index.is_box and core.is_within(core.array_of(index), size):
        return index, dim
    return checked_index_op(index, size, dim, name, error, negative), dim


def vector_arguments(
    input: Tensor, dim: int, index: Any, source: Tensor, name: str, error: Any = IndexError
) -> tuple[Tensor, Tensor, int]:
    """Index, source (with at least one dim) and dim of an operator that writes slices.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.
        IndexError: if an index is out of range (index_copy: or their number does not fit).
    """
    index, dim = vector_index(input, dim, index, name, error)
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): source must have the dtype of input, got {source.dtype} for "
            f"{input.dtype}; convert with source.to(input.dtype)"
        )
    shape = list(input.shape) if input.ndim else [1]
    shape[dim] = index.numel()
    if source.ndim == 0 and input.ndim <= 1:
        source = source.reshape(1)
    if list(source.shape) != shape:
        counts = source.ndim == len(shape) and source.shape[dim] != shape[dim]
        raise (IndexError if counts and name == "index_copy" else RuntimeError)(
            f"{name}(): expected source of shape {shape} (as input, with one slice per entry of "
            f"index in dim {dim}), got {list(source.shape)}"
        )
    return index, source, dim


def _with_dims(x: Tensor) -> Tensor:
    return x if x.ndim else x.reshape(1)


# --- slices along a dim ---------------------------------------------------------------------------


@public(out=True)
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of `input` along `dim` that an index vector names, as a copy.

    index: int64, of one dim (or none: one slice).

    Raises:
        IndexError: if an index is out of range.

    >>> import tensorplay as tp
    >>> tp.index_select(tp.tensor([[1, 2], [3, 4]]), 1, tp.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])
    """
    index, dim = vector_index(input, dim, index, "index_select")
    result = index_op(_with_dims(input), index, (dim,))
    return result if input.ndim else result.reshape(())


@changing
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1
) -> Prepared:
    """A copy of `input` with the slices of `alpha * source` added at the places `index` names.

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or an index is out of range (IndexError where
            input has only one dim).

    >>> import tensorplay as tp
    >>> tp.index_add(tp.zeros(3), 0, tp.tensor([0, 0]), tp.tensor([1., 2.]))
    tensor([3., 0., 0.])
    """
    out_of_range = IndexError if input.ndim < 2 else RuntimeError  # as in PyTorch
    index, source, dim = vector_arguments(input, dim, index, source, "index_add", out_of_range)
    if not (isinstance(alpha, (int, float)) and alpha == 1):
        if source.dtype.category < dtypes.FLOAT:
            alpha = int(alpha)
        source = source * alpha
    return index_put_op, (_with_dims(input), index, source), ((dim,), True)


@changing
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Prepared:
    """A copy of `input` with slices of `source` in the places `index` names (the last one stays).

    Raises:
        RuntimeError: if shapes or dtypes do not fit.
        IndexError: if an index is out of range.
    """
    index, source, dim = vector_arguments(input, dim, index, source, "index_copy")
    return index_put_op, (_with_dims(input), index, source), ((dim,), False)


@changing
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Prepared:
    """A copy of `input` with a value (a number or a 0-dim tensor) in the slices `index` names.

    Raises:
        RuntimeError: if the value is a tensor with dims.
        IndexError: if an index is out of range, or not of integers.
    """
    if isinstance(index, Tensor) and index.dtype.category != dtypes.INTEGER:
        raise IndexError(f"index_fill(): expected index to be of dtype int64, got {index.dtype}")
    index, dim = vector_index(input, dim, index, "index_fill", negative=True)
    value = single_value(value, input, "index_fill")
    x = _with_dims(input)
    shape = (*x.shape[:dim], index.numel(), *x.shape[dim + 1 :])
    return index_put_op, (x, index, expand_to(value, shape)), ((dim,), False)


def single_value(value: Any, input: Tensor, name: str) -> Tensor:
    """A number or 0-dim tensor as a 0-dim tensor of the dtype of `input`.

    Raises:
        RuntimeError: if it is a tensor with dims.
    """
    if not isinstance(value, Tensor):
        return core.from_array(number_array(value, input.dtype, name))
    if value.ndim:
        raise RuntimeError(
            f"{name}(): only a 0-dim value tensor is supported, got shape {list(value.shape)}"
        )
    if value.dtype.is_complex and not input.dtype.is_complex:
        raise RuntimeError(
            f"{name}(): a value of dtype {value.dtype} cannot be written to {input.dtype}"
        )
    return value.to(input.dtype)


# --- flat positions -------------------------------------------------------------------------------


def _flat_index(input: Tensor, index: Any, name: str) -> Tensor:
    index = check_index(index, name)
    if input.numel() == 0 and index.numel():
        raise IndexError(f"{name}(): cannot index a tensor without elements")
    return checked_index_op(index, input.numel(), 0, name, IndexError, True)


@public(out=True)
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at flat positions of `input`, in the shape of `index`.

    Raises:
        IndexError: if a position is out of range.

    >>> import tensorplay as tp
    >>> tp.take(tp.tensor([[1, 2], [3, 4]]), tp.tensor([0, 3]))
    tensor([1, 4])
    """
    return index_op(input.reshape(-1), _flat_index(input, index, "take"), (0,))


def _put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    shape = tuple(x.shape)
    return index_put_op(x.reshape(-1), index, source, (0,), accumulate).reshape(shape)


def _put_into(out: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool) -> None:
    if out.flags.c_contiguous:
        put_into(out.reshape(-1), index, source, (0,), accumulate)
        return
    places = np.array(np.unravel_index(index % max(out.size, 1), out.shape))
    put_into(out, places, source, tuple(range(out.ndim)), accumulate)


_put.into = _put_into  # type: ignore[attr-defined]


@changing
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Prepared:
    """A copy of `input` with `source` written (or added) at flat positions.

    Raises:
        IndexError: if a position is out of range, or the sizes of index and source differ.
        RuntimeError: if dtypes differ.
    """
    index = _flat_index(input, index, "put")
    if source.numel() != index.numel():
        raise IndexError(
            f"put(): index and source must have as many elements, got shapes {list(index.shape)} "
            f"and {list(source.shape)}"
        )
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"put(): source must have the dtype of input, got {source.dtype} for {input.dtype}"
        )
    return _put, (input, index.reshape(-1), source.reshape(-1)), (bool(accumulate),)


@public(out=True)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements of `input` that `indices` names along a dim, the other dims broadcast.

    dim: None takes from the flattened input, with the flattened indices.

    Raises:
        RuntimeError: if the dtypes or numbers of dims do not fit, or an index is out of range.

    >>> import tensorplay as tp
    >>> x = tp.tensor([[3, 1], [4, 2]])
    >>> tp.take_along_dim(x, tp.argsort(x, dim=1), dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    if dim is None:
        return take_along_dim(input.reshape(-1), indices.reshape(-1), 0)
    if not isinstance(indices, Tensor) or indices.dtype is not dtypes.int64:
        found = indices.dtype if isinstance(indices, Tensor) else type(indices).__name__
        raise RuntimeError(f"take_along_dim(): expected indices of dtype int64, got {found}")
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices must have as many dims, got shapes "
            f"{list(input.shape)} and {list(indices.shape)}"
        )
    dim = wrap_dim(dim, input, "take_along_dim")
    if not input.ndim:
        return take_along_dim(input.reshape(1), indices.reshape(1), 0).reshape(())
    x_shape, i_shape = list(input.shape), list(indices.shape)
    own, wanted = x_shape[dim], i_shape[dim]
    x_shape[dim] = i_shape[dim] = 1
    shape = list(broadcast_shapes_of("take_along_dim", x_shape, i_shape))
    x = expand_to(input, (*shape[:dim], own, *shape[dim + 1 :]))
    indices = checked_index_op(indices, own, dim, "take_along_dim", RuntimeError, True)
    return gather_op(x, expand_to(indices, (*shape[:dim], wanted, *shape[dim + 1 :])), dim)


def _unravel_kernel(index: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    at.check_range(index, at.numel(shape), 0, "unravel_index", ValueError, negative=False)
    return [np.asarray(i, np.int64) for i in np.unravel_index(index, shape)]


unravel_op = constant(
    "unravel_index",
    _unravel_kernel,
    inputs=("index",),
    params=("shape",),
    outputs=-1,
    batch=lambda p, values, bdims, params: (p(values[0], *params), bdims[0]),
)


@public(method=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Flat positions in a tensor of a shape as one index tensor per dim.

    Raises:
        TypeError: if indices is not a tensor of integers.
        ValueError: if a position is out of range, or a size is negative.

    >>> import tensorplay as tp
    >>> tp.unravel_index(tp.tensor([5, 3]), (2, 3))
    (tensor([1, 1]), tensor([2, 0]))
    """
    if not isinstance(indices, Tensor) or indices.dtype.category != dtypes.INTEGER:
        found = indices.dtype if isinstance(indices, Tensor) else type(indices).__name__
        raise TypeError(f"unravel_index(): expected an integer tensor of indices, got {found}")
    sizes = (int(shape),) if isinstance(shape, int) else tuple(map(int, shape))
    if min(sizes, default=0) < 0:
        raise ValueError(f"unravel_index(): sizes must not be negative, got {list(sizes)}")
    return unravel_op(check_index(indices.long(), "unravel_index"), sizes)
