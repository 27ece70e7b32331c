"""Reading and writing along one dim with an index tensor of the result's rank.

`gather(x, 0, index)[i][j] = x[index[i][j]][j]` and its transpose `scatter_add` are the two
operators; sorting and its kin take their values by `gather` under other names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import positions as at
from tensorplay.ops.assignment import number_array
from tensorplay.ops.choices import keep
from tensorplay.ops.kinds import constant, linear, public, shifting, wrap_dim
from tensorplay.ops.slicing import slice_view
from tensorplay.ops.structure import convert, expand_to

# --- primitives -----------------------------------------------------------------------------------


def flat_places(shape: tuple[int, ...], index: np.ndarray, dim: int, name: str) -> np.ndarray:
    index = at.check_range(index, shape[dim], dim, name, RuntimeError, negative=False)
    return at.along_positions(shape, index, dim)


def gathering(name: str, node_name: str | None = None) -> Any:
    """The gather operator under a name: primitive(x, index, dim)."""
    return linear(
        name,
        lambda x, index, dim: core.gather_kernel(x, index, dim, name),
        (
            lambda g, x_shape, index, dim: scatter_add_op(
                core.zeros_shaped(g, x_shape), index, g, dim
            ),
            None,
        ),
        inputs=("x", "index"),
        params=("dim",),
        batch=shifting(dims=("dim",)),
        quiet=True,
        node_name=node_name,
    )


gather_op = gathering("gather")


def scatter_add_into(out: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> None:
    """Add src into an array along a dim."""
    if core.scatter_into(out, index, src, dim, True, "scatter_add"):
        return
    places = flat_places(out.shape, index, dim, "scatter_add")
    if out.flags.c_contiguous:
        at.add_at(out, places, src)
    else:
        added = np.zeros(out.shape, out.dtype)
        at.add_at(added, places, src)
        out += added


def _scatter_add_kernel(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    scatter_add_into(out, index, src, dim)
    return out


scatter_add_op = linear(
    "scatter_add",
    _scatter_add_kernel,
    (lambda g: g, None, lambda g, index, dim: gather_op(g, index, dim)),
    inputs=("x", "index", "src"),
    params=("dim",),
    batch=shifting(dims=("dim",)),
    quiet=True,
)
scatter_add_op.into = scatter_add_into


def scatter_into(out: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> None:
    """Write src into an array along a dim."""
    if not core.scatter_into(out, index, src, dim, False, "scatter"):
        places = flat_places(out.shape, index, dim, "scatter")
        out[np.unravel_index(places, out.shape)] = src


def _scatter_kernel(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    out = np.array(x, order="C", copy=True)
    scatter_into(out, index, src, dim)
    return out


def _scatter_src_transpose(g: Any, x_shape: Any, index: Any, dim: int) -> Any:
    # Of several values written to one element only the last one counts.
    return keep(gather_op(g, index, dim), scatter_last_op(index, tuple(x_shape), dim))


scatter_op = linear(
    "scatter",
    _scatter_kernel,
    (
        lambda g, index, src_shape, dim: scatter_op(g, index, core.zeros_shaped(g, src_shape), dim),
        None,
        _scatter_src_transpose,
    ),
    inputs=("x", "index", "src"),
    params=("dim",),
    batch=shifting(dims=("dim",)),
    quiet=True,
)
scatter_op.into = scatter_into

#: Which entries of an index are the last to name their element.
scatter_last_op = constant(
    "scatter_last",
    lambda index, shape, dim: at.last_written(
        flat_places(shape, index, dim, "scatter"), at.numel(shape)
    ),
    inputs=("index",),
    params=("shape", "dim"),
    batch=shifting(dims=("dim",), sizes=("shape",)),
    quiet=True,
)

# --- arguments ------------------------------------------------------------------------------------


def _is_index(index: Any) -> bool:
    return isinstance(index, Tensor) and index.dtype is dtypes.int64


def check_index(index: Any, name: str) -> Tensor:
    """An index tensor as int64.

    Raises:
        TypeError: if it is no tensor.
        RuntimeError: if it is not of dtype int64 or int32.
    """
    if not isinstance(index, Tensor):
        raise TypeError(f"{name}(): argument 'index' must be Tensor, not {type(index).__name__}")
    if index.dtype is dtypes.int64:
        return index
    if index.dtype is not dtypes.int32 and index.numel():  # an empty one may be of any dtype
        raise RuntimeError(
            f"{name}(): expected index to be of dtype int64 or int32, got {index.dtype}"
        )
    return convert(index, dtypes.int64)


def _with_dims(x: Tensor) -> Tensor:
    return x if x.ndim else x.reshape(1)


def along_arguments(
    input: Tensor, dim: int, index: Any, name: str, src: Tensor | None = None
) -> tuple[Tensor, int, Tensor]:
    """Input and index with at least one dim, and the wrapped dim, checked against each other."""
    index = check_index(index, name)
    dim = wrap_dim(dim, input, name)
    x, index = _with_dims(input), _with_dims(index)
    if index.numel() == 0:
        return x, dim, index
    if index.ndim != x.ndim:
        raise RuntimeError(
            f"{name}(): index must have as many dims as input, got shapes {list(index.shape)} and "
            f"{list(input.shape)}"
        )
    smaller = [d for d in range(x.ndim) if d != dim and index.shape[d] > x.shape[d]]
    if src is not None:
        source = _with_dims(src)
        if source.ndim != index.ndim or any(
            a > b for a, b in zip(index.shape, source.shape, strict=True)
        ):
            raise RuntimeError(
                f"{name}(): index of shape {list(index.shape)} must not be larger than src of "
                f"shape {list(src.shape)}"
            )
    if smaller:
        raise RuntimeError(
            f"{name}(): index of shape {list(index.shape)} must not be larger than input of shape "
            f"{list(input.shape)} apart from dim {dim}"
        )
    return x, dim, index


def source_values(input: Tensor, index: Tensor, src: Any, name: str) -> Tensor:
    """What is written where: src cut to the shape of index, or a number spread over it."""
    if not isinstance(src, Tensor):
        number = core.from_array(number_array(src, input.dtype, name))
        return expand_to(number, tuple(index.shape))
    if src.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): src must have the dtype of input, got {src.dtype} for {input.dtype}; "
            "convert with src.to(input.dtype)"
        )
    src = _with_dims(src)
    if src.shape == index.shape:
        return src
    if index.numel() == 0:  # of any rank: nothing is written
        return core.zeros_shaped(input, tuple(index.shape))
    return slice_view(src, (*(slice(0, n) for n in index.shape), ...))


# --- gather ---------------------------------------------------------------------------------------


@public(out=True)
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements of `input` that `index` names along one dim.

    index: int64, with as many dims as `input` and no larger than it apart from `dim`; the result
    has its shape. Elements named twice receive the sum of the gradients.

    Raises:
        RuntimeError: if the shapes do not fit, or an index is out of range.

    >>> import tensorplay as tp
    >>> tp.gather(tp.tensor([[1, 2], [3, 4]]), 1, tp.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    if input.ndim and _is_index(index) and index.ndim == input.ndim:
        return gather_op(input, index, wrap_dim(dim, input, "gather"))  # its kernel checks the rest
    x, dim, places = along_arguments(input, dim, index, "gather")
    if places.numel() == 0 and places.ndim != x.ndim:
        return slice_view(x.reshape(-1), (slice(0, 0), ...)).reshape(tuple(index.shape))
    result = gather_op(x, places, dim)
    return result if index.ndim else result.reshape(())
